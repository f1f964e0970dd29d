%% A server that takes messages only when it is let, and a record of what each has
%% taken that outlives it. It is a process as sys wants them.
-module(dam_test_server).

-export([new_record/0, start/1, start/2, permit/2, taken/1, waiting/1, init/3]).
-export([system_continue/3, system_terminate/4, system_code_change/4]).

new_record() -> ets:new(taken, [ordered_set, public]).

%% What it does for a message beside taking it: an acknowledgement of every Nth, say.
start(Record) -> start(Record, fun(_) -> ok end).

start(Record, After) ->
    {ok, Pid} = proc_lib:start(?MODULE, init, [self(), Record, After]),
    Pid.

%% Lets it take so many more messages, or all.
permit(N, Server) ->
    Server ! {permit, N},
    ok.

%% What was taken, in order.
taken(Record) -> [Message || {_, Message} <- ets:tab2list(Record)].

%% What waits at the server, but its system messages.
waiting(Server) ->
    {messages, Messages} = process_info(Server, messages),
    length([Message || Message <- Messages, not is_aside(Message)]).

is_aside({permit, _}) -> true;
is_aside({system, _, _}) -> true;
is_aside(_) -> false.

init(Parent, Record, After) ->
    proc_lib:init_ack({ok, self()}),
    loop(0, {Parent, Record, After}).

%% A number is less than the atom `all'.
loop(0, State) ->
    receive
        {permit, N} -> loop(N, State)
    end;
loop(Left, {Parent, _, _} = State) ->
    receive
        {system, From, Request} -> sys:handle_system_msg(Request, From, Parent, ?MODULE, [], {Left, State});
        {permit, N} -> loop(more(Left, N), State);
        {stop, Reason} -> exit(Reason);
        Message -> loop(less(Left), take(Message, State))
    end.

more(Left, N) when is_integer(Left), is_integer(N) -> Left + N;
more(_, _) -> all.

less(all) -> all;
less(Left) -> Left - 1.

take(Message, {_, Record, After} = State) ->
    true = ets:insert(Record, {erlang:unique_integer([monotonic]), Message}),
    _ = After(Message),
    State.

system_continue(_Parent, _Debug, {Left, State}) -> loop(Left, State).

system_terminate(Reason, _Parent, _Debug, _State) -> exit(Reason).

system_code_change(State, _Module, _OldVersion, _Extra) -> {ok, State}.
