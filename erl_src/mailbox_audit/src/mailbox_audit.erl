%% @doc Finds what looks through a whole mailbox: the receives of compiled
%% modules, by what the compiler says of them, and calls, by how long they take
%% with messages waiting.
%%
%% A receive that waits for a reply without a reference that was made just
%% before looks at every message that waits, each time. In a process with a
%% million of them that takes milliseconds in place of a microsecond.
-module(mailbox_audit).

-export([static/1, static/2, worth_a_look/1, timed/2, format_error/1]).
-export([init/1]).
-export_type([finding/0, report/0, skipped/0]).

-type finding() :: #{module := module(), function := mailbox_audit_receives:function_name(),
                     file := file:filename(), line := non_neg_integer(),
                     verdict := mailbox_audit_verdict:verdict(), reason := string(),
                     spawned := boolean(), reachable_from := [mailbox_audit_reach:reached()],
                     identity := string()}.
%% file: as the compiler knew it. spawned: it runs in a process that is started
%% for it. reachable_from: exported functions, the nearest first, with how many
%% calls away they are. identity: the same as long as patterns and guards are.

-type skipped() :: {file:filename(), module() | none, no_debug_info | not_a_beam | file:posix() | string()}.

-type report() :: #{modules := non_neg_integer(), findings := [finding()], skipped := [skipped()]}.

%% @equiv static(Targets, #{})
-spec static([mailbox_audit_target:target()]) -> {ok, report()} | {error, mailbox_audit_target:reason()}.
static(Targets) -> static(Targets, #{}).

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
    Results = mailbox_audit_parallel:map(fun module/1, Beams, Progress),
    Modules = [Seen || {ok, Seen} <- Results],
    Graph = mailbox_audit_reach:graph([{Module, Exports, Calls}
                                       || #{module := Module, exports := Exports, calls := Calls} <- Modules]),
    Findings = [Finding#{reachable_from => reachable_from(Finding, Graph)}
                || #{findings := Findings} <- Modules, Finding <- Findings],
    #{modules => length(Modules), findings => lists:sort(fun before/2, Findings),
      skipped => lists:sort([Skipped || {skipped, Skipped} <- Results])}.

module(Beam) ->
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

%% @doc Times calls with 0, 10 thousand and 100 thousand messages waiting: those
%% given, or those of the catalogue whose names hold one of the texts (no text:
%% all of it).
-spec timed({calls, [mailbox_audit_call:call()]} | {catalogue, [string()]}, mailbox_audit_timed:options()) ->
          {ok, [mailbox_audit_timed:result()]} | {error, {not_in_catalogue, [string()]}}.
timed({calls, Calls}, Options) ->
    {ok, mailbox_audit_timed:run([mailbox_audit_call:entry(Call) || Call <- Calls], Options)};
timed({catalogue, Texts}, Options) ->
    case [Entry || #{name := Name} = Entry <- mailbox_audit_catalogue:entries(), holds_one(Name, Texts)] of
        [] -> {error, {not_in_catalogue, Texts}};
        Entries -> {ok, mailbox_audit_timed:run(Entries, Options)}
    end.

holds_one(_Name, []) -> true;
holds_one(Name, Texts) -> lists:any(fun(Text) -> string:find(Name, Text) =/= nomatch end, Texts).

%% @doc Where rebar3 begins with a plugin.
-spec init(State) -> {ok, State} when State :: term().
init(State) -> mailbox_audit_prv:init(State).

%% @doc An error as one sentence.
-spec format_error(mailbox_audit_target:reason() | {not_in_catalogue, [string()]}) -> string().
format_error(Reason) -> lists:flatten(sentence(Reason)).

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
