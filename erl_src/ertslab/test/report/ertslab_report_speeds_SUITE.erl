%% The picture of the machine's speed: what it shows, where, and of how much.
-module(ertslab_report_speeds_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include_lib("xmerl/include/xmerl.hrl").

-export([all/0, nothing_is_empty/1, is_well_formed/1, is_named/1, says_what_was_found/1, speeds_are_lines/1,
         one_speed_is_one_line/1, dots_are_few/1, dots_are_at_their_time/1, pauses_are_empty/1,
         places_are_inside/1, bars_count/1, two_sessions_share_no_id/1]).

all() -> [nothing_is_empty, is_well_formed, is_named, says_what_was_found, speeds_are_lines,
          one_speed_is_one_line, dots_are_few, dots_are_at_their_time, pauses_are_empty,
          places_are_inside, bars_count, two_sessions_share_no_id].

nothing_is_empty(_) ->
    [?assertEqual(~"", Render([])) || Render <- [fun section/1, fun svg/1]],
    ?assertEqual([], ertslab_report_speeds:content(none, ertslab_speeds:found([]))).

is_well_formed(_) ->
    [begin
         ?assertMatch(#xmlElement{name = section}, scan(section(Points))),
         ?assertMatch(#xmlElement{name = svg}, scan(svg(Points)))
     end || Points <- sessions()].

is_named(_) ->
    Section = section(two()),
    ?assertMatch({_, _}, binary:match(Section, ~">The machine's speed</h2>")),
    {match, [Title, Desc]} = re:run(Section, "role=\"img\".*?aria-labelledby=\"([^ ]+) ([^\"]+)\"",
                                    [{capture, all_but_first, binary}]),
    [?assertMatch({_, _}, binary:match(Section, [<<"<", Element/binary, " id=\"", Id/binary, "\">">>]))
     || {Element, Id} <- [{~"title", Title}, {~"desc", Desc}]].

says_what_was_found(_) ->
    ?assertMatch({_, _}, binary:match(section(two()), ~"<p>Two speeds, 1.5 apart, slow 75 % of the time,")),
    ?assertMatch({_, _}, binary:match(svg(two()), ~"The fast speed takes 28.00 us, the slow one 42.00 us.")).

%% The slow one is the upper one, and both are said.
speeds_are_lines(_) ->
    [Fast, Slow] = lines_of_speeds(svg(two())),
    ?assert(Slow < Fast),
    [?assertMatch({_, _}, binary:match(svg(two()), Says)) || Says <- [~">28.00 us<", ~">42.00 us<"]].

one_speed_is_one_line(_) -> ?assertMatch([_], lines_of_speeds(svg(one()))).

dots_are_few(_) ->
    ?assertEqual(600, length(columns(two()))),
    ?assertEqual(1, length(columns([{0, 28_000}]))),
    ?assertEqual(3, length(columns([{0, 28_000}, {10, 29_000}, {50, 28_500}]))).

dots_are_at_their_time(_) ->
    ?assertEqual([0, 150, 599], columns([{1000, 28_000}, {1025, 29_000}, {1100, 28_500}])).

pauses_are_empty(_) ->
    Points = [{At, 28_000} || At <- lists:seq(0, 100) ++ lists:seq(900, 1000)],
    ?assertEqual([], [Column || Column <- columns(Points), Column > 61, Column < 540]).

%% Also times far off, which are cut.
places_are_inside(_) ->
    Points = lists:sort([{500.5, 1.0e12}, {501.5, 1.0} | two()]),
    [?assert(Y >= 0 andalso Y =< 230, Y) || Y <- numbers("[ V](-?[0-9.]+)", path("band", svg(Points)))
                                                ++ numbers(" (-?[0-9.]+)h", path("dots", svg(Points)))].

%% Three of four looks are slow, so the slow hill is the longest, and the other a third of it.
bars_count(_) ->
    ?assertEqual([333, 1000], lists:sort(numbers("h([0-9]+)", path("bars", svg(two()))))).

two_sessions_share_no_id(_) ->
    Ids = fun(Points) ->
                  {match, Found} = re:run(section(Points), " id=\"([^\"]+)\"", [global, {capture, all_but_first, binary}]),
                  lists:append(Found)
          end,
    All = Ids(one()) ++ Ids(two()),
    ?assertEqual(All, lists:uniq(All)).

%% 100 ms at one speed, 300 ms at the other, ten times.
two() -> [{Ms, case Ms rem 400 < 100 of true -> 28_000; false -> 42_000 end} || Ms <- lists:seq(0, 3999)].

one() -> [{Ms, 28_000 + Ms rem 100} || Ms <- lists:seq(0, 3999)].

%% Of all lengths, from one point to hours.
sessions() ->
    [one(), two(), [{0, 5}], [{7.5, 28_000.5}, {7.5, 28_000}], [{0, 1}, {1, 1.0e15}]]
        ++ [[{Gap * N, 28_000 + N rem 9} || N <- lists:seq(1, 200)] || Gap <- [0.01, 10, 1000, 10_000, 1_000_000]].

section(Points) -> rendered(fun ertslab_report_speeds:section/2, Points).
svg(Points) -> rendered(fun ertslab_report_speeds:svg/2, Points).

rendered(Render, Points) ->
    Speeds = ertslab_speeds:found(Points),
    iolist_to_binary(Render(ertslab_speed_series:of_points(Points, Speeds), Speeds)).

scan(Text) ->
    {Element, []} = xmerl_scan:string(binary_to_list(iolist_to_binary(Text)), [{quiet, true}]),
    Element.

lines_of_speeds(Svg) ->
    {match, Found} = re:run(Svg, "<line class=\"one\"[^>]* y1=\"([0-9.]+)\"", [global, {capture, all_but_first, binary}]),
    [number(Y) || [Y] <- Found].

path(Class, Svg) ->
    {match, [Data]} = re:run(Svg, ["<path class=\"", Class, "\" d=\"([^\"]*)\""], [{capture, all_but_first, binary}]),
    Data.

%% Where the dots are, in columns of 600.
columns(Points) -> numbers("M([0-9]+) ", path("dots", svg(Points))).

numbers(Pattern, Text) ->
    {match, Found} = re:run(Text, Pattern, [global, {capture, all_but_first, binary}]),
    [number(Number) || [Number] <- Found].

number(Text) ->
    try binary_to_integer(Text)
    catch error:badarg -> binary_to_float(Text)
    end.
