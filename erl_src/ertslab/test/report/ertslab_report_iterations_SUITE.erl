%% The table of single iterations has the numbers of a textbook.
-module(ertslab_report_iterations_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, spread_is_described/1, what_was_measured_again_is_left_out/1, counts_have_no_rate/1,
         values_of_a_line_are_iterations/1]).

all() -> [spread_is_described, what_was_measured_again_is_left_out, counts_have_no_rate,
          values_of_a_line_are_iterations].

%% Of 2, 4, 4, 4, 5, 5, 7, 9 ms the mean is 5 and the sample's deviation 2.138; at
%% 99 % of the seven steps from the smallest to the largest lies 8.86.
spread_is_described(_) ->
    Ms = 1_000_000,
    Points = [point(0, [2 * Ms, 4 * Ms, 4 * Ms, 4 * Ms], false), point(0, [5 * Ms, 5 * Ms, 7 * Ms, 9 * Ms], false)],
    ?assertMatch([_, _, _, ["map", "stock", "200.0", "5.00 ms", "42.8 %", "4.50 ms", "8.86 ms", "8"]],
                 cells(~"ns", Points)).

what_was_measured_again_is_left_out(_) ->
    ?assertMatch([_, _, _, ["map", "stock", _, "3.0 ns", "-", "3.0 ns", "3.0 ns", "1"]],
                 cells(~"ns", [point(0, [3], false), point(0, [100], true)])).

counts_have_no_rate(_) ->
    ?assertMatch([_, _, _, ["map", "stock", "-", "8 bytes" | _]], cells(~"bytes", [point(0, [8, 8], false)])).

%% Six values in each of seven runs, since one of eight was measured again.
values_of_a_line_are_iterations(Config) ->
    Text = report_fixture:text(ertslab_report_iterations:page([report_fixture:data(Config, report_fixture:newer())])),
    ?assertMatch({match, Lines} when length(Lines) =:= 12,
                 re:run(Text, "^(walk|fold) +(stock|stock_copy|quicker) .* 42$", [global, multiline])).

cells(Unit, Points) ->
    Data = #{name => ~"folder", measured => ~"2026-11-21", arms => [#{label => ~"stock"}],
             cases => [#{params => #{~"elements" => 8}, contrasts => [],
                         rows => [#{metric => ~"map", label => ~"stock", unit => Unit,
                                    iterations => ertslab_run_numbers:iterations(Points)}]}]},
    Text = unicode:characters_to_list(ertslab_report_iterations:page([Data])),
    [re:split(Line, "  +", [{return, list}]) || Line <- string:lexemes(Text, "\n")].

point(Run, Values, Aside) ->
    #{run => Run, pair => 1, value => ertslab_stats:median(Values), values => Values, aside => Aside}.
