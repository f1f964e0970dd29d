%% The page: whether it is well-formed, holds the numbers and lets nothing out.
-module(ertslab_report_html_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include_lib("xmerl/include/xmerl.hrl").

-export([all/0, a_budget_does_not_repeat_the_runs/1, verdict_is_the_first_heading/1, is_well_formed/1,
         headings_are_in_order/1, ids_are_unique/1,
         needs_nothing_else/1, pictures_are_named/1, numbers_are_placed/1, parts_are_shown_where_they_are/1,
         parts_are_missing_where_they_are_not/1, manifest_is_short/1, hostile_text_stays_text/1,
         floors_are_shown_with_the_medians/1, medians_are_alone_in_old_folders/1,
         folders_are_set_side_by_side/1, refused_folders_are_named/1, writes_attributes_safely/1,
         style_needs_no_escape/1]).

-import(report_fixture, [summary/0, summary/1, full/0, newer/0, row/4, ratio/3, data/2, hostile/0]).

all() ->
    [a_budget_does_not_repeat_the_runs, verdict_is_the_first_heading, is_well_formed, headings_are_in_order,
     ids_are_unique, needs_nothing_else,
     pictures_are_named, numbers_are_placed, parts_are_shown_where_they_are,
     parts_are_missing_where_they_are_not, manifest_is_short, hostile_text_stays_text,
     floors_are_shown_with_the_medians, medians_are_alone_in_old_folders,
     folders_are_set_side_by_side, refused_folders_are_named, writes_attributes_safely, style_needs_no_escape].

verdict_is_the_first_heading(Config) ->
    Page = page([data(Config, faster())]),
    ?assertMatch({match, [~"quicker makes walk 3.1 times as fast as stock."]},
                 re:run(Page, "<h1>([^<]*)</h1>", [{capture, all_but_first, binary}])),
    {First, _} = binary:match(Page, ~"<h1>"),
    {Second, _} = binary:match(Page, ~"<h2"),
    ?assert(First < Second).

is_well_formed(Config) ->
    ?assertMatch(#xmlElement{name = html}, scan(page([data(Config, faster())]))),
    ?assertMatch(#xmlElement{name = html}, scan(page([data(Config, S) || S <- [faster(), full(), exact(), newer()]]))),
    ?assertMatch(#xmlElement{name = html}, scan(page([data(Config, newer())]))).

headings_are_in_order(Config) ->
    [begin
         {match, Found} = re:run(Page, "<h([1-6])", [global, {capture, all_but_first, list}]),
         Levels = [list_to_integer(Level) || [Level] <- Found],
         ?assertEqual(1, hd(Levels)),
         ?assertEqual(1, length([L || L <- Levels, L =:= 1])),
         ?assertEqual([], [{A, B} || {A, B} <- lists:zip(lists:droplast(Levels), tl(Levels)), B > A + 1])
     end || Page <- [page([data(Config, two_cases())]), page([data(Config, two_cases()), data(Config, full())]),
                   page([data(Config, newer())])]].

ids_are_unique(Config) ->
    Page = page([data(Config, two_cases()), data(Config, two_cases())]),
    {match, Found} = re:run(Page, " id=\"([^\"]*)\"", [global, {capture, all_but_first, binary}]),
    ?assertEqual([], Found -- lists:uniq(Found)),
    {match, Links} = re:run(Page, "(?:href=\"#|aria-labelledby=\")([^\" ]*)", [global, {capture, all_but_first, binary}]),
    ?assertEqual([], lists:uniq(Links) -- Found).

needs_nothing_else(Config) ->
    Page = page([data(Config, full())]),
    ?assertEqual(nomatch, re:run(Page, "<script|<link|<img|<iframe|src=|url\\(|@import| on[a-z]+=")),
    ?assertMatch({match, _}, re:run(Page, "<html [^>]*lang=\"en\"")).

pictures_are_named(Config) ->
    Pictures = [Svg || #xmlElement{} = Svg <- elements(svg, scan(page([data(Config, full())]))),
                       attribute(role, Svg) =:= "img"],
    %% Ratios, values and order of two metrics.
    ?assertEqual(6, length(Pictures)),
    [?assertMatch([#xmlElement{name = title}, #xmlElement{name = desc} | _], Svg#xmlElement.content)
     || Svg <- Pictures].

numbers_are_placed(Config) ->
    Row = (row(~"fold", ~"quicker", ratio(1.0, 0.9, 1.1), ~"unsure"))#{~"slope" => #{~"low" => 7.5, ~"high" => 8}},
    #{~"cases" := [#{~"rows" := Rows} = Case]} = Summary = faster(),
    Page = page([data(Config, Summary#{~"cases" := [Case#{~"rows" := Rows ++ [Row]}]})]),
    [?assertMatch({_, _}, binary:match(Page, Number), Number)
     || Number <- [~"0.326", ~"0.298 to 0.372", ~"0.970 to 1.040", ~"1.50 ms (7.5 to 8)", ~"changed: faster",
                   ~"./ertslab compare toy --param cells=1001 --seed 77", ~"2.0 GiB"]].

parts_are_shown_where_they_are(Config) ->
    Page = page([data(Config, full())]),
    [?assertMatch({_, _}, binary:match(Page, Part), Part)
     || Part <- [~"not steady", ~"from iteration 2 on the values are 0.750 times those before", ~"list, after", ~"4096 bytes",
                 ~"3.0 MiB", ~"Checks before the first run",
                 ~"the governor is powersave", ~"stolen from, swapped", ~"open shape: disturbed",
                 ~"no answer in time", ~"walk to fold", ~"3.250 to 3.750", ~"a warning of its own", ~"at most 60 minutes"]].

parts_are_missing_where_they_are_not(Config) ->
    Page = page([data(Config, summary())]),
    [?assertEqual(nomatch, binary:match(Page, Part), Part)
     || Part <- [~"Warm-up", ~"Memory of a run", ~"Checks before", ~"measured again", ~"did not end well",
                 ~"class=\"warnings\""]].

%% Only what tells what was built, of a file that holds all there is to know.
manifest_is_short(Config) ->
    Dir = report_fixture:folder(Config, summary()),
    Manifest = #{~"compiler" => ~"gcc 12", ~"configure" => ~"./configure --with-care", ~"key" => ~"SECRET",
                 ~"source" => #{~"version" => ~"27.0", ~"sha256" => ~"feed"},
                 ~"variants" => #{~"quicker" => #{~"description" => ~"it is quick", ~"compile_info" => ~"LONG",
                                                  ~"patches" => [#{~"name" => ~"quick.patch", ~"sha256" => ~"cafe"}]}}},
    ok = file:write_file(filename:join(Dir, "manifest.json"), json:encode(Manifest)),
    {ok, Data} = ertslab_report_data:read(Dir),
    Page = page([Data]),
    [?assertMatch({_, _}, binary:match(Page, Part), Part)
     || Part <- [~"gcc 12", ~"./configure --with-care", ~"feed", ~"it is quick", ~"quick.patch cafe"]],
    [?assertEqual(nomatch, binary:match(Page, Part)) || Part <- [~"LONG", ~"SECRET"]].

%% Hostile text in every place that takes text.
hostile_text_stays_text(Config) ->
    Page = page([data(Config, poisoned(full())), data(Config, poisoned(faster())), data(Config, poisoned(newer()))], [hostile()]),
    ?assertEqual(nomatch, binary:match(Page, ~"<script")),
    ?assertEqual(nomatch, binary:match(Page, <<7>>)),
    ?assertMatch({_, _}, binary:match(Page, ~"&lt;script&gt;alert(1)")),
    ?assertMatch(#xmlElement{name = html}, scan(Page)).

%% How many pairs it allows depends on the machine.
a_budget_does_not_repeat_the_runs(Config) ->
    #{~"plan" := Plan} = Summary = faster(),
    Same = ~"this makes the same runs",
    ?assertMatch({_, _}, binary:match(page([data(Config, Summary)]), Same)),
    Budgeted = Plan#{~"budget" => #{~"given" => ~"20m"}, ~"command" => [~"compare", ~"toy", ~"--budget", ~"20m"]},
    Page = page([data(Config, Summary#{~"plan" := Budgeted})]),
    ?assertEqual(nomatch, binary:match(Page, Same)),
    ?assertMatch({_, _}, binary:match(Page, ~"this measures the same for 20m again. Here that was 8 pairs;")).

%% Of a row that they agree on the other one is beside.
floors_are_shown_with_the_medians(Config) ->
    Page = page([data(Config, newer())]),
    [?assertMatch({_, _}, binary:match(Page, Part), Part)
     || Part <- [~">floor</th>", ~">other estimator</th>", ~"disagrees: by the median it is 0.910 (0.880 to 0.940)",
                 ~"median 0.999 (0.995 to 1.004)", ~"run 3: 3.00 ms"]].

medians_are_alone_in_old_folders(Config) ->
    Page = page([data(Config, full())]),
    ?assertMatch({_, _}, binary:match(Page, ~">median</th>")),
    [?assertEqual(nomatch, binary:match(Page, Part), Part) || Part <- [~">floor</th>", ~"disagrees"]].

folders_are_set_side_by_side(Config) ->
    #{~"plan" := Plan} = Other = summary(#{~"walk" => row(~"walk", ~"quicker", ratio(0.5, 0.45, 0.55), ~"changed")}),
    Page = page([data(Config, faster()), data(Config, Other#{~"plan" := Plan#{~"otp" := ~"29.0"}})]),
    Scanned = scan(Page),
    Over = [Svg || Svg <- elements(svg, Scanned), lists:prefix("over-", attribute('aria-labelledby', Svg))],
    ?assertEqual(2, length(Over)),
    [?assertMatch({_, _}, binary:match(Page, Part), Part)
     || Part <- [~"2 comparisons of toy", ~"0.326 (0.298 to 0.372)", ~"0.500 (0.450 to 0.550)", ~"OTP 29.0"]].

refused_folders_are_named(Config) ->
    ?assertMatch({_, _}, binary:match(page([data(Config, faster())], [~"that folder is odd"]), ~"that folder is odd")).

writes_attributes_safely(_) ->
    ?assertEqual(~"<p class=\"&lt;&amp;&quot;\">&gt;\"</p>",
                 report_fixture:text(ertslab_xml:render({p, [{class, "<&\""}], [~">\""]}))).

%% In HTML a style is not unescaped, in XML it is.
style_needs_no_escape(_) ->
    Css = ertslab_report_style:css(),
    ?assertEqual(Css, report_fixture:text(ertslab_xml:render(Css))),
    [?assertMatch({_, _}, binary:match(Css, Part)) || Part <- [~"prefers-color-scheme: dark", ~"@media print"]],
    {match, Uses} = re:run(Css, "var\\((--[a-z0-9]+)\\)", [global, {capture, all_but_first, binary}]),
    [?assertMatch({match, [_, _]}, re:run(Css, [Name, ":"], [global]), Name) || [Name] <- lists:uniq(Uses)].

faster() -> summary(#{~"walk" => row(~"walk", ~"quicker", ratio(0.326, 0.298, 0.372), ~"changed")}).

two_cases() ->
    #{~"cases" := [Case]} = Summary = faster(),
    Summary#{~"cases" := [Case, Case#{~"params" := #{~"cells" => 7}}]}.

exact() ->
    #{~"plan" := Plan} = Summary = summary(#{~"walk" => row(~"walk", ~"quicker", #{~"estimate" => 0, ~"exact" => true}, ~"changed")}),
    Summary#{~"plan" := Plan#{~"exact" := true}}.

%% Every text of a summary that is not a word of the format.
poisoned(Text) when is_binary(Text) -> <<Text/binary, (hostile())/binary>>;
poisoned(List) when is_list(List) -> [poisoned(Element) || Element <- List];
poisoned(Map) when is_map(Map) ->
    #{Key => case lists:member(Key, [~"verdict", ~"more_pairs", ~"ratio", ~"swept", ~"outcome"]) of
                 true -> Value;
                 false -> poisoned(Value)
             end || Key := Value <- Map};
poisoned(Other) -> Other.

page(Folders) -> page(Folders, []).
page(Folders, Refused) -> report_fixture:text(ertslab_report_html:page(Folders, Refused)).

scan(Page) ->
    {Element, []} = xmerl_scan:string(binary_to_list(string:trim(Page)), [{quiet, true}]),
    Element.

elements(Name, #xmlElement{name = Own, content = Content} = Element) ->
    [Element || Own =:= Name] ++ lists:append([elements(Name, Child) || Child <- Content]);
elements(_, _) -> [].

attribute(Name, #xmlElement{attributes = Attributes}) ->
    case lists:keyfind(Name, #xmlAttribute.name, Attributes) of
        #xmlAttribute{value = Value} -> Value;
        false -> ""
    end.
