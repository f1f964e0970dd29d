%% @doc JSON text: of a report, and of any term made of maps, lists, binaries,
%% numbers and atoms. (The module `json' of stdlib is there from OTP 27 on.)
%%
%% All functions are pure.
-module(mailbox_audit_json).

-export([report/1, timed/1, encode/1, text/1]).
-export_type([value/0]).

-type value() :: #{atom() => value()} | [value()] | binary() | number() | atom().

%% @doc A static report. `judged' says whether all that was named was judged, `part' of it or `nothing'.
-spec report(mailbox_audit_static:report()) -> iolist().
report(#{modules := Modules, findings := Findings} = Report) ->
    Reasons = maps:with([skipped, outdated, perhaps_outdated], Report),
    encode((maps:map(fun(_, Some) -> [skipped(One) || One <- Some] end, Reasons))
               #{format => 1, judged => mailbox_audit_static:coverage(Report), modules => Modules,
                 findings => [finding(Finding) || Finding <- Findings]}).

finding(#{module := Module, function := {Name, Arity}, file := File, reason := Reason,
          identity := Identity, reachable_from := From} = Finding) ->
    (maps:with([line, verdict, spawned], Finding))
        #{module => name(Module), function => text(io_lib:format("~ts/~b", [Name, Arity])),
          file => text(File), reason => text(Reason), identity => text(Identity),
          reachable_from => [#{function => text(mailbox_audit_text:mfa(Function)), calls => Calls}
                             || {Function, Calls} <- From]}.

skipped({File, Module, _} = Skipped) ->
    #{file => text(File), module => case Module of none -> null; _ -> name(Module) end,
      reason => text(mailbox_audit_text:why_skipped(Skipped))}.

%% Of a module: one may be called `true' or `null'.
name(Module) -> atom_to_binary(Module, utf8).

%% @doc What was timed. Slopes are in nanoseconds a message.
-spec timed([mailbox_audit_timed:result()]) -> iolist().
timed(Results) -> encode(#{format => 1, calls => [result(Result) || Result <- Results]}).

result(#{name := Name, verdict := Verdict, cause := Cause, reason := Reason, slope := Slope,
         times := Times}) ->
    #{name => text(Name), verdict => Verdict, reason => text(Reason),
      cause => case Verdict of scans -> text(Cause); _ -> null end,
      slope_ns => case Slope of none -> null; _ -> Slope end,
      times => [#{messages => Messages, ns => Time} || {Messages, Time} <- Times]}.

%% @doc Any characters as a UTF-8 binary.
-spec text(unicode:chardata()) -> binary().
text(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Text when is_binary(Text) -> Text
    end.

%% @doc The JSON of a term: a member a line at the top, so that a diff shows what differs.
-spec encode(value()) -> iolist().
encode(Value) -> [value(Value), $\n].

value(Map) when is_map(Map) ->
    Members = [[string(atom_to_binary(Key, utf8)), $:, value(Value)]
               || {Key, Value} <- lists:sort(maps:to_list(Map))],
    [${, lists:join($,, Members), $}];
value(List) when is_list(List) -> [$[, lists:join(",\n", [value(Element) || Element <- List]), $]];
value(Text) when is_binary(Text) -> string(Text);
value(Number) when is_integer(Number) -> integer_to_list(Number);
value(Number) when is_float(Number) -> io_lib:format("~.3f", [Number]);
value(Atom) when Atom =:= true; Atom =:= false; Atom =:= null -> atom_to_list(Atom);
value(Atom) when is_atom(Atom) -> string(atom_to_binary(Atom, utf8)).

string(Text) -> [$", [escape(Char) || Char <- unicode:characters_to_list(Text)], $"].

escape($") -> "\\\"";
escape($\\) -> "\\\\";
escape(Char) when Char < 32; Char =:= 127 -> io_lib:format("\\u~4.16.0b", [Char]);
escape(Char) -> <<Char/utf8>>.
