%% @doc The verdict on a receive, from its clauses and from what the compiler said.
%%
%% All functions are pure.
-module(mailbox_audit_verdict).

-export([judge/2, all/0, harmless/1]).
-export_type([verdict/0]).

%% scans: looks at every message that waits before the one it takes, or at all
%% where none fits. marker: begins at the messages that came after its
%% reference was made. takes_any: takes the first message whatever it is.
%% no_clauses: waits for time to pass, and looks at no message. unknown: the
%% compiler said nothing, as where the code can never run.
-type verdict() :: scans | marker | takes_any | no_clauses | unknown.

%% @doc The verdicts, the most important ones first.
-spec all() -> [verdict()].
all() -> [scans, unknown, marker, takes_any, no_clauses].

%% @doc Whether nobody has to look at such a receive.
-spec harmless(verdict()) -> boolean().
harmless(Verdict) -> not lists:member(Verdict, [scans, unknown]).

%% @doc The verdict with its reason in words. What was said of several copies of a receive counts, and the worst of it decides.
-spec judge(mailbox_audit_receives:received(), [mailbox_audit_compiler:said()]) -> {verdict(), string()}.
judge(#{clauses := []}, _Said) -> {no_clauses, "has no clauses, and looks at no message"};
judge(#{clauses := Clauses, mark := Mark} = Received, Said) ->
    case [Clause || #{takes_any := true} = Clause <- Clauses] of
        [#{line := Any} | _] ->
            {takes_any, format("takes the first message, by the clause of line ~b at the latest", [Any])};
        [] ->
            decided(Received, [{What, Words} || {Of, What, Words} <- Said, Of =:= Mark])
    end.

decided(_, []) ->
    {unknown, "the compiler does not report it: the code can never run,"
              " the module is compiled with no_recv_opt, no_module_opt or beam_debug_info,"
              " or a function of the module returns the reference"};
decided(Received, Said) ->
    case {proplists:is_defined(scans, Said), lists:keyfind(marker, 1, Said)} of
        {true, Marked} -> {scans, why(Received, Marked)};
        {false, {marker, Words}} -> {marker, Words};
        {false, false} -> {takes_any, "takes the first message, as the compiler reports"}
    end.

%% Inlined, one copy of a receive can have a marker where another has none.
why(_, {marker, Words}) -> "in some inlined copies only, " ++ Words;
why(#{clauses := Clauses} = Received, false) ->
    Free = [Clause || #{pins := []} = Clause <- Clauses],
    every_time(Received) ++
        case {Free, common(Clauses)} of
            {[], [_ | _] = Common} ->
                format("all clauses match ~ts, but the compiler sees no fresh reference in it",
                       [lists:join(" and ", [mailbox_audit_receives:in_source(Name) || Name <- Common])]);
            {[], []} -> "no variable is matched by all its clauses";
            {_, _} when length(Free) =:= length(Clauses) -> format("its clauses match by ~s alone", [looks(Free)]);
            {[#{line := Line} = First | _], _} -> format("the clause of line ~b matches by ~s alone", [Line, looks([First])])
        end.

%% A guard that has a variable unlike something else matches nothing by it.
looks(Clauses) ->
    case [Clause || #{guarded := true} = Clause <- Clauses] of
        [] -> "pattern";
        _ -> "pattern and guard"
    end.

every_time(#{timeout := zero}) -> "looks at all messages whenever none fits (after 0); ";
every_time(#{}) -> "".

common([#{pins := First} | Rest]) ->
    [Name || Name <- First, lists:all(fun(#{pins := Pins}) -> lists:member(Name, Pins) end, Rest)].

format(Format, Args) -> lists:flatten(io_lib:format(Format, Args)).
