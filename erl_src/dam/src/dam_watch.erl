%% @doc A helper process of a dam that asks about the server, so that questions that take a while
%% (to a busy process, another node or a name server) never block the dam.
%%
%% A probe is a system message that `sys' does not know. Every OTP behaviour, and every other
%% process that calls sys:handle_system_msg, answers it with an error of a few words when its turn
%% in the mailbox comes. It does not look at its state, so a state of any size is never copied.
%% sys:get_state and get_status would copy the state, suspend and resume would change it. do_cmd/6
%% in sys.erl of OTP 27 and 29 has no cheaper request.
%%
%% A process stopped by sys:suspend answers at once and out of order, without taking the messages
%% that came before. So after each answer the watch checks what the process executes. While it handles
%% a system message, such as one of sys:get_state, that does not tell whether it is suspended. So the
%% watch looks again. A process that was suspended and resumed between answer and check is not
%% noticed, and may get up to `high' messages too many. The same holds for one that handles a system
%% message with more calls than a stack trace shows (erlang:system_flag(backtrace_depth, _)).
-module(dam_watch).

-export([start_link/1, is_process/2, probe/3, poll/3, read_now/3, resolve/2, answered/1, stop/1]).
-export([init/1]).
-export_type([watch/0]).

-opaque watch() :: {pid(), atomics:atomics_ref()}.

%% read_ms: when the length was last read for poll/3. due: the newest poll that was not answered.
-record(state, {dam :: pid(), answered :: atomics:atomics_ref(), poll_ms :: pos_integer(),
                read_ms :: integer(), due = none :: none | {Server :: pid(), Covered :: non_neg_integer()}}).

-define(SUSPENDED_MS, 50).
%% How often a process that hibernates with messages queued, or that handles a system message, is
%% looked at, and how many system messages may leave its mailbox meanwhile.
-define(LOOKS, 100).
-define(SYSTEM_MESSAGES, 3).
-define(REMOTE_TIMEOUT_MS, 5_000).

%% @doc Starts the process for the calling dam. It sends ``{'$dam_watch', News}'', where News is
%% `answered' (see answered/1), `suspended', `{length, Pid, Covered, Length}' or
%% `{server, Server, Pid | undefined}'.
-spec start_link(PollMs :: pos_integer()) -> watch().
start_link(PollMs) ->
    Answered = atomics:new(1, []),
    {proc_lib:spawn_link(?MODULE, init, [{self(), Answered, PollMs}]), Answered}.

%% @doc Sends the server a probe, which it answers after everything that the caller has sent to it.
-spec probe(Server :: pid(), Covered :: non_neg_integer(), watch()) -> ok.
probe(Server, Covered, {Pid, _}) ->
    Server ! {system, {Pid, {'$dam_probe', Server, Covered}}, '$dam_probe'},
    ok.

%% @doc Asks for the length of the server's queue, which includes messages of other senders. The watch reads it at most every
%% `PollMs'. Only the newest question is answered then: each answer may cause another question, so they would pile up.
-spec poll(Server :: pid(), Covered :: non_neg_integer(), watch()) -> ok.
poll(Server, Covered, {Pid, _}) ->
    Pid ! {length, Server, Covered},
    ok.

%% @doc As poll/3, but the length is read at once.
-spec read_now(Server :: pid(), Covered :: non_neg_integer(), watch()) -> ok.
read_now(Server, Covered, {Pid, _}) ->
    Pid ! {read_now, Server, Covered},
    ok.

%% @doc Asks which process the server is now.
-spec resolve(dam_types:server(), watch()) -> ok.
resolve(Server, {Pid, _}) ->
    Pid ! {resolve, Server},
    ok.

%% @doc The newest answer to a probe. It is read from memory, so it does not wait behind the
%% messages in the dam's own mailbox.
-spec answered(watch()) -> integer().
answered({_, Answered}) -> atomics:get(Answered, 1).

%% @doc Whether the pid is this process.
-spec is_process(pid(), watch()) -> boolean().
is_process(Pid, {Own, _}) -> Pid =:= Own.

-spec stop(watch()) -> ok.
stop({Pid, _}) ->
    unlink(Pid),
    exit(Pid, kill),
    ok.

-spec init({Dam :: pid(), atomics:atomics_ref(), PollMs :: pos_integer()}) -> no_return().
init({Dam, Answered, PollMs}) -> loop(#state{dam = Dam, answered = Answered, poll_ms = PollMs, read_ms = now_ms() - PollMs}).

%% It does not sleep between two polls, because other questions would wait as well.
-spec loop(#state{}) -> no_return().
loop(State) ->
    receive Message -> loop(handled(Message, State))
    after wait(State) -> loop(polled(State))
    end.

wait(#state{due = none}) -> infinity;
wait(#state{read_ms = Read, poll_ms = PollMs}) -> max(0, Read + PollMs - now_ms()).

handled({{'$dam_probe', Server, Covered}, _}, #state{answered = Answered, dam = Dam} = State) ->
    ok = answer(is_suspended(Server), Covered, Answered, Dam),
    State;
handled({length, Server, Covered}, State) -> State#state{due = {Server, Covered}};
handled({read_now, Server, Covered}, #state{dam = Dam} = State) ->
    ok = read_newest(Server, Covered, Dam),
    State;
handled({resolve, Server}, #state{dam = Dam} = State) ->
    ok = report({server, Server, where(Server)}, Dam),
    State;
handled(_, State) -> State.

polled(#state{due = {Server, Covered}, dam = Dam} = State) ->
    ok = report_length(Server, Covered, Dam),
    State#state{due = none, read_ms = now_ms()}.

%% Such questions pile up while a question to another node takes a while. Only the newest is answered.
read_newest(Server, Covered, Dam) ->
    receive {read_now, Newer, NewerCovered} -> read_newest(Newer, NewerCovered, Dam)
    after 0 -> report_length(Server, Covered, Dam)
    end.

report_length(Server, Covered, Dam) -> report({length, Server, Covered, info(Server, message_queue_len)}, Dam).

answer(false, Covered, Answered, Dam) ->
    atomics:put(Answered, 1, max(Covered, atomics:get(Answered, 1))),
    report(answered, Dam);
answer(true, _, _, Dam) ->
    timer:sleep(?SUSPENDED_MS),
    report(suspended, Dam).

report(News, Dam) ->
    Dam ! {'$dam_watch', News},
    ok.

%% A process that hibernated when it was suspended wakes, skips its messages and hibernates again,
%% without end. It looks like a process that is not suspended and hibernates after each message. But
%% only the latter takes messages, so such a process is looked at repeatedly. If it is never seen at
%% work, without messages or with fewer messages, it counts as suspended.
is_suspended(Server) -> look(Server, 0, ?LOOKS).

look(Server, Most, Looks) ->
    case info(Server, [current_function, message_queue_len, current_stacktrace]) of
        [{_, Function}, {_, Length}, {_, Stack}] -> seen(doing(Function, Stack), Length, Server, Most, Looks);
        undefined -> true; % it has ended, and may have been suspended when it answered
        _ -> false
    end.

seen(suspended, _, _, _, _) -> true;
seen(_, 0, _, _, _) -> false;
seen(hibernating, Length, Server, Most, Looks) -> hibernates_suspended(max(Most, Length), Length, Server, Looks);
seen(system_message, _, Server, Most, Looks) -> look_again(Server, Most, Looks);
seen(something, _, _, _, _) -> false.

%% The function alone may be one of the VM's own.
doing({erlang, hibernate, 3}, _) -> hibernating;
doing({proc_lib, wake_up, 3}, _) -> hibernating;
doing(_, Stack) ->
    case [Function || {sys, Function, _, _} <- Stack, lists:member(Function, [suspend_loop, suspend_loop_hib, handle_system_msg])] of
        [handle_system_msg | _] -> system_message;
        [_ | _] -> suspended;
        [] -> something
    end.

%% A suspended process still takes system messages, such as a probe or two.
hibernates_suspended(Most, Length, _, _) when Length < Most - ?SYSTEM_MESSAGES -> false;
hibernates_suspended(Most, _, Server, Looks) -> look_again(Server, Most, Looks).

%% A process that is wrongly taken for suspended is asked again, which only takes time.
look_again(_, _, 0) -> true;
look_again(Server, Most, Looks) ->
    true = erlang:yield(),
    look(Server, Most, Looks - 1).

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

%% A port can have a registered name too.
pid(Pid) when is_pid(Pid) -> Pid;
pid(_) -> undefined.

now_ms() -> erlang:monotonic_time(millisecond).
