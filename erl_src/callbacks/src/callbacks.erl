%% @doc Callbacks: threads that wait without a process of their own.
%%
%% A callback is a fun that returns what comes next, instead of blocking. It is run by a worker, a
%% process that it shares with other callbacks. While it waits, it is a row of a table. It may
%% return:
%%
%% `done': the callback ends. `{next, fun/0}': it continues after the work that its worker already
%% has to do. `{wait, fun/1}': it continues with the next message. `{wait, fun/1, Milliseconds,
%% fun/0}':
%% the same, or it continues with the second fun if no message comes in time. `{sleep, Milliseconds,
%% fun/0}': it continues after that time; messages wait meanwhile.
%%
%% Any other return value, or an exception, ends that callback only. A callback that does not return
%% within `hold_ms' to twice `hold_ms' keeps the process it runs in, and the other callbacks
%% continue in a fresh process. So a callback may block, but then it occupies a process. It must not
%% receive messages for which it has no reference, nor link to its worker.
%%
%% Messages of one sender arrive in the order in which they were sent. An identity is never used
%% again, so a message to a callback that has ended is lost and never reaches another callback.
-module(callbacks).

-export([spawn/1, spawn/2, spawn_monitor/1, send/2, self/0, monitor/1, demonitor/2, exit/2, all/0, info/0, format_error/2]).
-export_type([id/0, next/0, info/0]).

-compile({no_auto_import, [spawn/1, spawn/2, spawn_monitor/1, self/0, monitor/1, demonitor/2, exit/2]}).

-opaque id() :: pos_integer().
-type milliseconds() :: 0..16#FFFFFFFF.
-type next() :: done
              | {next, fun(() -> next())}
              | {wait, fun((Message :: term()) -> next())}
              | {wait, fun((Message :: term()) -> next()), milliseconds(), fun(() -> next())}
              | {sleep, milliseconds(), fun(() -> next())}.
%% `alive': callbacks that have not ended. `held': those of them that did not return in time and
%% keep a process. `failed': callbacks that ended in another way than `done'. Counts begin with the
%% start of the callback's worker.
-type info() :: #{workers := pos_integer(), spawned := non_neg_integer(), done := non_neg_integer(),
                  failed := non_neg_integer(), alive := non_neg_integer(), held := [id()]}.

%% @doc Starts a callback, on a worker that is drawn by the callback's identity.
-spec spawn(fun(() -> next())) -> id().
spawn(Fun) when is_function(Fun, 0) -> start(next_id(), Fun);
spawn(Other) -> bad([Other], 1, not_a_fun).

%% @doc Starts a callback on the worker with that number; the first is 1. Callbacks of one worker
%% never run at the same time, unless one of them is held.
-spec spawn(pos_integer(), fun(() -> next())) -> id().
spawn(Worker, Fun) when is_function(Fun, 0), is_integer(Worker), Worker >= 1 ->
    Worker =< callbacks_route:workers() orelse bad([Worker, Fun], 1, not_a_worker),
    start(callbacks_route:id(erlang:unique_integer([positive]), Worker), Fun);
spawn(Worker, Fun) when is_function(Fun, 0) -> bad([Worker, Fun], 1, not_a_worker);
spawn(Worker, Other) -> bad([Worker, Other], 2, not_a_fun).

next_id() ->
    Unique = erlang:unique_integer([positive]),
    %% Its low bits say which scheduler made it.
    callbacks_route:id(Unique, erlang:phash2(Unique, callbacks_route:workers()) + 1).

start(Id, Fun) ->
    ok = callbacks_route:post(Id, {'$spawn', Id, Fun}),
    Id.

%% @doc Starts a callback that is monitored from its first step on.
-spec spawn_monitor(fun(() -> next())) -> {id(), reference()}.
spawn_monitor(Fun) when is_function(Fun, 0) ->
    Id = next_id(),
    Keeper = callbacks_route:keeper(Id),
    Reference = watch(self(), Id, Keeper, leave),
    %% Posted by the caller itself, so that its next messages come after the start.
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

%% @doc Monitors a callback. When it ends, the caller, a process or a callback, gets the message
%% `{{callback_down, Id}, Reference, process, _, Reason}'. The reason is `normal' after `done',
%% `noproc' if the callback had ended before, `{bad_return, Value}' after an invalid return value,
%% the exit reason of a process after an exception, `{worker_down, _}' if its worker was killed, and `killed' if the keeper of its worker
%% was.
%% `demonitor/2' stops it.
-spec monitor(id()) -> reference().
monitor(Id) ->
    ok = known([Id], Id),
    watch(self(), Id, callbacks_route:keeper(Id), post).

%% With `post', also tells the worker about the monitor; with `leave', the caller does.
watch(undefined, Id, Keeper, leave) -> callbacks_route:watch(Id, Keeper);
watch(undefined, Id, Keeper, post) ->
    Reference = callbacks_route:watch(Id, Keeper),
    ok = callbacks_route:post(Id, {'$monitor', Id, Reference}),
    Reference;
watch(Watcher, Id, Keeper, Posting) -> callbacks_keeper:watch(Watcher, Id, Keeper, Posting).

%% @doc Stops monitoring a callback, and forgets the monitor at once. Its message does not come any more; to a caller that is a callback it
%% may, if it was already sent. Does nothing if the callback has already ended. `erlang:demonitor/2' stops it as well for a process, but
%% then a row of the monitor is kept until the callback ends.
-spec demonitor(id(), reference()) -> ok.
demonitor(Id, Reference) when is_reference(Reference) ->
    ok = known([Id, Reference], Id),
    ok = unwatch(self(), Reference),
    callbacks_route:post(Id, {'$demonitor', Id, Reference});
demonitor(Id, Reference) -> bad([Id, Reference], 2, not_a_reference).

unwatch(undefined, Reference) ->
    true = erlang:demonitor(Reference, [flush]),
    ok;
unwatch(Watcher, Reference) -> callbacks_keeper:unwatch(Watcher, Reference).

%% @doc Ends a waiting callback, or kills the process of a held callback. Does nothing if the
%% callback has already ended.
-spec exit(id(), term()) -> ok.
exit(Id, Reason) ->
    ok = known([Id, Reason], Id),
    callbacks_route:post(Id, {'$exit', Id, Reason}).

%% @doc The callbacks that wait, are to continue, or are held. One in its first step is not among them until that step returns, or
%% is held. They continue to run meanwhile.
-spec all() -> [id()].
all() -> lists:append([callbacks_keeper:all(Worker) || Worker <- lists:seq(1, callbacks_route:workers())]).

%% @doc Counts of callbacks, over all workers.
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
text(not_a_reference) -> "not a reference";
text(not_an_id) -> "not a callback of this node".
