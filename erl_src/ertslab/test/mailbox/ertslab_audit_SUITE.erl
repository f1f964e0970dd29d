%% The command `audit' and the VM that it chooses, and the refusals of `flood'. What is judged how is tested in mailbox_audit; that
%% a shell gets the status is tests/audit.bats.
-module(ertslab_audit_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, init_per_suite/1, end_per_suite/1, receives_are_told_as_text_json_and_sarif/1, what_is_not_asked_for_rightly_is_refused/1,
         what_is_not_judged_is_told/1, a_baseline_lets_through_what_it_knows/1, what_cannot_be_looked_into_fails_a_baseline/1,
         calls_are_timed/1, the_oldest_vm_that_can_read_judges/1, a_page_covers_what_is_asked_for/1,
         a_flood_that_makes_no_sense_is_refused/1,
         a_flood_loses_nothing/1, a_sink_that_cannot_be_written_is_a_sentence/1]).

all() ->
    [receives_are_told_as_text_json_and_sarif, what_is_not_asked_for_rightly_is_refused, what_is_not_judged_is_told,
     a_baseline_lets_through_what_it_knows, what_cannot_be_looked_into_fails_a_baseline, calls_are_timed,
     the_oldest_vm_that_can_read_judges, a_page_covers_what_is_asked_for, a_flood_that_makes_no_sense_is_refused, a_flood_loses_nothing,
     a_sink_that_cannot_be_written_is_a_sentence].

%% Two modules: with one receive that scans and with debug_info, and bare.
init_per_suite(Config) ->
    Dir = dir(Config),
    compiled(Dir, whole, [debug_info]),
    compiled(Dir, bare, []),
    [{modules, Dir} | Config].

end_per_suite(_) -> ok.

compiled(Dir, Module, Options) ->
    File = filename:join(Dir, atom_to_list(Module) ++ ".erl"),
    ok = file:write_file(File, io_lib:format("-module(~s).\n-export([wait/1]).\n\nwait(Pid) -> receive {Pid, _} -> ok end.\n", [Module])),
    {ok, Module} = compile:file(File, [{outdir, Dir} | Options]),
    ok = file:delete(File).

receives_are_told_as_text_json_and_sarif(Config) ->
    Beam = filename:join(proplists:get_value(modules, Config), "whole.beam"),
    ends(0, "whole:wait/1 (whole.erl:4) scans: all clauses match Pid", [Beam]),
    ?assertMatch(#{~"judged" := ~"all"}, json([Beam, "--json"])),
    ?assertMatch(#{~"version" := ~"2.1.0"}, json([Beam, "--sarif"])),
    ends(0, " receives in ", ["sasl", "--vm", "stock"]).

what_is_not_asked_for_rightly_is_refused(Config) ->
    [command_line:refused(2, Text, ["audit" | Words])
     || {Text, Words} <- [{"no target", []}, {"--static or --timed, not both", ["--static", "--timed"]},
                          {"--json or --sarif, not both", ["kernel", "--json", "--sarif"]},
                          {"--baseline or --write-baseline, not both", ["kernel", "--baseline", "x", "--write-baseline", "x"]},
                          {"there is no application, file or folder 'nothing_of_that_name'", ["nothing_of_that_name"]},
                          {"not a call with literal arguments", ["--timed", "--call", "os:cmd(os:getenv(\"X\"))"]},
                          {"no call of the catalogue", ["--timed", "nothing_of_that_name"]},
                          {"--call or names of the catalogue, not both", ["--timed", "--call", "lists:seq(1, 2)", "lists"]},
                          {"--sarif or --timed, not both", ["--timed", "--sarif"]},
                          {"--baseline or --timed, not both", ["--timed", "--baseline", "x"]},
                          {"--write-baseline or --timed, not both", ["--timed", "--write-baseline", "x"]},
                          {"--call needs --timed", ["kernel", "--call", "lists:seq(1, 2)"]},
                          {"--call needs --timed", ["--call", "lists:seq(1, 2)"]},
                          {"--call needs --timed", ["--node", "shop@127.0.0.1", "--call", "lists:seq(1, 2)"]},
                          {"--page needs --timed", ["kernel", "--page", "x"]},
                          {"--page or --json, not both", ["--timed", "--page", "x", "--json"]},
                          {"targets or --node, not both", ["kernel", "--node", "shop@127.0.0.1"]},
                          {"--timed or --node, not both", ["--timed", "--node", "shop@127.0.0.1"]},
                          {"--cookie needs --node", ["kernel", "--cookie", "secret"]},
                          {"it is a pipe, a device or a socket", ["/dev/zero"]}, {"there is no variant 'fly'", ["kernel", "--vm", "fly"]}]],
    Bad = filename:join(dir(Config), "bad.erl"),
    ok = file:write_file(Bad, "f("),
    command_line:refused(2, "bad.erl does not compile", ["audit", Bad]).

what_is_not_judged_is_told(Config) ->
    Dir = proplists:get_value(modules, Config),
    Said = ends(0, "whole:wait/1", [Dir]),
    ?assertEqual("Only a part was judged: 1 of 2 modules was not.", last(Said)),
    ?assertMatch(#{~"judged" := ~"part"}, json([Dir, "--json"])),
    ?assertMatch(#{~"runs" := [#{~"properties" := #{~"judged" := ~"part"}}]}, json([Dir, "--sarif"])),
    Known = filename:join(dir(Config), "known"),
    ends(0, "", [Dir, "--write-baseline", Known]),
    ?assertEqual("ertslab: only a part was judged: 1 of 2 modules was not.", last(ends(1, "", [Dir, "--baseline", Known]))),
    Bare = filename:join(Dir, "bare.beam"),
    ends(1, "ertslab: nothing was judged of 1 module.", [Bare]),
    Never = filename:join(dir(Config), "never"),
    Unwritten = ends(1, "bare has no readable debug_info", [Bare, "--write-baseline", Never]),
    ?assertEqual("ertslab: no baseline is written: nothing was judged of 1 module.", last(Unwritten)),
    ?assertNot(filelib:is_regular(Never)).

a_baseline_lets_through_what_it_knows(Config) ->
    Beam = filename:join(proplists:get_value(modules, Config), "whole.beam"),
    [Known, None] = [filename:join(dir(Config), Name) || Name <- ["known", "none"]],
    ok = file:write_file(None, "# nothing is known"),
    ends(0, "", [Beam, "--write-baseline", Known]),
    ends(0, "1 receive in 1 module, 1 scan; 1 in the baseline", [Beam, "--baseline", Known]),
    ?assertEqual("ertslab: 1 scanning receive is not in the baseline.", last(ends(1, "whole:wait/1", [Beam, "--baseline", None]))),
    %% What was found is told all the same.
    [?assertEqual({Words, match}, {Words, told(Words)})
     || Words <- [[Beam, "--baseline", None ++ "_more"], [Beam, "--write-baseline", filename:join(None, "below")]]],
    {1, {Sarif, _}} = command_line:called(["audit", Beam, "--sarif", "--baseline", None ++ "_more"]),
    ?assertMatch(#{~"runs" := [#{~"results" := [_]}]}, json:decode(unicode:characters_to_binary(Sarif))).

%% The receive first, then the one sentence about the baseline.
told(Words) ->
    Said = ends(1, "whole:wait/1", Words),
    re:run(last(Said), "^ertslab: cannot (read|write) the baseline ", [{capture, none}]).

what_cannot_be_looked_into_fails_a_baseline(Config) ->
    [Place, Other] = [dir(Config), dir(Config)],
    Ebin = filename:join(Place, "lib/quiet-1/ebin"),
    ok = filelib:ensure_path(Ebin),
    {ok, quiet, Beam} = compile:forms([{attribute, 1, module, quiet}], [debug_info]),
    ok = file:write_file(filename:join(Ebin, "quiet.beam"), Beam),
    None = filename:join(Other, "none"),
    ok = file:write_file(None, "# nothing is known"),
    ends(0, "", [Place, "--baseline", None]),
    Lost = filename:join(Place, "lib/other-1"),
    ok = file:make_symlink("/no/such", Lost),
    Said = ends(1, "cannot read " ++ Lost ++ ": no such file or directory", [Place, "--baseline", None]),
    ?assertEqual("ertslab: only a part was judged: 1 of 2 modules was not.", last(Said)).

%% In the release that is asked for.
calls_are_timed(_) ->
    Newest = integer_to_list(lists:last(ertslab_inventory:releases())),
    Said = ends(0, "lists:nth(1, [])  crashed", ["--timed", "--otp", Newest, "--call", "lists:seq(1, 2)", "--call", "lists:nth(1, [])"]),
    ?assertMatch({match, _}, re:run(Said, "lists:seq\\(1, 2\\) +(flat|unsure)")),
    ?assertMatch(#{~"calls" := [_]}, json(["--timed", "--json", "--call", "lists:nth(1, [])"])).

the_oldest_vm_that_can_read_judges(Config) ->
    [Oldest | _] = Releases = ertslab_inventory:releases(),
    Beam = filename:join(proplists:get_value(modules, Config), "whole.beam"),
    ?assertMatch(#{name := ~"stock", release := Oldest}, ertslab_audit_vm:asked_for(#{})),
    ?assertMatch(#{name := ~"tuned", release := Oldest}, ertslab_audit_vm:asked_for(#{vm => "tuned"})),
    [?assertMatch(#{release := Release}, ertslab_audit_vm:asked_for(#{otp => Release})) || Release <- Releases],
    ?assertMatch(#{release := Oldest}, ertslab_audit_vm:that_reads([Beam], #{})),
    ?assertMatch(#{release := Oldest}, ertslab_audit_vm:that_reads(["nothing_of_that_name"], #{})),
    %% A release that is asked for is taken, whatever it can read.
    [?assertMatch(#{release := Release}, ertslab_audit_vm:that_reads([Beam], #{otp => Release})) || Release <- Releases],
    %% What a newer compiler made is read by the first that is new enough.
    [?assertMatch(#{release := Release}, ertslab_audit_vm:that_reads([filename:join(ertslab_inventory:root(Release), "lib")], #{}))
     || Release <- Releases].

a_page_covers_what_is_asked_for(Config) ->
    Oldest = hd(ertslab_inventory:releases()),
    [Page, Below] = [filename:join(dir(Config), Name) || Name <- ["page.md", "none/page.md"]],
    ends(0, "", ["--timed", "--page", Page, "--otp", integer_to_list(Oldest), "--call", "lists:nth(1, [])"]),
    {ok, Text} = file:read_file(Page),
    ?assertMatch({_, _}, binary:match(Text, ~"lists:nth(1, [])")),
    %% Told before minutes are spent.
    command_line:refused(1, "cannot write " ++ Below ++ ": no such file or directory.", ["audit", "--timed", "--page", Below]).

ends(Status, Text, Words) -> command_line:ends(Status, Text, ["audit" | Words]).

json(Words) ->
    {0, {Output, _}} = command_line:called(["audit" | Words]),
    json:decode(unicode:characters_to_binary(Output)).

last(Said) -> lists:last(string:lexemes(Said, "\n")).

a_flood_that_makes_no_sense_is_refused(Config) ->
    Sink = filename:join(dir(Config), "log"),
    ok = file:write_file(Sink, ""),
    [command_line:refused(2, Text, ["flood" | Words])
     || {Text, Words} <- [{"choose from direct dam", ["sideways"]},
                          {"choose from async output tagged control", ["direct", "--driver", "fly"]},
                          {"messages", ["direct", "--messages", "0"]}, {"of memory", ["direct", "--messages", "1000000000"]},
                          {"this file is there already", ["direct", "--sink", Sink]},
                          {"there is no variant 'fly'", ["direct", "--vm", "fly"]}]].

a_flood_loses_nothing(Config) ->
    Sink = filename:join(dir(Config), "log"),
    Said = command_line:ends(0, "200 of 200 messages written (200 lines in the file), 0 still waiting, none lost",
                             ["flood", "dam", "--driver", "control", "--messages", "200", "--sink", Sink]),
    ?assertMatch({match, _}, re:run(Said, "^ +time +dam queue +change +server queue +change +writes/s$", [multiline])),
    {ok, Lines} = file:read_file(Sink),
    ?assertEqual(200, length(lists:usort(binary:split(Lines, ~"\n", [global, trim_all])))),
    command_line:ends(0, "200 of 200 messages written (by the driver's count), 0 still waiting, none lost",
                      ["flood", "dam", "--driver", "control", "--messages", "200", "--sink", "/dev/null"]),
    {0, {Output, _}} = command_line:called(["flood", "dam", "--messages", "2000", "--json"]),
    #{~"looks" := Looks, ~"alone" := Alone, ~"flooded" := Flooded} = Json = json:decode(unicode:characters_to_binary(Output)),
    ?assertMatch(#{~"way" := ~"dam", ~"driver" := ~"async", ~"messages" := 2000, ~"written" := 2000, ~"lines" := 2000, ~"waiting" := 0,
                   ~"lost" := 0}, Json),
    ?assertMatch(#{~"writes" := 2000}, lists:last(Looks)),
    ?assert(Alone > 0 andalso Flooded > 0).

a_sink_that_cannot_be_written_is_a_sentence(Config) ->
    command_line:refused(1, "no such file or directory",
                         ["flood", "direct", "--messages", "10", "--sink", filename:join(dir(Config), "none/log")]),
    command_line:ends(1, "no space left on device", ["flood", "dam", "--messages", "10", "--sink", "/dev/full"]).
