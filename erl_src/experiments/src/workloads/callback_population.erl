%% @doc Thousands of callbacks that wait, as process_population has processes.
-module(callback_population).

-export([grow/2, empty/0, settle/0, wait/0, stop/1]).

%% @doc Lets a population grow to each of these ascending sizes, and calls the fun
%% at each size. The callbacks stay until empty/0.
-spec grow([pos_integer()], fun(() -> Reading)) -> [{pos_integer(), Reading}].
grow(Sizes, Read) ->
    ok = process_population:ready(),
    {Readings, _} = lists:mapfoldl(fun(Size, Before) ->
                                           ok = add(Size - Before),
                                           ok = settle(),
                                           {{Size, Read()}, Size}
                                   end, 0, Sizes),
    Readings.

%% Keeps no list of the callbacks, since that would grow with them.
add(0) -> ok;
add(Left) ->
    _ = callbacks:spawn(fun ?MODULE:wait/0),
    add(Left - 1).

%% @doc Lets all callbacks end by themselves.
-spec empty() -> ok.
empty() ->
    lists:foreach(fun(Id) -> callbacks:send(Id, stop) end, callbacks:all()),
    ok = settle(),
    %% Once more when all are idle, for a worker that was replaced during the first.
    settle().

%% @doc Waits until the workers have finished earlier requests, and their free memory
%% is given back.
-spec settle() -> ok.
settle() ->
    Workers = lists:seq(1, callbacks_route:workers()),
    ok = pass(length(Workers)),
    ok = await_replaced(),
    lists:foreach(fun(Name) -> garbage_collect(whereis(Name)) end,
                  [Name || Worker <- Workers,
                           Name <- [callbacks_route:worker_name(Worker), callbacks_route:keeper_name(Worker)]]),
    process_population:settle().

%% On a busy machine a worker that was only not scheduled may be replaced, and its
%% mailbox takes memory until it is gone. A process that is exiting is counted but not listed.
await_replaced() ->
    #{held := Held} = callbacks:info(),
    case {Held, erlang:system_info(process_count) - length(processes())} of
        {[], 0} -> ok;
        _ ->
            timer:sleep(1),
            await_replaced()
    end.

pass(0) -> ok;
pass(Worker) ->
    Caller = self(),
    Passed = make_ref(),
    _ = callbacks:spawn(Worker, fun() -> Caller ! Passed, done end),
    receive Passed -> pass(Worker - 1) end.

%% @doc The life of a callback of the population.
-spec wait() -> callbacks:next().
wait() -> {wait, fun ?MODULE:stop/1}.

-spec stop(stop) -> callbacks:next().
stop(stop) -> done.
