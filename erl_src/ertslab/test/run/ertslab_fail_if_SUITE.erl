%% What a bound on the command line makes of a summary.
-module(ertslab_fail_if_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, bounds_are_read/1, only_what_is_judged_fails/1, changed_is_either_way/1]).

all() -> [bounds_are_read, only_what_is_judged_fails, changed_is_either_way].

bounds_are_read(_) ->
    [?assertEqual({Kind, Share}, ertslab_fail_if:parsed(Text))
     || {Text, Kind, Share} <- [{"slower 2%", slower, 0.02}, {"changed 0.5 %", changed, 0.005}, {" slower  150% ", slower, 1.5}]],
    [?assertThrow({usage, _}, ertslab_fail_if:parsed(Text)) || Text <- ["", "slower", "2%", "faster 2%", "slower -2%", "slower 2"]].

%% Not what is unsure, the same or void, and not the control, however far it is.
only_what_is_judged_fails(_) ->
    Rows = [row(~"a", changed, 1.03), row(~"b", unsure, 2.0), row(~"c", same, 1.5), row(~"d", void, 3.0),
            row(~"again", changed, 1.9), row(~"e", changed, 1.0199), row(~"f", changed, 0.5)],
    ?assertEqual([~"a"], labels({slower, 0.02}, Rows)),
    ?assertEqual([~"a", ~"e"], labels({slower, 0.01}, Rows)),
    ?assertEqual([], labels({slower, 0.04}, Rows)).

changed_is_either_way(_) ->
    Rows = [row(~"a", changed, 1.03), row(~"b", changed, 0.97), row(~"c", changed, 0.99)],
    ?assertEqual([~"a", ~"b"], labels({changed, 0.02}, Rows)).

labels(Bound, Rows) ->
    Summary = #{cases => [#{rows => Rows}], overall => [], plan => #{control => ~"again"}},
    [Label || #{label := Label} <- ertslab_fail_if:found(Bound, Summary)].

row(Label, Verdict, Ratio) -> #{label => Label, metric => call, verdict => Verdict, ratio => #{estimate => Ratio}}.
