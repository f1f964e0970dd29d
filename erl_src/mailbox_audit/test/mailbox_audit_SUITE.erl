%% Receives that were planted, and what must be said of each.
-module(mailbox_audit_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, five_planted_receives/1, each_has_file_line_and_reason/1, variable_that_has_a_value/1,
         flushing_says_so/1, marker_needs_all_clauses/1, reached_from_exported_functions/1,
         another_process_is_not_its_starter/1, most_reached_comes_first/1, without_debug_info/1,
         identity_survives_shifted_lines/1, identity_changes_with_the_patterns/1,
         twins_have_identities_of_their_own/1, inlined_receive_is_one_finding/1, receives_of_one_line/1,
         receives_of_two_headers_of_one_name/1, receives_in_defaults_of_records/1, what_a_guard_says/1, warnings_as_errors_are_none/1,
         reference_that_another_function_made/1, receives_beside_one_of_a_reference_that_another_function_made/1,
         reference_through_several_returns/1, makers_of_every_style/1,
         only_copies_of_what_is_inlined_count/1, code_that_nothing_calls/1, options_before_the_markers/1,
         module_says_which_functions_loop/1, every_kind_of_target/1, targets_that_are_none/1, kernel_lists_the_known_ones/1,
         progress_that_fails/1, records_in_records/1, code_in_code/1, judging_is_limited/1, options_without_markers/1,
         options_that_are_not_for_the_judge/1, code_of_others_is_not_run/1, exported_by_an_option/1, named_funs_run_elsewhere/1, nested_receives_are_told_apart/1,
         value_before_its_pattern/1, bad_targets_and_options/1]).


all() ->
    [five_planted_receives, each_has_file_line_and_reason, variable_that_has_a_value, flushing_says_so,
     marker_needs_all_clauses, reached_from_exported_functions, another_process_is_not_its_starter,
     most_reached_comes_first, without_debug_info, identity_survives_shifted_lines,
     identity_changes_with_the_patterns, twins_have_identities_of_their_own,
     inlined_receive_is_one_finding, receives_of_one_line, receives_of_two_headers_of_one_name, receives_in_defaults_of_records,
     what_a_guard_says,
     warnings_as_errors_are_none, reference_that_another_function_made,
     receives_beside_one_of_a_reference_that_another_function_made, reference_through_several_returns, makers_of_every_style,
     only_copies_of_what_is_inlined_count, code_that_nothing_calls, options_before_the_markers, every_kind_of_target,
     module_says_which_functions_loop, targets_that_are_none,
     kernel_lists_the_known_ones, progress_that_fails, records_in_records, code_in_code, judging_is_limited,
     options_without_markers, options_that_are_not_for_the_judge, code_of_others_is_not_run, exported_by_an_option,
     named_funs_run_elsewhere, nested_receives_are_told_apart, value_before_its_pattern, bad_targets_and_options].

five_planted_receives(Config) ->
    ?assertEqual([{{looks_like_any, 1}, scans}, {{marker, 1}, marker}, {{no_clauses, 1}, no_clauses},
                  {{scans, 1}, scans}, {{takes_any, 0}, takes_any}],
                 lists:sort([{Function, Verdict}
                             || #{function := Function, verdict := Verdict} <- findings(planted, Config)])).

each_has_file_line_and_reason(Config) ->
    [#{line := Line, file := File, module := planted, reason := Reason, reachable_from := From}] =
        of_function(scans, findings(planted, Config)),
    ?assertEqual("planted.erl", filename:basename(File)),
    ?assertEqual(8, Line),
    ?assertEqual([{{planted, scans, 1}, 0}], From),
    ?assertEqual("all clauses match Port, but the compiler sees no fresh reference in it", Reason).

%% A variable alone takes anything just where it has no value yet.
variable_that_has_a_value(Config) ->
    [?assertEqual({Body, Verdict}, {Body, verdict(Body, Config)})
     || {Body, Verdict} <-
            [{"receive X -> X end", scans},
             {"receive Y -> Y end", takes_any},
             {"receive _ -> ok end", takes_any},
             {"receive Y = Z -> {Y, Z} end", takes_any},
             {"receive X = Z -> Z end", scans},
             {"receive Y when Y > 1 -> Y end", scans},
             {"receive Y when true -> Y end", takes_any},
             {"case X of a -> Y = 1; _ -> receive Y -> Y end end, Y", takes_any},
             {"Y = receive Y -> Y end", takes_any},
             {"fun(Y) -> receive Y -> Y end end", scans},
             {"[Y || Y <- [1]], receive Y -> Y end", takes_any},
             {"fun(Y) -> Y end, receive Y -> Y end", takes_any},
             {"Y = X, receive Y -> ok after 0 -> none end", scans}]].

flushing_says_so(Config) ->
    [#{reason := Reason}] = of_text("f(X) -> receive {X, _} -> f(X) after 0 -> ok end.", Config),
    ?assertMatch("looks at all messages whenever none fits (after 0); " ++ _, Reason).

marker_needs_all_clauses(Config) ->
    Text = "f(X) -> R = monitor(process, X), receive {R, A} -> A; {'DOWN', R, _, _, _} -> no; ~ts end.",
    [?assertMatch([#{verdict := Verdict}], of_text(io_lib:format(Text, [Clause]), Config))
     || {Clause, Verdict} <- [{"{R, x, _} -> ok", marker}, {"{X, _} -> ok", scans}]].

reached_from_exported_functions(Config) ->
    [#{reachable_from := From}] = of_function(hidden, findings(reached, Config)),
    ?assertEqual([{{reached, by_a_fun, 1}, 1}, {{reached, near, 1}, 1}, {{reached, far, 1}, 2}], From).

another_process_is_not_its_starter(Config) ->
    ?assertMatch([#{verdict := scans, spawned := true, reachable_from := []}],
                 of_function(starter, findings(reached, Config))).

most_reached_comes_first(Config) ->
    {ok, #{findings := [#{function := First} | _], modules := 2}} =
        mailbox_audit:static([compiled(planted, Config), compiled(reached, Config)]),
    ?assertEqual({hidden, 1}, First).

without_debug_info(Config) ->
    Beam = compiled(planted, [], Config),
    ?assertMatch({ok, #{modules := 0, findings := [], skipped := [{Beam, planted, no_debug_info}]}},
                 mailbox_audit:static([Beam])).

identity_survives_shifted_lines(Config) ->
    Text = "f(X) -> receive {X, A} -> A end.",
    [#{identity := Identity}] = of_text(Text, Config),
    ?assertMatch([#{identity := Identity}], of_text(["\n\n% more\n", Text], Config)),
    ?assertMatch([#{identity := Identity}], of_text("f(X) -> receive {X, A} -> {A, changed} end.", Config)).

identity_changes_with_the_patterns(Config) ->
    [#{identity := Identity}] = of_text("f(X) -> receive {X, A} -> A end.", Config),
    [#{identity := Other}] = of_text("f(X) -> receive {X, new, A} -> A end.", Config),
    ?assertNotEqual(Identity, Other).

twins_have_identities_of_their_own(Config) ->
    Identities = [Identity || #{identity := Identity} <-
                                  of_text("f(X) -> receive {X, A} -> A end, receive {X, A} -> A end.", Config)],
    ?assertEqual(2, length(lists:usort(Identities))).

inlined_receive_is_one_finding(Config) ->
    Text = "-compile({inline, [g/1]}).\nf(X) -> {g(X), g({X})}.\ng(X) ->\n receive {X, A} -> A end.",
    ?assertMatch([#{verdict := scans, function := {g, 1}}], of_text(Text, Config)).

%% As of a macro: each has the verdict that it has on a line of its own, whatever the order.
receives_of_one_line(Config) ->
    Receives = [{"R = make_ref(), X ! R, receive {R, A} -> A end", marker}, {"receive {late, _} -> ok after 0 -> ok end", scans},
                {"receive B -> B end", takes_any}, {"receive {X, C} -> C end", scans}, {"receive after 1 -> ok end", no_clauses},
                {"(fun(Y) -> receive {Y, D} -> D end end)(X)", scans}, {"S = make_ref(), X ! S, receive {S, E} -> E end", marker}],
    [?assertEqual([Verdict || {_, Verdict} <- Order], verdicts(Order, Config)) || Order <- [Receives, lists:reverse(Receives)]],
    InOne = of_text(["f(X) -> ", lists:join(", ", [Body || {Body, _} <- Receives]), "."], Config),
    ?assertEqual(lists:sort([Verdict || {_, Verdict} <- Receives]), lists:sort([Verdict || #{verdict := Verdict} <- InOne])).

%% In the order of the module, which that of the findings is not: each in a function of its own that the line calls.
verdicts(Order, Config) ->
    Numbered = lists:enumerate([Body || {Body, _} <- Order]),
    Text = [["-define(F", integer_to_list(N), ", ", Body, ").\n"] || {N, Body} <- Numbered],
    Line = lists:join(" ", [io_lib:format("g~b(X) -> ?F~b.", [N, N]) || {N, _} <- Numbered]),
    Exports = lists:join(", ", [io_lib:format("g~b/1", [N]) || {N, _} <- Numbered]),
    Findings = of_text([Text, "-export([", Exports, "]).\n", Line, "\nf(_) -> ok."], Config),
    ?assertMatch([_], lists:usort([L || #{line := L} <- Findings])),
    [Verdict || {_, Verdict} <- lists:sort([{list_to_integer(tl(atom_to_list(Name))), Verdict}
                                            || #{function := {Name, 1}, verdict := Verdict} <- Findings])].

receives_of_two_headers_of_one_name(Config) ->
    Dir = proplists:get_value(priv_dir, Config),
    [begin
         ok = filelib:ensure_dir(filename:join([Dir, Folder, "same.hrl"])),
         ok = file:write_file(filename:join([Dir, Folder, "same.hrl"]), Text)
     end || {Folder, Text} <- [{"one", "g(X) -> R = make_ref(), X ! R,\n receive {R, A} -> A end.\n"},
                               {"two", "h(X) ->\n receive {X, A} -> A end.\n"}]],
    Findings = of_text("-export([g/1, h/1]).\n-include(\"one/same.hrl\").\n-include(\"two/same.hrl\").\nf(_) -> ok.", Config),
    ?assertEqual([{g, 2, marker}, {h, 2, scans}],
                 lists:sort([{Name, Line, Verdict} || #{function := {Name, 1}, line := Line, verdict := Verdict} <- Findings])).

%% They run where such a record is made, and nothing else is given for the field.
receives_in_defaults_of_records(Config) ->
    Records = ["-record(r, {w = fun(P) -> receive {P, A} -> A end end, n = receive stop -> 1 end :: integer(), o}).\n"
               "-record(s, {r = #r{n = 1}}).\n-record(b, {w = begin receive after 1 -> ok end end}).\n"],
    [?assertEqual({Text, Expected},
                 {Text, lists:sort([{Name, Line, Verdict} || #{function := {Name, _}, line := Line, verdict := Verdict}
                                                                 <- of_text([Records, Text], Config)])})
     || {Text, Expected} <-
            [{"f(X) -> {X, #r{}}.", [{f, 6, scans}, {f, 6, scans}]},
             {"f(X) ->\n g(X),\n #r{w = X}.\ng(X) ->\n #r{n = X}.", [{f, 8, scans}, {g, 10, scans}]},
             {"f(X) -> #r{_ = X}.", []},
             {"f(X) -> #r{n = X, w = X}.", []},
             {"f(#r{n = X} = R) when R =/= #r{n = 1, w = 2} -> R#r{n = X}.", []},
             {"f(X) -> case X of #r{} -> none; R -> #r{} = R end.", []},
             {"f(X) -> #s{r = #r{w = X}}.", [{f, 6, scans}]},
             {"f(_) -> #s{}.", [{f, 6, scans}]},
             {"f(_) -> #b{}.", [{f, 6, no_clauses}]},
             {"f(X) -> [fun() -> #r{w = R} end || #r{} = R <- X].", [{f, 6, scans}]},
             {"f(X) -> receive X -> #r{w = X} end.", [{f, 6, scans}, {f, 6, scans}]},
             {"f(X) -> X.", []}]],
    [#{reachable_from := From}] = of_text("-record(r, {n = g()}).\nf(_) -> #r{}.\ng() -> receive stop -> ok end.", Config),
    ?assertEqual([{{text, f, 1}, 1}], From).

%% A message is matched by what must be equal; a guard that has it differ, or a size, says less.
what_a_guard_says(Config) ->
    [?assertEqual({Receive, Reason}, {Receive, reason(Receive, Config)})
     || {Receive, Reason} <-
            [{"{Y, A} when Y =:= X -> A", "all clauses match X, but the compiler sees no fresh reference in it"},
             {"{Y, A} when X == Y, A > 1 -> A", "all clauses match X, but the compiler sees no fresh reference in it"},
             {"{Y, A} when is_atom(A) andalso Y =:= X -> A", "all clauses match X, but the compiler sees no fresh reference in it"},
             {"{Y, A} when Y =/= X -> A", "its clauses match by pattern and guard alone"},
             {"{Y, A} when Y =:= X; A > 1 -> A", "its clauses match by pattern and guard alone"},
             {"{Y, A} when X =:= 1 -> {Y, A}", "its clauses match by pattern and guard alone"},
             {"{Y, A} when A > Y -> A", "its clauses match by pattern alone"},
             {"<<A:X, _/binary>> -> A", "its clauses match by pattern alone"},
             {"#{X := A} -> A", "all clauses match X, but the compiler sees no fresh reference in it"},
             {"{X, A} -> A; {Y, A} when Y =/= X -> A", "the clause of line 3 matches by pattern and guard alone"}]].

reason(Clauses, Config) ->
    [#{verdict := scans, reason := Reason}] = of_text(["f(X) -> receive ", Clauses, " end."], Config),
    Reason.

warnings_as_errors_are_none(Config) ->
    [?assertMatch([#{verdict := scans}],
                  of_text(["-compile(", Options, ").\nf(X) -> receive {X, A} -> A end."], Config))
     || Options <- ["warnings_as_errors", "[warnings_as_errors, inline]", "[warnings_as_errors, [warnings_as_errors]]",
                   "[warnings_as_errors, inline, warnings_as_errors]"]].

%% Compilers newer than that of OTP 25 fail on it. What has to do with that reference is unknown then, and all else is judged.
reference_that_another_function_made(Config) ->
    Verdicts = maps:from_list([{Name, Verdict} || #{function := {Name, _}, verdict := Verdict} <-
        of_text("-export([h/1]).\nf(X) -> Ref = made(), X ! Ref, receive {Ref, A} -> A end, g(X), k(X), w(Ref).\n"
                "made() -> make_ref().\n"
                "w(Ref) -> receive {Ref, B} -> B end.\n"
                "g(X) -> Ref = make_ref(), X ! Ref, receive {Ref, C} -> C end.\n"
                "h(X) -> receive {X, D} -> D end.\n"
                "k(X) -> receive Any -> {X, Any} end.", Config)]),
    ?assertMatch(#{g := marker, h := scans, k := takes_any}, Verdicts),
    [?assert(lists:member(maps:get(Name, Verdicts), [unknown, marker] ++ [scans || Name =:= f orelse Name =:= w, is_older()]))
     || Name <- [f, w]].

%% What matches no such reference has no marker, in whichever function it is: the compiler of OTP 25 agrees.
receives_beside_one_of_a_reference_that_another_function_made(Config) ->
    Beside = fun(Makes, Clauses) ->
                     ["made(0) -> make_ref();\nmade(X) -> R = make_ref(), self() ! X, R.\nask(X) -> made(X).\n"
                      "f(X) -> R = ", Makes, "(X), X ! R, receive {foo, Y} -> Y end, h(R, X), receive {R, Z} -> Z end.\n"
                      "h(R, X) -> _ = {R, X}, receive ", Clauses, " end."]
             end,
    [?assertEqual({Clauses, scans}, {Clauses, verdict_of(h, Beside(Makes, Clauses), Config)})
     || Makes <- ["made", "ask"],
        Clauses <- ["{bar, Z} -> Z", "{R, Z} -> Z; {X, Z} -> Z", "{bar, Z} -> Z; {R, Z} -> Z", "{Z, _} when Z =/= R -> Z",
                    "{Z, _} when Z =:= R; Z =:= bar -> Z", "{Z, Z} -> Z", "#{X := R} -> R; #{bar := Z} -> Z", "{X, Z} -> Z",
                    "{R, Z} -> Z; {Z, _} when is_atom(Z) -> Z"]],
    [?assert(lists:member({Clauses, verdict_of(h, Beside(Makes, Clauses), Config)},
                          [{Clauses, Verdict} || Verdict <- [unknown, marker] ++ [scans || is_older()]]))
     || Makes <- ["made", "ask"],
        Clauses <- ["{R, Z} -> Z", "{R, Z} -> Z; {_, Z} when false -> Z", "{R, Z} -> Z; {bar, R, Z} -> Z",
                    "{R, Z} -> Z; {Z, _} when Z =:= R -> Z"]],
    ?assertEqual([scans], [Verdict || #{function := {f, 1}, line := 6, verdict := Verdict, reason := "its clauses" ++ _}
                                          <- of_text(Beside("made", "R -> R"), Config)]),
    %% One copy of what is inlined matches it, another one does not.
    ?assertEqual(scans, verdict_of(w, "-compile({inline, [w/1]}).\n-export([g/1]).\ng(X) -> w(X).\nmade(X) -> R = make_ref(), X ! R, R.\n"
                                      "f(X) -> R = made(X), X ! R, w(R).\nw(R) -> receive {R, Z} -> Z end.", Config)).

%% The code has a marker in each, unless what is returned is not the reference alone.
reference_through_several_returns(Config) ->
    Use = "f(X) -> Ref = ask(X), X ! Ref, receive {Ref, A} -> A end.\n",
    [?assert(lists:member({Text, verdict_of(f, [Use, Text], Config)},
                          [{Text, Verdict} || Verdict <- [unknown, marker] ++ [scans || is_older()]]))
     || Text <- ["ask(X) -> send(X). send(X) -> Ref = monitor(process, X), X ! Ref, Ref.",
                 "ask(X) -> more(X). more(X) -> send(X). send(X) -> last(X). last(X) -> Ref = monitor(process, X), X ! Ref, Ref.",
                 "ask(X) -> Ref = send(X), X ! {again, Ref}, Ref. send(X) -> make_ref().",
                 "ask(X) -> case X of a -> none; _ -> try send(X) catch _:_ -> none end end. send(X) -> make_ref().",
                 "ask(X) -> receive X -> send(X) after 0 -> ask(X) end. send(_) -> make_ref()."]],
    Text = "ask(X) -> {_, Ref} = send(X), Ref. send(X) -> Ref = last(X), {X, Ref}. last(X) -> Ref = make_ref(), X ! Ref, Ref.",
    ?assertEqual(scans, verdict_of(f, ["-export([g/1]).\ng(X) -> Ref = last(X), receive Ref -> ok end.\n", Use, Text], Config)).

%% However a function calls what makes its reference, the others of the module are judged.
makers_of_every_style(Config) ->
    [?assertMatch({Makes, scans, marker}, {Makes, verdict_of(g, Text, Config), verdict_of(h, Text, Config)})
     || Makes <- ["apply(erlang, make_ref, [])", "begin M = erlang, M:make_ref() end", "(fun erlang:monitor/2)(process, X)",
                  "element(2, spawn_monitor(X))", "begin {_, R} = spawn_monitor(X), R end"],
        Text <- [["-export([g/1, h/1]).\nf(X) -> Ref = made(X), receive {Ref, A} -> A end.\nmade(X) -> Ref = ", Makes, ", X ! Ref, Ref.\n",
                  "g(X) -> receive {X, A} -> A end.\nh(X) -> Ref = make_ref(), X ! Ref, receive {Ref, A} -> A end."]]].

%% The function itself is not in the code, if all its calls are inlined and it is not exported.
only_copies_of_what_is_inlined_count(Config) ->
    Text = "f(X) -> Ref = make_ref(), X ! Ref, wait(Ref).\nwait(Ref) -> receive {Ref, A} -> A end.",
    Inline = "-compile({inline, [wait/1]}).\n",
    ?assertEqual(marker, verdict_of(wait, [Inline, Text], Config)),
    ?assertMatch([#{verdict := marker}], of_text(Text, [{inline, [{wait, 1}]}], Config)),
    ?assertMatch([#{verdict := marker}], of_text(Text, [inline], Config)),
    ?assertEqual(marker, verdict_of(wait, [Inline, "-on_load(g/0).\ng() -> _ = f(self()), ok.\n", Text], Config)),
    [?assertEqual({More, scans}, {More, verdict_of(wait, [Inline, More, Text], Config)})
     || More <- ["-export([g/2]).\ng(Ref, X) -> X ! Ref, wait(Ref).\n", "-export([wait/1]).\n",
                 "-export([g/0]).\ng() -> fun wait/1.\n", "-on_load(wait/0).\nwait() -> wait(self()), ok.\n"]].

%% The compiler decides on markers before it drops that, so what it calls has one.
code_that_nothing_calls(Config) ->
    ?assertEqual(unknown, verdict_of(g, "f(X) -> X.\ng(X) -> receive {X, A} -> A end.", Config)),
    ?assertEqual(marker, verdict_of(f, "f(X) -> receive {X, A} -> A end.\ng() -> f(make_ref()).", Config)).

%% As in the module, so on the command line.
options_before_the_markers(Config) ->
    Text = "f(X) -> {ok, Ref} = {ok, make_ref()}, X ! Ref, receive {Ref, A} -> A end.",
    ?assertMatch([#{verdict := marker}], of_text(Text, Config)),
    ?assertMatch([#{verdict := scans}], of_text(["-compile(no_copt).\n", Text], Config)),
    ?assertMatch([#{verdict := scans}], of_text(Text, [no_copt], Config)).

verdict_of(Name, Text, Config) ->
    [Verdict] = [Verdict || #{function := {N, _}, verdict := Verdict} <- of_text(Text, Config), N =:= Name],
    Verdict.

is_older() -> list_to_integer(erlang:system_info(otp_release)) < 26.

%% One calls itself, one through another function, one not.
module_says_which_functions_loop(Config) ->
    _ = of_text("f(X) -> receive {X, A} -> A end, g(X), k(X).\n"
                "g(X) -> receive {X, B} -> B end, h(X).\nh(X) -> g(X).\n"
                "k(X) -> receive {X, C} -> C end, k(X).", Config),
    {ok, Beam} = file:read_file(filename:join(proplists:get_value(priv_dir, Config), "text.beam")),
    {ok, Receives} = mailbox_audit:module(Beam),
    ?assertEqual([{{f, 1}, scans, false}, {{g, 1}, scans, true}, {{k, 1}, scans, true}],
                 [{Function, Verdict, Loops} || #{function := Function, verdict := Verdict, loops := Loops} <- Receives]),
    ?assertEqual({error, not_a_beam}, mailbox_audit:module(~"no code")).

every_kind_of_target(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "kinds"),
    Beam = compiled(planted, Config),
    [Plain, Project, Release] = [filename:join(Dir, Kind) || Kind <- ["plain", "project", "release"]],
    put_file(Beam, filename:join(Plain, "planted.beam")),
    put_file(Beam, filename:join(Project, "_build/default/lib/planted/ebin/planted.beam")),
    put_file(Beam, filename:join(Project, "_build/test/lib/planted/ebin/planted.beam")),
    ok = file:write_file(filename:join(Project, "rebar.config"), ""),
    put_file(Beam, filename:join(Release, "lib/planted-1/ebin/planted.beam")),
    [?assertMatch({Target, {ok, #{modules := 1, findings := [_, _, _, _, _]}}},
                  {Target, mailbox_audit:static([Target])})
     || Target <- [Beam, Plain, Project, Release, Release ++ "/lib", Release ++ "/lib/planted-1"]],
    ?assertMatch({ok, #{modules := 1}}, mailbox_audit:static([Beam, Plain])),
    ?assertMatch({ok, #{modules := Modules}} when Modules > 0, mailbox_audit:static([tools])).

put_file(From, To) ->
    ok = filelib:ensure_dir(To),
    {ok, _} = file:copy(From, To).

targets_that_are_none(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "none"),
    [ok = filelib:ensure_path(filename:join(Dir, Name)) || Name <- ["empty", "unbuilt"]],
    Text = filename:join(Dir, "text"),
    [ok = file:write_file(File, "no beam") || File <- [filename:join(Dir, "unbuilt/rebar.config"), Text]],
    [begin
         {error, Reason} = mailbox_audit:static([Target]),
         ?assertMatch({Target, Words, [_ | _]},
                      {Target, Words, string:find(mailbox_audit:format_error(Reason), Words)})
     end || {Target, Words} <- [{"nothing_of_that_name", "no application, file or folder 'nothing_of_that_name'"},
                                {"no/such/folder", "no application, file or folder"},
                                {"", "no application, file or folder ''"},
                                {filename:join(Dir, "empty"), "no .beam files"},
                                {filename:join(Dir, "empty"), "a .erl or .ex file can be named"},
                                {filename:join(Dir, "unbuilt"), "run 'rebar3 compile'"},
                                {Text, "is not a .beam file"}]].

%% What the project knew before there was an audit.
kernel_lists_the_known_ones(_) ->
    Beams = [code:which(Module) || Module <- [disk_log, code_server, inet, erpc]] ++
        [filename:join(code:lib_dir(stdlib), "ebin/proc_lib.beam")],
    {ok, #{findings := Findings, skipped := []}} = mailbox_audit:static(Beams),
    Scanning = [{Module, Name} || #{module := Module, function := {Name, _}, verdict := scans} <- Findings],
    [?assert(lists:member(Known, Scanning))
     || Known <- [{disk_log, monitor_request}, {code_server, call}, {inet, tcp_close}, {inet, udp_close},
                  {proc_lib, sync_start}, {erpc, receive_response}]].

%% It ends the audit, and leaves nothing of it: neither messages nor processes.
progress_that_fails(_) ->
    Progress = fun(Done, _) -> Done < 2 orelse throw(enough) end,
    Before = length(processes()),
    ?assertThrow(enough, mailbox_audit:static([stdlib], #{progress => Progress})),
    ?assertEqual({monitors, []}, process_info(self(), monitors)),
    Crashing = fun(2) -> exit(planned); (_) -> timer:sleep(60_000) end,
    ?assertError(planned, mailbox_audit_parallel:map(Crashing, [1, 2], fun(_, _) -> ok end)),
    ok = timer:sleep(200),
    ?assertEqual({messages, []}, process_info(self(), messages)),
    ?assert(length(processes()) =< Before + 1).

%% The default of each makes two of the one before. Nobody makes the last one, so nothing is to be done for
%% it. If somebody does, it is refused before it takes all memory.
records_in_records(_) ->
    Judged = fun(Number) ->
                     Text = ["-record(r0, {a = g()}).\n",
                             [io_lib:format("-record(r~b, {a = {#r~b{}, #r~b{}}}).\n", [N, N - 1, N - 1]) || N <- lists:seq(1, 60)],
                             "f(P) -> receive {P, X} -> X end.\ng() -> receive {a, X} -> X end.\n",
                             io_lib:format("h() -> #r~b{}.\n", [Number])],
                     mailbox_audit:module(of_forms(Text))
             end,
    {ok, Few} = Judged(2),
    ?assertEqual([{f, 1}, {g, 0}], lists:usort([Function || #{function := Function} <- Few])),
    {error, too_many_defaults} = Judged(60),
    Words = lists:flatten(mailbox_audit_text:why_skipped({"m.beam", m, too_many_defaults})),
    ?assertEqual("the defaults of the records of m expand to 20,000 nodes of code or more", Words),
    ?assertMatch({ok, [_ | _]}, Judged(7)), % 128 of them
    ?assertEqual({error, too_many_defaults}, Judged(14)).

%% The compiler took 15 seconds for it. A long list, as of a table, is no deep one.
code_in_code(_) ->
    Nested = fun(Depth) -> ["f() -> ", lists:duplicate(Depth, ${), "receive {a, X} -> X end", lists:duplicate(Depth, $}), ".\n"] end,
    ?assertMatch({ok, [_]}, mailbox_audit:module(of_forms(Nested(500)))),
    ?assertEqual({error, too_deep}, mailbox_audit:module(of_forms(Nested(20_000)))),
    Table = ["t() -> [", lists:join(", ", [integer_to_list(N) || N <- lists:seq(1, 5000)]), "].\n"],
    ?assertMatch({ok, [_]}, mailbox_audit:module(of_forms([Table, Nested(1)]))),
    ?assertEqual("the code of m is nested more than 2,000 times", why({"m.beam", m, too_deep})).

%% The others are judged. What a limit ends leaves nothing, and ends with who asked.
judging_is_limited(Config) ->
    Slow = of_forms([[io_lib:format("f~b(X) -> receive {X, Y} -> Y end.\n", [N]) || N <- lists:seq(1, 4000)]]),
    Before = length(processes()),
    {ok, #{modules := 1, skipped := [{"slow", m, takes_too_long} = Skipped]}} =
        mailbox_audit:static([{"slow", Slow}, compiled(planted, Config)], #{limit_ms => 1000}),
    ?assertEqual("judging m takes longer than its limit", why(Skipped)),
    ?assertEqual({error, takes_too_long}, mailbox_audit:module(Slow, #{search => true, limit_ms => 10})),
    Large = fun() -> lists:sum(lists:seq(1, 1_000_000)) end,
    ?assertEqual({error, takes_too_much_memory}, mailbox_audit_limits:within(Large, 60_000, 100_000)),
    ?assertMatch({ok, _}, mailbox_audit_limits:within(Large, 60_000)),
    ?assertEqual("judging m takes more memory than its limit", why({"m.beam", m, takes_too_much_memory})),
    %% A limit of the caller's own is of its memory alone.
    [?assertEqual({Words, {Options, Said}}, {Words, {Options, with_words(Words, fun() -> mailbox_audit:module(Slow, Options) end)}})
     || {Words, Options, Said} <- [{1 bsl 26, #{limit_ms => 10}, {error, takes_too_long}},
                                   {100_000, #{limit_ms => 1000}, {error, takes_too_long}},
                                   {100_000, #{limit_ms => 1000, in_caller => true}, killed}]],
    {Asks, Ended} = spawn_monitor(fun() -> mailbox_audit_limits:within(fun() -> timer:sleep(infinity) end, 60_000) end),
    ok = timer:sleep(100),
    true = exit(Asks, kill),
    receive {'DOWN', Ended, process, _, killed} -> ok end,
    ok = timer:sleep(200),
    ?assertEqual({messages, []}, process_info(self(), messages)),
    ?assert(length(processes()) =< Before + 1).

%% What a process returns that has at most so much memory.
with_words(Words, Fun) ->
    {_, Monitor} = spawn_opt(fun() -> exit(Fun()) end, [monitor, {max_heap_size, #{size => Words, kill => true, error_logger => false}}]),
    receive {'DOWN', Monitor, process, _, Returned} -> Returned end.

%% Given to the compiler or in the module. On a release that does not know beam_debug_info, it is judged as on one that does.
options_without_markers(Config) ->
    Text = "f(X) -> R = make_ref(), X ! R, receive {R, A} -> A end.",
    ?assertMatch([#{verdict := marker}], of_text(Text, Config)),
    [begin
         ?assertMatch({Option, [#{verdict := unknown}]}, {Option, of_text(Text, [Option], Config)}),
         ?assertMatch({Option, [#{verdict := unknown}]},
                      {Option, of_text(io_lib:format("-compile([~p]).\n~ts", [Option, Text]), Config)})
     end || Option <- [no_recv_opt, no_module_opt, beam_debug_info]].

%% They would have the compiler print between what is told.
options_that_are_not_for_the_judge(Config) ->
    [begin
         Findings = of_text(["-compile(", Option, ").\nf(X) -> receive {X, A} -> A end."], [], Config, fun ct:capture_start/0),
         ok = ct:capture_stop(),
         ?assertMatch({Option, [#{verdict := scans}], []}, {Option, Findings, ct:capture_get([])})
     end || Option <- ["report", "[verbose, report_warnings]", "[[report_errors], report]"]].

%% Also where it is on the code path, and not only in what a compiler leaves of it.
code_of_others_is_not_run(Config) ->
    Name = audit_transforms,
    {ok, Tokens, _} = erl_scan:string("core_transform(Code, _) -> persistent_term:put(audit_transforms, ran), Code."),
    {ok, Function} = erl_parse:parse_form(Tokens),
    {ok, Name, Transforms} = compile:forms([{attribute, 1, module, Name}, {attribute, 1, export, [{core_transform, 2}]}, Function]),
    {module, Name} = code:load_binary(Name, "none", Transforms),
    Text = "-compile({core_transform, audit_transforms}).\nf(X) -> receive {X, A} -> A end.",
    ?assertMatch([#{verdict := scans}], of_text(Text, [], Config, fun() -> persistent_term:erase(Name) end)),
    ?assertEqual(none, persistent_term:get(Name, none)),
    true = code:delete(Name),
    [?assertMatch({Kind, {ok, [#{verdict := scans}]}},
                  {Kind, mailbox_audit:module(of_forms(["-compile({", Kind, ", audit_transforms}).\ng() -> receive {a, X} -> X end.\n"]))})
     || Kind <- ["core_transform", "parse_transform"]].

%% Also a function that calls nothing.
exported_by_an_option(Config) ->
    Text = "f(_) -> ok.\ng() -> receive {a, X} -> X end.",
    ?assertMatch([#{reachable_from := [{{text, g, 0}, 0}]}], of_text(["-compile(export_all).\n", Text], Config)),
    ?assertMatch([#{reachable_from := [{{text, g, 0}, 0}]}], of_text(Text, [export_all], Config)).

%% As of a fun without a name. One that calls itself is a loop, and what it starts is none.
named_funs_run_elsewhere(Config) ->
    Text = "f(X) -> spawn(fun Loop() -> receive {X, a} -> h(), Loop() end end), g(X).\n"
           "g(X) -> spawn_link(fun Once() -> receive {X, b} -> X ! Once end end).\n"
           "h() -> receive {h, A} -> A end.\n"
           "k(X) -> L = fun Loop() -> receive {X, c} -> spawn(fun() -> receive {X, d} -> ok end end), Loop() end end, L().",
    Findings = of_text(["-export([k/1]).\n", Text], Config),
    ?assertEqual([{f, true, []}, {g, true, []}, {h, false, []}, {k, false, [{{text, k, 1}, 0}]}, {k, true, []}],
                 lists:sort([{Name, Spawned, From}
                             || #{function := {Name, _}, spawned := Spawned, reachable_from := From} <- Findings])),
    {ok, Beam} = file:read_file(filename:join(proplists:get_value(priv_dir, Config), "text.beam")),
    {ok, Receives} = mailbox_audit:module(Beam),
    ?assertEqual([{f, true}, {g, false}, {h, false}, {k, true}, {k, false}],
                 [{Name, Loops} || #{function := {Name, _}, loops := Loops} <- Receives]).

%% What follows a message of another receive: in its clause, not after its time-out, and not in a fun.
nested_receives_are_told_apart(Config) ->
    _ = of_text("f(X) -> receive {X, a} -> receive b -> ok after 0 -> ok end after 9 -> receive c -> receive d -> ok end end end.\n"
                "g(X) -> receive X -> fun() -> receive e -> ok end end end, receive f -> ok end.", Config),
    {ok, Beam} = file:read_file(filename:join(proplists:get_value(priv_dir, Config), "text.beam")),
    {ok, Receives} = mailbox_audit:module(Beam),
    ?assertEqual([{f, false, false}, {f, false, false}, {f, true, false}, {f, true, true}, {g, false, false}, {g, false, false},
                  {g, false, false}],
                 lists:sort([{Name, Nested, Polls} || #{function := {Name, _}, nested := Nested, polls := Polls} <- Receives])).

%% What is matched has no value yet while its value is waited for.
value_before_its_pattern(Config) ->
    [begin
         Findings = of_text(["f(P) -> ", Body, "."], [{feature, maybe_expr, enable}], Config),
         ?assertEqual({Body, ["its clauses match by pattern alone"]}, {Body, [Reason || #{reason := Reason} <- Findings]})
     end || Body <- ["maybe X ?= receive {tag, X} -> X end, P ! X end",
                     "[X || X <- receive {tag, X} -> P ! X end]",
                     "[X || <<X>> <= receive {tag, X} -> P ! X end]",
                     "[P ! X || X := _ <- receive {tag, X} -> #{X => X} end]"]
                    ++ lists:append([["[P ! X || X <:- receive {tag, X} -> [X] end]", "[P ! X || X <- [1] && _ <- receive {tag, X} -> [X] end]"]
                                     || list_to_integer(erlang:system_info(otp_release)) >= 28])].

%% Each is told in a sentence.
bad_targets_and_options(_) ->
    [begin
         {error, Reason} = mailbox_audit:static(Targets, Options),
         ?assertEqual(Words, mailbox_audit:format_error(Reason))
     end || {Targets, Options, Words} <-
                [{Targets, #{}, "targets must be a list of applications, files, folders or {Name, Bytes}, not " ++ Shown}
                 || {Targets, Shown} <- [{stdlib, "stdlib"}, {"/tmp", "\"/tmp\""}, {[stdlib | x], "[stdlib|x]"},
                                         {[[kernel]], "[[kernel]]"}, {[{1, ~"x"}], "[{1,<<\"x\">>}]"}]]
                ++ [{[stdlib], [], "options must be a map, not []"},
                    {[stdlib], #{limit_ms => x}, "limit_ms must be a number of milliseconds from 1 to 4294967295, not x"},
                    {[stdlib], #{limit_ms => 0}, "limit_ms must be a number of milliseconds from 1 to 4294967295, not 0"},
                    {[stdlib], #{progress => x}, "progress must be a function of two arguments, not x"}]],
    ?assertMatch({error, {bad_targets, [1]}}, mailbox_audit:static([1])),
    Beam = of_forms("f(P) -> receive {P, X} -> X end.\n"),
    ?assertMatch({ok, [_]}, mailbox_audit:module(Beam, #{})),
    [begin
         {error, Why} = mailbox_audit:module(Beam, #{Switch => 1}),
         ?assertEqual(atom_to_list(Switch) ++ " must be true or false, not 1", mailbox_audit:format_error(Why))
     end || Switch <- [search, in_caller]],
    ?assertEqual({error, {bad_option, limit_ms, -1}}, mailbox_audit:module(Beam, #{limit_ms => -1})).

why(Skipped) -> lists:flatten(mailbox_audit_text:why_skipped(Skipped)).

%% A module with that text as its debug_info. It need not be what the compiler would take.
of_forms(Text) ->
    {ok, m, Beam} = compile:forms([{attribute, 1, module, m}], [binary]),
    {ok, m, Chunks} = beam_lib:all_chunks(Beam),
    Forms = [{attribute, 1, module, m}, {attribute, 1, compile, export_all} | parsed(lists:flatten(Text))],
    Dbgi = term_to_binary({debug_info_v1, erl_abstract_code, {Forms, []}}),
    {ok, Made} = beam_lib:build_module([{"Dbgi", Dbgi} | lists:keydelete("Dbgi", 1, Chunks)]),
    Made.

parsed(Text) -> parsed(erl_scan:tokens([], Text, 1), []).

parsed({done, {ok, Tokens, Line}, Rest}, Forms) ->
    {ok, Form} = erl_parse:parse_form(Tokens),
    parsed(erl_scan:tokens([], Rest, Line), [Form | Forms]);
parsed(_, Forms) -> lists:reverse(Forms).

verdict(Body, Config) ->
    [#{verdict := Verdict}] = of_text(["f(X) -> _ = X, ", Body, "."], Config),
    Verdict.

%% The findings in a module of that text.
of_text(Text, Config) -> of_text(Text, [], Config).

of_text(Text, Options, Config) -> of_text(Text, Options, Config, fun() -> ok end).

%% The function is called once it is compiled.
of_text(Text, Options, Config, Compiled) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "text.erl"),
    ok = file:write_file(File, ["-module(text).\n-export([f/1]).\n", Text, "\n"]),
    {ok, text, Beam} = compile:file(File, [debug_info, binary | Options]),
    ok = file:write_file(filename:rootname(File) ++ ".beam", Beam),
    _ = Compiled(),
    {ok, #{findings := Findings}} = mailbox_audit:static([filename:rootname(File) ++ ".beam"]),
    Findings.

findings(Module, Config) ->
    {ok, #{findings := Findings, skipped := []}} = mailbox_audit:static([compiled(Module, Config)]),
    Findings.

of_function(Name, Findings) -> [Finding || #{function := {N, _}} = Finding <- Findings, N =:= Name].

compiled(Module, Config) -> compiled(Module, [debug_info], Config).

compiled(Module, Options, Config) ->
    [Data, Priv] = [proplists:get_value(Key, Config) || Key <- [data_dir, priv_dir]],
    {ok, Module} = compile:file(filename:join(Data, Module), [{outdir, Priv} | Options]),
    filename:join(Priv, atom_to_list(Module) ++ ".beam").
