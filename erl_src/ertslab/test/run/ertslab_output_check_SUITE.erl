%% What is found before anything is timed.
-module(ertslab_output_check_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, equal_outputs_pass/1, what_does_not_load_is_named/1, a_crash_stops_the_comparison/1, a_wrong_output_stops_it/1,
         the_differing_metric_is_named/1, cases_of_a_run_are_tried_in_one_vm/1, a_case_that_crashes_beside_others_is_named/1,
         the_differing_case_is_named/1, values_of_expressions_may_differ_and_are_noted/1, what_is_compared_in_part_is_noted/1]).

all() ->
    [equal_outputs_pass, what_does_not_load_is_named, a_crash_stops_the_comparison, a_wrong_output_stops_it,
     the_differing_metric_is_named, cases_of_a_run_are_tried_in_one_vm, a_case_that_crashes_beside_others_is_named,
     the_differing_case_is_named, values_of_expressions_may_differ_and_are_noted, what_is_compared_in_part_is_noted].

equal_outputs_pass(_) -> ?assertEqual([], checked(of_behaviours([0]))).

%% As on an Erlang that cannot load the NIF.
what_does_not_load_is_named(_) ->
    {ended, ~"stock", #{behaviour := 0}, Why} = refused((plan())#{module := exp_wanting, cases := [#{behaviour => 0}]}),
    ?assertEqual({does_not_load, nowhere_nif}, ertslab_crash:cause(Why)).

a_crash_stops_the_comparison(_) ->
    {ended, ~"stock", #{behaviour := 1}, Why} = refused(of_behaviours([1])),
    ?assertEqual(toy_raises, ertslab_crash:cause(Why)).

a_wrong_output_stops_it(_) ->
    {ended, ~"stock", #{behaviour := 4}, Why} = refused(of_behaviours([4])),
    ?assertMatch({wrong_result, work, wrong}, ertslab_crash:cause(Why)).

the_differing_metric_is_named(_) ->
    Same = {~"a", [{fast, ~"1"}, {slow, ~"2"}]},
    ?assertEqual(none, ertslab_output_check:differing([Same, Same])),
    ?assertEqual({slow, ~"a", ~"b"}, ertslab_output_check:differing([Same, {~"b", [{fast, ~"1"}, {slow, ~"3"}]}])).

%% The recorder can tell: its second case wants to be the second of its VM. One VM an arm is told of.
cases_of_a_run_are_tried_in_one_vm(_) ->
    Plan = recorder([#{id => Id, result => together} || Id <- [1, 2, 3]]),
    Self = self(),
    ?assertEqual([], ertslab_output_check:check(Plan, fun(Done, Of) -> Self ! {Done, Of}, ok end)),
    ?assertEqual([{0, 2}, {1, 2}], told()),
    {ended, _, _, Why} = refused(Plan#{rounds := metrics}),
    ?assertEqual({wrong_result, second, 1}, ertslab_crash:cause(Why)).

told() ->
    receive {Done, Of} -> [{Done, Of} | told()]
    after 0 -> []
    end.

a_case_that_crashes_beside_others_is_named(_) ->
    {ended, ~"stock", #{behaviour := 1}, Why} = refused((of_behaviours([0, 1, 0]))#{rounds := cases}),
    ?assertEqual(toy_raises, ertslab_crash:cause(Why)).

%% Only the second case of the second arm computes something else.
the_differing_case_is_named(_) ->
    #{arms := [Arm, Other]} = Plan = recorder([#{id => Id} || Id <- [1, 2, 3]]),
    Odd = Plan#{arms := [Arm, Other#{params := #{result => odd_in_the_second}}]},
    [?assertEqual({differs, second, ~"again", ~"stock", #{id => 2}}, refused(Odd#{rounds := Rounds})) || Rounds <- [cases, metrics]],
    %% Values of a parameter may.
    ?assertEqual([], checked(Odd#{swept := result})).

%% What the control gives otherwise, too, differs by itself.
values_of_expressions_may_differ_and_are_noted(_) ->
    #{arms := [#{vm := VM} = Arm, _]} = Plan = recorder([#{id => 2}]),
    Odd = Arm#{label := ~"odd", params := #{result => odd_in_the_second}},
    Again = #{label => ~"again", params => #{}, vm => VM},
    Noted = fun(Arms) -> checked(Plan#{outputs => noted, control => ~"again", arms := Arms}) end,
    ?assertEqual([~"'odd' gives another value than 'stock'."], Noted([Arm, Again, Odd])),
    ?assertEqual([~"'odd' gives another value each time, so its value was not compared."], Noted([Odd, Again])),
    ?assertEqual([], Noted([Arm, Again])).

what_is_compared_in_part_is_noted(_) ->
    Large = (recorder([#{id => Id} || Id <- [1, 2]]))#{arms := [Arm#{params := #{result => large}} || Arm <- maps:get(arms, plan())]},
    ?assertEqual([~"first of stock is too large to be compared whole; a part of it was.",
                  ~"second of stock is too large to be compared whole; a part of it was."], checked(Large)).

%% The reason.
refused(Plan) ->
    {failure, {ertslab_output_check, Reason}} = try checked(Plan) catch throw:Thrown -> Thrown end,
    Reason.

of_behaviours(Behaviours) -> (plan())#{cases := [#{behaviour => Behaviour} || Behaviour <- Behaviours]}.

checked(Plan) -> ertslab_output_check:check(Plan, fun(_, _) -> ok end).

recorder(Cases) -> (plan())#{module := exp_recorder, rounds := cases, cases := Cases}.

plan() ->
    VM = ertslab_inventory:find(~"stock", hd(ertslab_inventory:releases())),
    #{cases => [], swept => null, module => exp_toy, timeout_ms => 2000, rounds => none,
      arms => [#{label => Label, params => #{}, vm => VM} || Label <- [~"stock", ~"again"]]}.
