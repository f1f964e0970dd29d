%% @doc What was found, in words for a terminal.
%% Names of functions and files may hold anything; what a terminal would obey is not shown.
%%
%% All functions are pure.
-module(mailbox_audit_text).

-export([report/1, report/2, timed/1, mfa/1, place/1, why_skipped/1, summary/1, coverage/1, error/1]).

-define(NEAREST, 3).
-define(SHOWN, 30).

%% @doc A static report: how many receives have which verdict, those that are
%% worth a look, and the modules that could not be judged. Where there are some, the last line says it.
-spec report(mailbox_audit_static:report()) -> iolist().
report(Report) -> report(Report, Report).

%% @doc The same, where of those worth a look only these are shown, as a baseline has the others, which are counted.
-spec report(mailbox_audit_static:report(), Shown :: mailbox_audit_static:report()) -> iolist().
report(#{findings := All, skipped := Skipped, outdated := Outdated, perhaps_outdated := Perhaps} = Report, #{findings := Shown}) ->
    Worth = mailbox_audit_static:worth_a_look(Shown),
    Known = length(mailbox_audit_static:worth_a_look(All)) - length(Worth),
    [summary(Report), [io_lib:format("; ~b in the baseline", [Known]) || Known > 0], $\n,
     [["\n", finding(Finding)] || Finding <- Worth],
     reasons("Not judged", Skipped),
     reasons("Judged as last compiled", Outdated ++ Perhaps),
     [["\n", string:titlecase(lists:flatten(coverage(Report))), ".\n"] || mailbox_audit_static:coverage(Report) =/= all]].

%% @doc How much of what was named was judged: a sentence, but for its first letter and its full stop.
-spec coverage(mailbox_audit_static:report()) -> iolist().
coverage(#{modules := Modules, skipped := Skipped, outdated := Outdated} = Report) ->
    All = Modules + length(Skipped),
    case {mailbox_audit_static:coverage(Report), All} of
        {all, _} -> ["all was judged: ", several(All, "module")];
        {part, _} -> ["only a part was judged: ", part(Skipped, Outdated, ["of ", several(All, "module"), " "])];
        {nothing, 0} -> "nothing was judged: there is no module";
        {nothing, _} -> ["nothing was judged of ", several(All, "module")]
    end.

part(Skipped, [], Of) -> io_lib:format("~b ~s~s not", [length(Skipped), Of, was(Skipped)]);
part([], Outdated, Of) -> io_lib:format("~b ~s~s outdated", [length(Outdated), Of, is(Outdated)]);
part(Skipped, Outdated, Of) -> [part(Skipped, [], Of), ", and ", part([], Outdated, "")].

was([_]) -> "was";
was(_) -> "were".

is([_]) -> "is";
is(_) -> "are".

%% @doc How many receives have which verdict, on one line.
-spec summary(mailbox_audit_static:report()) -> iolist().
summary(#{modules := Modules, findings := Findings, skipped := Skipped, outdated := Outdated, perhaps_outdated := Perhaps}) ->
    Verdicts = [Verdict || #{verdict := Verdict} <- Findings],
    Counts = [{length([V || V <- Verdicts, V =:= Verdict]), Verdict} || Verdict <- mailbox_audit_verdict:all()],
    [io_lib:format("~s in ~s", [several(length(Findings), "receive"), several(Modules, "module")]),
     [io_lib:format(", ~b ~s", [Count, words(Verdict)]) || {Count, Verdict} <- Counts, Count > 0],
     [io_lib:format("; ~s ~s", [several(length(Some), "module"), What])
      || {Some, What} <- [{Skipped, "not judged"}, {Outdated, "outdated"}, {Perhaps, "perhaps outdated"}], Some =/= []]].

several(1, Thing) -> ["1 ", Thing];
several(Count, Thing) -> io_lib:format("~b ~ss", [Count, Thing]).

words(scans) -> "scan";
words(unknown) -> "unknown";
words(marker) -> "begin at a marker";
words(takes_any) -> "take any message";
words(no_clauses) -> "only wait".

finding(#{reason := Reason, verdict := Verdict} = Finding) ->
    [printable([mfa(function(Finding)), " (", place(Finding), ") ", atom_to_list(Verdict), ": ", Reason]), "\n    ",
     printable(reached(Finding)), $\n].

printable(Text) -> [shown_char(Char) || Char <- unicode:characters_to_list(Text)].

shown_char(Char) when Char < 32; Char >= 127, Char < 160 -> $?;
%% They end the line, or change the direction of what follows. (diagnose_wording has the same.)
shown_char(Char) when Char >= 16#2028, Char =< 16#202E; Char >= 16#2066, Char =< 16#2069 -> $?;
shown_char(Char) when Char =:= 16#200E; Char =:= 16#200F; Char =:= 16#61C -> $?;
shown_char(Char) -> Char.

function(#{module := Module, function := {Name, Arity}}) -> {Module, Name, Arity}.

%% @doc The file, without its folder, and the line of a finding.
-spec place(mailbox_audit_static:finding()) -> iolist().
place(#{file := File, line := Line}) -> io_lib:format("~ts:~b", [filename:basename(File), Line]).

reached(#{spawned := true}) -> "in a process that is started for it";
reached(#{reachable_from := []}) -> "no exported function reaches it by calls alone";
reached(#{reachable_from := From}) ->
    ["reached from ", several(length(From), "exported function"), ": ",
     lists:join(", ", [mfa(Function) || {Function, _} <- lists:sublist(From, ?NEAREST)]),
     [", ..." || length(From) > ?NEAREST]].

%% @doc A function as `module:name/arity'.
-spec mfa(mfa()) -> iolist().
mfa({Module, Name, Arity}) -> io_lib:format("~ts:~ts/~b", [Module, Name, Arity]).

reasons(_Title, []) -> [];
reasons(Title, Skipped) -> ["\n", Title, ":\n", [["  ", printable(why_skipped(One)), $\n] || One <- Skipped]].

%% @doc Why a module was not judged, or not as its source is now, and what to do.
-spec why_skipped(mailbox_audit_static:skipped()) -> iolist().
why_skipped({_File, Module, no_debug_info}) ->
    io_lib:format("~ts has no readable debug_info; compile it with +debug_info", [Module]);
why_skipped({_File, Module, other_debug_info}) ->
    io_lib:format("the debug_info of ~ts is that of another module; compile it anew", [Module]);
why_skipped({_File, Module, encrypted}) ->
    io_lib:format("the debug_info of ~ts is encrypted; beam_lib takes the key from .erlang.crypt", [Module]);
why_skipped({_File, Module, {no_backend, Backend, Otp}}) ->
    io_lib:format("~ts, which reads the debug_info of ~ts, is not found, or does not load on OTP ~ts; ~ts",
                  [Backend, Module, Otp, provided(Backend)]);
why_skipped({_File, Module, {backend_fails, Backend}}) ->
    io_lib:format("~ts does not understand the debug_info of ~ts, which another version of it may have written", [Backend, Module]);
why_skipped({File, Module, {another_version, Judged}}) ->
    io_lib:format("~ts has other code of ~ts than ~ts, which was judged", [File, Module, Judged]);
why_skipped({_File, Module, {newer_compiler, Version, Otp}}) ->
    Release = mailbox_audit_compiler:release(Version),
    io_lib:format("~ts was compiled by OTP ~b, whose code the compiler of OTP ~ts does not understand; audit it on that release"
                  " (./ertslab audit --otp ~b)", [Module, Release, Otp, Release]);
why_skipped({File, _, no_file}) -> io_lib:format("the node has no readable file of ~ts", [File]);
why_skipped({File, _, other_code}) -> io_lib:format("the node has loaded other code than ~ts", [File]);
why_skipped({File, _, not_a_beam}) -> io_lib:format("~ts is not a .beam file, or is incomplete", [File]);
why_skipped({File, _, no_archive}) -> io_lib:format("~ts is not an archive that can be read", [File]);
why_skipped({File, _, inner_archive}) -> io_lib:format("~ts is an archive in an archive; name it once it is unpacked", [File]);
why_skipped({File, _, not_built}) ->
    io_lib:format("the project's application ~ts is not built; run 'rebar3 compile' or 'mix compile' first", [File]);
why_skipped({File, _, not_compiled}) ->
    io_lib:format("the project's source ~ts is not compiled; run 'rebar3 compile' or 'mix compile' first", [File]);
why_skipped({File, _, outdated}) ->
    io_lib:format("the source ~ts, or a header of it, is not what its module was compiled from; compile it first", [File]);
why_skipped({File, _, {not_compared, Words}}) ->
    io_lib:format("the source ~ts, or a header of it, may not be what its module was compiled from: ~ts; compile it to be sure",
                  [File, Words]);
why_skipped({_File, Module, too_many_defaults}) ->
    io_lib:format("the defaults of the records of ~ts expand to 20,000 nodes of code or more", [Module]);
why_skipped({_File, Module, too_deep}) -> io_lib:format("the code of ~ts is nested more than 2,000 times", [Module]);
why_skipped({File, Module, takes_too_long}) -> io_lib:format("judging ~ts takes longer than its limit", [named(File, Module)]);
why_skipped({File, Module, takes_too_much_memory}) -> io_lib:format("judging ~ts takes more memory than its limit", [named(File, Module)]);
why_skipped({File, _, too_long_unpacked}) ->
    io_lib:format("~ts unpacks to more than 128 MiB, or its archive to more than 512 MiB, which no module needs", [File]);
why_skipped({File, none, too_many_atoms}) ->
    io_lib:format("~ts has a name that is a new atom, for which this node has no room; give it more (erl +t)", [File]);
why_skipped({_File, Module, too_many_atoms}) ->
    io_lib:format("the debug_info of ~ts has more new atoms than this node has room for; give it more (erl +t)", [Module]);
why_skipped({_File, Module, no_compiler}) ->
    io_lib:format("~ts was not judged, because this Erlang has no compiler; use a complete installation of OTP", [Module]);
why_skipped({File, _, Reason}) when is_atom(Reason) -> cannot_read(File, Reason);
why_skipped({_File, Module, Words}) -> io_lib:format("the compiler refuses ~ts: ~ts", [Module, Words]).

named(File, none) -> File;
named(_File, Module) -> atom_to_list(Module).

cannot_read(File, special_file) -> io_lib:format("cannot read ~ts: it is a pipe, a device or a socket", [File]);
cannot_read(File, Reason) -> io_lib:format("cannot read ~ts: ~ts", [File, file:format_error(Reason)]).

provided(elixir_erl) -> "put Elixir on the PATH, or audit the release with its Elixir";
provided(_) -> "put it beside the module, or its application beside that of the module".

%% @doc What was timed, first what scans. Slopes are in nanoseconds a message,
%% times in microseconds a call.
-spec timed([mailbox_audit_timed:result()]) -> iolist().
timed(Results) ->
    Lines = [["call", "verdict", "ns a message", "95 % interval", "us by messages waiting"]
             | [line(Result) || Result <- lists:sort(fun steeper/2, Results)]],
    [columns(Lines), $\n, count(Results), $\n,
     [["\n", printable(Name), $\n, "    ", printable(Cause), $\n]
      || #{name := Name, verdict := scans, cause := Cause} <- Results, Cause =/= ""]].

steeper(One, Other) -> steepness(One) >= steepness(Other).

steepness(#{verdict := scans, slope := #{estimate := Slope}}) -> {2, Slope};
steepness(#{verdict := flat}) -> {0, 0};
steepness(#{}) -> {1, 0}.

line(#{name := Name, verdict := Verdict, slope := none, reason := Reason}) ->
    [printable(Name), atom_to_list(Verdict), "", "", printable(Reason)];
line(#{name := Name, verdict := Verdict, slope := #{estimate := Slope, low := Low, high := High},
       times := Times}) ->
    [printable(Name), atom_to_list(Verdict), io_lib:format("~.2f", [Slope]), io_lib:format("~.2f to ~.2f", [Low, High]),
     lists:join("  ", [io_lib:format("~b: ~.1f", [Depth, Time / 1000]) || {Depth, Time} <- Times])].

count(Results) ->
    Counts = [{length([R || #{verdict := V} = R <- Results, V =:= Verdict]), Verdict}
              || Verdict <- [scans, flat, unsure, crashed, timed_out]],
    [several(length(Results), "call"), ": ",
     lists:join(", ", [io_lib:format("~b ~ts", [Count, Verdict]) || {Count, Verdict} <- Counts, Count > 0])].

columns(Lines) ->
    Widths = [lists:max([string:length(Cell) || Cell <- Column]) || Column <- transposed(Lines)],
    [[string:trim([[string:pad(Cell, Width), "  "] || {Cell, Width} <- lists:zip(Line, Widths)], trailing), $\n]
     || Line <- Lines].

transposed([[] | _]) -> [];
transposed(Lines) -> [[hd(Line) || Line <- Lines] | transposed([tl(Line) || Line <- Lines])].

%% @doc An error as one sentence.
-spec error(mailbox_audit_static:reason() | mailbox_audit_beam:why() | {bad_calls, term()} | {not_in_catalogue, [string()]}
            | mailbox_audit_timed:problem()) -> string().
error(Reason) -> printable(sentence(Reason)).

sentence({unknown, Target}) ->
    io_lib:format("there is no application, file or folder '~ts'; name one, such as kernel or _build/default/lib",
                  [shown(Target)]);
sentence({not_built, Dir}) ->
    io_lib:format("nothing is built in the project ~ts; run 'rebar3 compile' or 'mix compile' there first", [shown(Dir)]);
sentence({nothing_in, Dir}) ->
    io_lib:format("there are no .beam files in ~ts, its ebin, */ebin, lib/*/ebin, checkouts, plugins or deps; a .erl or .ex file can be"
                  " named, too", [shown(Dir)]);
sentence({refused, Path, Words}) -> io_lib:format("~ts does not compile: ~ts", [shown(Path), Words]);
sentence({not_in_catalogue, Texts}) ->
    io_lib:format("no call of the catalogue has ~ts in its name; without a name, all calls are timed",
                  [lists:join(" or ", [[$', Text, $'] || Text <- Texts])]);
sentence({bad_targets, Targets}) ->
    io_lib:format("targets must be a list of applications, files, folders or {Name, Bytes}, not ~0tP", [Targets, ?SHOWN]);
sentence({bad_calls, Asked}) ->
    io_lib:format("what to time must be {calls, [{Module, Function, Arguments}]} or {catalogue, [Text]}, not ~0tP", [Asked, ?SHOWN]);
sentence({bad_options, Options}) -> io_lib:format("options must be a map, not ~0tP", [Options, ?SHOWN]);
sentence({bad_option, Name, Value}) -> io_lib:format("~ts must be ~s, not ~0tP", [Name, must_be(Name), Value, ?SHOWN]);
sentence({bad_depths, Depths}) ->
    io_lib:format("depths must be a list of two or more different numbers of messages, not ~W", [Depths, 12]);
sentence({not_a_beam, Path}) ->
    io_lib:format("~ts is not a .beam file, nor an archive, an escript or a source file; name one, or a folder or an application",
                  [shown(Path)]);
sentence({unreadable, Path, Reason}) -> cannot_read(shown(Path), Reason);
sentence(too_many_atoms) ->
    "the module has more new atoms in its name or its debug_info than this node has room for; give it more (erl +t)";
%% Why a module is not judged of which only the bytes are known.
sentence(Why) -> why_skipped({"the module", 'the module', Why}).

must_be(progress) -> "a function of two arguments";
must_be(Switch) when Switch =:= search; Switch =:= in_caller -> "true or false";
must_be(_Ms) -> "a number of milliseconds from 1 to 4294967295".

shown(Path) -> mailbox_audit_files:shown(Path).
