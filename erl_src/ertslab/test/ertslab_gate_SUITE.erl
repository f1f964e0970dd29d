%% What is found before anything is timed.
-module(ertslab_gate_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, equal_outputs_pass/1, a_crash_stops_the_comparison/1, a_wrong_output_stops_it/1,
         the_differing_metric_is_named/1]).

all() ->
    [equal_outputs_pass, a_crash_stops_the_comparison, a_wrong_output_stops_it,
     the_differing_metric_is_named].

equal_outputs_pass(_) -> ?assertEqual(ok, check(0)).

a_crash_stops_the_comparison(_) -> refused_for(~"stock did not end well (behaviour=1): toy_raises", 1).

a_wrong_output_stops_it(_) -> refused_for(~"wrong_result", 4).

the_differing_metric_is_named(_) ->
    Same = {~"a", [{fast, ~"1"}, {slow, ~"2"}]},
    ?assertEqual(none, ertslab_gate:differing([Same, Same])),
    ?assertEqual({slow, ~"a", ~"b"}, ertslab_gate:differing([Same, {~"b", [{fast, ~"1"}, {slow, ~"3"}]}])).

refused_for(Words, Behaviour) ->
    {failure, Sentence} = try check(Behaviour) catch throw:Thrown -> Thrown end,
    ?assertMatch({_, _}, binary:match(Sentence, Words), Sentence).

check(Behaviour) ->
    VM = ertslab_vm:find(~"stock", hd(ertslab_vm:releases())),
    Plan = #{cases => [#{behaviour => Behaviour}], swept => null, module => exp_toy, timeout_ms => 2000,
             arms => [#{label => Label, params => #{}, vm => VM} || Label <- [~"stock", ~"again"]]},
    ertslab_gate:check(Plan, fun(_, _) -> ok end).
