%% Tables on pages, made from results.
-module(ertslab_report_pages_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_table_shows_its_results/1, a_row_shows_the_case_that_it_names/1, a_row_shows_the_mean/1,
         commands_are_those_that_measured/1, kinds_of_work_are_shares/1, the_rest_of_a_page_stays/1, wrong_pages_are_sentences/1]).

all() ->
    [a_table_shows_its_results, a_row_shows_the_case_that_it_names, a_row_shows_the_mean, commands_are_those_that_measured,
     kinds_of_work_are_shares, the_rest_of_a_page_stays, wrong_pages_are_sentences].

page(Config) -> filename:join(proplists:get_value(priv_dir, Config), "page.md").

folder(Config) ->
    Row = report_fixture:row(~"walk", ~"quicker", report_fixture:ratio(0.326, 0.298, 0.372), ~"changed"),
    list_to_binary(filename:basename(report_fixture:folder(Config, report_fixture:summary(#{~"walk" => Row})))).

filled(Lines, Config) ->
    binary:split(ertslab_report_pages:filled(iolist_to_binary(lists:join($\n, Lines)), page(Config)), ~"\n", [global]).

a_table_shows_its_results(Config) ->
    Asked = [~"<!-- table: stock, control, quicker", <<"a walk | walk | ", (folder(Config))/binary>>, ~"-->"],
    ?assertEqual(Asked ++ [~"|  | `stock` | control | `quicker` |", ~"| --- | --- | --- | --- |",
                           ~"| a walk | 1.50 ms | 0.970 to 1.040 | 0.326 (0.298 to 0.372) |", ~"<!-- end of table -->"],
                 filled(Asked ++ [~"| typed by hand |", ~"<!-- end of table -->"], Config)).

%% The second case has another value than the first.
a_row_shows_the_case_that_it_names(Config) ->
    #{~"cases" := [First, #{~"rows" := Rows} = Second]} = Summary = report_fixture:newer(),
    Other = Second#{~"rows" := [Row#{~"value" := 2_000_000} || Row <- Rows]},
    Dir = list_to_binary(filename:basename(report_fixture:folder(Config, Summary#{~"cases" := [First, Other]}))),
    Asked = [~"<!-- table: stock"] ++ [<<"some | walk | ", Dir/binary, " | cells=", Cells/binary>> || Cells <- [~"1001", ~"7"]] ++ [~"-->"],
    ?assertMatch([_, _, ~"| some | 1.50 ms |", ~"| some | 2.00 ms |", _], filled(Asked ++ [~"<!-- end of table -->"], Config) -- Asked).

a_row_shows_the_mean(Config) ->
    #{~"cases" := [#{~"rows" := Rows} | _]} = Summary = report_fixture:newer(),
    Overall = [Row#{~"ratio" := report_fixture:ratio(0.5, 0.4, 0.6)} || #{~"label" := ~"quicker"} = Row <- Rows],
    Dir = list_to_binary(filename:basename(report_fixture:folder(Config, Summary#{~"overall" => Overall}))),
    Asked = [~"<!-- table: quicker", <<"all | walk | ", Dir/binary, " | mean">>, ~"-->"],
    ?assertMatch([_, _, ~"| all | 0.500 (0.400 to 0.600) |", _], filled(Asked ++ [~"<!-- end of table -->"], Config) -- Asked).

commands_are_those_that_measured(Config) ->
    Asked = [~"<!-- commands", folder(Config), ~"-->"],
    [Line, ~"<!-- end of commands -->"] = filled(Asked ++ [~"<!-- end of commands -->"], Config) -- Asked,
    ?assertMatch({match, _}, re:run(Line, "^- `.*ertslab compare toy --param cells=1001 --seed 77`: OTP [0-9.]+, 8 pairs$")).

kinds_of_work_are_shares(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "profile"),
    ok = filelib:ensure_path(Dir),
    VM = fun(Name, Kinds) -> #{name => Name, kinds => Kinds} end,
    ok = file:write_file(filename:join(Dir, "summary.json"),
                         json:encode(#{vms => [VM(~"stock", #{collections => 30, ~"page faults" => 969, locks => 1}),
                                               VM(~"tuned", #{collections => 100, ~"page faults" => 900})]})),
    Asked = [~"<!-- kinds", ~"cowboy | profile", ~"-->"],
    ?assertEqual(Asked ++ [~"| kind of work | cowboy, `stock` | cowboy, `tuned` |", ~"| --- | --- | --- |",
                           ~"| page faults | 96.9 % | 90.0 % |", ~"| collections | 3.0 % | 10.0 % |", ~"| the rest | 0.1 % | 0.0 % |",
                           ~"<!-- end of kinds -->"],
                 filled(Asked ++ [~"<!-- end of kinds -->"], Config)).

the_rest_of_a_page_stays(Config) ->
    Table = [~"<!-- table: stock", <<"a walk | walk | ", (folder(Config))/binary>>, ~"-->", ~"<!-- end of table -->"],
    Filled = filled([~"before", ~""] ++ Table ++ [~"between"] ++ Table ++ [~"after", ~""], Config),
    ?assertMatch([~"before", ~"" | _], Filled),
    ?assertEqual([~"after", ~""], lists:nthtail(length(Filled) - 2, Filled)),
    ?assertEqual(2, length([Line || <<"| a walk ", _/binary>> = Line <- Filled])),
    ?assertEqual(Filled, filled(Filled, Config)).

wrong_pages_are_sentences(Config) ->
    Folder = folder(Config),
    Two = list_to_binary(filename:basename(report_fixture:folder(Config, report_fixture:newer()))),
    [?assertMatch({match, _}, re:run(failure(Lines, Config), Says), {Lines, Says})
     || {Lines, Says} <- [{[~"<!-- table: stock", ~"no row", ~"-->", ~"<!-- end of table -->"], "TEXT . METRIC . FOLDER.*no row"},
                          {[~"<!-- table: stock", ~"-->"], "nothing ends what begins with: <!-- table: stock"},
                          {row(~"stock", ~"hop", Folder), "has no hop of stock"},
                          {row(~"tuned", ~"walk", Folder), "has no walk of tuned"},
                          {row(~"stock", ~"walk", ~"gone"), "gone: there is no such folder"},
                          {row(~"stock", ~"walk", Two), "has several cases"},
                          {row(~"stock", ~"walk", <<Two/binary, " | cells=8">>), "has no case, or several, with cells=8"},
                          {[~"<!-- kinds", ~"cowboy", ~"-->", ~"<!-- end of kinds -->"], "a profile is TEXT . FOLDER.*cowboy"}]].

row(Column, Metric, Folder) ->
    [<<"<!-- table: ", Column/binary>>, <<"text | ", Metric/binary, " | ", Folder/binary>>, ~"-->", ~"<!-- end of table -->"].

failure(Lines, Config) ->
    try filled(Lines, Config) of
        Filled -> ct:fail(Filled)
    catch throw:{failure, Thrown} -> [ertslab_error:sentence(Error) || Error <- ertslab_error:each(Thrown)]
    end.
