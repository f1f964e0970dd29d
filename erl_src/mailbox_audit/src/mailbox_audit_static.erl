%% @doc The receives of compiled modules, each with what the compiler says of it.
-module(mailbox_audit_static).

-export([static/2, module/1, worth_a_look/1]).
-export_type([finding/0, report/0, skipped/0, of_module/0]).

-type finding() :: #{module := module(), function := mailbox_audit_receives:function_name(),
                     file := file:filename(), line := non_neg_integer(),
                     verdict := mailbox_audit_verdict:verdict(), reason := string(),
                     spawned := boolean(), reachable_from := [mailbox_audit_reach:reached()],
                     identity := string()}.
%% file: as the compiler knew it. spawned: it runs in a process that is started
%% for it. reachable_from: exported functions, the nearest first, with how many
%% calls away they are. identity: the same as long as patterns and guards are.

-type skipped() :: {file:filename(), module() | none, no_debug_info | not_a_beam | file:posix() | string()}.

-type of_module() :: #{function := mailbox_audit_receives:function_name(), file := file:filename(),
                       line := non_neg_integer(), verdict := mailbox_audit_verdict:verdict(), loops := boolean()}.
%% loops: the function is called again from what it calls, within its module.

-type report() :: #{modules := non_neg_integer(), findings := [finding()], skipped := [skipped()]}.

%% @doc Every receive of the targets with its verdict, first those that scan,
%% and of these first what most exported functions reach. `progress' is told
%% how many modules are done, and of how many. Modules that cannot be judged
%% are in `skipped'.
-spec static([mailbox_audit_target:target()], #{progress => fun((pos_integer(), pos_integer()) -> _)}) ->
          {ok, report()} | {error, mailbox_audit_target:reason()}.
static(Targets, Options) ->
    case all_beams(Targets, []) of
        {ok, Beams} -> {ok, report(largest_first(Beams), Options)};
        {error, Reason} -> {error, Reason}
    end.

%% @doc Every receive of one module, given as the bytes of its `.beam' file. A function that loops takes messages
%% time and again, so it may find each at once.
-spec module(Beam :: binary()) -> {ok, [of_module()]} | {error, no_debug_info | not_a_beam | string()}.
module(Beam) ->
    case mailbox_audit_beam:of_binary("", Beam) of
        {ok, #{module := Module} = Code} -> with_loops(Module, judged("", Code));
        {error, {no_debug_info, _}} -> {error, no_debug_info};
        {error, not_a_beam} -> {error, not_a_beam}
    end.

with_loops(Module, {ok, #{findings := Findings, calls := Calls}}) ->
    Graph = mailbox_audit_reach:graph([{Module, [], Calls}]),
    {ok, [(maps:with([function, file, line, verdict], Finding))
              #{loops => mailbox_audit_reach:calls_itself({Module, Name, Arity}, Graph)}
          || #{function := {Name, Arity}} = Finding <- Findings]};
with_loops(_Module, {skipped, {_, _, Why}}) -> {error, Why}.

all_beams([], Beams) -> {ok, lists:uniq(fun filename:basename/1, Beams)};
all_beams([Target | Rest], Beams) ->
    case mailbox_audit_target:beams(Target) of
        {ok, More} -> all_beams(Rest, Beams ++ More);
        {error, Reason} -> {error, Reason}
    end.

%% So that no core is left with a large one at the end.
largest_first(Beams) ->
    [Beam || {_, Beam} <- lists:sort([{-filelib:file_size(Beam), Beam} || Beam <- Beams])].

report(Beams, Options) ->
    Progress = maps:get(progress, Options, fun(_, _) -> ok end),
    Results = mailbox_audit_parallel:map(fun of_file/1, Beams, Progress),
    Modules = [Seen || {ok, Seen} <- Results],
    Graph = mailbox_audit_reach:graph([{Module, Exports, Calls}
                                       || #{module := Module, exports := Exports, calls := Calls} <- Modules]),
    Findings = [Finding#{reachable_from => reachable_from(Finding, Graph)}
                || #{findings := Findings} <- Modules, Finding <- Findings],
    #{modules => length(Modules), findings => lists:sort(fun before/2, Findings),
      skipped => lists:sort([Skipped || {skipped, Skipped} <- Results])}.

of_file(Beam) ->
    case mailbox_audit_beam:read(Beam) of
        {ok, Code} -> judged(Beam, Code);
        {error, {no_debug_info, Module}} -> {skipped, {Beam, Module, no_debug_info}};
        {error, Reason} -> {skipped, {Beam, none, Reason}}
    end.

%% Only what receives has to be compiled.
judged(Beam, #{module := Module, forms := Forms} = Code) ->
    #{receives := Receives} = Seen = mailbox_audit_receives:of_forms(Forms),
    case said(Receives, Code) of
        {ok, Said} ->
            {ok, #{module => Module, exports => exports(Seen), calls => maps:get(calls, Seen),
                   findings => findings(Module, Receives, Said)}};
        {error, Why} -> {skipped, {Beam, Module, Why}}
    end.

said([], _Code) -> {ok, []};
said(_, Code) -> mailbox_audit_compiler:says(Code).

exports(#{exports := all, calls := Calls}) -> lists:usort([Caller || {Caller, _} <- Calls]);
exports(#{exports := Exports}) -> Exports.

findings(Module, Receives, Said) ->
    [begin
         {Verdict, Reason} = mailbox_audit_verdict:judge(Received, Said),
         (maps:with([function, file, line, spawned], Received))
             #{module => Module, verdict => Verdict, reason => Reason, identity => Identity}
     end || {Received, Identity} <- lists:zip(Receives, identities(Module, Receives))].

%% Receives alike in one function are told apart by their order.
identities(Module, Receives) ->
    {Identities, _} = lists:mapfoldl(fun(Received, Counts) -> identity(Module, Received, Counts) end,
                                     #{}, Receives),
    Identities.

identity(Module, #{function := {Name, Arity}, shape := Shape}, Counts) ->
    Key = {Name, Arity, Shape},
    Nth = maps:get(Key, Counts, 0) + 1,
    Text = io_lib:format("~ts:~ts/~b ~.16b.~b", [Module, Name, Arity, Shape, Nth]),
    {lists:flatten(Text), Counts#{Key => Nth}}.

%% What runs in a process started for it does not look through its caller's mailbox.
reachable_from(#{spawned := true}, _Graph) -> [];
reachable_from(#{module := Module, function := {Name, Arity}}, Graph) ->
    mailbox_audit_reach:exported_callers({Module, Name, Arity}, Graph).

before(One, Other) -> rank(One) =< rank(Other).

rank(#{verdict := Verdict, reachable_from := From, module := Module, line := Line}) ->
    {place(Verdict, mailbox_audit_verdict:all()), -length(From), Module, Line}.

place(Verdict, [Verdict | _]) -> 1;
place(Verdict, [_ | Rest]) -> 1 + place(Verdict, Rest).

%% @doc Those findings that are not harmless.
-spec worth_a_look([finding()]) -> [finding()].
worth_a_look(Findings) ->
    [Finding || #{verdict := Verdict} = Finding <- Findings, not mailbox_audit_verdict:harmless(Verdict)].
