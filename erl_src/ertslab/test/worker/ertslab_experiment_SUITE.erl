%% Parameters as a user writes them, and the cases that they make.
-module(ertslab_experiment_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, own_values_unless_told/1, given_values_replace_own/1, repeated_value_is_one_case/1,
         refuses_what_is_no_parameter/1, a_profile_is_of_one_case/1, a_case_is_read_as_it_is_written/1,
         toy_is_found/1, unknown_experiment_is_refused/1,
         times_in_nanoseconds/1]).

all() ->
    [own_values_unless_told, given_values_replace_own, repeated_value_is_one_case,
     refuses_what_is_no_parameter, a_profile_is_of_one_case, a_case_is_read_as_it_is_written,
     toy_is_found, unknown_experiment_is_refused,
     times_in_nanoseconds].

own_values_unless_told(_) ->
    ?assertEqual([#{n => 1, m => 5}], ertslab_parameters:cases(info(), quick, [])),
    ?assertEqual([#{n => 1, m => 5}, #{n => 1, m => 6}, #{n => 2, m => 5}, #{n => 2, m => 6}],
                 ertslab_parameters:cases(info(), full, [])).

given_values_replace_own(_) ->
    ?assertEqual([#{n => 7, m => 5}, #{n => 9, m => 5}],
                 ertslab_parameters:cases(info(), quick, [{"n", ["7", "9"]}])).

repeated_value_is_one_case(_) ->
    ?assertEqual([#{n => 7, m => 5}], ertslab_parameters:cases(info(), quick, [{"n", ["7"]}])),
    ?assertEqual([#{n => 7, m => 5}], ertslab_parameters:cases(info(), quick, [{"n", ["7", "07", "+7"]}])).

refuses_what_is_no_parameter(_) ->
    ?assertThrow({usage, {ertslab_parameters, {no_parameter, "x", [_, _]}}}, ertslab_parameters:cases(info(), quick, [{"x", ["1"]}])),
    [?assertThrow({usage, {ertslab_parameters, {not_within, n, _, 0, 100}}}, ertslab_parameters:cases(info(), quick, [Given]))
     || Given <- [{"n", Values} || Values <- [[""], ["a"], ["1.5"], ["101"], ["-1"], ["1", "", "2"]]]],
    ?assertThrow({usage, {ertslab_parameters, {given_twice, "n"}}}, ertslab_parameters:cases(info(), quick, [{"n", ["1"]}, {"n", ["2"]}])).

a_profile_is_of_one_case(_) ->
    Info = #{parameters => [#{name => n, min => 0, max => 100, quick => [1, 2], full => [3],
                              counted => 4, doc => ""},
                            #{name => m, min => 0, max => 100, quick => [5, 6], full => [7], doc => ""}]},
    ?assertEqual(#{n => 1, m => 5}, ertslab_parameters:one_case(Info, quick, [])),
    ?assertEqual(#{n => 4, m => 5}, ertslab_parameters:one_case(Info, counted, [])),
    ?assertEqual(#{n => 8, m => 5}, ertslab_parameters:one_case(Info, counted, [{"n", ["8"]}])),
    ?assertThrow({usage, {ertslab_parameters, several_cases}}, ertslab_parameters:one_case(Info, quick, [{"n", ["8", "9"]}])).

a_case_is_read_as_it_is_written(_) ->
    Info = #{parameters => [#{name => n, min => -5, max => 100, quick => [1], full => [1], doc => ""},
                            #{name => kind, 'of' => [plain, 'with blank', 'a=b', 'größer'],
                              quick => [plain], full => [plain], doc => ""}]},
    ?assertEqual([{"kind", ["with blank"]}, {"n", ["-1"]}], ertslab_parameters:assignments(#{n => -1, kind => 'with blank'})),
    [?assertEqual(Case, ertslab_parameters:one_case(Info, quick, ertslab_parameters:assignments(Case)))
     || N <- [-1, 7], Kind <- [plain, 'with blank', 'a=b', 'größer'], Case <- [#{n => N, kind => Kind}]].

toy_is_found(_) -> ?assertEqual(exp_toy, ertslab_parameters:module("toy")).

unknown_experiment_is_refused(_) ->
    ?assertThrow({usage, {ertslab_parameters, {no_experiment, "nothing", [_ | _]}}}, ertslab_parameters:module("nothing")).

times_in_nanoseconds(_) ->
    {Nanoseconds, done} = ertslab_experiment:timed(fun() -> timer:sleep(20), done end),
    ?assert(Nanoseconds >= 20_000_000).

info() ->
    #{parameters => [#{name => n, min => 0, max => 100, quick => [1], full => [1, 2], doc => ""},
                     #{name => m, min => 0, max => 100, quick => [5], full => [5, 6], doc => ""}]}.
