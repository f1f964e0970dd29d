%% @doc Back-pressure in front of a process that may be sent more messages than it can handle.
%%
%% A dam forwards messages to its server and keeps the server's mailbox short: at most `high' of
%% its messages, and at most as many probes (see dam_watch), wait there. The other messages wait in the dam. A
%% process with a short mailbox stays fast. A process with a long message queue scans the queue for
%% each reply that it waits for. Messages of one sender arrive in the order in which they were sent,
%% messages with priority before the others.
%%
%% A dam forwards any other message unchanged, so gen_server:cast/2 and call/2 work through a dam.
%% Such a message cannot block its sender; it is dropped when the dam is full. ``{'EXIT', Process,
%% Reason}'' is forwarded too, with one exception: a dam ends when the process that started it ends.
%% That its server ends it learns otherwise (see start_link/2), so a link to the server means nothing.
-module(dam).

-export([start_link/1, start_link/2, start_link/3, child_spec/1, send/2, send_priority/2, send_async/2, ack/1, ack/2]).
-export([info/1, configure/2, flush/2, stop/1, stop/2, format_error/2]).
-export_type([dam/0, name/0, server/0, options/0, policy/0, measure/0, reason/0, info/0]).

%% {@link dam_types} describes these types.
-type dam() :: dam_types:dam().
-type name() :: dam_types:name().
-type server() :: dam_types:server().
-type options() :: dam_types:options().
-type policy() :: dam_types:policy().
-type measure() :: dam_types:measure().
-type reason() :: dam_types:reason().
-type info() :: dam_types:info().

-define(CALL_MS, 5_000).
-define(STOP_MS, 5_000).
-define(SEND_REDUCTIONS, 10).
%% How much longer than its time a caller of flush/2 or stop/2 waits for the dam's answer.
-define(ANSWER_MS, 100).
%% How much longer than stop_ms a supervisor waits for a dam.
-define(SHUTDOWN_MS, 1_000).

-include("dam_timeout.hrl").

%% @equiv start_link(Server, #{})
-spec start_link(server()) -> {ok, pid()} | {error, term()}.
start_link(Server) -> start_link(Server, #{}).

%% @doc Starts a dam in front of a server. Fails with `badarg' if an option is invalid; the error
%% names the option. If the server is the pid of a dead process on this node, the result is
%% `{error, noproc}'.
%%
%% A dam whose server is a pid ends with that process and drops what it holds. A dam whose server is
%% a name waits for the next process of that name.
-spec start_link(server(), options()) -> {ok, pid()} | {error, term()}.
start_link(Server, Options) ->
    dam_proxy:start_link(undefined, checked(dam_options:new(Server, Options), {start_link, [Server, Options]})).

%% @doc Starts a dam and registers it under a name.
-spec start_link(name(), server(), options()) -> {ok, pid()} | {error, term()}.
start_link(Name, Server, Options) ->
    Call = {start_link, [Name, Server, Options]},
    is_name(Name) orelse complain(Call, "not {local, Name}, {global, Name} or {via, Module, Name}", 1),
    Checked = checked(dam_options:new(Server, Options), Call),
    ok = not_itself(Name, Server, Call, 2),
    ok = registers(Name, Call),
    dam_proxy:start_link(Name, Checked).

%% It would send itself each message again and again.
not_itself(Name, Server, Call, Position) ->
    case dam_options:is_own_name(Name, Server) of
        true -> complain(Call, dam_options:own_name(Server), Position);
        false -> ok
    end.

%% A module that is not there would fail in the process that starts.
registers({via, Module, _}, Call) ->
    ok = has(register_name, 2, Module, Call),
    has(whereis_name, 1, Module, Call);
registers(_, _) -> ok.

has(Function, Arity, Module, Call) ->
    _ = erlang:module_loaded(Module) orelse code:ensure_loaded(Module),
    case erlang:function_exported(Module, Function, Arity) of
        true -> ok;
        false -> complain(Call, io_lib:format("the module ~p of the name has no function ~p/~b", [Module, Function, Arity]), 1)
    end.

%% @doc A child specification for a supervisor. The argument is a map or a list of pairs with
%% `server', optionally `name' and `id', and options. A name that is an atom is registered on this
%% node. The default of `id' is the name, or the server if there is no name.
-spec child_spec(#{server := server(), name => name() | atom(), id => term(), atom() => term()} | [{atom(), term()}]) ->
          supervisor:child_spec().
child_spec(Given) when is_list(Given) ->
    case are_pairs(Given) of
        true -> spec(maps:from_list(Given), {child_spec, [Given]});
        false -> no_spec({child_spec, [Given]})
    end;
child_spec(Given) -> spec(Given, {child_spec, [Given]}).

spec(#{server := Server} = Given, Call) ->
    Options = maps:without([server, name, id], Given),
    #{stop_ms := StopMs} = checked(dam_options:new(Server, Options), Call),
    Name = maps:get(name, Given, undefined),
    Name =:= undefined orelse is_name(name(Name)) orelse complain(Call, io_lib:format("option name: ~p is not a name", [Name]), 1),
    ok = not_itself(name(Name), Server, Call, 1),
    #{id => maps:get(id, Given, {?MODULE, first_of(Name, Server)}), start => {?MODULE, start_link, start(Name, Server, Options)},
      shutdown => min(StopMs + ?SHUTDOWN_MS, ?MAX_MS), modules => [dam_proxy]};
spec(Given, Call) when is_map(Given) -> complain(Call, "the server is missing: #{server => Server, ...}", 1);
spec(_, Call) -> no_spec(Call).

-spec no_spec({child_spec, [term(), ...]}) -> no_return().
no_spec(Call) -> complain(Call, "the argument must be a map or a list of pairs", 1).

are_pairs([{_, _} | Pairs]) -> are_pairs(Pairs);
are_pairs(Rest) -> Rest =:= [].

first_of(undefined, Server) -> Server;
first_of(Name, _) -> Name.

start(undefined, Server, Options) -> [Server, Options];
start(Name, Server, Options) -> [name(Name), Server, Options].

name(Name) when is_atom(Name) -> {local, Name};
name(Name) -> Name.

is_name({local, Name}) -> is_atom(Name) andalso Name =/= undefined;
is_name({global, _}) -> true;
is_name({via, Module, _}) -> is_atom(Module);
is_name(_) -> false.

checked({ok, Options}, _Call) -> Options;
checked({bad_server, Complaint}, {_, Arguments} = Call) -> complain(Call, Complaint, max(1, length(Arguments) - 1));
checked({error, Complaint}, {_, Arguments} = Call) -> complain(Call, Complaint, length(Arguments)).

%% Names the function that was called, and not the ones inside.
-spec complain({Function :: atom(), Arguments :: [term(), ...]}, unicode:chardata(), pos_integer()) -> no_return().
complain({Function, Arguments}, Complaint, Position) ->
    Cause = #{Position => unicode:characters_to_list(Complaint)},
    {current_stacktrace, Stack} = process_info(self(), current_stacktrace),
    Callers = lists:dropwhile(fun({Module, _, _, _}) -> lists:member(Module, [erlang, ?MODULE]) end, Stack),
    erlang:raise(error, badarg, [{?MODULE, Function, Arguments, [{error_info, #{cause => Cause}}]} | Callers]).

%% @doc The causes of a `badarg', for the shell and for `erl_error'.
-spec format_error(term(), [{_, _, _, _}, ...]) -> #{pos_integer() => string()}.
format_error(_Reason, [{_, _, _, Info} | _]) ->
    #{cause := Cause} = proplists:get_value(error_info, Info, #{}),
    Cause.

%% @doc Sends a message. While the dam has room, this is a plain send that does not wait, and `ok'
%% guarantees no more than `!' does. When the dam is full, the sender asks the dam first. Then `ok'
%% means that the message is held or with the server, and these errors mean that it is neither:
%% `full' or `too_large' if a limit was reached, `deadline' if the deadline of the policy block
%% passed, `stopping' if the dam is stopping, `noproc' if there is no dam. A sender that asks waits until the dam has read the messages
%% that came before, also after its deadline: until then its message may be held.
%%
%% In two cases the sender cannot know: `noconnection' means that the connection to the node of the dam was lost or cannot be made,
%% so the message may be held or with the server. If the dam is killed while the sender waits, the result is `noproc', and the
%% message may be with the server.
-spec send(dam(), Message :: term()) -> ok | {error, reason() | noproc | noconnection}.
send(Dam, Message) -> send(send, normal, '$dam', Dam, Message).

%% @doc As send/2, but the message overtakes all messages without priority that wait in the dam.
%% Messages with priority have a limit of their own, as high as that of the others.
-spec send_priority(dam(), Message :: term()) -> ok | {error, reason() | noproc | noconnection}.
send_priority(Dam, Message) -> send(send_priority, priority, '$dam_priority', Dam, Message).

send(Function, Lane, Tag, Dam, Message) ->
    case whereis_dam(Dam, Function, [Message]) of
        Pid when is_pid(Pid), node(Pid) =:= node() ->
            case dam_flag:is_raised(Pid) of
                false ->
                    %% Limits a sender to some hundred messages, instead of thousands, in the time
                    %% slice that may pass before the dam can raise its flag.
                    true = erlang:bump_reductions(?SEND_REDUCTIONS),
                    Pid ! {Tag, Message},
                    ok;
                true -> ask_to_send(Lane, Pid, Message)
            end;
        undefined -> {error, noproc};
        Remote -> ask_to_send(Lane, Remote, Message)
    end.

%% A dam on another node is always asked, because its flag cannot be read from here. One of this node is told who asks, because it must
%% not keep its own server waiting, and when, because the sender's time begins then and not when the dam reads the request. (One of
%% another node has another clock, and may be of a version that does not know that request.)
ask_to_send(Lane, To, Message) ->
    Request = case is_pid(To) andalso node(To) =:= node() of
                  true -> {send, Lane, Message, self(), erlang:monotonic_time(millisecond)};
                  false -> {send, Lane, Message}
              end,
    case call(To, Request, infinity) of
        {reply, Reply} -> Reply;
        {down, noconnection} -> {error, noconnection};
        {down, _} -> {error, noproc}
    end.

%% @doc Sends a message and never waits. When the dam is full, the policy block drops the message
%% too.
-spec send_async(dam(), Message :: term()) -> ok | {error, noproc}.
send_async(Dam, Message) -> tell(whereis_dam(Dam, send_async, [Message]), {'$dam_async', Message}).

%% @equiv ack(Dam, 1)
-spec ack(dam()) -> ok | {error, noproc}.
ack(Dam) -> ack(Dam, 1).

%% @doc For a server whose dam has the option `credit => ack': reports that the server has taken N
%% more messages from its mailbox.
-spec ack(dam(), pos_integer()) -> ok | {error, noproc}.
ack(Dam, N) when is_integer(N), N > 0 -> tell(whereis_dam(Dam, ack, [N]), {'$dam_ack', N});
ack(Dam, N) -> complain({ack, [Dam, N]}, "the number of messages must be a positive integer", 2).

%% @doc Counts of the messages that the dam has received, delivered, dropped and holds.
-spec info(dam()) -> info().
info(Dam) -> request(Dam, info, ?CALL_MS, info, []).

%% @doc Changes options of a running dam: `server', `high', `low', `limit',
%% `limit_bytes', `measure', `policy', `recover_ms', `retry_ms', `stop_ms'. Held messages
%% stay. If the policy changes, it also holds for the senders that are blocked: the time of
%% `{block, Ms}' begins anew. Fails with `badarg' if an option is wrong, or if the new server is a local process that has ended.
-spec configure(dam(), #{server => server(), atom() => term()}) -> ok.
configure(Dam, Changes) ->
    Call = {configure, [Dam, Changes]},
    is_map(Changes) orelse complain(Call, "the options must be a map", 2),
    case maps:keys(maps:without(dam_options:at_run_time(), Changes)) of
        [] -> ok;
        [Name | _] -> complain(Call, dam_options:not_at_run_time(Name), 2)
    end,
    case request(Dam, {configure, Changes}, ?CALL_MS, configure, [Changes]) of
        ok -> ok;
        {error, Complaint} -> complain(Call, Complaint, 2)
    end.

%% @doc Waits until the dam holds no message, and then until the server has taken everything sent up
%% to that moment. If configure/2 named another server, it also waits until the dam has found this
%% server, unless the former server has ended. The result is `{error, deadline}' after Timeout milliseconds, or 100 ms later if the dam
%% does not answer. It is `{error, stopping}' if the dam is being stopped.
-spec flush(dam(), timeout()) -> ok | {error, deadline | stopping}.
flush(Dam, Timeout) ->
    ok = is_timeout(Timeout, {flush, [Dam, Timeout]}),
    case request_in_time(whereis_dam(Dam, flush, [Timeout]), flush, Timeout, [Dam, Timeout]) of
        no_answer -> {error, deadline};
        Result -> Result
    end.

%% @equiv stop(Dam, 5000)
-spec stop(dam()) -> ok | {error, deadline}.
stop(Dam) -> stop(Dam, ?STOP_MS).

%% @doc Stops the dam. It takes no more messages, and has Timeout milliseconds to hand over the
%% messages that it holds. The result is `{error, deadline}' if some were left and dropped, also
%% because the server, given as a pid, has died meanwhile. If several processes stop it, the shortest time counts for all.
%%
%% The dam has ended when this function returns, with one exception. A dam that is suspended, or that has a long mailbox, may read the
%% request late. The result is then `{error, deadline}' 100 ms after Timeout. The dam still stops when it has read the request.
-spec stop(dam(), timeout()) -> ok | {error, deadline}.
stop(Dam, Timeout) ->
    ok = is_timeout(Timeout, {stop, [Dam, Timeout]}),
    %% It answers before it ends. Whoever starts another of its name then needs the name to be free.
    Process = whereis_dam(Dam, stop, [Timeout]),
    End = case Process of undefined -> none; _ -> monitor(process, Process) end,
    try request_in_time(Process, stop, Timeout, [Dam, Timeout]) of
        no_answer -> {error, deadline};
        Result ->
            receive {'DOWN', End, process, _, _} -> Result end
    after
        _ = End =/= none andalso demonitor(End, [flush])
    end.

is_timeout(Timeout, _) when ?IS_TIMEOUT(Timeout) -> ok;
is_timeout(_, Call) -> complain(Call, io_lib:format("the timeout must be infinity or an integer from 0 to ~b", [?MAX_MS]), 2).

tell(undefined, _) -> {error, noproc};
tell(To, Message) ->
    To ! Message,
    ok.

%% The dam's own time begins when it reads the request, so the caller does not rely on it alone.
request_in_time(To, Function, Timeout, Arguments) ->
    case call(To, {Function, Timeout}, with_answer(Timeout)) of
        {reply, Reply} -> Reply;
        {down, Reason} -> exit({Reason, {?MODULE, Function, Arguments}});
        timeout -> no_answer
    end.

with_answer(infinity) -> infinity;
with_answer(Ms) -> min(Ms + ?ANSWER_MS, ?MAX_MS).

request(Dam, Request, Timeout, Function, Others) ->
    case call(whereis_dam(Dam, Function, Others), Request, Timeout) of
        {reply, Reply} -> Reply;
        {down, Reason} -> exit({Reason, {?MODULE, Function, [Dam | Others]}});
        timeout -> exit({timeout, {?MODULE, Function, [Dam | Others]}})
    end.

%% The reference is new, so the receive skips the messages that are queued already.
call(undefined, _Request, _Timeout) -> {down, noproc};
call(To, Request, Timeout) ->
    Ref = monitor(process, To, [{alias, reply_demonitor}]),
    To ! {'$dam_call', Ref, Request},
    receive
        {Ref, Reply} -> {reply, Reply};
        {'DOWN', Ref, process, _, Reason} -> {down, Reason}
    after Timeout ->
            true = demonitor(Ref, [flush]),
            receive {Ref, Reply} -> {reply, Reply}
            after 0 -> timeout
            end
    end.

%% An error names the function that was called, with the dam and its other arguments.
whereis_dam(Pid, _, _) when is_pid(Pid) -> Pid;
whereis_dam(Name, _, _) when is_atom(Name) -> process(whereis(Name));
whereis_dam({global, Name}, _, _) -> global:whereis_name(Name);
whereis_dam({via, Module, Name} = Dam, Function, Others) when is_atom(Module) ->
    ok = has(whereis_name, 1, Module, {Function, [Dam | Others]}),
    Module:whereis_name(Name);
whereis_dam({Name, Node}, _, _) when is_atom(Name), Node =:= node() -> process(whereis(Name));
whereis_dam({Name, Node} = Remote, _, _) when is_atom(Name), is_atom(Node) ->
    %% A VM that is no node cannot monitor it.
    case is_alive() of
        true -> Remote;
        false -> undefined
    end;
whereis_dam(Other, Function, Others) ->
    complain({Function, [Other | Others]},
             io_lib:format("a dam is a pid, a name, {Name, Node}, {global, Name} or {via, Module, Name}, not ~p", [Other]), 1).

%% A port can have a registered name, too.
process(Pid) when is_pid(Pid) -> Pid;
process(_) -> undefined.
