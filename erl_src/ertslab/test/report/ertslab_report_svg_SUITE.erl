%% Where the pictures put what they show.
-module(ertslab_report_svg_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, one_is_between/1, ratios_are_placed_by_their_logs/1, range_holds_all/1, outcomes_have_shapes/1,
         arms_have_shapes/1, ticks_are_few_and_in_range/1, equal_values_have_an_axis/1,
         one_run_is_drawn/1, extremes_stay_inside/1, long_names_are_cut/1, expressions_are_told_apart/1, aside_is_marked/1]).

all() ->
    [one_is_between, ratios_are_placed_by_their_logs, range_holds_all, outcomes_have_shapes, arms_have_shapes,
     ticks_are_few_and_in_range, equal_values_have_an_axis, one_run_is_drawn, extremes_stay_inside,
     long_names_are_cut, expressions_are_told_apart, aside_is_marked].

one_is_between(_) ->
    ?assertMatch([Place] when Place > 4.0, lists:uniq(places("one", ratios([row(0.5, 0.4, 0.6, changed)], {0.25, 4.0})))).

%% On an axis from 1/4 to 4, which goes from 4 to 96 percent.
ratios_are_placed_by_their_logs(_) ->
    Svg = ratios([row(0.5, 0.25, 1.0, faster)], {0.25, 4.0}),
    ?assertEqual([50.0], lists:uniq(places("one", Svg))),
    ?assertMatch({_, _}, binary:match(Svg, ~"x=\"27.00%\"")),
    ?assertEqual([4.0, 50.0], places("end", Svg)).

range_holds_all(_) ->
    {Low, High} = ertslab_report_svg:ratio_range([0.3, 2.0, 0, 0.9]),
    ?assert(Low < 0.3 andalso High > 2.0),
    {Least, Most} = ertslab_report_svg:ratio_range([]),
    ?assert(Least < 1 andalso Most > 1).

%% What is told by colour is told by a shape too.
outcomes_have_shapes(_) ->
    Shapes = [begin
                  {match, [Shape]} = re:run(ratios([row(1.0, 0.9, 1.1, Outcome)], {0.5, 2.0}),
                                            "class=\"shape\".*?<path d=\"([^\"]*)\"", [{capture, all_but_first, binary}]),
                  Shape
              end || Outcome <- [faster, same, unsure]],
    ?assertEqual(3, length(lists:uniq(Shapes))).

arms_have_shapes(_) ->
    Marks = [text(ertslab_report_svg:mark(Arm)) || Arm <- lists:seq(0, 29)],
    ?assertEqual(30, length(lists:uniq(Marks))).

ticks_are_few_and_in_range(_) ->
    [begin
         Numbers = [Place || Place <- lists:uniq(places("grid", ratios([row(1.0, none, none, same)], Range)))],
         ?assert(length(Numbers) >= 1 andalso length(Numbers) =< 9, {Range, Numbers}),
         ?assertEqual([], [P || P <- Numbers, P < 4.0 orelse P > 96.0])
     end || Range <- [{0.98, 1.02}, {0.9, 1.3}, {0.2, 1.1}, {0.01, 20.0}, {0.0001, 1000.0}]],
    ?assertMatch([_ | _], ertslab_report_svg:ratio_ticks({1.0e-308, 1.0e308})).

equal_values_have_an_axis(_) ->
    [?assertMatch({_, _}, binary:match(values(fun ertslab_report_svg:values/1, [{1, Value}, {2, Value}]), ~"median"))
     || Value <- [0, 16, 16.0, 123456789]].

one_run_is_drawn(_) ->
    ?assertMatch({_, _}, binary:match(values(fun ertslab_report_svg:run_order/1, [{7, 1.5e6}]), ~"run 7: 1.50 ms")).

extremes_stay_inside(_) ->
    Svg = ratios([row(1.0e9, 0.0, 1.0e12, slower)], {0.5, 2.0}),
    ?assertEqual([4.0, 96.0], places("end", Svg)).

long_names_are_cut(_) ->
    Long = binary:copy(~"x", 500),
    Svg = ratios([(row(1.0, 0.9, 1.1, same))#{label := Long}], {0.5, 2.0}),
    ?assertEqual(nomatch, binary:match(Svg, Long)),
    ?assertMatch({_, _}, binary:match(Svg, ~"xxx…")).

%% Also if they differ near their ends only, and no text lies over a mark.
expressions_are_told_apart(_) ->
    Labels = [~"lists:foldl(fun(X, Sum) -> X + Sum end, 0, L)", ~"lists:foldl(fun(X, Sum) -> X + Sum end, 1, L)"],
    Rows = [(row(1.0, 0.9, 1.1, same))#{label := Label} || Label <- Labels],
    Points = [#{arm => Arm, run => Arm + 1, value => 5, aside => false} || Arm <- [0, 1]],
    Values = ertslab_report_svg:values((figure(Points))#{arms := Labels}),
    [begin
         {match, Found} = re:run(Svg, "<text class=\"label\" x=\"0\" y=\"([0-9]+)[^>]*>([^<]*)<",
                                 [global, {capture, all_but_first, binary}]),
         ?assertEqual([~"lists:foldl(fun(X, Sum) -&gt; X + Sum end, 0,", ~"L)", ~"lists:foldl(fun(X, Sum) -&gt; X + Sum end, 1,", ~"L)"],
                      [Line || [_, Line] <- Found]),
         {match, Notes} = re:run(Svg, "<text class=\"note\" x=\"100%\" y=\"([0-9]+)", [global, {capture, all_but_first, binary}]),
         Places = [binary_to_integer(Y) || [Y | _] <- Found ++ Notes],
         ?assertEqual(6, length(lists:usort(Places)))
     end || Svg <- [ratios(Rows, {0.5, 2.0}), text(Values)]].

aside_is_marked(_) ->
    Svg = text(ertslab_report_svg:run_order(figure([#{arm => 0, run => 1, value => 5, aside => true},
                                                    #{arm => 0, run => 2, value => 6, aside => false}]))),
    ?assertMatch({match, [[_]]}, re:run(Svg, "class=\"arm0 aside\"", [global])).

row(Estimate, Low, High, Outcome) ->
    #{label => ~"arm", note => ~"a note", outcome => Outcome, estimate => Estimate, low => Low, high => High}.

ratios(Rows, Range) ->
    text(ertslab_report_svg:ratios(#{id => ~"i", title => ~"t", desc => ~"d", range => Range, floor => {0.99, 1.01},
                                     baseline => ~"stock", rows => Rows})).

values(Draw, RunsAndValues) ->
    text(Draw(figure([#{arm => 0, run => Run, value => Value, aside => false} || {Run, Value} <- RunsAndValues]))).

figure(Points) ->
    #{id => ~"i", title => ~"t", desc => ~"d", unit => ~"ns", arms => [~"stock"], points => Points}.

text(Content) -> report_fixture:text(ertslab_xml:render(Content)).

%% The places across of the lines of a class, in percent.
places(Class, Svg) ->
    case re:run(Svg, ["<line class=\"", Class, "\" x1=\"([0-9.]+)%"], [global, {capture, all_but_first, list}]) of
        {match, Found} -> [list_to_float(Place) || [Place] <- Found];
        nomatch -> []
    end.
