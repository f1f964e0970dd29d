%% @doc The process that runs callbacks, one after the other, as messages for them come.
%%
%% It is receptor and worker at once: a receptor of its own before it was tried, and
%% takes another change of processes for each message (2.3 times as long from a
%% message to its answer). What it knows of callbacks is in tables of its keeper, so
%% that a fresh worker can go on with them when this one does not come back.
%%
%% A row is {Id, State, Extra}. Extra is `[]', or {Queued, Watchers}: whether messages
%% wait in the other table, and whom to tell of the end.
-module(callbacks_worker).

-export([start_link/1, running/0, is_item/1]).
-export([init/1]).
-export_type([shared/0]).

-type id() :: pos_integer().
-type shared() :: #{keeper := pid(), rows := ets:table(),
                    messages := ets:table(), counts := counters:counters_ref(),
                    progress := atomics:atomics_ref()}.
-record(worker, {keeper :: pid(), rows :: ets:table(), messages :: ets:table(),
                 counts :: counters:counters_ref(), progress :: atomics:atomics_ref()}).

-define(SPAWNED, 1).
-define(DONE, 2).
-define(FAILED, 3).
-define(RESTING, 0).
-define(RUNNING, '$callback').
-define(MS_MAX, 16#FFFFFFFF).

%% @doc Starts a worker. Its progress is odd while it runs a callback and even between
%% two; the keeper may turn odd to -1, which says that the worker is left alone with
%% that callback, and even to 0, which asks to be woken at the next one. The second
%% number is the callback's, which is not safe in the process dictionary.
-spec start_link(shared()) -> pid().
start_link(Shared) -> spawn_link(?MODULE, init, [Shared]).

%% @doc The callback that the calling process runs.
-spec running() -> id() | undefined.
running() -> get(?RUNNING).

%% @doc Whether a message of a mailbox is one for a worker.
-spec is_item(term()) -> boolean().
is_item({Kind, Id, _}) when is_integer(Id) ->
    lists:member(Kind, ['$spawn', '$message', '$run', '$timeout', '$monitor', '$exit', '$returned']);
is_item(_) -> false.

%% Who links itself to the worker from within a callback must not end it. The mailbox stays
%% on the heap: off it, starting 10,000 callbacks takes a tenth less time, but senders may get
%% queues of their own there, and what a callback sends before and after it was held comes
%% from two processes, whose order only one queue keeps.
-spec init(shared()) -> no_return().
init(#{keeper := Keeper, rows := Rows, messages := Messages, counts := Counts, progress := Progress}) ->
    process_flag(trap_exit, true),
    _ = process_flag(message_queue_data, on_heap), % whatever +hmqd says
    loop(#worker{keeper = Keeper, rows = Rows, messages = Messages, counts = Counts, progress = Progress}, 2).

%% `Now' is even, what the progress will be between two callbacks.
loop(#worker{keeper = Keeper} = W, Now) ->
    receive
        {'$message', Id, Message} -> loop(W, message(W, Now, row(W, Id), Message));
        {'$spawn', Id, Start} -> loop(W, start(W, Now, Id, Start));
        {'$run', Id, _} -> loop(W, go_on(W, Now, row(W, Id)));
        {'$timeout', Id, Timer} -> loop(W, timeout(W, Now, row(W, Id), Timer));
        {'$monitor', Id, Watcher} ->
            ok = watch(W, Id, row(W, Id), Watcher),
            loop(W, Now);
        {'$exit', Id, Reason} ->
            ok = stop(W, row(W, Id), Reason),
            loop(W, Now);
        {'$returned', Id, {Pid, Next}} ->
            ok = returned(W, row(W, Id), Pid, Next),
            loop(W, Now);
        {'EXIT', Keeper, Reason} -> exit(Reason);
        _ -> loop(W, Now)
    end.

row(#worker{rows = Rows}, Id) ->
    case ets:lookup(Rows, Id) of
        [Row] -> Row;
        [] -> none
    end.

%% Who is watched already has a row for it from the start. Whoever watches it by a keeper
%% before this one has been told that it is no more, and so it must not begin.
start(#worker{keeper = Keeper} = W, Now, Id, {Fun, Watcher, Keeper}) ->
    Extra = {false, [Watcher]},
    ok = set(W, Id, starting, Extra),
    begun(W, Now, Id, Extra, Fun);
start(_, Now, _, {_, _, _}) -> Now;
start(W, Now, Id, Fun) -> begun(W, Now, Id, [], Fun).

begun(W, Now, Id, Extra, Fun) ->
    counters:add(W#worker.counts, ?SPAWNED, 1),
    run(W, Now, Id, Extra, Fun, []).

%% A message to who waits for one runs it, and is kept otherwise.
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
mark_queued(W, Id, Extra) -> set_extra(W, Id, {true, watchers(Extra)}).

set_extra(#worker{rows = Rows}, Id, Extra) ->
    true = ets:update_element(Rows, Id, {3, Extra}),
    ok.

watchers([]) -> [];
watchers({_, Watchers}) -> Watchers.

queued([]) -> false;
queued({Queued, _}) -> Queued.

go_on(W, Now, {Id, {next, Fun, Arguments}, Extra}) -> run(W, Now, Id, Extra, Fun, Arguments);
go_on(_, Now, _) -> Now.

%% Of a timer that was cancelled too late nothing waits any more.
timeout(W, Now, {Id, {sleep, Timer, Fun}, Extra}, Timer) -> run(W, Now, Id, Extra, Fun, []);
timeout(W, Now, {Id, {wait, _, Timer, Fun}, Extra}, Timer) -> run(W, Now, Id, Extra, Fun, []);
timeout(_, Now, _, _) -> Now.

watch(W, Id, none, Watcher) -> tell(W, Id, Watcher, noproc);
watch(W, Id, {Id, _, Extra}, Watcher) -> set_extra(W, Id, {queued(Extra), [Watcher | watchers(Extra)]}).

%% As a monitor on the keeper would.
tell(#worker{keeper = Keeper}, Id, Watcher, Reason) ->
    Watcher ! {{callback_down, Id}, Watcher, process, Keeper, Reason},
    ok.

stop(_, none, _) -> ok;
stop(W, {Id, State, Extra}, Reason) ->
    ok = abandon(State),
    finish(W, Id, Extra, Reason).

abandon({sleep, Timer, _}) -> cancel(Timer);
abandon({wait, _, Timer, _}) -> cancel(Timer);
abandon({held, Pid}) ->
    true = exit(Pid, kill),
    ok;
abandon(_) -> ok.

cancel(Timer) -> erlang:cancel_timer(Timer, [{async, true}, {info, false}]).

returned(W, {Id, {held, Pid}, Extra}, Pid, Next) -> settle(W, Id, Extra, Next);
returned(_, _, _, _) -> ok.

%% The row stays as it is meanwhile. What the callback returns is another worker's
%% to settle where the keeper has left this one alone with it.
run(#worker{progress = Progress, keeper = Keeper} = W, Now, Id, Extra, Fun, Arguments) ->
    ok = atomics:put(Progress, 2, Id),
    case atomics:exchange(Progress, 1, Now + 1) of
        ?RESTING -> Keeper ! wake;
        _ -> awake
    end,
    put(?RUNNING, Id),
    Next = call(Fun, Arguments),
    case atomics:compare_exchange(Progress, 1, Now + 1, Now + 2) of
        ok ->
            ok = settle(W, Id, Extra, Next),
            Now + 2;
        _ ->
            ok = callbacks_route:post(Id, {'$returned', Id, {self(), Next}}),
            exit(normal)
    end.

call(Fun, Arguments) ->
    try apply(Fun, Arguments) of
        Next -> checked(Next)
    catch
        error:Reason:Stack -> {ended, {Reason, Stack}};
        exit:Reason -> {ended, Reason};
        throw:Reason:Stack -> {ended, {{nocatch, Reason}, Stack}}
    end.

checked({wait, Fun} = Next) when is_function(Fun, 1) -> Next;
checked(done) -> {ended, normal};
checked({next, Fun} = Next) when is_function(Fun, 0) -> Next;
checked({sleep, Ms, Fun} = Next)
  when is_function(Fun, 0), is_integer(Ms), Ms >= 0, Ms =< ?MS_MAX -> Next;
checked({wait, Fun, Ms, Late} = Next)
  when is_function(Fun, 1), is_function(Late, 0), is_integer(Ms), Ms >= 0, Ms =< ?MS_MAX -> Next;
checked(Other) -> {ended, {bad_return, Other}}.

settle(W, Id, [], {wait, Fun}) -> set(W, Id, Fun, []);
settle(W, Id, Extra, {ended, Reason}) -> finish(W, Id, Extra, Reason);
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

%% Behind all that has come already.
set_to_run(W, Id, State, Extra) ->
    ok = set(W, Id, State, Extra),
    self() ! {'$run', Id, []},
    ok.

%% The keeper, who always has the same process, passes it on.
timer(#worker{keeper = Keeper}, Id, Ms) -> erlang:start_timer(Ms, Keeper, Id).

take(#worker{messages = Messages}, Id, {true, _} = Extra) ->
    case ets:next(Messages, {Id, 0}) of
        {Id, _} = Key ->
            [{Key, Message}] = ets:take(Messages, Key),
            {Message, Extra};
        _ -> none
    end;
take(_, _, _) -> none.

no_more({true, []}) -> [];
no_more({true, Watchers}) -> {false, Watchers};
no_more(Extra) -> Extra.

finish(W, Id, Extra, Reason) ->
    true = ets:delete(W#worker.rows, Id),
    counters:add(W#worker.counts, case Reason of normal -> ?DONE; _ -> ?FAILED end, 1),
    ok = drop(W, Id, Extra),
    lists:foreach(fun(Watcher) -> tell(W, Id, Watcher, Reason) end, watchers(Extra)).

drop(W, Id, Extra) ->
    case take(W, Id, Extra) of
        {_, Left} -> drop(W, Id, Left);
        none -> ok
    end.
