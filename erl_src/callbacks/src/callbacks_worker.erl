%% @doc The process that runs callbacks, one after the other, as messages for them arrive.
%%
%% It receives messages and runs callbacks itself. A separate receptor process was tried. It needs
%% one more context switch for each message, and a message and its reply took 2.3 times as long. All
%% data about callbacks is in tables of the keeper, so that a fresh worker can continue if this one
%% does not return from a callback.
%%
%% A row is {Id, State, Extra}. Extra is `[]' or {IsQueued, IsWatched}: whether the other table has
%% messages that wait for the callback, under {Id, Number}, and whom to tell when it ends, under
%% {Id, Reference}.
-module(callbacks_worker).

-export([start_link/1, running/0, is_item/1]).
-export([init/1]).
-export_type([shared/0]).

-type id() :: pos_integer().
-type shared() :: #{keeper := pid(), rows := ets:table(),
                    messages := ets:table(), counts := counters:counters_ref(),
                    progress := atomics:atomics_ref()}.
-record(worker, {keeper :: pid(), rows :: ets:table(), messages :: ets:table(),
                 counts :: counters:counters_ref(), progress :: atomics:atomics_ref(), flags :: flags()}).
%% What is put back after each callback: its group leader, and flags.
-type flags() :: {pid(), MaxHeap :: map(), MinHeap :: non_neg_integer(), MinVheap :: non_neg_integer(), Sweep :: non_neg_integer()}.

-define(SPAWNED, 1).
-define(DONE, 2).
-define(FAILED, 3).
-define(RESTING, 0).
-define(RUNNING, '$callback').
-define(MS_MAX, 16#FFFFFFFF).
%% Of a callback that ends, so many watchers are told and so many messages are dropped in one go. The
%% rest follows after what the worker has to do for others.
-define(PART, 1000).

%% @doc Starts a worker. Its progress number is odd while it runs a callback and even between two
%% callbacks. The keeper may set an odd number to -1, which leaves the worker alone with that
%% callback, and an even number to 0, which asks the worker to wake the keeper at the next callback.
%% The second number is the identity of the callback, which would not be safe in the process
%% dictionary.
-spec start_link(shared()) -> pid().
start_link(Shared) -> spawn_link(?MODULE, init, [Shared]).

%% @doc The callback that the calling process runs.
-spec running() -> id() | undefined.
running() -> get(?RUNNING).

%% @doc Whether a message is one for a worker.
-spec is_item(term()) -> boolean().
is_item({Kind, Id, _}) when is_integer(Id) ->
    lists:member(Kind, ['$spawn', '$message', '$run', '$timeout', '$monitor', '$demonitor', '$exit', '$returned', '$tell', '$drop']);
is_item(_) -> false.

%% The worker traps exits, so that a process linked to it from within a callback cannot end it. The
%% mailbox stays on the heap. Off the heap, starting 10,000 callbacks takes a tenth less time, but
%% then senders may get parallel queues. The messages that a callback sends before and after it was
%% held come from two processes, and only a single queue keeps their order.
-spec init(shared()) -> no_return().
init(#{keeper := Keeper, rows := Rows, messages := Messages, counts := Counts, progress := Progress}) ->
    {garbage_collection, Own} = process_info(self(), garbage_collection),
    [MinHeap, MinVheap, Sweep] = [proplists:get_value(Flag, Own) || Flag <- [min_heap_size, min_bin_vheap_size, fullsweep_after]],
    Flags = {group_leader(), erlang:system_info(max_heap_size), MinHeap, MinVheap, Sweep},
    ok = own_flags(Flags),
    loop(#worker{keeper = Keeper, rows = Rows, messages = Messages, counts = Counts, progress = Progress, flags = Flags}, 2).

%% `Now' is even: the progress between two callbacks.
loop(#worker{keeper = Keeper} = W, Now) ->
    receive
        {'$message', Id, Message} -> loop(W, message(W, Now, row(W, Id), Message));
        {'$spawn', Id, Start} -> loop(W, spawned(callbacks_route:is_id(Id), W, Now, Id, Start));
        {'$run', Id, _} -> loop(W, go_on(W, Now, row(W, Id)));
        {'$timeout', Id, Timer} -> loop(W, timeout(W, Now, row(W, Id), Timer));
        {'$monitor', Id, Watcher} when is_reference(Watcher) ->
            ok = watch(W, Id, row(W, Id), Watcher),
            loop(W, Now);
        {'$demonitor', Id, Watcher} when is_reference(Watcher) ->
            true = ets:delete(W#worker.messages, {Id, Watcher}),
            loop(W, Now);
        {'$exit', Id, Reason} ->
            ok = stop(W, row(W, Id), Reason),
            loop(W, Now);
        {'$returned', Id, {Pid, Next}} ->
            ok = returned(W, row(W, Id), Pid, Next),
            loop(W, Now);
        {'$tell', Id, Reason} ->
            ok = tell_watchers(W, Id, row(W, Id), Reason),
            loop(W, Now);
        {'$drop', Id, _} ->
            ok = drop(W, Id, row(W, Id)),
            loop(W, Now);
        {'EXIT', Keeper, Reason} -> exit(Reason);
        _ -> loop(W, Now)
    end.

row(#worker{rows = Rows}, Id) ->
    case ets:lookup(Rows, Id) of
        [Row] -> Row;
        [] -> none
    end.

spawned(true, W, Now, Id, Start) -> start(W, Now, Id, Start);
spawned(false, _, Now, _, _) -> Now.

%% A callback that is monitored from its start has a row for that at once. If the monitor is on a
%% previous keeper, the watcher has already been told that the callback ended, so it must not start.
start(#worker{keeper = Keeper} = W, Now, Id, {Fun, Watcher, Keeper}) when is_reference(Watcher) ->
    Extra = {false, true},
    ok = add_watcher(W, Id, Watcher),
    ok = set(W, Id, starting, Extra),
    begun(W, Now, Id, Extra, Fun);
start(_, Now, _, {_, _, _}) -> Now;
start(W, Now, Id, Fun) -> begun(W, Now, Id, [], Fun).

begun(W, Now, Id, Extra, Fun) ->
    counters:add(W#worker.counts, ?SPAWNED, 1),
    run(W, Now, Id, Extra, Fun, []).

%% Runs a callback that waits for a message. Otherwise the message is kept.
message(W, Now, {Id, Wait, Extra}, Message) when is_function(Wait) -> run(W, Now, Id, Extra, Wait, [Message]);
message(W, Now, {Id, {wait, Wait, Timer, _}, Extra}, Message) ->
    ok = cancel(Timer),
    run(W, Now, Id, Extra, Wait, [Message]);
message(W, Now, {Id, _, Extra}, Message) ->
    true = ets:insert(W#worker.messages, {{Id, erlang:unique_integer([monotonic, positive])}, Message}),
    ok = mark_queued(W, Id, Extra),
    Now;
message(_, Now, none, _) -> Now.

mark_queued(_, _, {true, _}) -> ok;
mark_queued(W, Id, Extra) -> set_extra(W, Id, {true, is_watched(Extra)}).

set_extra(#worker{rows = Rows}, Id, Extra) ->
    true = ets:update_element(Rows, Id, {3, Extra}),
    ok.

is_watched([]) -> false;
is_watched({_, IsWatched}) -> IsWatched.

is_queued([]) -> false;
is_queued({IsQueued, _}) -> IsQueued.

go_on(W, Now, {Id, {next, Fun, Arguments}, Extra}) -> run(W, Now, Id, Extra, Fun, Arguments);
go_on(_, Now, _) -> Now.

%% Ignores a timer that was cancelled too late: no callback waits for it any more.
timeout(W, Now, {Id, {sleep, Timer, Fun}, Extra}, Timer) -> run(W, Now, Id, Extra, Fun, []);
timeout(W, Now, {Id, {wait, _, Timer, Fun}, Extra}, Timer) -> run(W, Now, Id, Extra, Fun, []);
timeout(_, Now, _, _) -> Now.

watch(W, Id, none, Watcher) -> tell(W, Id, Watcher, noproc);
watch(W, Id, {Id, _, {_, true}}, Watcher) -> add_watcher(W, Id, Watcher);
watch(W, Id, {Id, _, Extra}, Watcher) ->
    ok = add_watcher(W, Id, Watcher),
    set_extra(W, Id, {is_queued(Extra), true}).

add_watcher(#worker{messages = Messages}, Id, Watcher) ->
    true = ets:insert(Messages, {{Id, Watcher}}),
    ok.

%% Sends the same message as a monitor on the keeper would.
tell(#worker{keeper = Keeper}, Id, Watcher, Reason) ->
    Watcher ! {{callback_down, Id}, Watcher, process, Keeper, Reason},
    ok.

stop(_, none, _) -> ok;
stop(W, {Id, State, Extra}, Reason) ->
    ok = abandon(State),
    finish(W, Id, Extra, Reason, ?FAILED).

abandon({sleep, Timer, _}) -> cancel(Timer);
abandon({wait, _, Timer, _}) -> cancel(Timer);
abandon({held, Pid}) ->
    true = exit(Pid, kill),
    ok;
abandon(_) -> ok.

cancel(Timer) -> erlang:cancel_timer(Timer, [{async, true}, {info, false}]).

returned(W, {Id, {held, Pid}, Extra}, Pid, Next) -> settle(W, Id, Extra, Next);
returned(_, _, _, _) -> ok.

%% The row does not change meanwhile. If the keeper has left this worker alone with the callback,
%% another worker handles what the callback returns. It gets that from the keeper: until the keeper has
%% taken this worker's name, a message to the name would come back to this worker.
run(#worker{progress = Progress, keeper = Keeper, flags = Flags} = W, Now, Id, Extra, Fun, Arguments) ->
    ok = atomics:put(Progress, 2, Id),
    case atomics:exchange(Progress, 1, Now + 1) of
        ?RESTING -> Keeper ! wake;
        _ -> awake
    end,
    put(?RUNNING, Id),
    Next = call(Fun, Arguments),
    ok = own_flags(Flags),
    case atomics:compare_exchange(Progress, 1, Now + 1, Now + 2) of
        ok ->
            ok = settle(W, Id, Extra, Next),
            Now + 2;
        _ ->
            ok = callbacks_route:returned(Keeper, Id, Next),
            exit(normal)
    end.

%% What a callback sets is its own: the next one is not to be ended or held up by it. This takes some 100 ns. To put back `sensitive'
%% takes 160 more, so callbacks may not set that.
own_flags({Leader, MaxHeap, MinHeap, MinVheap, Sweep}) ->
    _ = process_flag(trap_exit, true),
    _ = process_flag(message_queue_data, on_heap), % also against +hmqd
    _ = process_flag(priority, normal),
    _ = process_flag(min_heap_size, 0), % else either limit may be beyond the other
    _ = process_flag(max_heap_size, MaxHeap),
    _ = process_flag(min_heap_size, MinHeap),
    _ = process_flag(min_bin_vheap_size, MinVheap),
    _ = process_flag(fullsweep_after, Sweep),
    _ = group_leader() =:= Leader orelse group_leader(Leader, self()),
    ok.

call(Fun, Arguments) ->
    try apply(Fun, Arguments) of
        Next -> checked(Next)
    catch
        error:Reason:Stack -> {ended, {Reason, Stack}};
        exit:Reason -> {ended, Reason};
        throw:Reason:Stack -> {ended, {{nocatch, Reason}, Stack}}
    end.

checked({wait, Fun} = Next) when is_function(Fun, 1) -> Next;
checked(done) -> done;
checked({next, Fun} = Next) when is_function(Fun, 0) -> Next;
checked({sleep, Ms, Fun} = Next)
  when is_function(Fun, 0), is_integer(Ms), Ms >= 0, Ms =< ?MS_MAX -> Next;
checked({wait, Fun, Ms, Late} = Next)
  when is_function(Fun, 1), is_function(Late, 0), is_integer(Ms), Ms >= 0, Ms =< ?MS_MAX -> Next;
checked(Other) -> {ended, {bad_return, Other}}.

settle(W, Id, [], {wait, Fun}) -> set(W, Id, Fun, []);
settle(W, Id, Extra, done) -> finish(W, Id, Extra, normal, ?DONE);
settle(W, Id, Extra, {ended, Reason}) -> finish(W, Id, Extra, Reason, ?FAILED);
settle(W, Id, Extra, {next, Fun}) -> set_to_run(W, Id, {next, Fun, []}, Extra);
settle(W, Id, Extra, {sleep, Ms, Fun}) -> set(W, Id, {sleep, timer(W, Id, Ms), Fun}, Extra);
settle(W, Id, Extra, Wait) ->
    case take(W, Id, Extra) of
        {Message, Left} -> set_to_run(W, Id, {next, element(2, Wait), [Message]}, Left);
        none -> settle_wait(W, Id, no_more(Extra), Wait)
    end.

settle_wait(W, Id, Extra, {wait, Fun}) -> set(W, Id, Fun, Extra);
settle_wait(W, Id, Extra, {wait, Fun, Ms, Late}) -> set(W, Id, {wait, Fun, timer(W, Id, Ms), Late}, Extra).

set(#worker{rows = Rows}, Id, State, Extra) ->
    true = ets:insert(Rows, {Id, State, Extra}),
    ok.

%% It runs after all messages that the worker already has.
set_to_run(W, Id, State, Extra) ->
    ok = set(W, Id, State, Extra),
    self() ! {'$run', Id, []},
    ok.

%% The timer goes to the keeper, whose process never changes, and the keeper passes it on.
timer(#worker{keeper = Keeper}, Id, Ms) -> erlang:start_timer(Ms, Keeper, Id).

take(#worker{messages = Messages}, Id, {true, _} = Extra) ->
    case ets:next(Messages, {Id, 0}) of
        {Id, Number} = Key when is_integer(Number) ->
            [{Key, Message}] = ets:take(Messages, Key),
            {Message, Extra};
        _ -> none
    end;
take(_, _, _) -> none.

no_more({_, true}) -> {false, true};
no_more(_) -> [].

finish(W, Id, Extra, Reason, Count) ->
    true = ets:delete(W#worker.rows, Id),
    counters:add(W#worker.counts, Count, 1),
    _ = is_watched(Extra) andalso tell_watchers(W, Id, none, Reason),
    _ = is_queued(Extra) andalso drop(W, Id, none),
    ok.

%% Whoever watches a callback that has ended: a part at a time.
tell_watchers(W, Id, none, Reason) -> tell_part(W, Id, Reason, ?PART);
tell_watchers(_, _, _, _) -> ok.

tell_part(_, Id, Reason, 0) ->
    self() ! {'$tell', Id, Reason},
    ok;
tell_part(#worker{messages = Messages} = W, Id, Reason, Left) ->
    %% An atom is less than any reference, and more than any number.
    case ets:next(Messages, {Id, watchers}) of
        {Id, Watcher} = Key ->
            true = ets:delete(Messages, Key),
            ok = tell(W, Id, Watcher, Reason),
            tell_part(W, Id, Reason, Left - 1);
        _ -> ok
    end.

%% The messages that wait for a callback that has ended: a part at a time.
drop(W, Id, none) -> drop_part(W, Id, ?PART);
drop(_, _, _) -> ok.

drop_part(_, Id, 0) ->
    self() ! {'$drop', Id, []},
    ok;
drop_part(W, Id, Left) ->
    case take(W, Id, {true, false}) of
        {_, _} -> drop_part(W, Id, Left - 1);
        none -> ok
    end.
