%% What is written: JSON, SARIF, baselines, text.
-module(mailbox_audit_output_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, json_is_read_back/1, json_of_modules_of_any_name/1, json_escapes/1, json_of_what_was_timed/1,
         sarif_has_what_the_standard_asks_for/1, sarif_paths/1, sarif_tells_new_from_known/1, baseline_knows_what_was_there/1,
         what_is_not_judged_is_told/1, what_is_outdated_is_told/1, names_do_nothing_to_a_terminal/1,
         project_fails_where_not_all_is_judged/1, unusable_baseline_hides_nothing/1, folders_of_a_project/1, nothing_is_no_baseline/1,
         baseline_of_any_name/1, baseline_is_refused/1, text_counts_and_names/1, text_of_what_was_timed/1,
         baseline_tells_unknown_from_scanning/1]).

all() ->
    [json_is_read_back, json_of_modules_of_any_name, json_escapes, json_of_what_was_timed,
     sarif_has_what_the_standard_asks_for, sarif_paths, sarif_tells_new_from_known, baseline_knows_what_was_there,
     what_is_not_judged_is_told, what_is_outdated_is_told, names_do_nothing_to_a_terminal, project_fails_where_not_all_is_judged, unusable_baseline_hides_nothing,
     folders_of_a_project,
     nothing_is_no_baseline, baseline_of_any_name, baseline_is_refused, text_counts_and_names, text_of_what_was_timed,
     baseline_tells_unknown_from_scanning].

json_is_read_back(_) ->
    #{~"modules" := 3, ~"findings" := [First | _], ~"skipped" := [Skipped]} =
        decoded(mailbox_audit_json:report(report())),
    ?assertEqual(#{~"module" => ~"m", ~"function" => ~"f/1", ~"file" => ~"src/m.erl", ~"line" => 7,
                   ~"verdict" => ~"scans", ~"reason" => ~"why", ~"spawned" => false,
                   ~"identity" => ~"m:f/1 ab.1",
                   ~"reachable_from" => [#{~"function" => ~"m:api/0", ~"calls" => 2}]}, First),
    ?assertMatch(#{~"module" := ~"bare", ~"reason" := <<"bare has no readable debug_info", _/binary>>}, Skipped).

%% They are no members of JSON.
json_of_modules_of_any_name(_) ->
    #{findings := [Finding | _], skipped := [{File, _, Why}]} = Report = report(),
    [?assertMatch({Module, #{~"findings" := [#{~"module" := Name}], ~"skipped" := [#{~"module" := Name}]}},
                  {Module, decoded(mailbox_audit_json:report(Report#{findings := [Finding#{module := Module}],
                                                                     skipped := [{File, Module, Why}]}))})
     || {Module, Name} <- [{true, ~"true"}, {false, ~"false"}, {null, ~"null"}]].

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
    #{~"version" := ~"2.1.0", ~"runs" := [Run]} = decoded(mailbox_audit_sarif:report(report(), none, "/project")),
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
     || {File, Uri} <- [{"src/m.erl", ~"src/m.erl"}, {"/project/src/m.erl", ~"src/m.erl"},
                        {"/projected/m.erl", ~"file:///projected/m.erl"}, {"my files/m%.erl", ~"my%20files/m%25.erl"},
                        {"/project/./lib/../src/m.erl", ~"src/m.erl"}]],
    {ok, Here} = file:get_cwd(),
    [?assertEqual({Root, ~"src/m.erl"}, {Root, uri(filename:join(Here, "src/m.erl"), Root)})
     || Root <- [".", "", Here, Here ++ "/", "./x/.."]].

uri(File) -> uri(File, "/project").

uri(File, Root) ->
    #{findings := [Finding | _]} = Report = report(),
    Sarif = mailbox_audit_sarif:report(Report#{findings := [Finding#{file := File}]}, none, Root),
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
    Text = text(mailbox_audit_text:report(Report, Shown)),
    ?assertMatch("3 receives in 3 modules, 2 scan, 1 begin at a marker; 1 module not judged; 1 in the baseline\n\nm:g/0 " ++ _, Text),
    ?assertEqual(nomatch, string:find(Text, "m:f/1")).

%% The last line, a member of the JSON, a property of the run in SARIF.
what_is_not_judged_is_told(_) ->
    [begin
         ?assertEqual(Line, lists:last(string:lexemes(text(mailbox_audit_text:report(Report)), "\n"))),
         ?assertMatch(#{~"judged" := Judged}, decoded(mailbox_audit_json:report(Report))),
         ?assertMatch(#{~"runs" := [#{~"properties" := #{~"judged" := Judged}, ~"invocations" := [#{~"executionSuccessful" := Done}]}]},
                      decoded(mailbox_audit_sarif:report(Report, none, "/project")))
     end || {Report, Line, Judged, Done} <-
                [{report(), "Only a part was judged: 1 of 4 modules was not.", ~"part", true},
                 {(report())#{findings := [], modules := 0}, "Nothing was judged of 1 module.", ~"nothing", false},
                 {(report())#{findings := [], modules := 0, skipped := []}, "Nothing was judged: there is no module.", ~"nothing", false},
                 {(report())#{findings := [], skipped := []}, "0 receives in 3 modules", ~"all", true}]].

%% Its module is one of those that were judged, and is counted once. What only may be outdated fails no baseline.
what_is_outdated_is_told(_) ->
    [Changed, Touched] = Both = [{"src/changed.erl", none, outdated}, {"src/touched.erl", none, {not_compared, "why"}}],
    One = (report())#{modules := 1, skipped := []},
    [begin
         Lines = string:split(text(mailbox_audit_text:report(Report)), "\n", all),
         ?assertMatch({_, [_ | _]}, {hd(Lines), string:find(hd(Lines), Summary)}),
         ?assertEqual(Last, lists:last([Line || [_ | _] = Line <- Lines])),
         ?assertEqual(Failures, [mailbox_audit_baseline:format_error(Failure)
                                 || Failure <- mailbox_audit_baseline:failed([], Report#{findings := []})]),
         Json = decoded(mailbox_audit_json:report(Report)),
         ?assertMatch(#{~"judged" := Judged}, Json),
         #{outdated := Outdated, perhaps_outdated := Perhaps, skipped := Skipped} = Report,
         ?assertEqual([length(Some) || Some <- [Outdated, Perhaps, Skipped]],
                      [length(maps:get(Key, Json)) || Key <- [~"outdated", ~"perhaps_outdated", ~"skipped"]]),
         #{~"runs" := [#{~"invocations" := [#{~"toolExecutionNotifications" := Told}]}]} =
             decoded(mailbox_audit_sarif:report(Report, none, "/project")),
         ?assertEqual([~"warning" || _ <- Skipped ++ Outdated] ++ [~"note" || _ <- Perhaps], [Level || #{~"level" := Level} <- Told])
     end || {Report, Summary, Last, Failures, Judged} <-
                [{One#{outdated := [Changed]}, "in 1 module, 2 scan, 1 begin at a marker; 1 module outdated",
                  "Only a part was judged: 1 of 1 module is outdated.", ["only a part was judged: 1 of 1 module is outdated"], ~"part"},
                 {(report())#{outdated := Both}, "in 3 modules, 2 scan, 1 begin at a marker; 1 module not judged; 2 modules outdated",
                  "Only a part was judged: 1 of 4 modules was not, and 2 are outdated.",
                  ["only a part was judged: 1 of 4 modules was not, and 2 are outdated"], ~"part"},
                 {One#{perhaps_outdated := [Touched]}, "in 1 module, 2 scan, 1 begin at a marker; 1 module perhaps outdated",
                  "  the source src/touched.erl, or a header of it, may not be what its module was compiled from: why;"
                  " compile it to be sure",
                  [], ~"all"}]],
    ?assertMatch([_ | _], string:find(text(mailbox_audit_text:report(One#{outdated := Both})),
                                      "\n\nJudged as last compiled:\n  the source")).

%% Whoever names a function or a file must not print what a terminal obeys. JSON and SARIF have the names as they are.
names_do_nothing_to_a_terminal(_) ->
    Bad = [$\e, $[, $2, $J, $\n, 155, 127],
    #{findings := [Finding | _]} = Report = report(),
    Odd = Finding#{function := {list_to_atom(Bad), 1}, file := "src/" ++ Bad, reason := Bad,
                   reachable_from := [{{m, list_to_atom(Bad), 0}, 2}]},
    Unread = [{Bad, none, not_a_beam}],
    Texts = [text(mailbox_audit_text:report(Report#{findings := [Odd], skipped := Unread, outdated := [{Bad, none, outdated}]})),
             mailbox_audit_text:error({unknown, Bad}),
             text(mailbox_audit_text:timed([Result#{name := Bad} || Result <- timed()]))],
    [?assertEqual([], [Char || Char <- Text, Char =/= $\n, Char < 32 orelse (Char >= 127 andalso Char < 160)]) || Text <- Texts],
    [?assertMatch([_ | _], string:find(Text, "?[2J???")) || Text <- Texts],
    #{~"findings" := [#{~"function" := Name}]} = decoded(mailbox_audit_json:report(Report#{findings := [Odd]})),
    ?assertEqual(unicode:characters_to_binary(Bad ++ "/1"), Name).

project_fails_where_not_all_is_judged(Config) ->
    [Whole, Part, Nothing, Empty] = [filename:join(proplists:get_value(priv_dir, Config), Name)
                                     || Name <- ["whole", "part", "nothing", "empty"]],
    Source = filename:join(proplists:get_value(priv_dir, Config), "some.erl"),
    ok = file:write_file(Source, "-module(some).\n"),
    [begin
         ok = filelib:ensure_path(Dir),
         {ok, some, Beam} = compile:file(Source, [binary | Options]),
         ok = file:write_file(filename:join(Dir, Name), Beam)
     end || {Dir, Name, Options} <- [{Whole, "some.beam", [debug_info]}, {Part, "some.beam", [debug_info]}, {Nothing, "some.beam", []}]],
    ok = file:write_file(filename:join(Part, "other.beam"), "no beam"),
    ok = filelib:ensure_path(Empty),
    None = filename:join(Empty, "none"),
    ok = file:write_file(None, ""),
    Audit = fun(Dir, Options) ->
                    case mailbox_audit_project:audit([Dir], Options, fun(_) -> ok end) of
                        ok -> ok;
                        {error, Reason} -> text(mailbox_audit_project:format_error(Reason))
                    end
            end,
    ?assertEqual([ok, ok], [Audit(Whole, Options) || Options <- [#{}, #{baseline => None}]]),
    ?assertEqual([ok, "only a part was judged: 1 of 2 modules was not"], [Audit(Part, Options) || Options <- [#{}, #{baseline => None}]]),
    ?assertEqual(["nothing was judged of 1 module", "nothing was judged of 1 module"],
                 [Audit(Nothing, Options) || Options <- [#{}, #{baseline => None}]]),
    ?assertEqual("nothing was judged: there is no module", Audit(Empty, #{baseline => None})).

%% What was judged is told, and its SARIF written; the error is that of the baseline, also where the SARIF cannot be written either.
unusable_baseline_hides_nothing(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "unusable"),
    Ebin = filename:join(Dir, "ebin"),
    ok = filelib:ensure_path(Ebin),
    Source = filename:join(Dir, "some.erl"),
    ok = file:write_file(Source, "-module(some).\n-export([f/1]).\nf(X) -> receive {X, A} -> A end.\n"),
    {ok, some} = compile:file(Source, [debug_info, {outdir, Ebin}]),
    [Sarif, Missing, Damaged, Below] = [filename:join(Dir, Name) || Name <- ["sarif", "missing", "damaged", "some.erl/below"]],
    ok = file:write_file(Damaged, "something else\n"),
    Audit = fun(Options) ->
                    {error, Reason} = mailbox_audit_project:audit([Ebin], Options, fun(Said) -> self() ! {told, text(Said)} end),
                    {text(mailbox_audit_project:format_error(Reason)), receive {told, Said} -> Said after 0 -> nothing end}
            end,
    [begin
         {Sentence, Told} = Audit(Options#{sarif => Sarif}),
         ?assertMatch({_, [_ | _]}, {Sentence, string:find(Sentence, Words)}),
         ?assertMatch({_, [_ | _]}, {Options, string:find(Told, "some:f/1 (some.erl:3) scans")}),
         {ok, Written} = file:read_file(Sarif),
         ?assertMatch(#{~"runs" := [#{~"results" := [#{~"ruleId" := ~"scans"}]}]}, decoded(Written)),
         ok = file:delete(Sarif),
         ?assertEqual({Sentence, Told}, Audit(Options#{sarif => Below}))
     end || {Options, Words} <- [{#{baseline => Missing}, "cannot read the baseline"}, {#{baseline => Damaged}, "line 1 of"},
                                 {#{write_baseline => Below}, "cannot write the baseline"}]],
    %% It would be compared with itself.
    ?assertEqual({"--baseline or --write-baseline, not both", nothing}, Audit(#{baseline => Missing, write_baseline => Missing})),
    ?assertNot(filelib:is_file(Missing)).

%% Beside one that is judged: each that cannot be looked into fails, and one without modules has nothing to say.
folders_of_a_project(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "project"),
    [Good, Empty, Zipped, Dead, File] = Ebins = [filename:join([Dir, Name, "ebin"]) || Name <- ["good", "empty", "zipped", "dead", "file"]],
    [ok = filelib:ensure_path(Ebin) || Ebin <- [Good, Empty, Zipped]],
    [ok = filelib:ensure_dir(Ebin) || Ebin <- [Dead, File]],
    ok = file:make_symlink("/no/such", Dead),
    ok = file:write_file(File, ""),
    Source = filename:join(Dir, "some.erl"),
    ok = file:write_file(Source, "-module(some).\n-export([f/1]).\nf(X) -> receive {X, A} -> A end.\n"),
    {ok, some, Beam} = compile:file(Source, [binary, debug_info]),
    {ok, {_, Archive}} = zip:create("some", [{"some-1/ebin/some.beam", Beam}], [memory]),
    ok = file:write_file(filename:join(Zipped, "some.ez"), Archive),
    {ok, quiet, Quiet} = compile:forms([{attribute, 1, module, quiet}], [debug_info]),
    ok = file:write_file(filename:join(Good, "quiet.beam"), Quiet),
    None = filename:join(Dir, "none"),
    ok = file:write_file(None, ""),
    Audit = fun(Dirs) ->
                    case mailbox_audit_project:audit(Dirs, #{baseline => None}, fun(_) -> ok end) of
                        ok -> ok;
                        {error, Reason} -> text(mailbox_audit_project:format_error(Reason))
                    end
            end,
    [?assertEqual({Ebin, Said}, {Ebin, Audit([Good, Ebin])})
     || {Ebin, Said} <- [{Empty, ok}, {Zipped, "1 scanning receive is not in the baseline"}]
            ++ [{Ebin, "only a part was judged: 1 of 2 modules was not"} || Ebin <- [Dead, File, filename:join(Dir, "missing/ebin")]]],
    Fetched = filename:join([Dir, "fetched", "ebin"]),
    ok = filelib:ensure_path(filename:dirname(Fetched)),
    ?assertEqual(Ebins, mailbox_audit_project:built(Ebins ++ [Fetched, filename:join(Dir, "missing/ebin")])).

nothing_is_no_baseline(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "of_nothing"),
    {error, Reason} = mailbox_audit_baseline:check((report())#{findings := [], modules := 0}, #{write_baseline => File}),
    ?assertEqual("no baseline is written: nothing was judged of 1 module", mailbox_audit_baseline:format_error(Reason)),
    ?assertNot(filelib:is_file(File)).

%% What is written is known when it is read, whatever a function or a module is called.
baseline_of_any_name(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "names"),
    #{findings := [First | _]} = report(),
    Identities = [lists:flatten(io_lib:format("~ts:~ts/1 ab.1", [Module, Name]))
                  || {Module, Name} <- [{m, 'a\nb'}, {m, 'a\r\nb'}, {m, 'a\\nb'}, {m, 'a\\\nb'}, {'#m', f}, {'\\#m', f}, {m, '#f'}, {m, ''},
                                        {m, 'a:b/1'}, {m, '\x{400}'}]],
    ok = mailbox_audit_baseline:write(File, [First#{identity := Identity} || Identity <- Identities]),
    {ok, Known} = mailbox_audit_baseline:read(File),
    ?assertEqual(lists:sort(Identities), lists:sort(Known)),
    {ok, Text} = file:read_file(File),
    [begin
         ok = file:write_file(File, [16#EF, 16#BB, 16#BF, Lines]), % as some editors save it
         ?assertEqual({ok, Known}, mailbox_audit_baseline:read(File))
     end || Lines <- [Text, lists:join($\n, tl(binary:split(Text, ~"\n", [global])))]],
    ok = file:write_file(File, "m:a\\b/1 ab.1\n"), % as it was written before names were escaped
    ?assertEqual({ok, ["m:a\\b/1 ab.1"]}, mailbox_audit_baseline:read(File)),
    ok = file:write_file(File, <<"m:", 255, "/1 ab.1\n">>),
    ?assertMatch({error, {bad_line, _, 1}}, mailbox_audit_baseline:read(File)).

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

%% Both fail, as both may scan; what is told of each is what is known.
baseline_tells_unknown_from_scanning(_) ->
    #{findings := [First, Second | _]} = Report = (report())#{skipped := []},
    Said = fun(Findings) ->
                   [mailbox_audit_baseline:format_error(One) || One <- mailbox_audit_baseline:failed([], Report#{findings := Findings})]
           end,
    [One, Other] = [Finding#{verdict := unknown} || Finding <- [First, Second]],
    ?assertEqual(["1 receive that the compiler does not report is not in the baseline"], Said([One])),
    ?assertEqual(["2 receives that the compiler does not report are not in the baseline"], Said([One, Other])),
    ?assertEqual(["1 scanning receive is not in the baseline",
                  "1 receive that the compiler does not report is not in the baseline"], Said([First, Other])),
    ?assertEqual(["2 scanning receives are not in the baseline"], Said([First, Second])),
    ?assertEqual([], Said([])).

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
    #{modules => 3, skipped => [{"ebin/bare.beam", bare, no_debug_info}], outdated => [], perhaps_outdated => [],
      findings => [Finding,
                   Finding#{function := {g, 0}, line := 9, reachable_from := [], identity := "m:g/0 cd.1"},
                   Finding#{function := {h, 0}, verdict := marker, identity := "m:h/0 ef.1"}]}.

timed() ->
    Result = #{name => "a:b/0", verdict => scans, cause => "a receive", reason => "",
               slope => #{estimate => 7.0, low => 6.0, high => 8.0}, times => [{0, 10}, {100, 710}]},
    [Result, Result#{name := "a:c/0", verdict := crashed, cause := "never", slope := none, times := [],
                     reason := "undef"}].

decoded(Json) -> json:decode(iolist_to_binary(Json)).
