%% Lines over a parameter: who is drawn in which panel, with which numbers.
-module(ertslab_plot_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, panel_for_each_arm_and_rest/1, values_in_microseconds/1, bars_have_a_unit_that_suits/1,
         ratios_have_their_intervals/1, ratios_of_counts_have_none/1, gnuplot_draws_it/1,
         curves_have_an_axis_that_shows_all_values/1,
         nothing_is_left_of_a_picture_that_failed/1, any_text_is_text/1, long_names_stand_above/1]).

all() -> [panel_for_each_arm_and_rest, values_in_microseconds, bars_have_a_unit_that_suits,
          ratios_have_their_intervals, ratios_of_counts_have_none, gnuplot_draws_it, curves_have_an_axis_that_shows_all_values,
          nothing_is_left_of_a_picture_that_failed, any_text_is_text, long_names_stand_above].

panel_for_each_arm_and_rest(_) ->
    ?assertEqual([~"queue=off  patched", ~"queue=off  stock", ~"queue=on  patched", ~"queue=on  stock"],
                 lists:sort(found(~"set title \"(queue=.*)\" noenhanced"))),
    ?assertEqual([], found(~"copy")),
    ?assertEqual(4, length(found(~"(title \"slow\" noenhanced, .*title \"flat\" noenhanced)"))).

%% Zero has no place on a logarithmic axis.
values_in_microseconds(_) ->
    {match, [Block]} = re:run(script(), ~"\\$lines1_slow << EOD\n(.*?)EOD", [dotall, {capture, all_but_first, binary}]),
    ?assertEqual(~"1 2.000000\n1000 2002.000000\n", Block).

bars_have_a_unit_that_suits(_) ->
    [?assertMatch({match, _}, re:run(bars(Value), Expected, [dotall]), Value)
     || {Value, Expected} <- [{999, ~"median, ns.* 999.0"}, {1000, ~"median, us.* 1.0"},
                               {2.5e6, ~"median, ms.* 2.5"}, {null, ~"median, ns.*set multiplot next"}]].

%% The first arm is what they are ratios to, and one that could not be told leaves its place and its colour.
ratios_have_their_intervals(_) ->
    Script = ratios([none, #{estimate => 1.5, low => 1.25, high => 2}]),
    ?assertMatch({match, _}, re:run(Script, ~"\"slow\" NaN NaN NaN 1.500000 1.250000 2.000000\n")),
    ?assertMatch({match, _}, re:run(Script, ~"plot \\$case1 using 5:6:7:xtic\\(1\\) lt 3")),
    ?assertEqual(nomatch, re:run(Script, ~"copy")),
    ?assertEqual(nomatch, re:run(Script, ~"stock")).

%% All of them may be counted, as by the experiment spacing.
ratios_of_counts_have_none(_) ->
    Script = ratios([#{estimate => 1.0, exact => true}, #{estimate => 0.125, exact => true}]),
    ?assertMatch({match, _}, re:run(Script, ~"\"slow\" 1.000000 1.000000 1.000000 0.125000 0.125000 0.125000\n")),
    ?assertMatch({match, _}, re:run(Script, ~"using 2:3:4:xtic\\(1\\) lt 2 title \"copy\".*using 5:6:7:xtic\\(1\\) lt 3")).

ratios(Ratios) ->
    Labels = [~"stock", ~"copy", ~"patched"],
    ertslab_text:binary(
      ertslab_plot_bars:ratios(
        #{plan => #{title => ~"a title", otp => ~"29.1", estimator => typical, metrics => [#{name => ~"slow", unit => ~"ns"}]},
          arms => [#{label => Label} || Label <- Labels],
          cases => [#{params => #{~"depth" => 1},
                      rows => [#{metric => ~"slow", label => Label, value => 1.0, ratio => Ratio}
                               || {Label, Ratio} <- lists:zip(Labels, [none | Ratios])]}]})).

bars(Value) -> bars(~"stock", Value).

bars(Label, Value) ->
    ertslab_text:binary(
      ertslab_plot_bars:values(#{plan => #{title => ~"a title", otp => ~"29.1", estimator => typical,
                                           metrics => [#{name => ~"slow", unit => ~"ns"}]},
                                 arms => [#{label => Label}],
                                 cases => [#{params => #{~"depth" => 1},
                                             rows => [#{metric => ~"slow", label => Label, value => Value}]}]})).

gnuplot_draws_it(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "picture.svg"),
    Counted = #{estimate => 1.0, exact => true},
    [begin
         ok = ertslab_gnuplot:draw(File, Script),
         {ok, Svg} = file:read_file(File),
         ?assertMatch({match, _}, re:run(Svg, "</svg>"))
     end || Script <- [script(), bars(1000), ratios([Counted, Counted]), ratios([none, Counted]),
                   ratios([none, none])]].

%% A logarithmic one shows neither zero nor what is below.
curves_have_an_axis_that_shows_all_values(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "curve.svg"),
    [begin
         Script = curve(Values),
         ?assertEqual(Logarithmic, match =:= re:run(Script, ~"logscale", [{capture, none}])),
         ?assertMatch({match, _}, re:run(Script, io_lib:format("\n~b 2.00000 1.00000 3.00000\n", [lists:last(Values)]))),
         ?assertEqual(ok, ertslab_gnuplot:draw(File, Script))
     end || {Values, Logarithmic} <- [{[1, 64, 128], true}, {[-1, 10, 0], false}, {[65535, 0], false}]].

curve([First | Others]) ->
    Row = fun(Value, Ratio) -> #{metric => ~"slow", label => integer_to_binary(Value), params => #{~"after" => Value}, ratio => Ratio} end,
    ertslab_text:binary(
      ertslab_plot_lines:curve(
        #{plan => #{title => ~"a title", otp => ~"29.1", swept => ~"after", control => none},
          cases => [#{params => #{~"depth" => 1},
                      rows => [Row(First, none) | [Row(Value, #{estimate => 2, low => 1, high => 3}) || Value <- Others]]}]},
        [~"slow"])).

%% Half a picture would be shown as a broken one.
nothing_is_left_of_a_picture_that_failed(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "failed.svg"),
    ?assertMatch({error, {ertslab_gnuplot, {says, _}}}, ertslab_gnuplot:draw(File, [script(), ~"no command\n"])),
    ?assertNot(filelib:is_file(File)).

%% Of a label, and of the folder. What stands between backquotes is run by nobody.
any_text_is_text(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "a \"b\" `touch run`1 \\n 'c'\nd\re"),
    ok = filelib:ensure_path(Dir),
    File = filename:join(Dir, "picture.svg"),
    Ran = filename:join(proplists:get_value(priv_dir, Config), "ran"),
    Label = lists:flatten(["`touch ", Ran, "`1 \\t \"1\""]),
    ok = ertslab_gnuplot:draw(File, ["set terminal svg\nset title \"", ertslab_gnuplot:escape(Label), "\" noenhanced\nplot x\n"]),
    {ok, Svg} = file:read_file(File),
    ?assertNotEqual(nomatch, string:find(Svg, "`1 \\t \"1\""), Svg),
    ?assertNot(filelib:is_file(Ran)).

%% Beside a panel they would be cut, and leave it no room.
long_names_stand_above(Config) ->
    Long = binary:copy(~"lists:seq(1, 7), ", 5),
    ?assertMatch({"set key outside right" ++ _, 0}, ertslab_gnuplot:key([~"stock", ~"stock again"])),
    ?assertMatch({"set key outside above" ++ _, Height} when Height > 0, ertslab_gnuplot:key([~"stock", Long])),
    File = filename:join(proplists:get_value(priv_dir, Config), "long.svg"),
    ok = ertslab_gnuplot:draw(File, bars(Long, 1000)),
    {ok, Svg} = file:read_file(File),
    %% The text begins and ends within the picture, which is 900 wide; a letter is 7.
    {match, [X]} = re:run(Svg, ["translate\\(([0-9.]+),[0-9.]+\\)\"[^>]*>\\s*<text>\\Q", Long], [{capture, all_but_first, list}]),
    ?assert(list_to_float(X) >= 0 andalso list_to_float(X) + 7 * byte_size(Long) < 900, X),
    Longer = report_fixture:text(ertslab_gnuplot:name(binary:copy(Long, 2))),
    ?assertEqual(100, string:length(Longer)),
    ?assertMatch(~"…", string:slice(Longer, 99)).

found(Pattern) ->
    case re:run(script(), Pattern, [global, {capture, all, binary}]) of
        {match, Found} -> [lists:last(Groups) || Groups <- Found];
        nomatch -> []
    end.

script() ->
    ertslab_text:binary(
      ertslab_plot_lines:values(
        #{plan => #{title => ~"a title", otp => ~"29.1", estimator => typical, metrics => [#{name => ~"slow"}, #{name => ~"flat"}],
                    plot_over => ~"depth", control => ~"copy"},
          arms => [#{label => Label} || Label <- [~"stock", ~"copy", ~"patched"]],
          cases => [#{params => #{~"depth" => Depth, ~"queue" => Queue},
                      rows => [#{metric => Metric, label => Label, value => number(Metric, Depth)}
                               || Metric <- [~"slow", ~"flat"], Label <- [~"stock", ~"copy", ~"patched"]]}
                    || Queue <- [~"on", ~"off"], Depth <- [0, 1000]]})).

number(~"slow", Depth) -> 2000 + 2000 * Depth;
number(~"flat", _Depth) -> 3000.
