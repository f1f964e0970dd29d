%% The lists of the experiment lie as they are named, and are measured.
-module(exp_length_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, layouts_are_exact/1, shuffled_cells_have_no_pattern/1,
         short_lists_are_walked_often/1, wrong_length_is_noticed/1, other_layout_is_noticed/1]).

all() ->
    [measures_every_metric, layouts_are_exact, shuffled_cells_have_no_pattern, short_lists_are_walked_often,
     wrong_length_is_noticed, other_layout_is_noticed].

measures_every_metric(_) ->
    #{metrics := Metrics} = exp_length:info(),
    #{samples := Samples} = ertslab_worker:run(exp_length, #{cells => 1000}),
    ?assertEqual([Name || #{name := Name} <- Metrics], [Name || {Name, _} <- Samples]),
    [?assertMatch([_, _], Values) || {_, Values} <- Samples].

%% Bytes from cell to cell: 2 words, and where a value lies between 15 more.
layouts_are_exact(_) ->
    [?assertMatch({Layout, #{cells := Cells, min := Min, max := Max, mean := Mean, tail := proper}},
                  {Layout, spacing(Layout, Cells)})
     || Cells <- [1001, 10_001],
        {Layout, Min, Max, Mean} <- [{dense, 16, 16, 16.0}, {reversed, -16, -16, -16.0},
                                     {alternating, -136, -16, -76.0}, {hibernated, 136, 136, 136.0}]].

%% Far apart, as often up as down, at distances of all sizes.
shuffled_cells_have_no_pattern(_) ->
    #{cells := 50_000, forward := Forward, deviation := Deviation, adjacent := Adjacent, histogram := Histogram} =
        spacing(shuffled, 50_000),
    ?assert(abs(Forward - 0.5) < 0.02, Forward),
    ?assert(Adjacent < 0.001, Adjacent),
    %% Uniform: the distance of two of N cells deviates by 16 N / sqrt(6).
    ?assert(abs(Deviation / (16 * 50_000 / math:sqrt(6)) - 1) < 0.1, Deviation),
    ?assert(length(Histogram) > 8, Histogram).

short_lists_are_walked_often(_) ->
    [?assertMatch(#{calls := Calls}, exp_length:setup(#{cells => Cells}))
     || {Cells, Calls} <- [{1000, 500}, {300_000, 1}, {3_000_000, 1}]],
    State = exp_length:prepare(dense, exp_length:setup(#{cells => 1000})),
    {PerCall, 500_000} = exp_length:run(dense, State),
    ?assert(PerCall > 0),
    ok = exp_length:teardown(State).

wrong_length_is_noticed(_) ->
    State = #{cells => 1000, calls => 500},
    ?assertEqual(ok, exp_length:verify(dense, 500_000, State)),
    [?assertMatch({wrong, #{expected := 500_000}}, exp_length:verify(Layout, 499_999, State))
     || Layout <- [dense, shuffled]].

%% An owner whose list lies in another way than the metric's name says.
other_layout_is_noticed(_) ->
    [?assertError({not_laid_out_as, Named, _}, exp_length:laid_out(Named, spacing(Other, 1000)))
     || {Named, Other} <- [{dense, reversed}, {reversed, alternating}, {alternating, dense}, {hibernated, alternating},
                           {shuffled, hibernated}]],
    ?assertEqual(ok, exp_length:laid_out(hibernated, spacing(dense, 1000))).

spacing(Layout, Cells) ->
    #{owner := Owner} = State = exp_length:prepare(Layout, exp_length:setup(#{cells => Cells})),
    Spacing = exp_length:spacing(Owner),
    ok = exp_length:teardown(State),
    Spacing.
