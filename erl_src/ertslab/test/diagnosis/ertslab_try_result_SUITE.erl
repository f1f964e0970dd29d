%% What is said of turns with a setting and without: a difference that is there, and none where there is none.
-module(ertslab_try_result_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, differences_are_found/1, the_fewest_turns_can_tell/1,
         alike_turns_say_nothing/1, false_alarms_are_rare/1, without_messages_reductions_count/1,
         what_is_not_there_has_no_ratio/1, messages_beside_the_heap_are_no_memory/1, settings_are_read/1]).

all() ->
    [differences_are_found, the_fewest_turns_can_tell, alike_turns_say_nothing, false_alarms_are_rare, without_messages_reductions_count,
     what_is_not_there_has_no_ratio, messages_beside_the_heap_are_no_memory, settings_are_read].

turn(Arm, Time, More) ->
    maps:merge(#{arm => Arm, messages => 1000, wall => 1_000_000, running => Time, collecting => Time div 10, reductions => 100_000,
                 minor => 10, full => 1, bytes => 5000}, More).

%% In random order, with noise that is the same for both.
turns(Pairs, Time, More) ->
    lists:append([case Nth rem 3 of
                      0 -> [turn(with, Time(with), More), turn(without, Time(without), #{})];
                      _ -> [turn(without, Time(without), #{}), turn(with, Time(with), More)]
                  end || Nth <- lists:seq(1, Pairs)]).

verdicts(Turns) -> [{Name, Verdict} || #{name := Name, verdict := Verdict} <- ertslab_try_result:metrics(fullsweep_after, Turns)].

differences_are_found(_) ->
    Time = fun(with) -> 800_000 + rand:uniform(50_000); (without) -> 1_000_000 + rand:uniform(50_000) end,
    Metrics = ertslab_try_result:metrics(fullsweep_after, turns(12, Time, #{minor => 20, bytes => 7000})),
    #{name := time_a_message, without := Without, with := With, ratio := #{estimate := Ratio, low := Low, high := High}} = hd(Metrics),
    ?assert(Without >= 1000 andalso Without =< 1050 andalso With >= 800 andalso With =< 850),
    ?assert(Low < Ratio andalso Ratio < High andalso Low > 0.75 andalso High < 0.86),
    ?assertEqual([{time_a_message, lower}, {collecting_a_message, lower}, {time_a_reduction, lower}, {collections_a_message, higher},
                  {full_sweeps_a_message, same}, {memory, higher}],
                 [{Name, Verdict} || #{name := Name, verdict := Verdict} <- Metrics]).

%% With one pair less not even the largest difference could be told.
the_fewest_turns_can_tell(_) ->
    Fewest = ertslab_try_result:fewest_pairs(),
    Time = fun(with) -> 500_000 + rand:uniform(5000); (without) -> 1_000_000 + rand:uniform(5000) end,
    Said = fun(Pairs) -> lists:usort([Verdict || {time_a_message, Verdict} <- verdicts(turns(Pairs, Time, #{}))]) end,
    ?assertEqual([[lower], [unseen]], [Said(Pairs) || Pairs <- [Fewest, Fewest - 1]]),
    command_line:refused(2, io_lib:format("--turns must be at least ~b", [Fewest]),
                         ["try", "--node", "a@b", "some", "fullsweep_after=0", "--turns", integer_to_list(Fewest - 1)]).

alike_turns_say_nothing(_) ->
    ?assertEqual([{time_a_message, same}, {collecting_a_message, same}, {time_a_reduction, same}, {collections_a_message, same},
                  {full_sweeps_a_message, same}, {memory, same}],
                 verdicts(turns(12, fun(_) -> 1_000_000 end, #{}))).

%% All six quantities are noise. A family of them is to be called different in a twentieth of the cases at most.
false_alarms_are_rare(_) ->
    _ = rand:seed(exsss, 1),
    Noise = fun(Scale) -> round(Scale * math:exp(rand:normal() / 5)) end,
    Noisy = fun(Arm) -> #{arm => Arm, messages => Noise(1000), wall => 1_000_000, running => Noise(500_000), collecting => Noise(50_000),
                          reductions => Noise(100_000), minor => Noise(100), full => Noise(50), bytes => Noise(5000)} end,
    Alarms = [1 || _ <- lists:seq(1, 400), lists:any(fun({_, Verdict}) -> Verdict =:= lower orelse Verdict =:= higher end,
                                                     verdicts(lists:append([[Noisy(with), Noisy(without)] || _ <- lists:seq(1, 12)])))],
    ?assertMatch(Count when Count =< 30, length(Alarms)).

without_messages_reductions_count(_) ->
    [?assertEqual([time_a_reduction, collecting_a_reduction, collections_a_reduction, full_sweeps_a_reduction, memory],
                  [Name || {Name, _} <- verdicts([turn(without, 1000, #{messages => None}) | tl(turns(6, fun(_) -> 1000 end, #{}))])])
     || None <- [0, unknown]].

what_is_not_there_has_no_ratio(_) ->
    Metrics = ertslab_try_result:metrics(fullsweep_after, turns(6, fun(_) -> 1000 end, #{full => 0})),
    ?assertMatch([#{ratio := unknown, verdict := unknown, with := Zero}] when Zero == 0,
                 [One || #{name := full_sweeps_a_message} = One <- Metrics]).

%% The VM would say that they took no memory.
messages_beside_the_heap_are_no_memory(_) ->
    Names = [Name || #{name := Name} <- ertslab_try_result:metrics(message_queue_data, turns(6, fun(_) -> 1000 end, #{bytes => 100}))],
    ?assert(lists:member(time_a_message, Names)),
    ?assertNot(lists:member(memory, Names)).

settings_are_read(_) ->
    Type = ertslab_try_setting:type(),
    [?assertEqual({ok, Setting}, ertslab_option_types:read(Type, Text))
     || {Text, Setting} <- [{"fullsweep_after=0", {fullsweep_after, 0}}, {"message_queue_data=off_heap", {message_queue_data, off_heap}},
                            {"min_heap_size=10000", {min_heap_size, 10_000}}]],
    [?assertEqual(Text, ertslab_option_types:written(Type, element(2, ertslab_option_types:read(Type, Text))))
     || Text <- ["min_bin_vheap_size=50000", "message_queue_data=on_heap"]],
    [?assertMatch({error, _}, ertslab_option_types:read(Type, Text))
     || Text <- ["", "=", "fullsweep_after", "fullsweep_after=", "fullsweep_after=-1", "fullsweep_after=1=2", "message_queue_data=aside",
                 "priority=high", "min_heap_size=1000000000000000000000",
                 "fullsweep_after=65536", "min_heap_size=100000001", "min_bin_vheap_size=99999999999999999"]],
    %% The node of the process would end by it.
    {error, {Module, Why}} = ertslab_option_types:read(Type, "min_bin_vheap_size=99999999999999999"),
    Words = lists:flatten(Module:format_error(Why)),
    [?assertMatch({_, [_ | _]}, {Bound, string:find(Words, Bound)}) || Bound <- ["to 65535 for fullsweep_after", "to 100000000"]],
    ?assertEqual({ok, {fullsweep_after, 65_535}}, ertslab_option_types:read(Type, "fullsweep_after=65535")).
