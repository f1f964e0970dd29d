%% @doc The cost of a callback compared with a process: the bytes of one that waits, as the
%% slope over 100 to 100,000 of them, the bytes that remain when they have ended, and
%% the time to start one and to reach it with a message.
%%
%% The bytes are all that the VM counts, which includes tables, processes and whatever else
%% they need. In the timings callbacks and processes do the same: the
%% last one that starts, or that takes its message, reports it.
-module(exp_callback_memory).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(SIZES, [0, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]).
-define(TIMED, 10_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "callbacks and processes that wait",
      shows => "the cost of a thread that waits as a row of a table instead of as a process",
      origin => "zeam-vm/zeam_callback: callback threads of 1.3 KB each, which were never given back",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => units, min => 1000, max => 200_000, quick => [30_000], full => [100_000], counted => 1000,
             doc => "callbacks, and processes, at the last point; the others are 0, 100, 200, 500, ... below it"}],
      metrics =>
          [#{name => callback_bytes, unit => bytes, doc => "for each callback that waits"},
           #{name => process_bytes, unit => bytes, doc => "for each process that waits"},
           #{name => callback_left, unit => percent,
             doc => "memory when all callbacks have ended, of that before the first"},
           #{name => callback_spawn, doc => "starting a callback that waits"},
           #{name => process_spawn, doc => "starting a process that waits"},
           #{name => callback_deliver, doc => "a message to each of 10,000 callbacks, for each"},
           #{name => process_deliver, doc => "a message to each of 10,000 processes, for each"},
           #{name => callback_round_trip, doc => "a message to one callback, and its answer"},
           #{name => process_round_trip, doc => "a message to one process, and its answer"}],
      contrasts =>
          [#{name => bytes, over => callback_bytes, under => process_bytes, says => "bytes of a callback to a process"},
           #{name => spawn, over => callback_spawn, under => process_spawn, says => "starting a callback to a process"},
           #{name => deliver, over => callback_deliver, under => process_deliver,
             says => "delivering to callbacks to processes"},
           #{name => round_trip, over => callback_round_trip, under => process_round_trip,
             says => "a round trip to a callback to a process"}],
      estimator => typical,
      rounds => none,
      run_ms => 0,
      warm_up => 1,
      iterations => 3,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{units := Units}) ->
    {ok, _} = application:ensure_all_started(callbacks),
    #{sizes => [Size || Size <- ?SIZES, Size < Units] ++ [Units]}.

%% The first one makes the VM load and allocate things that the others do not pay for.
-spec prepare(atom(), map()) -> map().
prepare(_, State) ->
    _ = callback_population:grow([100], fun read/0),
    ok = callback_population:empty(),
    {_, 0} = process_population:grow(waiting, [100], fun read/0),
    State.

read() -> erlang:memory(total).

-spec run(atom(), map()) -> {ertslab_experiment:value(), term()}.
run(callback_bytes, #{sizes := Sizes}) ->
    Readings = callback_population:grow(Sizes, fun read/0),
    #{alive := Alive} = callbacks:info(),
    ok = callback_population:empty(),
    {points(Readings), {lists:last(Sizes), Alive}};
run(process_bytes, #{sizes := Sizes}) ->
    {Readings, NotAsWanted} = process_population:grow(waiting, Sizes, fun read/0),
    {points(Readings), NotAsWanted};
run(callback_left, #{sizes := Sizes}) ->
    ok = callback_population:settle(),
    Before = read(),
    _ = callback_population:grow([lists:last(Sizes)], fun read/0),
    ok = callback_population:empty(),
    Left = 100 * read() / Before,
    {Left, within(Left)};
run(Metric, _State) -> callback_timing:run(Metric, ?TIMED).

%% Whether memory is back to within one per cent.
within(Left) when Left =< 101.0 -> back;
within(Left) -> #{percent_left => Left}.

points(Readings) -> [[Size, Bytes] || {Size, Bytes} <- Readings].

-spec verify(atom(), term(), map()) -> ok | {wrong, term()}.
verify(callback_bytes, {Wanted, Alive}, _) -> ertslab_experiment:expect(Wanted, Alive);
verify(process_bytes, NotAsWanted, _) -> ertslab_experiment:expect(0, NotAsWanted);
verify(callback_left, Left, _) -> ertslab_experiment:expect(back, Left);
verify(_, Result, _) -> ertslab_experiment:expect(?TIMED, Result).

-spec teardown(map()) -> ok.
teardown(_) -> application:stop(callbacks).
