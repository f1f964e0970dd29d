%% The command `report': folders into pages, text or lines, and what is said of those that cannot be read. That a browser and
%% benchstat read them is tests/report.bats.
-module(ertslab_report_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_folder_gets_its_page/1, several_folders_make_one_page_elsewhere/1, other_formats_are_printed/1,
         no_result_commands_a_terminal/1, out_is_where_it_goes/1,
         a_folder_that_cannot_be_read_costs_only_itself/1, what_is_not_finished_is_told_how_to_finish/1, wrong_words_are_refused/1,
         a_report_says_how_its_numbers_came_about/1, the_machine_is_one_sentence/1, what_vms_were_built_from_is_told/1,
         the_same_results_of_folders_are_a_series/1, a_table_scrolls_and_is_named/1, a_terminal_gets_a_table/1,
         a_log_of_looks_gets_its_page/1]).

-import(report_fixture, [summary/0, summary/1, full/0, newer/0, folder/2, data/2]).

all() ->
    [a_folder_gets_its_page, several_folders_make_one_page_elsewhere, other_formats_are_printed,
     no_result_commands_a_terminal, out_is_where_it_goes,
     a_folder_that_cannot_be_read_costs_only_itself, what_is_not_finished_is_told_how_to_finish, wrong_words_are_refused,
     a_report_says_how_its_numbers_came_about, the_machine_is_one_sentence, what_vms_were_built_from_is_told,
     the_same_results_of_folders_are_a_series, a_table_scrolls_and_is_named, a_terminal_gets_a_table, a_log_of_looks_gets_its_page].

a_folder_gets_its_page(Config) ->
    Dir = folder(Config, full()),
    Page = filename:join(Dir, "report.html"),
    [begin
         command_line:ends(0, Page, ["report", Given]),
         {ok, Html} = file:read_file(Page),
         ?assertMatch({_, _}, binary:match(Html, ~"<h1>")),
         ok = file:delete(Page)
     end || Given <- [Dir, Dir ++ "/"]].

several_folders_make_one_page_elsewhere(Config) ->
    [First, Second] = Dirs = [folder(Config, Summary) || Summary <- [full(), newer()]],
    Top = os:getenv("ERTSLAB_TOP"),
    true = os:putenv("ERTSLAB_TOP", proplists:get_value(priv_dir, Config)),
    try
        Page = string:trim(command_line:ends(0, "/results/report-", ["report" | Dirs])),
        {ok, Html} = file:read_file(Page),
        [?assertMatch({_, _}, binary:match(Html, unicode:characters_to_binary(filename:basename(Dir)))) || Dir <- Dirs],
        %% As `report results/*' does the second time.
        command_line:ends(0, "| walk | quicker |", ["report", Page, "--format", "markdown" | Dirs])
    after os:putenv("ERTSLAB_TOP", Top)
    end,
    [?assertNot(filelib:is_regular(filename:join(Dir, "report.html"))) || Dir <- [First, Second]].

other_formats_are_printed(Config) ->
    Dir = folder(Config, newer()),
    [command_line:ends(0, Text, ["report", Dir, "--format", Format])
     || {Format, Text} <- [{"markdown", "| walk | quicker |"}, {"table", "toy on OTP 27.0: a toy"}, {"benchstat", "BenchmarkToy/cells="},
                           {"iterations", "walk"}]],
    ?assertNot(filelib:is_regular(filename:join(Dir, "report.html"))).

%% Results may be of others, and an arm is called as somebody liked.
no_result_commands_a_terminal(Config) ->
    #{~"plan" := #{~"machine" := Machine} = Plan} = Summary = newer(),
    Dir = folder(Config, Summary#{~"plan" := Plan#{~"title" := <<"a", 27, "[2Jtoy">>, ~"baseline_label" := <<"st", 155/utf8, "ock">>,
                                                   ~"machine" := Machine#{~"cpu" := <<"A", 7, "CPU">>}}}),
    [begin
         Said = command_line:ends(0, Text, ["report", Dir, "--format", Format]),
         ?assertEqual({Format, []}, {Format, [Char || Char <- Said, Char < $\s, Char =/= $\n, Char =/= $\t]}),
         ?assertEqual({Format, []}, {Format, [Char || Char <- Said, Char >= 127, Char =< 159]})
     end || {Format, Text} <- [{"table", "a [2Jtoy"}, {"benchstat", "cpu: A CPU"}, {"markdown", "A CPU"}, {"iterations", "walk"}]].

out_is_where_it_goes(Config) ->
    Dir = folder(Config, full()),
    File = filename:join(Dir, "own.txt"),
    command_line:ends(0, File, ["report", Dir, "--format", "benchstat", "--out", File]),
    {ok, Lines} = file:read_file(File),
    ?assertMatch({_, _}, binary:match(Lines, ~"BenchmarkToy/cells=")),
    command_line:refused(1, "cannot write " ++ filename:join(Dir, "no/such/place.html"),
                         ["report", Dir, "--out", filename:join(Dir, "no/such/place.html")]).

a_folder_that_cannot_be_read_costs_only_itself(Config) ->
    Dir = folder(Config, full()),
    [Empty, Gone] = [filename:join(proplists:get_value(priv_dir, Config), Name) || Name <- ["empty", "gone"]],
    ok = filelib:ensure_path(Empty),
    {1, {Output, Errors}} = command_line:called(["report", Dir, Empty, Gone, "--format", "markdown"]),
    ?assertNotEqual(nomatch, string:find(Output, "| walk | quicker |")),
    [First, Second] = string:lexemes(Errors, "\n"),
    ?assertNotEqual(nomatch, string:find(First, Empty ++ " is not the folder of a comparison")),
    ?assertNotEqual(nomatch, string:find(Second, Gone ++ ": there is no such folder.")).

what_is_not_finished_is_told_how_to_finish(Config) ->
    Dir = folder(Config, newer()),
    ok = file:delete(filename:join(Dir, "summary.json")),
    Said = command_line:ends(1, "finish it with: ./ertslab compare toy --param cells=1001", ["report", Dir]),
    ?assertNotEqual(nomatch, string:find(Said, "--out " ++ Dir)),
    ?assertNot(filelib:is_regular(filename:join(Dir, "report.html"))).

wrong_words_are_refused(_) ->
    command_line:refused(2, "dirs", ["report"]),
    command_line:refused(2, "format", ["report", "x", "--format", "fly"]).

a_report_says_how_its_numbers_came_about(Config) ->
    Sections = ertslab_report_provenance:sections(data(Config, full())),
    ?assertEqual(["steady", "memory", "host", "manifest", "again"], [Name || {Name, _, _} <- Sections]),
    Text = fun(Name) -> {Name, _, Content} = lists:keyfind(Name, 1, Sections),
    unicode:characters_to_binary(ertslab_xml:render(Content)) end,
    [?assertMatch({_, _}, binary:match(Text(Name), Part), {Name, Part})
     || {Name, Part} <- [{"steady", ~"from iteration 2 on the values are 0.750 times those before"},
                         {"steady", ~"no change from iteration to iteration"},
                         {"memory", ~"<td class=\"number\">4096 bytes</td>"}, {"memory", ~"3.0 MiB"},
                         {"host", ~"the governor is powersave"}, {"host", ~"at most 60 minutes"}, {"host", ~"all must agree"},
                         {"host", ~"no answer in time"}, {"host", ~"stolen from"}, {"host", ~"2.0 GiB"}, {"host", ~"load average"},
                         {"manifest", ~"made up"}, {"again", ~"./ertslab compare toy --param cells=1001 --seed 77"}]],
    %% What a folder does not have is no section with nothing in it.
    [?assertEqual([], Content) || {Name, _, Content} <- ertslab_report_provenance:sections(data(Config, summary())),
     Name =:= "steady" orelse Name =:= "memory"].

the_machine_is_one_sentence(Config) ->
    ?assertEqual(~"A CPU, 2 cores, a virtual machine, Linux 6.1", ertslab_report_provenance:machine(data(Config, full()))).

what_vms_were_built_from_is_told(Config) ->
    #{plan := Plan, arms := Arms} = Data = data(Config, full()),
    ?assertEqual([{~"Erlang/OTP", ~"27.0"}], ertslab_report_provenance:build(Data)),
    Manifest = #{~"source" => #{~"version" => ~"27.1", ~"sha256" => ~"abc"}, ~"compiler" => ~"gcc 12", ~"configure" => ~"./configure"},
    Origin = #{patches => [#{name => ~"a.patch", sha256 => ~"123"}], options => ~"--with-a"},
    Made = Data#{built := ertslab_result:built(Manifest), plan := Plan#{programs => [~"rabbitmq 4"]},
                 arms := [Arm#{vm := Origin} || Arm <- Arms]},
    ?assertEqual([{~"Erlang/OTP", ~"27.1"}, {~"SHA-256 of its sources", ~"abc"}, {~"compiler", ~"gcc 12"},
                  {~"configured by", ~"./configure"},
                  {~"programs", ~"rabbitmq 4"}], ertslab_report_provenance:build(Made)),
    {_, _, Content} = lists:keyfind("manifest", 1, ertslab_report_provenance:sections(Made)),
    Html = unicode:characters_to_binary(ertslab_xml:render(Content)),
    [?assertMatch({_, _}, binary:match(Html, Part), Part) || Part <- [~"a.patch 123", ~"(--with-a)"]].

the_same_results_of_folders_are_a_series(Config) ->
    [Older, Newer] = [Data#{measured := Measured}
                      || {Data, Measured} <- [{data(Config, full()), ~"2026-01-01 10:00"}, {data(Config, summary()), ~"2026-01-02 10:00"}]],
    ?assertEqual([Older, Newer], ertslab_report_series:by_date([Newer, Older])),
    ?assertEqual(~"2 comparisons of toy", ertslab_report_series:title([Older, Newer])),
    Series = ertslab_report_series:series(lists:enumerate([Older, Newer])),
    ?assertMatch([_ | _], Series),
    [?assertEqual([1, 2], [Number || {Number, _, _} <- Entries]) || {_, Entries} <- Series],
    ?assertMatch([_], [Key || {{~"toy walk", ~"quicker to stock", ~"cells=1001"} = Key, _} <- Series]),
    Overview = unicode:characters_to_binary(ertslab_xml:render(ertslab_report_series:overview(lists:enumerate([Older, Newer])))),
    [?assertMatch({_, _}, binary:match(Overview, Part), Part)
     || Part <- [~"href=\"#folder-1\"", ~"1: 2026-01-01 OTP 27.0", ~"0.326 (0.298 to 0.372)"]],
    %% One folder alone has nothing to be set beside.
    Alone = unicode:characters_to_binary(ertslab_xml:render(ertslab_report_series:overview([{1, Older}]))),
    ?assertMatch({_, _}, binary:match(Alone, ~"No two folders have a result of the same experiment")).

a_table_scrolls_and_is_named(_) ->
    Html = unicode:characters_to_binary(ertslab_xml:render(ertslab_report_table:render(~"All", [~"what", {number, ~"how much"}],
                                                                                       [{"", [{head, ~"a"}, {number, ~"1"}]},
                                                                                        {"odd", [{"long", ~"b"}, ~"2"]}]))),
    [?assertMatch({_, _}, binary:match(Html, Part), Part)
     || Part <- [~"aria-label=\"All\"", ~"tabindex=\"0\"", ~"<caption>All</caption>", ~"<th scope=\"col\" class=\"number\">how much</th>",
                 ~"<tr><th scope=\"row\">a</th><td class=\"number\">1</td></tr>",
                 ~"<tr class=\"odd\"><td class=\"long\">b</td><td>2</td></tr>"]].

a_terminal_gets_a_table(_) ->
    Text = report_fixture:table(ertslab_result:decode(full())),
    [?assertMatch({_, _}, binary:match(Text, Part), {Part, Text})
     || Part <- [~"toy on OTP 27.0: a toy\n", ~"cells=1001\n", ~"walk to fold: 3.50 (3.25 to 3.75)\n", ~"! a warning of its own\n",
                 ~"Ratios are to stock, below 1 is faster. 8 pairs, seed 77.\nMachine: A CPU, 2 cores, Linux 6.1.\n"]],
    ?assertMatch({match, _}, re:run(Text, "^walk +stock +1.50 ms\n +stock_copy +1.50 ms +1.000 +0.970 to 1.040", [multiline])),
    ?assertMatch({match, _}, re:run(Text, "^ +quicker +1.50 ms +0.326 +0.298 to 0.372 +0.970 to 1.040 +changed$", [multiline])).

a_log_of_looks_gets_its_page(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "looks.log"),
    Look = #{deepest => 7, process => ~"a", messages => 9, collections => 0.1, busy => 0.2, memory => 1000, processes => 30,
             findings => [~"deep_mailbox"]},
    _ = lists:foldl(fun(At, Log) -> ertslab_watch_log:append(Log, Look#{at => At}) end,
                    ertslab_watch_log:open(File, #{node => ~"shop@host"}), [1, 2, 3]),
    Page = filename:rootname(File) ++ ".html",
    Said = command_line:ends(0, Page, ["report", File]),
    ?assertNotEqual(nomatch, string:find(Said, "3 looks of shop@host")),
    ?assert(filelib:is_regular(Page)),
    ok = file:delete(Page),
    command_line:ends(0, "3 looks of shop@host", ["report", File, "--format", "table"]),
    ?assertNot(filelib:is_regular(Page)),
    command_line:refused(2, "--format markdown is for comparisons; a log has html or table", ["report", File, "--format", "markdown"]),
    command_line:refused(2, "looks.log is a file. Name one log", ["report", filename:dirname(File), File]).
