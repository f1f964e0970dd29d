%% @doc Keeps the tables of one worker, and replaces the worker if it does not return from a
%% callback.
%%
%% The keeper checks the worker's progress every `hold_ms' while there is any. A worker that has
%% been in the same callback for that time is left alone with it. Its name and the rest of its
%% mailbox go to a fresh worker. If the callback returns after all, the fresh worker continues it,
%% and the old process ends.
%%
%% A worker that is killed takes its keeper and all its callbacks with it, even those that arrive
%% while it ends. A process that watches a callback has a monitor on the keeper, so the VM itself
%% reports that end.
-module(callbacks_keeper).
-behaviour(gen_server).

-export([start_link/2, all/1, info/1, watch/4, unwatch/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).

-type id() :: pos_integer().
-type posting() :: post | leave.
%% last: the progress at the last check, `none' while the worker is idle and not checked. held: the
%% processes that were left alone, by the monitors on them. watched: the callbacks of this worker
%% that watch other callbacks, by their monitors.
-type state() :: #{number := pos_integer(), hold_ms := pos_integer(), worker := pid(),
                   progress := atomics:atomics_ref(), last := integer() | none,
                   rows := ets:table(), messages := ets:table(), counts := counters:counters_ref(),
                   held := #{reference() => {pid(), id()}},
                   watched := #{reference() => id()}}.

-include_lib("kernel/include/logger.hrl").

-define(RESTING, 0).
-define(LEFT_ALONE, -1).

-spec start_link(pos_integer(), pos_integer()) -> gen_server:start_ret().
start_link(Number, HoldMs) ->
    gen_server:start_link(?MODULE, {Number, HoldMs}, []).

%% @doc The callbacks of the worker with that number. The caller makes the list, because in the
%% keeper it would take memory until the keeper's next collection.
-spec all(pos_integer()) -> [id()].
all(Number) ->
    Rows = asked(Number, rows),
    try ets:select(Rows, [{{'$1', '_', '_'}, [], ['$1']}])
    catch error:badarg -> [] % the worker has just died, with all its callbacks
    end.

%% @doc Counts of the worker with that number.
-spec info(pos_integer()) -> #{atom() => non_neg_integer() | [id()]}.
info(Number) -> asked(Number, info).

%% If the keeper ends, asks the next one. A worker's number can stand for an identity here, because
%% its low bits lead to the same keeper.
asked(Number, Request) ->
    try gen_server:call(callbacks_route:keeper(Number), Request, infinity)
    catch
        exit:{_, {gen_server, call, _}} ->
            ok = callbacks_route:pause(),
            asked(Number, Request)
    end.

%% @doc The same as callbacks_route:watch/2, called by a callback that wants to watch another. With
%% `post' the keeper also tells the worker, because the caller may be killed at any time.
-spec watch(id(), id(), pid(), posting()) -> reference().
watch(Watcher, Id, Keeper, Posting) ->
    Own = callbacks_route:keeper_name(callbacks_route:worker(Watcher)),
    case gen_server:call(Own, {watch, Watcher, Id, Keeper, Posting}, infinity) of
        no_worker ->
            ok = callbacks_route:pause(),
            watch(Watcher, Id, callbacks_route:keeper(Id), Posting);
        Reference -> Reference
    end.

%% @doc Stops a monitor of a callback of this worker.
-spec unwatch(id(), reference()) -> ok.
unwatch(Watcher, Reference) ->
    gen_server:call(callbacks_route:keeper_name(callbacks_route:worker(Watcher)), {unwatch, Reference}, infinity).

-spec init({pos_integer(), pos_integer()}) -> {ok, state()}.
init({Number, HoldMs}) ->
    process_flag(trap_exit, true),
    %% So that `hold_ms' holds on a busy node too. The keeper has little to do.
    process_flag(priority, high),
    %% A process that finds this keeper by its name must not find the previous keeper's worker,
    %% because nobody would report the end of that worker's callbacks.
    ok = callbacks_processes:end_all(Number),
    true = register(callbacks_route:keeper_name(Number), self()),
    State = with_worker(#{number => Number, hold_ms => HoldMs, last => none, held => #{}, watched => #{},
                          rows => ets:new(callbacks, [public]),
                          messages => ets:new(callbacks_messages, [public, ordered_set]),
                          counts => counters:new(3, [write_concurrency])}),
    ok = name(State),
    {ok, State}.

with_worker(#{number := Number, rows := Rows, messages := Messages, counts := Counts} = State) ->
    Progress = atomics:new(2, [{signed, true}]),
    Worker = callbacks_worker:start_link(#{keeper => self(), rows => Rows, messages => Messages,
                                           counts => Counts, progress => Progress}),
    ok = callbacks_processes:add(Number, Worker),
    State#{worker => Worker, progress => Progress, last => none}.

name(#{number := Number, worker := Worker}) ->
    true = register(callbacks_route:worker_name(Number), Worker),
    ok.

-spec handle_call(term(), gen_server:from(), state()) ->
          {reply, ok | ets:table() | map() | reference() | no_worker | {error, request}, state()}.
handle_call(rows, _From, #{rows := Rows} = State) -> {reply, Rows, State};
handle_call(info, _From, #{rows := Rows, counts := Counts, held := Held} = State) ->
    [Spawned, Done, Failed] = [counters:get(Counts, Index) || Index <- [1, 2, 3]],
    {reply, #{spawned => Spawned, done => Done, failed => Failed, alive => ets:info(Rows, size),
              held => [Id || {_, Id} <- maps:values(Held)]}, State};
handle_call({watch, Watcher, Id, Keeper, Posting}, _From, State) when is_integer(Watcher), is_pid(Keeper) ->
    case callbacks_route:is_id(Id) of
        true -> watch_for(Watcher, Id, Keeper, Posting, State);
        false -> {reply, {error, request}, State}
    end;
%% The keeper's other monitors are not the caller's to stop.
handle_call({unwatch, Reference}, _From, #{watched := Watched} = State) when is_map_key(Reference, Watched) ->
    ok = stop_watching(Reference),
    {reply, ok, State#{watched := maps:remove(Reference, Watched)}};
handle_call({unwatch, _}, _From, State) -> {reply, ok, State};
%% By now the worker has been replaced, because this comes after the check that left it alone.
handle_call({returned, Id, Next}, {Pid, _}, #{worker := Worker} = State) ->
    Worker ! {'$returned', Id, {Pid, Next}},
    ok = named(State),
    {reply, ok, State};
handle_call(_, _From, State) -> {reply, {error, request}, State}.

watch_for(Watcher, Id, Keeper, Posting, #{watched := Watched} = State) ->
    %% A process cannot monitor itself, but an alias is enough for the worker's answer.
    Reference = case self() of
                    Keeper -> alias([reply]);
                    _ -> callbacks_route:watch(Id, Keeper)
                end,
    case Posting =:= leave orelse callbacks_route:try_post(Id, {'$monitor', Id, Reference}) of
        true -> {reply, Reference, State#{watched := Watched#{Reference => Watcher}}};
        false ->
            ok = stop_watching(Reference),
            {reply, no_worker, State}
    end.

%% It is a monitor, or an alias alone.
stop_watching(Reference) ->
    _ = unalias(Reference),
    true = demonitor(Reference, [flush]),
    ok.

-spec handle_cast(term(), state()) -> {noreply, state()}.
handle_cast(look_after_worker, #{worker := Worker} = State) ->
    %% If the worker has removed the link and ended, this reports its end now.
    true = link(Worker),
    ok = named(State),
    {noreply, State};
handle_cast(_, State) -> {noreply, State}.

%% Callbacks may have taken the names, or given them to other processes.
named(#{number := Number, worker := Worker}) ->
    ok = named(callbacks_route:keeper_name(Number), self()),
    named(callbacks_route:worker_name(Number), Worker).

named(Name, Pid) ->
    case whereis(Name) of
        Pid -> ok;
        _ -> name_again(Name, Pid)
    end.

%% A process has at most one name, so another name is removed first.
name_again(Name, Pid) ->
    ok = unname(Name),
    case process_info(Pid, registered_name) of
        {registered_name, Other} -> unname(Other);
        _ -> ok
    end,
    try register(Name, Pid) of
        true -> ok
    catch
        error:badarg -> ok % it has just ended, which its link reports, or the name was taken again
    end.

-spec handle_info(term(), state()) -> {noreply, state()} | {noreply, state(), hibernate} | {stop, term(), state()}.
handle_info({timeout, Timer, Id}, #{worker := Worker} = State) ->
    Worker ! {'$timeout', Id, Timer},
    {noreply, State};
handle_info(wake, State) -> {noreply, look_again(State)};
handle_info(look, State) ->
    ok = named(State),
    case look(State) of
        #{last := none} = Resting -> {noreply, Resting, hibernate};
        Awake -> {noreply, Awake}
    end;
handle_info({{callback_down, _}, Reference, process, _, _} = Down, #{watched := Watched, worker := Worker} = State)
  when is_map_key(Reference, Watched) ->
    {Watcher, Left} = maps:take(Reference, Watched),
    Worker ! {'$message', Watcher, Down},
    {noreply, State#{watched := Left}};
handle_info({'DOWN', Monitor, process, Pid, Reason}, #{held := Held, worker := Worker} = State)
  when is_map_key(Monitor, Held) ->
    {{Pid, Id}, Left} = maps:take(Monitor, Held),
    ok = callbacks_processes:remove(Pid),
    Worker ! {'$returned', Id, {Pid, {ended, Reason}}},
    {noreply, State#{held := Left}};
handle_info({'EXIT', Worker, Reason}, #{worker := Worker} = State) -> {stop, {worker_down, Reason}, State};
handle_info(_, State) -> {noreply, State}.

look_again(#{progress := Progress, hold_ms := HoldMs} = State) ->
    _ = erlang:send_after(HoldMs, self(), look),
    State#{last := atomics:get(Progress, 1)}.

%% If there was no progress, the worker is either in a callback or has nothing to do.
look(#{progress := Progress, last := Last, worker := Worker} = State) ->
    case atomics:get(Progress, 1) of
        Last when Last band 1 =:= 1 -> leave_alone(State);
        Last ->
            case atomics:compare_exchange(Progress, 1, Last, ?RESTING) of
                ok ->
                    _ = garbage_collect(Worker, [{async, rest}]),
                    State#{last := none};
                _ -> look_again(State)
            end;
        _ -> look_again(State)
    end.

%% The processes that a handover needs are started before it. At the node's limit of processes the others wait instead of ending.
leave_alone(#{progress := Progress, last := Last} = State) ->
    case with_successor(State) of
        {Replaced, Passer} ->
            case atomics:compare_exchange(Progress, 1, Last, ?LEFT_ALONE) of
                ok -> replace(State, Replaced, Passer);
                _ ->
                    {Pid, Monitor} = Passer,
                    true = demonitor(Monitor, [flush]),
                    true = exit(Pid, kill),
                    ok = end_worker(Replaced),
                    look_again(State)
            end;
        no_process -> look_again(State)
    end.

with_successor(State) ->
    try with_worker(State) of
        Replaced ->
            try {Replaced, passer()}
            catch error:system_limit ->
                    ok = end_worker(Replaced),
                    no_process
            end
    catch error:system_limit -> no_process
    end.

%% A worker that has no name yet.
end_worker(#{worker := Worker}) ->
    true = unlink(Worker),
    true = exit(Worker, kill),
    callbacks_processes:remove(Worker).

%% No message is lost or overtaken: without the name nothing more is sent to the worker, and the
%% fresh worker gets the name only after all earlier messages were passed on.
replace(#{number := Number, worker := Worker, progress := Progress, rows := Rows, held := Held},
        #{worker := Fresh} = Replaced, Passer) ->
    Monitor = monitor(process, Worker),
    ok = unname(callbacks_route:worker_name(Number)),
    ok = await_schedulers(),
    Id = atomics:get(Progress, 2),
    true = ets:insert(Rows, held(ets:lookup(Rows, Id), Id, Worker)),
    case passed_on(Passer, Worker, Fresh) of
        normal ->
            true = unlink(Worker),
            ok = name(Replaced),
            Replaced#{held := Held#{Monitor => {Worker, Id}}};
        sensitive ->
            ?LOG_ERROR("a callback of ~tp has set the process flag sensitive, which callbacks must not;"
                       " all callbacks of this worker end", [callbacks_route:worker_name(Number)]),
            exit({worker_down, sensitive});
        _ -> exit({worker_down, killed})
    end.

%% A process of its own passes messages on, so that the memory for a long mailbox is freed with it. Its link ends it with the keeper.
passer() ->
    spawn_opt(fun() -> receive {pass_on, Worker, Fresh} -> pass_on(process_info(Worker, messages), Worker, Fresh) end end,
              [monitor, link, {priority, high}]).

passed_on({Pid, Monitor}, Worker, Fresh) ->
    Pid ! {pass_on, Worker, Fresh},
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason end.

pass_on({messages, []}, Worker, _Fresh) ->
    _ = is_sensitive(Worker) andalso exit(sensitive),
    ok;
pass_on({messages, Messages}, _Worker, Fresh) ->
    lists:foreach(fun(Item) -> Fresh ! Item end, lists:filter(fun callbacks_worker:is_item/1, Messages));
pass_on(undefined, _Worker, _Fresh) -> exit(worker_gone).

%% Of a sensitive process the VM shows no messages, no dictionary and no stack. A backtrace may be long,
%% so it is made last.
is_sensitive(Worker) ->
    process_info(Worker, dictionary) =:= {dictionary, []} andalso process_info(Worker, backtrace) =:= {backtrace, <<>>}.

%% A worker that was killed meanwhile has already lost its name.
unname(Name) ->
    try unregister(Name) of
        true -> ok
    catch
        error:badarg -> ok
    end.

held([], Id, Pid) -> {Id, {held, Pid}, []};
held([{Id, _, Extra}], Id, Pid) -> {Id, {held, Pid}, Extra}.

%% For this statistic the VM asks each scheduler, and a scheduler answers between two calls.
await_schedulers() ->
    _ = erlang:statistics(garbage_collection),
    ok.

-spec terminate(term(), state()) -> ok.
terminate(_Reason, #{worker := Worker, held := Held}) ->
    lists:foreach(fun(Pid) -> exit(Pid, kill) end, [Worker | [Pid || {Pid, _} <- maps:values(Held)]]).
