%% Noise that was recorded: what is kept of it, and what is drawn from it.
-module(ertslab_recording_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, what_is_kept_is_read_back/1, a_session_is_a_stretch_of_the_recording/1, metrics_are_different_results/1,
         what_is_no_recording_is_refused/1, a_newer_recording_is_refused/1, those_that_come_along_are_whole/1,
         floors_find_nothing_in_recorded_noise/1]).

all() ->
    [what_is_kept_is_read_back, a_session_is_a_stretch_of_the_recording, metrics_are_different_results,
     what_is_no_recording_is_refused, a_newer_recording_is_refused, those_that_come_along_are_whole,
     floors_find_nothing_in_recorded_noise].

%% Values are factors of the median of their result: 100 and 10.
what_is_kept_is_read_back(Config) ->
    #{name := ~"toy", machine := ~"a machine", results := [~"a", ~"b"], runs := Runs} = recording(Config),
    ?assertEqual([[[0.9, 1.0], [1.0]], [[1.0, 2.0], [1.0, 3.0]], [[1.0], [1.0]]], Runs).

a_session_is_a_stretch_of_the_recording(Config) ->
    #{runs := Runs} = Recording = recording(Config),
    [begin
         {Drawn, _} = ertslab_recording:session(Recording, #{runs => 5, metrics => 2, iterations => 1}, rand:seed_s(exsss, Seed)),
         InOrder = [[lists:sort(Run) || Run <- lists:sublist(Turned ++ Turned, 5)] || Turned <- turned(Runs)],
         ?assert(lists:member([lists:sort(Run) || Run <- Drawn], InOrder), Drawn)
     end || Seed <- lists:seq(1, 20)].

turned(Runs) -> [lists:nthtail(From, Runs) ++ lists:sublist(Runs, From) || From <- [0, 1, 2]].

metrics_are_different_results(Config) ->
    Recording = recording(Config),
    Firsts = [begin
                  {[[One] | _], _} = ertslab_recording:session(Recording, #{runs => 3, metrics => 1, iterations => 1},
                                                               rand:seed_s(exsss, Seed)),
                  One
              end || Seed <- lists:seq(1, 60)],
    ?assertEqual(4, length(lists:usort(Firsts))).

what_is_no_recording_is_refused(Config) ->
    [begin
         File = file(Config, Name),
         ok = file:write_file(File, Content),
         ?assertThrow({failure, {ertslab_recording, {no_recording, File}}}, ertslab_recording:read(File))
     end || {Name, Content} <- [{"empty", <<>>}, {"text", ~"no gzip"}, {"lines", zlib:gzip(~"{\"a\": 1}\n")},
                                {"cut", binary:part(toy(), 0, 40)}]],
    ?assertThrow({failure, {ertslab_results, {cannot_read, _, enoent}}}, ertslab_recording:read(file(Config, "gone"))).

a_newer_recording_is_refused(Config) ->
    File = file(Config, "newer"),
    ok = file:write_file(File, ertslab_recording:text([#{noise => 7}, [[1]]])),
    ?assertThrow({failure, {ertslab_recording, {other_format, "newer", 7}}}, ertslab_recording:read(File)).

those_that_come_along_are_whole(_) ->
    [_ | _] = Recordings = ertslab_recording:all(),
    [begin
         ?assert(length(Runs) >= 60),
         [?assertEqual(length(Results), length(Run)) || Run <- Runs],
         [?assert(lists:all(fun(Factor) -> Factor > 0.2 end, Values)) || Run <- Runs, Values <- Run]
     end || #{results := Results, runs := Runs} <- Recordings].

%% 200 comparisons of identical VMs in each: at most as many false ones as chance makes of 5 %.
floors_find_nothing_in_recorded_noise(_) ->
    [begin
         Trial = #{noise => Recording, effect => 0.0, pairs => 30},
         Judged = ertslab_replay:judged(Trial, ertslab_replay:counts(Trial, 1, 1, {1, 200})),
         ?assertMatch(#{ok := true}, Judged)
     end || Recording <- ertslab_recording:all()].

recording(Config) ->
    File = file(Config, "toy"),
    ok = file:write_file(File, toy()),
    ertslab_recording:read(File).

toy() ->
    ertslab_recording:text([#{noise => 1, machine => ~"a machine", otp => ~"29.1", date => ~"2026-11-22", results => [~"a", ~"b"]},
                            [[90, 100], [10]], [[100, 200], [10, 30]], [[100], [10]]]).

file(Config, Name) -> filename:join(proplists:get_value(priv_dir, Config), Name ++ ".jsonl.gz").
