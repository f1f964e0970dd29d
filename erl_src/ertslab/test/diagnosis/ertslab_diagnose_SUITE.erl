%% The command `diagnose': what is said of a node that has a deep mailbox, how it ends, and which words are refused.
-module(ertslab_diagnose_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_suite/1, end_per_suite/1, wrong_words_are_refused/1, a_finding_ends_with_3/1, a_report_is_json/1,
         a_report_is_a_page/1,
         watching_prints_a_line_a_look/1, looks_go_to_a_log/1, a_look_that_is_too_short_says_so/1, one_process_is_collected/1,
         what_does_not_answer_is_told/1, a_line_has_bars/1, no_finding_is_a_calm_page/1,
         a_census_predicts/1]).
-export([started/0]).

all() ->
    [wrong_words_are_refused, a_finding_ends_with_3, a_report_is_json, a_report_is_a_page, watching_prints_a_line_a_look, looks_go_to_a_log,
     a_look_that_is_too_short_says_so, one_process_is_collected, what_does_not_answer_is_told, a_line_has_bars, no_finding_is_a_calm_page,
     a_census_predicts].

init_per_suite(Config) -> asked_node:start() ++ Config.

end_per_suite(Config) -> asked_node:stop(Config).

wrong_words_are_refused(Config) ->
    [asked_node:refused(Config, 2, Text, ["diagnose", "--node", "a@b" | Words])
     || {Text, Words} <- [{"--json or --watch, not both", ["--watch", "--json"]}, {"--out or --watch, not both", ["--watch", "--out", "x"]},
                          {"--looks and --log need --watch", ["--looks", "2"]}, {"--looks and --log need --watch", ["--log", "x"]},
                          {"--looks and --log need --watch", ["--looks", "2", "--collect", "<0.80.0>"]},
                          {"--every needs --log", ["--watch", "--every", "1m"]},
                          {"--collect of a process or --watch, not both", ["--looks", "2", "--watch", "--collect", "<0.80.0>"]},
                          {"--collect of a process or --out, not both", ["--collect", "<0.80.0>", "--out", "never.html"]},
                          {"--collect of a process or --nif, not both", ["--collect", "<0.80.0>", "--nif"]},
                          {"--census or --watch, not both", ["--census", "--watch"]},
                          {"--census or --out, not both", ["--census", "--out", "x"]},
                          {"--census or --collect, not both", ["--census", "--collect", "no"]},
                          {"--census or --budget, not both", ["--census", "--budget", "5s"]},
                          {"--for needs --census", ["--for", "5s"]},
                          {"--for: give 1 s to 300 s", ["--census", "--for", "10m"]}, {"is not a duration", ["--census", "--for", "long"]},
                          {"or 'no'", ["--collect", ""]}, {"or 'no'", ["--collect", "deep"]}, {"is not a duration", ["--budget", "soon"]}]],
    [asked_node:refused(Config, 2, "give a name such as node@host", [Command, "--node", "nonsense" | More])
     || {Command, More} <- [{"diagnose", []}, {"advise", ["init"]}]].

%% The cookie is for nobody to read.
a_finding_ends_with_3(Config) ->
    Said = finds(Config, "(?s)2,000 messages wait.*Mailboxes", ["--collect", "no"]),
    [?assertNotEqual(nomatch, string:find(Said, Part), Part)
     || Part <- ["> (deep)", "Mailboxes", "Cost of the inspection", "1 finding.",
                 "Look again: ./ertslab diagnose --node sick@127.0.0.1 --cookie \"$COOKIE\"",
                 "COOKIE stands for the node's cookie"]],
    ?assertEqual(nomatch, string:find(Said, "--cookie live")).

a_report_is_json(Config) ->
    Said = finds(Config, "deep_mailbox", ["--json"]),
    [Output, _] = string:split(Said, "\nertslab: ", trailing),
    #{~"node" := ~"sick@127.0.0.1", ~"format" := 3,
      ~"findings" := [#{~"subject" := #{~"process" := #{~"name" := ~"deep"}}, ~"signs" := [Sign]}]} =
        json:decode(unicode:characters_to_binary(Output)),
    ?assertEqual([~"advice", ~"evidence", ~"kind", ~"proof"], lists:sort(maps:keys(Sign))),
    ?assertMatch(#{~"kind" := ~"deep_mailbox",
                   ~"proof" := #{~"kind" := ~"look_again", ~"lab" := false, ~"words" := [~"diagnose", ~"--node", ~"sick@127.0.0.1" | _],
                                 ~"command" := <<"./ertslab diagnose --node sick@127.0.0.1 --cookie ", _/binary>>}}, Sign).

a_report_is_a_page(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "page.html"),
    finds(Config, "2,000 messages wait", ["--out", File]),
    {ok, Html} = file:read_file(File),
    {_, []} = xmerl_scan:string(binary_to_list(Html), [{quiet, true}]),
    [?assertMatch({_, _}, binary:match(Html, Part), Part)
     || Part <- [~"2,000 messages wait", ~"class=\"verdict slower\"", ~"deep mailbox", ~"To do: ", ~"default-src 'none'"]].

watching_prints_a_line_a_look(Config) ->
    Line = "[0-9:]{8} +2,000 #{20} .* \\(deep\\)\n",
    Said = within(["1s", "10s", "60s"], Config, "^time +messages .*deepest mailbox\n" ++ Line ++ Line, ["--watch", "--looks", "2"]),
    ?assertMatch({match, [_, _]}, re:run(Said, Line, [global])).

%% A line a look, which the report draws.
looks_go_to_a_log(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "looks"),
    asked_node:ends(Config, 0, "The looks go to " ++ File,
                    diagnose(["--budget", "10s", "--watch", "--log", File, "--every", "1s", "--looks", "2"])),
    #{node := ~"sick@127.0.0.1", damaged := 0, records := [First, Second]} = ertslab_watch_log:read(File),
    [?assertMatch(#{deepest := 2000, findings := [~"deep_mailbox" | _]}, Record) || Record <- [First, Second]],
    %% Those of another node go elsewhere.
    ok = file:write_file(File, string:replace(element(2, file:read_file(File)), "sick@", "other@")),
    asked_node:refused(Config, 1, "holds the looks at other@127.0.0.1; choose another file",
                       diagnose(["--watch", "--log", File, "--looks", "1"])).

%% A second is too short to recognise loops; on a busy machine it is too short to look at all.
a_look_that_is_too_short_says_so(Config) ->
    within(["1s", "1s", "2s", "2s", "3s"], Config, "\\n1 finding. Not everything was inspected: the (inspection was too short|time was up)",
           ["--collect", "no"]).

one_process_is_collected(Config) ->
    Deep = peer:call(proplists:get_value(sick, Config), erlang, apply, [fun ?MODULE:started/0, []]),
    asked_node:ends(Config, 0, Deep ++ " was collected: its heap went from ", diagnose(["--collect", Deep])),
    {0, {Output, _}} = asked_node:called(Config, diagnose(["--collect", Deep, "--json"])),
    ?assertMatch(#{~"process" := _, ~"bytes" := #{~"heap" := #{~"before" := _, ~"after" := _}}},
                 json:decode(unicode:characters_to_binary(Output))),
    asked_node:refused(Config, 1, "this is not a process identifier of the node", diagnose(["--collect", "<0.x>"])).

%% A process that waits, as its node writes it.
started() -> pid_to_list(spawn(fun() -> receive stop -> ok end end)).

what_does_not_answer_is_told(Config) ->
    asked_node:refused(Config, 1, "does not answer", ["diagnose", "--node", "sick@127.0.0.1", "--cookie", "wrong"]),
    %% The right cookie is kept by none.
    finds(Config, "2,000", ["--collect", "no"]).

diagnose(Words) -> ["diagnose", "--node", "sick@127.0.0.1", "--cookie", "live" | Words].

%% A look that finds this. On a busy machine it takes longer.
finds(Config, Regex, Words) -> within(["1s", "10s", "60s"], Config, Regex, Words).

within([Budget | More], Config, Regex, Words) ->
    {Status, {Output, Errors}} = asked_node:called(Config, diagnose(["--budget", Budget | Words])),
    case {Status, re:run(Output, Regex, [unicode, {capture, none}])} of
        {3, match} -> Output ++ Errors;
        _ when More =/= [] -> within(More, Config, Regex, Words);
        _ -> error({does_not_find, Regex, Status, Output, Errors})
    end.

%% Where others use the machine the time may be over before anybody is traced, which is said.
a_census_predicts(Config) ->
    {Status, {Output, Errors}} = asked_node:called(Config, diagnose(["--census", "--for", "1s"])),
    ?assertNotEqual(nomatch, string:find(Output, "What tuned would save of the working time")),
    ?assertNotEqual(nomatch, string:find(Output, "sick@127.0.0.1, OTP ")),
    ?assert(Status =:= 0 orelse Status =:= 4 andalso string:find(Errors, "no process was traced") =/= nomatch, {Status, Errors}),
    {_, {Json, _}} = asked_node:called(Config, diagnose(["--census", "--for", "1s", "--json"])),
    ?assertMatch(#{~"format" := 2, ~"node" := ~"sick@127.0.0.1", ~"accounts" := #{~"states" := #{~"gc" := _}}, ~"complete" := _,
                   ~"prediction" := #{~"to" := #{~"low" := _, ~"high" := _}, ~"collections" := #{~"share" := _}}},
                 json:decode(unicode:characters_to_binary(Json))).

%% At the most that was seen, the bar is full.
a_line_has_bars(_) ->
    Row = #{process => "<0.1.0>", messages => 1500, growth => 20, share => 0.26, findings => 1},
    Line = fun(Of, Most) -> unicode:characters_to_list(ertslab_diagnose_watch:line({{2026, 1, 1}, {7, 8, 9}}, Of, Most)) end,
    ?assertEqual("07:08:09         1,500 ##########                   +20       26.0 % ######                      1  <0.1.0>\n",
                 Line(Row, 3000)),
    ?assertEqual("07:08:09             0                                0      unknown                             0  -\n",
                 Line(Row#{process := "-", messages := 0, growth := 0, share := unknown, findings := 0}, 1)),
    ?assertMatch("time " ++ _, unicode:characters_to_list(ertslab_diagnose_watch:heading())),
    Look = #{suspects => [#{pid => "<0.2.0>", name => deep, depth => 9, growth => unknown},
                          #{pid => "<0.3.0>", name => '', depth => unknown, growth => 1}],
             collections => unknown},
    ?assertMatch(#{messages := 9, growth := 0, share := unknown, findings := 0},
                 ertslab_diagnose_watch:row(#{look => Look, findings => []})),
    ?assertMatch(#{process := "-", messages := 0}, ertslab_diagnose_watch:row(#{look => Look#{suspects := []}, findings => []})).

%% Of this node.
no_finding_is_a_calm_page(_) ->
    {ok, Report} = diagnose:node(#{budget => 1000, collect => false}),
    Html = unicode:characters_to_binary(ertslab_diagnose_page:page(Report#{findings := []})),
    ?assertMatch({_, _}, binary:match(Html, ~"class=\"verdict same\"")),
    ?assertEqual(nomatch, binary:match(Html, ~"To do: ")).
