%% @doc The process beside a dam that asks about the server: what may take a while
%% (a busy process, another node, a name server) never holds up the dam.
%%
%% A probe is a system message that `sys' does not know. Every behaviour of OTP, and
%% whatever else calls sys:handle_system_msg, answers it with an error of a few
%% words when its turn in the mailbox comes, without a look at its state: a state of
%% any size is never copied. sys:get_state and get_status copy it, suspend and resume change
%% it; do_cmd/6 in sys.erl of OTP 27 and 29 has no cheaper one.
%%
%% A process that sys:suspend has stopped answers at once and out of order, without
%% taking what came before. So each answer is followed by a look at what the process
%% runs. One that was suspended and resumed between the two is not noticed, and may
%% get as much as `high' too much.
-module(dam_watch).

-export([start_link/1, is_process/2, probe/3, ask_length/3, resolve/2, answered/1, stop/1]).
-export([init/1]).
-export_type([watch/0]).

-opaque watch() :: {pid(), atomics:atomics_ref()}.

-define(SUSPENDED_MS, 50).
-define(REMOTE_TIMEOUT_MS, 5_000).

%% @doc Starts the process for the calling dam. It sends `{'$dam_watch', News}' of
%% `answered' (see answered/1), `suspended', `{length, Pid, Covered, Length}' and
%% `{server, Pid | undefined}'.
-spec start_link(PollMs :: pos_integer()) -> watch().
start_link(PollMs) ->
    Answered = atomics:new(1, []),
    {proc_lib:spawn_link(?MODULE, init, [{self(), Answered, PollMs}]), Answered}.

%% @doc Asks the server, behind all that the caller has sent to it.
-spec probe(Server :: pid(), Covered :: non_neg_integer(), watch()) -> ok.
probe(Server, Covered, {Pid, _}) ->
    Server ! {system, {Pid, {'$dam_probe', Server, Covered}}, '$dam_probe'},
    ok.

%% @doc Asks how many messages wait at the server, those of others too.
-spec ask_length(Server :: pid(), Covered :: non_neg_integer(), watch()) -> ok.
ask_length(Server, Covered, {Pid, _}) ->
    Pid ! {length, Server, Covered},
    ok.

%% @doc Asks who the server is now.
-spec resolve(dam_types:server(), watch()) -> ok.
resolve(Server, {Pid, _}) ->
    Pid ! {resolve, Server},
    ok.

%% @doc The newest answer to a probe. It is read from memory, so that it does
%% not wait behind the messages in the dam's own mailbox.
-spec answered(watch()) -> integer().
answered({_, Answered}) -> atomics:get(Answered, 1).

%% @doc Whether that is the process.
-spec is_process(pid(), watch()) -> boolean().
is_process(Pid, {Own, _}) -> Pid =:= Own.

-spec stop(watch()) -> ok.
stop({Pid, _}) ->
    unlink(Pid),
    exit(Pid, kill),
    ok.

-spec init({Dam :: pid(), atomics:atomics_ref(), PollMs :: pos_integer()}) -> no_return().
init({Dam, Answered, PollMs} = State) ->
    receive
        {{'$dam_probe', Server, Covered}, _} -> answer(is_suspended(Server), Covered, Answered, Dam);
        {length, Server, Covered} ->
            report_length(Server, Covered, Dam),
            %% Nobody is asked more often than this; what else waits here waits too.
            timer:sleep(PollMs);
        {resolve, Server} -> report({server, where(Server)}, Dam);
        _ -> ok
    end,
    init(State).

answer(false, Covered, Answered, Dam) ->
    atomics:put(Answered, 1, max(Covered, atomics:get(Answered, 1))),
    report(answered, Dam);
answer(true, _, _, Dam) ->
    timer:sleep(?SUSPENDED_MS),
    report(suspended, Dam).

%% The newest question is enough: each answer may ask anew, and so questions would pile up.
report_length(Server, Covered, Dam) ->
    receive
        {length, Newer, NewerCovered} -> report_length(Newer, NewerCovered, Dam)
    after 0 -> report({length, Server, Covered, info(Server, message_queue_len)}, Dam)
    end.

report(News, Dam) ->
    Dam ! {'$dam_watch', News},
    ok.

%% One that hibernated when it was suspended wakes, passes over its messages and
%% hibernates again, without end.
is_suspended(Server) ->
    case info(Server, current_function) of
        {sys, Function, _} -> Function =:= suspend_loop orelse Function =:= suspend_loop_hib;
        {erlang, hibernate, 3} -> is_positive(info(Server, message_queue_len));
        _ -> false
    end.

is_positive(Length) -> is_integer(Length) andalso Length > 0.

info(Server, Item) when node(Server) =:= node() -> value(process_info(Server, Item));
info(Server, Item) -> value(remote(node(Server), process_info, [Server, Item])).

remote(Node, Function, Arguments) ->
    try erpc:call(Node, erlang, Function, Arguments, ?REMOTE_TIMEOUT_MS)
    catch _:_ -> unreachable
    end.

value({_, Value}) -> Value;
value(NoValue) -> NoValue.

where(Server) when is_pid(Server), node(Server) =:= node() -> Server;
where(Server) when is_pid(Server) ->
    case info(Server, message_queue_len) of
        unreachable -> undefined;
        _ -> Server
    end;
where(Name) when is_atom(Name) -> pid(whereis(Name));
where({global, Name}) -> where({via, global, Name});
where({via, Module, Name}) ->
    try pid(Module:whereis_name(Name))
    catch _:_ -> undefined
    end;
where({Name, Node}) -> pid(remote(Node, whereis, [Name])).

%% A port may have a name too.
pid(Pid) when is_pid(Pid) -> Pid;
pid(_) -> undefined.
