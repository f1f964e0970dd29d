%% The piece of work that tells the machine's speed: what it may not depend on.
-module(ertslab_speed_probe_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, takes_time/1, is_not_made_to_wait_within/1, leaves_little_garbage/1, repetitions_follow_each_other/1,
         leaves_nothing_behind/1]).

all() -> [takes_time, is_not_made_to_wait_within, leaves_little_garbage, repetitions_follow_each_other,
          leaves_nothing_behind].

takes_time(_) ->
    Probe = ertslab_speed_probe:new(),
    [?assert(is_integer(Ns) andalso Ns > 0) || Ns <- [ertslab_speed_probe:run(Probe) || _ <- lists:seq(1, 100)]].

%% A process goes on for 4,000 reductions after it gave way.
is_not_made_to_wait_within(_) ->
    Probe = ertslab_speed_probe:new(),
    true = erlang:yield(),
    {reductions, Before} = process_info(self(), reductions),
    _ = ertslab_speed_probe:run(Probe),
    {reductions, After} = process_info(self(), reductions),
    ?assert(After - Before > 3584),
    ?assert(After - Before < 4000).

%% A thousand times fit in 100,000 words.
leaves_little_garbage(_) ->
    Probe = ertslab_speed_probe:new(),
    Work = fun() ->
                   Before = collections(),
                   _ = [ertslab_speed_probe:run(Probe) || _ <- lists:seq(1, 1000)],
                   exit({collected, collections() - Before})
           end,
    {Pid, Monitor} = spawn_opt(Work, [monitor, {min_heap_size, 100_000}]),
    receive {'DOWN', Monitor, process, Pid, Reason} -> ?assertEqual({collected, 0}, Reason) end.

collections() ->
    {garbage_collection, Info} = process_info(self(), garbage_collection),
    proplists:get_value(minor_gcs, Info).

%% Times are cut to microseconds.
repetitions_follow_each_other(_) ->
    Points = ertslab_speed_probe:repeated(50),
    [?assert(Next + 0.001 >= At + Ns / 1.0e6)
     || {{At, Ns}, {Next, _}} <- lists:zip(lists:droplast(Points), tl(Points))],
    ?assertMatch(#{points := Number} when Number > 1, ertslab_speeds:found(Points)).

leaves_nothing_behind(_) ->
    Kept = fun() -> process_info(self(), [messages, monitors, links]) end,
    Before = Kept(),
    [_ | _] = ertslab_speed_probe:repeated(1),
    ?assertEqual(Before, Kept()).
