%% @doc What was found, in words for a terminal.
%%
%% All functions are pure.
-module(mailbox_audit_text).

-export([report/1, timed/1, mfa/1, place/1, why_skipped/1, summary/1, error/1]).

-define(NEAREST, 3).

%% @doc A static report: how many receives have which verdict, those that are
%% worth a look, and the modules that could not be judged.
-spec report(mailbox_audit_static:report()) -> iolist().
report(#{findings := Findings, skipped := Skipped} = Report) ->
    [summary(Report), $\n,
     [["\n", finding(Finding)] || Finding <- mailbox_audit_static:worth_a_look(Findings)],
     skipped(Skipped)].

%% @doc How many receives have which verdict, on one line.
-spec summary(mailbox_audit_static:report()) -> iolist().
summary(#{modules := Modules, findings := Findings, skipped := Skipped}) ->
    Verdicts = [Verdict || #{verdict := Verdict} <- Findings],
    Counts = [{length([V || V <- Verdicts, V =:= Verdict]), Verdict} || Verdict <- mailbox_audit_verdict:all()],
    [io_lib:format("~s in ~s", [several(length(Findings), "receive"), several(Modules, "module")]),
     [io_lib:format(", ~b ~s", [Count, words(Verdict)]) || {Count, Verdict} <- Counts, Count > 0],
     [io_lib:format("; ~s not judged", [several(length(Skipped), "module")]) || Skipped =/= []]].

several(1, Thing) -> ["1 ", Thing];
several(Count, Thing) -> io_lib:format("~b ~ss", [Count, Thing]).

words(scans) -> "scan";
words(unknown) -> "unknown";
words(marker) -> "begin at a marker";
words(takes_any) -> "take any message";
words(no_clauses) -> "only wait".

finding(#{reason := Reason, verdict := Verdict} = Finding) ->
    [mfa(function(Finding)), " (", place(Finding), ") ", atom_to_list(Verdict), ": ", Reason, "\n    ",
     reached(Finding), $\n].

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

skipped([]) -> [];
skipped(Skipped) -> ["\nNot judged:\n", [["  ", why_skipped(One), $\n] || One <- Skipped]].

%% @doc Why a module was not judged, and what to do.
-spec why_skipped(mailbox_audit_static:skipped()) -> iolist().
why_skipped({_File, Module, no_debug_info}) ->
    io_lib:format("~ts has no readable debug_info; compile it with +debug_info", [Module]);
why_skipped({File, _, not_a_beam}) -> io_lib:format("~ts is not a .beam file", [File]);
why_skipped({File, none, Reason}) -> io_lib:format("cannot read ~ts: ~ts", [File, file:format_error(Reason)]);
why_skipped({_File, Module, Words}) -> io_lib:format("the compiler refuses ~ts: ~ts", [Module, Words]).

%% @doc What was timed, first what scans. Slopes are in nanoseconds a message,
%% times in microseconds a call.
-spec timed([mailbox_audit_timed:result()]) -> iolist().
timed(Results) ->
    Lines = [["call", "verdict", "ns a message", "95 % interval", "us by messages waiting"]
             | [line(Result) || Result <- lists:sort(fun steeper/2, Results)]],
    [columns(Lines), $\n, count(Results), $\n,
     [["\n", Name, $\n, "    ", Cause, $\n]
      || #{name := Name, verdict := scans, cause := Cause} <- Results, Cause =/= ""]].

steeper(One, Other) -> steepness(One) >= steepness(Other).

steepness(#{verdict := scans, slope := #{estimate := Slope}}) -> {2, Slope};
steepness(#{verdict := flat}) -> {0, 0};
steepness(#{}) -> {1, 0}.

line(#{name := Name, verdict := Verdict, slope := none, reason := Reason}) ->
    [Name, atom_to_list(Verdict), "", "", Reason];
line(#{name := Name, verdict := Verdict, slope := #{estimate := Slope, low := Low, high := High},
       times := Times}) ->
    [Name, atom_to_list(Verdict), io_lib:format("~.2f", [Slope]), io_lib:format("~.2f to ~.2f", [Low, High]),
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
-spec error(mailbox_audit_target:reason() | {not_in_catalogue, [string()]}) -> string().
error(Reason) -> lists:flatten(sentence(Reason)).

sentence({unknown, Target}) ->
    io_lib:format("there is no application, file or folder '~ts'; name one, such as kernel or _build/default/lib",
                  [Target]);
sentence({not_built, Dir}) ->
    io_lib:format("nothing is built in the project ~ts; run 'rebar3 compile' there first", [Dir]);
sentence({nothing_in, Dir}) ->
    io_lib:format("there are no .beam files in ~ts, its ebin, */ebin or lib/*/ebin", [Dir]);
sentence({not_in_catalogue, Texts}) ->
    io_lib:format("no call of the catalogue has ~ts in its name; without a name all of it is timed",
                  [lists:join(" or ", [[$', Text, $'] || Text <- Texts])]);
sentence({not_a_beam, Path}) ->
    io_lib:format("~ts is not a .beam file; name one, or a folder or an application", [Path]);
sentence({unreadable, Path, Reason}) ->
    io_lib:format("cannot read ~ts: ~ts", [Path, file:format_error(Reason)]).
