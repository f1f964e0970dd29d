%% What is written: JSON, SARIF, baselines, text.
-module(mailbox_audit_output_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, json_is_read_back/1, json_escapes/1, json_of_what_was_timed/1, sarif_has_what_the_standard_asks_for/1,
         sarif_paths/1, sarif_tells_new_from_known/1, baseline_knows_what_was_there/1,
         baseline_is_refused/1, text_counts_and_names/1, text_of_what_was_timed/1]).

all() ->
    [json_is_read_back, json_escapes, json_of_what_was_timed, sarif_has_what_the_standard_asks_for, sarif_paths,
     sarif_tells_new_from_known, baseline_knows_what_was_there, baseline_is_refused,
     text_counts_and_names, text_of_what_was_timed].

json_is_read_back(_) ->
    #{~"modules" := 3, ~"findings" := [First | _], ~"skipped" := [Skipped]} =
        decoded(mailbox_audit_json:report(report())),
    ?assertEqual(#{~"module" => ~"m", ~"function" => ~"f/1", ~"file" => ~"src/m.erl", ~"line" => 7,
                   ~"verdict" => ~"scans", ~"reason" => ~"why", ~"spawned" => false,
                   ~"identity" => ~"m:f/1 ab.1",
                   ~"reachable_from" => [#{~"function" => ~"m:api/0", ~"calls" => 2}]}, First),
    ?assertMatch(#{~"module" := ~"bare", ~"reason" := <<"bare has no readable debug_info", _/binary>>}, Skipped).

json_escapes(_) ->
    Text = ~"\"quoted\" \\ \n\t\x{1}\x{7f} \x{e9} \x{1f600}",
    Value = #{text => Text, list => [1, 1.5, true, null, atom, #{}, []]},
    ?assertEqual(#{~"text" => Text, ~"list" => [1, 1.5, true, null, ~"atom", #{}, []]},
                 decoded(mailbox_audit_json:encode(Value))).

json_of_what_was_timed(_) ->
    ?assertMatch(#{~"calls" := [#{~"verdict" := ~"scans", ~"cause" := ~"a receive",
                                  ~"slope_ns" := #{~"estimate" := 7.0, ~"low" := 6.0},
                                  ~"times" := [#{~"messages" := 0, ~"ns" := 10}, _]},
                                #{~"verdict" := ~"crashed", ~"cause" := null, ~"slope_ns" := null}]},
                 decoded(mailbox_audit_json:timed(timed()))).

%% SARIF 2.1.0: 3.13.2, 3.14.6, 3.18.1, 3.19.2, 3.27.5, 3.27.11 and where they lead.
sarif_has_what_the_standard_asks_for(_) ->
    #{~"version" := ~"2.1.0", ~"runs" := [Run]} = decoded(mailbox_audit_sarif:report(report(), none, "/root")),
    #{~"tool" := #{~"driver" := #{~"name" := _, ~"rules" := Rules}}, ~"results" := Results,
      ~"invocations" := [#{~"executionSuccessful" := true,
                           ~"toolExecutionNotifications" := [#{~"message" := #{~"text" := _}}]}]} = Run,
    ?assertEqual(2, length(Results)),
    [begin
         #{~"message" := #{~"text" := _}, ~"ruleId" := Id, ~"ruleIndex" := Index, ~"level" := Level,
           ~"locations" := [#{~"physicalLocation" := #{~"artifactLocation" := #{~"uri" := _},
                                                       ~"region" := #{~"startLine" := Line}},
                              ~"logicalLocations" := [#{~"fullyQualifiedName" := _}]}],
           ~"partialFingerprints" := #{~"receive/v1" := _}} = Result,
         ?assertMatch(#{~"id" := Id}, lists:nth(Index + 1, Rules)),
         ?assert(lists:member(Level, [~"none", ~"note", ~"warning", ~"error"])),
         ?assert(Line >= 1),
         ?assertNot(is_map_key(~"baselineState", Result))
     end || Result <- Results],
    ?assertEqual([~"warning", ~"note"], [Level || #{~"level" := Level} <- Results]).

sarif_paths(_) ->
    [?assertEqual({File, Uri}, {File, uri(File)})
     || {File, Uri} <- [{"src/m.erl", ~"src/m.erl"}, {"/root/src/m.erl", ~"src/m.erl"},
                        {"/rooted/m.erl", ~"file:///rooted/m.erl"}, {"my files/m%.erl", ~"my%20files/m%25.erl"}]].

uri(File) ->
    #{findings := [Finding | _]} = Report = report(),
    Sarif = mailbox_audit_sarif:report(Report#{findings := [Finding#{file := File}]}, none, "/root"),
    #{~"runs" := [#{~"results" := [#{~"locations" := [#{~"physicalLocation" := Physical}]}]}]} = decoded(Sarif),
    #{~"artifactLocation" := #{~"uri" := Uri}} = Physical,
    Uri.

sarif_tells_new_from_known(_) ->
    #{~"runs" := [#{~"results" := Results}]} = decoded(mailbox_audit_sarif:report(report(), ["m:f/1 ab.1"], "/")),
    ?assertEqual([~"unchanged", ~"new"], [State || #{~"baselineState" := State} <- Results]).

baseline_knows_what_was_there(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "baseline"),
    #{findings := [First, Second | Harmless]} = Report = report(),
    ?assertEqual({ok, none, Report}, mailbox_audit_baseline:check(Report, #{})),
    Before = Report#{findings := [First | Harmless]},
    ?assertEqual({ok, none, Before}, mailbox_audit_baseline:check(Before, #{write_baseline => File})),
    ?assertEqual({ok, ["m:f/1 ab.1"]}, mailbox_audit_baseline:read(File)),
    {ok, ["m:f/1 ab.1"], Shown} = mailbox_audit_baseline:check(Report, #{baseline => File}),
    ?assertEqual([Second], maps:get(findings, Shown)),
    {ok, _, #{findings := []}} =
        mailbox_audit_baseline:check(Report, #{baseline => File, write_baseline => File}).

baseline_is_refused(Config) ->
    Dir = proplists:get_value(priv_dir, Config),
    File = filename:join(Dir, "damaged"),
    ok = file:write_file(File, "# fine\n\nm:f/1 ab.1\r\nsomething else\n"),
    [begin
         {error, Reason} = mailbox_audit_baseline:check(report(), Options),
         Said = mailbox_audit_baseline:format_error(Reason),
         ?assertMatch({_, [_ | _]}, {Said, string:find(Said, Words)})
     end || {Options, Words} <- [{#{baseline => File}, "line 4 of"},
                                 {#{baseline => filename:join(Dir, "baseline_that_is_not")}, "no such file"},
                                 {#{write_baseline => Dir}, "cannot write the baseline"}]].

text_counts_and_names(_) ->
    Text = text(mailbox_audit_text:report(report())),
    [?assertMatch({Words, [_ | _]}, {Words, string:find(Text, Words)})
     || Words <- ["3 receives in 3 modules, 2 scan, 1 begin at a marker; 1 module not judged",
                  "m:f/1 (m.erl:7) scans: why\n    reached from 1 exported function: m:api/0",
                  "m:g/0 (m.erl:9) scans: why\n    no exported function reaches it",
                  "bare has no readable debug_info; compile it with +debug_info"]],
    ?assertEqual(nomatch, string:find(Text, "m:h/0")).

text_of_what_was_timed(_) ->
    Text = text(mailbox_audit_text:timed(timed())),
    [?assertMatch({Words, [_ | _]}, {Words, string:find(Text, Words)})
     || Words <- ["a:b/0  scans    7.00", "a:c/0  crashed", "undef", "2 calls: 1 scans, 1 crashed",
                  "a:b/0\n    a receive"]],
    ?assertEqual(nomatch, string:find(Text, "never")).

text(Chars) -> unicode:characters_to_list(Chars).

report() ->
    Finding = #{module => m, function => {f, 1}, file => "src/m.erl", line => 7, verdict => scans,
                reason => "why", spawned => false, reachable_from => [{{m, api, 0}, 2}], identity => "m:f/1 ab.1"},
    #{modules => 3, skipped => [{"ebin/bare.beam", bare, no_debug_info}],
      findings => [Finding,
                   Finding#{function := {g, 0}, line := 9, reachable_from := [], identity := "m:g/0 cd.1"},
                   Finding#{function := {h, 0}, verdict := marker, identity := "m:h/0 ef.1"}]}.

timed() ->
    Result = #{name => "a:b/0", verdict => scans, cause => "a receive", reason => "",
               slope => #{estimate => 7.0, low => 6.0, high => 8.0}, times => [{0, 10}, {100, 710}]},
    [Result, Result#{name := "a:c/0", verdict := crashed, cause := "never", slope := none, times := [],
                     reason := "undef"}].

decoded(Json) -> json:decode(iolist_to_binary(Json)).
