%% Groups that differ and groups that do not. The values of SciPy are checked by
%% ertslab_stats_SUITE.
-module(ertslab_kruskal_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, mucociliary_clearance/1, order_does_not_matter/1, nothing_to_compare_is_no_difference/1]).

all() -> [mucociliary_clearance, order_does_not_matter, nothing_to_compare_is_no_difference].

%% Hollander and Wolfe, example 6.1: H is 0.771, and its p value 0.68.
mucociliary_clearance(_) ->
    P = ertslab_kruskal:p([[2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0]]),
    ?assert(abs(P - math:exp(-0.771 / 2)) < 0.001).

order_does_not_matter(_) ->
    Groups = [[1, 5, 9], [2, 2, 4], [7.5, 8, 3]],
    ?assert(abs(ertslab_kruskal:p(Groups)
                - ertslab_kruskal:p([lists:reverse(Group) || Group <- lists:reverse(Groups)])) < 1.0e-12).

nothing_to_compare_is_no_difference(_) ->
    [?assertEqual(1.0, ertslab_kruskal:p(Groups))
     || Groups <- [[], [[1, 2, 3]], [[4, 4], [4.0]], [[0.0, -0.0], [0]]]].
