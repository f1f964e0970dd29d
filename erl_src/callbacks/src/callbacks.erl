%% @doc Callbacks: threads that wait without a process of their own.
%%
%% A callback is a fun that returns, instead of blocking, what is to come next.
%% It is run by a worker, a process that it shares with others, and while it
%% waits it is a row of a table. What it may return:
%%
%% `done' ends it. `{next, fun/0}' goes on after what the worker has to do
%% already. `{wait, fun/1}' goes on with the next message, and `{wait, fun/1,
%% Milliseconds, fun/0}' with the second fun if none comes in time. `{sleep,
%% Milliseconds, fun/0}' goes on then; messages wait meanwhile.
%%
%% Anything else, or an exception, ends that callback only. One that does not
%% return within `hold_ms' to twice that keeps the process it runs in, and the
%% others go on in a fresh one. A callback may block, so, but it costs a process
%% then; it must not receive what it has no reference for, nor link to its worker.
%%
%% Messages of one sender come in the order in which they were sent. An
%% identity is never used again, so what is sent to a callback that has ended is
%% lost and never reaches another one.
-module(callbacks).

-export([spawn/1, spawn/2, spawn_monitor/1, send/2, self/0, monitor/1, exit/2, all/0, info/0, format_error/2]).
-export_type([id/0, next/0, info/0]).

-compile({no_auto_import, [spawn/1, spawn/2, spawn_monitor/1, self/0, monitor/1, exit/2]}).

-opaque id() :: pos_integer().
-type milliseconds() :: 0..16#FFFFFFFF.
-type next() :: done
              | {next, fun(() -> next())}
              | {wait, fun((Message :: term()) -> next())}
              | {wait, fun((Message :: term()) -> next()), milliseconds(), fun(() -> next())}
              | {sleep, milliseconds(), fun(() -> next())}.
%% `alive' are those that have not ended, and `held' those of them that did not
%% return in time and keep a process. `failed' ended otherwise than by `done'.
%% Counted since the start of the worker that a callback is of.
-type info() :: #{workers := pos_integer(), spawned := non_neg_integer(), done := non_neg_integer(),
                  failed := non_neg_integer(), alive := non_neg_integer(), held := [id()]}.

%% @doc Starts a callback, on the workers in turn.
-spec spawn(fun(() -> next())) -> id().
spawn(Fun) when is_function(Fun, 0) -> start(next_id(), Fun);
spawn(Other) -> bad([Other], 1, not_a_fun).

%% @doc Starts a callback on the worker of that number, from 1 on. Callbacks of one
%% worker never run at the same time, unless one of them is held.
-spec spawn(pos_integer(), fun(() -> next())) -> id().
spawn(Worker, Fun) when is_function(Fun, 0), is_integer(Worker), Worker >= 1 ->
    Worker =< callbacks_route:workers() orelse bad([Worker, Fun], 1, not_a_worker),
    start(callbacks_route:id(erlang:unique_integer([positive]), Worker), Fun);
spawn(Worker, Fun) when is_function(Fun, 0) -> bad([Worker, Fun], 1, not_a_worker);
spawn(Worker, Other) -> bad([Worker, Other], 2, not_a_fun).

next_id() ->
    Unique = erlang:unique_integer([positive]),
    callbacks_route:id(Unique, Unique rem callbacks_route:workers() + 1).

start(Id, Fun) ->
    ok = callbacks_route:post(Id, {'$spawn', Id, Fun}),
    Id.

%% @doc Starts a callback that is monitored from its first step on.
-spec spawn_monitor(fun(() -> next())) -> {id(), reference()}.
spawn_monitor(Fun) when is_function(Fun, 0) ->
    Id = next_id(),
    Keeper = callbacks_route:keeper(Id),
    Reference = watch(self(), Id, Keeper, leave),
    %% By the caller itself, so that what it sends next comes after it.
    ok = callbacks_route:post(Id, {'$spawn', Id, {Fun, Reference, Keeper}}),
    {Id, Reference};
spawn_monitor(Other) -> bad([Other], 1, not_a_fun).

%% @doc Sends a message. It is lost when the callback has ended.
-spec send(id(), term()) -> ok.
send(Id, Message) ->
    ok = known([Id, Message], Id),
    callbacks_route:post(Id, {'$message', Id, Message}).

%% @doc The callback that calls this, or `undefined' outside of one.
-spec self() -> id() | undefined.
self() -> callbacks_worker:running().

%% @doc Has the caller, a process or a callback, told when the callback ends, by
%% the message `{{callback_down, Id}, Reference, process, _, Reason}'. The reason
%% is `normal' after `done', `noproc' if it had ended before, `{bad_return, Value}'
%% after what is no continuation, that of a process after an exception, and
%% `{worker_down, _}' where its worker was killed. A process ends this by
%% `erlang:demonitor(Reference, [flush])'.
-spec monitor(id()) -> reference().
monitor(Id) ->
    ok = known([Id], Id),
    watch(self(), Id, callbacks_route:keeper(Id), post).

%% Also posts that there is a monitor, or leaves that to the caller.
watch(undefined, Id, Keeper, leave) -> callbacks_route:watch(Id, Keeper);
watch(undefined, Id, Keeper, post) ->
    Reference = callbacks_route:watch(Id, Keeper),
    ok = callbacks_route:post(Id, {'$monitor', Id, Reference}),
    Reference;
watch(Watcher, Id, Keeper, Posting) -> callbacks_keeper:watch(Watcher, Id, Keeper, Posting).

%% @doc Ends a callback that waits, or kills the process of one that is held. Does
%% nothing when it has ended already.
-spec exit(id(), term()) -> ok.
exit(Id, Reason) ->
    ok = known([Id, Reason], Id),
    callbacks_route:post(Id, {'$exit', Id, Reason}).

%% @doc The callbacks that have begun and not ended, as of a moment in which they go on.
-spec all() -> [id()].
all() -> lists:append([callbacks_keeper:all(Worker) || Worker <- lists:seq(1, callbacks_route:workers())]).

%% @doc What there is, over all workers.
-spec info() -> info().
info() ->
    Workers = callbacks_route:workers(),
    lists:foldl(fun(Worker, Sum) -> maps:merge_with(fun add/3, Sum, callbacks_keeper:info(Worker)) end,
                #{workers => Workers, spawned => 0, done => 0, failed => 0, alive => 0, held => []},
                lists:seq(1, Workers)).

add(held, Some, Others) -> Some ++ Others;
add(_, Some, More) -> Some + More.

known(Arguments, Id) ->
    callbacks_route:is_id(Id) orelse bad(Arguments, 1, not_an_id),
    ok.

-spec bad([term()], pos_integer(), atom()) -> no_return().
bad(Arguments, Number, Cause) ->
    erlang:error(badarg, Arguments, [{error_info, #{cause => {Number, Cause}}}]).

%% @doc The causes of a `badarg', for the shell and for `erl_error'.
-spec format_error(term(), [{_, _, _, _}, ...]) -> #{pos_integer() => string()}.
format_error(_Reason, [{_, _, _, Info} | _]) ->
    #{cause := {Number, Cause}} = proplists:get_value(error_info, Info, #{}),
    #{Number => text(Cause)}.

text(not_a_fun) -> "not a fun without arguments";
text(not_a_worker) -> "not the number of a worker";
text(not_an_id) -> "not a callback of this node".
