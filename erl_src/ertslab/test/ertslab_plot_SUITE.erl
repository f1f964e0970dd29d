%% Lines over a parameter: who is drawn in which panel, with which numbers.
-module(ertslab_plot_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, panel_for_each_arm_and_rest/1, medians_in_microseconds/1, gnuplot_draws_it/1]).

all() -> [panel_for_each_arm_and_rest, medians_in_microseconds, gnuplot_draws_it].

panel_for_each_arm_and_rest(_) ->
    ?assertEqual([~"queue=off  patched", ~"queue=off  stock", ~"queue=on  patched", ~"queue=on  stock"],
                 lists:sort(found(~"set title \"(queue=.*)\" noenhanced"))),
    ?assertEqual([], found(~"copy")),
    ?assertEqual(4, length(found(~"(title \"slow\" noenhanced, .*title \"flat\" noenhanced)"))).

%% Zero has no place on a logarithmic axis.
medians_in_microseconds(_) ->
    {match, [Block]} = re:run(script(), ~"\\$lines1_slow << EOD\n(.*?)EOD", [dotall, {capture, all_but_first, binary}]),
    ?assertEqual(~"1 2.000000\n1000 2002.000000\n", Block).

gnuplot_draws_it(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "lines.svg"),
    ok = ertslab_plot:draw(File, script()),
    {ok, Svg} = file:read_file(File),
    ?assertMatch({match, _}, re:run(Svg, "<svg")).

found(Pattern) ->
    case re:run(script(), Pattern, [global, {capture, all, binary}]) of
        {match, Found} -> [lists:last(Groups) || Groups <- Found];
        nomatch -> []
    end.

script() ->
    ertslab_error:text(
      ertslab_plot:lines(
        #{plan => #{title => ~"a title", otp => ~"29.1", metrics => [#{name => slow}, #{name => flat}],
                    plot_over => depth, control => ~"copy"},
          arms => [#{label => Label} || Label <- [~"stock", ~"copy", ~"patched"]],
          cases => [#{params => #{depth => Depth, queue => Queue},
                      rows => [#{metric => Metric, label => Label, median => median(Metric, Depth)}
                               || Metric <- [slow, flat], Label <- [~"stock", ~"copy", ~"patched"]]}
                    || Queue <- [on, off], Depth <- [0, 1000]]})).

median(slow, Depth) -> 2000 + 2000 * Depth;
median(flat, _Depth) -> 3000.
