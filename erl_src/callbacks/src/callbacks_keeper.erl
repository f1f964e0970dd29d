%% @doc Keeps the tables of one worker, and replaces the worker while it does not come
%% back from a callback.
%%
%% It looks at the worker's progress every `hold_ms' while there is any. A worker that
%% has been in the same callback for all that time is left alone with it: its name and
%% the rest of its mailbox go to a fresh one. When the callback returns after all, the
%% fresh worker goes on with it, and the other process is gone.
%%
%% A worker that is killed takes its keeper and all its callbacks with it, also those that
%% come while it ends. Who watches a callback has a monitor on the keeper, so that the VM
%% itself tells of that.
-module(callbacks_keeper).
-behaviour(gen_server).

-export([start_link/2, all/1, info/1, watch/4]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).

-type id() :: pos_integer().
-type posting() :: post | leave.
%% `last' is the progress when it was last looked at, `none' while nobody looks.
%% `held' are the processes that were left alone, by their monitors, and `watched' which
%% callbacks of this worker are to be told, by the monitors on others.
-type state() :: #{number := pos_integer(), hold_ms := pos_integer(), worker := pid(),
                   progress := atomics:atomics_ref(), last := integer() | none,
                   rows := ets:table(), messages := ets:table(), counts := counters:counters_ref(),
                   held := #{reference() => {pid(), id()}},
                   watched := #{reference() => id()}}.

-define(RESTING, 0).
-define(LEFT_ALONE, -1).

-spec start_link(pos_integer(), pos_integer()) -> gen_server:start_ret().
start_link(Number, HoldMs) ->
    gen_server:start_link(?MODULE, {Number, HoldMs}, []).

%% @doc The callbacks of the worker of that number. The caller makes the list: in the
%% keeper it would take memory until the next collection there.
-spec all(pos_integer()) -> [id()].
all(Number) ->
    Rows = gen_server:call(callbacks_route:keeper_name(Number), rows, infinity),
    try ets:select(Rows, [{{'$1', '_', '_'}, [], ['$1']}])
    catch error:badarg -> [] % all of them have just been lost
    end.

%% @doc What there is on the worker of that number.
-spec info(pos_integer()) -> #{atom() => non_neg_integer() | [id()]}.
info(Number) -> gen_server:call(callbacks_route:keeper_name(Number), info, infinity).

%% @doc The same as callbacks_route:watch/2 for a callback that is told, which calls this. With
%% `post' the keeper also posts it, as the caller may be killed at any time.
-spec watch(id(), id(), pid(), posting()) -> reference().
watch(Watcher, Id, Keeper, Posting) ->
    Own = callbacks_route:keeper_name(callbacks_route:worker(Watcher)),
    case gen_server:call(Own, {watch, Watcher, Id, Keeper, Posting}, infinity) of
        no_worker ->
            ok = callbacks_route:pause(),
            watch(Watcher, Id, callbacks_route:keeper(Id), Posting);
        Reference -> Reference
    end.

-spec init({pos_integer(), pos_integer()}) -> {ok, state()}.
init({Number, HoldMs}) ->
    process_flag(trap_exit, true),
    %% The bound shall hold on a busy node too, and there is little to do.
    process_flag(priority, high),
    %% Who finds this keeper by its name must not find the worker of the one before, whose
    %% callbacks nobody would tell of.
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

-spec handle_call(rows | info | {watch, id(), id(), pid(), posting()}, gen_server:from(), state()) ->
          {reply, ets:table() | map() | reference() | no_worker, state()}.
handle_call(rows, _From, #{rows := Rows} = State) -> {reply, Rows, State};
handle_call(info, _From, #{rows := Rows, counts := Counts, held := Held} = State) ->
    [Spawned, Done, Failed] = [counters:get(Counts, Index) || Index <- [1, 2, 3]],
    {reply, #{spawned => Spawned, done => Done, failed => Failed, alive => ets:info(Rows, size),
              held => [Id || {_, Id} <- maps:values(Held)]}, State};
handle_call({watch, Watcher, Id, Keeper, Posting}, _From, #{watched := Watched} = State) ->
    %% A process has no monitor on itself, but the worker answers to an alias as well.
    Reference = case self() of
                    Keeper -> alias([reply]);
                    _ -> callbacks_route:watch(Id, Keeper)
                end,
    case Posting =:= leave orelse callbacks_route:try_post(Id, {'$monitor', Id, Reference}) of
        true -> {reply, Reference, State#{watched := Watched#{Reference => Watcher}}};
        false ->
            _ = unalias(Reference),
            true = demonitor(Reference, [flush]),
            {reply, no_worker, State}
    end.

-spec handle_cast(term(), state()) -> {noreply, state()}.
handle_cast(_, State) -> {noreply, State}.

-spec handle_info(term(), state()) -> {noreply, state()} | {noreply, state(), hibernate} | {stop, term(), state()}.
handle_info({timeout, Timer, Id}, #{worker := Worker} = State) ->
    Worker ! {'$timeout', Id, Timer},
    {noreply, State};
handle_info(wake, State) -> {noreply, look_again(State)};
handle_info(look, State) ->
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

%% Where nothing has moved: either the worker is in a callback, or it has nothing to do.
look(#{progress := Progress, last := Last, worker := Worker} = State) ->
    case atomics:get(Progress, 1) of
        Last when Last band 1 =:= 1 ->
            case atomics:compare_exchange(Progress, 1, Last, ?LEFT_ALONE) of
                ok -> replace(State);
                _ -> look_again(State)
            end;
        Last ->
            case atomics:compare_exchange(Progress, 1, Last, ?RESTING) of
                ok ->
                    _ = garbage_collect(Worker, [{async, rest}]),
                    State#{last := none};
                _ -> look_again(State)
            end;
        _ -> look_again(State)
    end.

%% Nothing is lost and nothing overtakes: without the name nothing more is sent to the
%% worker, and the next one gets it only after all that came before.
replace(#{number := Number, worker := Worker, progress := Progress, rows := Rows, held := Held} = State) ->
    Monitor = monitor(process, Worker),
    ok = unname(callbacks_route:worker_name(Number)),
    ok = await_schedulers(),
    Id = atomics:get(Progress, 2),
    #{worker := Fresh} = Replaced = with_worker(State#{held := Held#{Monitor => {Worker, Id}}}),
    true = ets:insert(Rows, held(ets:lookup(Rows, Id), Id, Worker)),
    case passed_on(Worker, Fresh) of
        true ->
            true = unlink(Worker),
            ok = name(Replaced),
            Replaced;
        false -> exit({worker_down, killed})
    end.

%% By a process of its own, with which the memory that a long mailbox takes is gone.
passed_on(Worker, Fresh) ->
    {Pid, Monitor} = spawn_opt(fun() -> pass_on(process_info(Worker, messages), Fresh) end,
                               [monitor, {priority, high}]),
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason =:= normal end.

pass_on({messages, Messages}, Fresh) ->
    lists:foreach(fun(Item) -> Fresh ! Item end, lists:filter(fun callbacks_worker:is_item/1, Messages));
pass_on(undefined, _Fresh) -> exit(worker_gone).

%% A worker that was killed meanwhile has lost it already.
unname(Name) ->
    try unregister(Name) of
        true -> ok
    catch
        error:badarg -> ok
    end.

held([], Id, Pid) -> {Id, {held, Pid}, []};
held([{Id, _, Extra}], Id, Pid) -> {Id, {held, Pid}, Extra}.

%% The VM asks each scheduler for this, and a scheduler answers between two calls.
await_schedulers() ->
    _ = erlang:statistics(garbage_collection),
    ok.

-spec terminate(term(), state()) -> ok.
terminate(_Reason, #{worker := Worker, held := Held}) ->
    lists:foreach(fun(Pid) -> exit(Pid, kill) end, [Worker | [Pid || {Pid, _} <- maps:values(Held)]]).
