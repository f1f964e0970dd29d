%% @doc The receives of compiled modules, each with what the compiler says of it.
-module(mailbox_audit_static).

-export([static/2, module/2, newest_compiler/1, worth_a_look/1, coverage/1]).
-export_type([options/0, of_module_options/0, reason/0, finding/0, report/0, skipped/0, coverage/0, of_module/0]).

-type options() :: #{progress => fun((pos_integer(), pos_integer()) -> _), limit_ms => pos_integer()}.
-type of_module_options() :: #{search => boolean(), limit_ms => pos_integer(), in_caller => boolean()}.

-type reason() :: {bad_targets, term()} | mailbox_audit_target:reason() | mailbox_audit_options:problem().

-type finding() :: #{module := module(), function := mailbox_audit_receives:function_name(),
                     file := file:filename(), line := non_neg_integer(),
                     verdict := mailbox_audit_verdict:verdict(), reason := string(),
                     spawned := boolean(), loops := boolean(), nested := boolean(), polls := boolean(),
                     reachable_from := [mailbox_audit_reach:reached()],
                     identity := string()}.
%% file: as the compiler knew it. spawned: it runs in a process that is started
%% for it. loops: it is in a fun that calls itself. nested: it is in a clause of another receive.
%% polls: it does not wait (`after 0'). reachable_from: exported functions, the nearest first, with how many
%% calls away they are. identity: the same as long as patterns and guards are.

-type skipped() :: {file:filename(), module() | none, mailbox_audit_beam:why()}.

-type coverage() :: all | part | nothing.
%% What of the modules was judged.

-type of_module() :: #{function := mailbox_audit_receives:function_name(), file := file:filename(),
                       line := non_neg_integer(), verdict := mailbox_audit_verdict:verdict(), loops := boolean(),
                       nested := boolean(), polls := boolean()}.
%% loops: the function is called again from what it calls, within its module; or a fun around the receive calls itself.
%% nested: the receive is in a clause of another one. polls: it does not wait.

-type report() :: #{modules := non_neg_integer(), findings := [finding()], skipped := [skipped()],
                    outdated := [skipped()], perhaps_outdated := [skipped()]}.
%% modules: how many were judged. outdated: sources that were changed after their modules were compiled, which were judged.
%% perhaps_outdated: those that cannot be compared with their modules, and are newer, or have no header any more.

%% @doc Every receive of the targets with its verdict, first those that scan,
%% and of these first what most exported functions reach. `progress' is told
%% how many modules are done, and of how many. Modules that cannot be judged
%% are in `skipped', also those that take longer than `limit_ms': a minute, where it is not given.
-spec static([mailbox_audit_target:target()], options()) -> {ok, report()} | {error, reason()}.
static(Targets, Options) ->
    case {are_targets(Targets), mailbox_audit_options:problem(Options)} of
        {false, _} -> {error, {bad_targets, Targets}};
        {true, none} -> report_of(all_beams(Targets, []), Options);
        {true, Problem} -> {error, Problem}
    end.

are_targets(Targets) when length(Targets) >= 0 -> lists:all(fun mailbox_audit_target:is_target/1, Targets); % not an improper list
are_targets(_) -> false.

report_of({ok, Beams}, Options) -> {ok, report(Beams, Options)};
report_of({error, Reason}, _Options) -> {error, Reason}.

%% @doc Every receive of one module, given as the bytes of its `.beam' file. A function that loops takes messages
%% time and again, so it may find each at once. With `search' false nothing is added to the code path, also where its debug_info wants
%% what is elsewhere. With `in_caller' true it is judged in the caller's process, without limits.
-spec module(Beam :: binary(), of_module_options()) ->
          {ok, [of_module()]} | {error, mailbox_audit_beam:why() | mailbox_audit_options:problem()}.
module(Bytes, Options) ->
    case mailbox_audit_options:problem(Options) of
        none -> judged_module({"", Bytes}, Options);
        Problem -> {error, Problem}
    end.

judged_module(Beam, Options) ->
    Where = case Options of #{search := false} -> code_path; #{} -> [] end,
    Judge = case Options of
                #{in_caller := true} -> fun(Search) -> judged(Beam, Search) end;
                #{} -> fun(Search) -> judged(Beam, none, Search, limit(Options)) end
            end,
    case mailbox_audit_backend:search(Where, Judge) of
        {ok, Seen} -> {ok, with_loops(Seen)};
        {skipped, {_, _, Why}} -> {error, Why}
    end.

with_loops(#{module := Module, findings := Findings, calls := Calls}) ->
    Graph = mailbox_audit_reach:graph([{Module, [], Calls}]),
    [(maps:with([function, file, line, verdict, nested, polls], Finding))
         #{loops => Loops orelse mailbox_audit_reach:calls_itself({Module, Name, Arity}, Graph)}
     || #{function := {Name, Arity}, loops := Loops} = Finding <- Findings].

%% @doc The release of OTP whose compiler made the newest of the modules; 0 where none says.
-spec newest_compiler([mailbox_audit_target:target()]) -> {ok, non_neg_integer()} | {error, mailbox_audit_target:reason()}.
newest_compiler(Targets) ->
    case all_beams(Targets, []) of
        {ok, Beams} ->
            Heads = [head(Beam, mailbox_audit_limits:ms()) || Beam <- Beams],
            {ok, lists:max([0 | [mailbox_audit_compiler:release(Version) || {ok, #{compiler := [_ | _] = Version}} <- Heads]])};
        {error, Reason} -> {error, Reason}
    end.

all_beams([], Beams) -> {ok, lists:uniq(Beams)};
all_beams([Target | Rest], Beams) ->
    case mailbox_audit_target:beams(Target) of
        {ok, More} -> all_beams(Rest, Beams ++ More);
        {error, Reason} -> {error, Reason}
    end.

report(Beams, Options) ->
    Progress = maps:get(progress, Options, fun(_, _) -> ok end),
    Ms = limit(Options),
    {Once, Unread} = once([{Beam, head(Beam, Ms)} || Beam <- Beams]),
    Results = mailbox_audit_backend:search(
                Beams, fun(Search) ->
                               mailbox_audit_parallel:map(fun({Beam, Module}) -> judged(Beam, Module, Search, Ms) end,
                                                          largest_first(Once), Progress)
                       end),
    Modules = [Seen || {ok, Seen} <- Results],
    Graph = mailbox_audit_reach:graph([{Module, Exports, Calls}
                                       || #{module := Module, exports := Exports, calls := Calls} <- Modules]),
    Findings = [Finding#{reachable_from => reachable_from(Finding, Graph)}
                || #{findings := Findings} <- Modules, Finding <- Findings],
    {Outdated, Others} = lists:partition(fun({_, _, Why}) -> Why =:= outdated end, Unread),
    {Perhaps, NotRead} = lists:partition(fun({_, _, Why}) -> is_tuple(Why) andalso element(1, Why) =:= not_compared end, Others),
    #{modules => length(Modules), findings => lists:sort(fun before/2, Findings),
      skipped => lists:sort(NotRead ++ [Skipped || {skipped, Skipped} <- Results]),
      outdated => lists:sort(Outdated), perhaps_outdated => lists:sort(Perhaps)}.

%% Each module once, and what is not judged: of several files of a module the first, and where others have the same code the one
%% that has most debug_info; what has other code is told of.
once(Heads) ->
    Read = [{Beam, Head} || {Beam, {ok, Head}} <- Heads],
    Modules = maps:groups_from_list(fun({_, #{module := Module}}) -> Module end, Read),
    {Once, Others} = lists:unzip([one_of(maps:get(Module, Modules)) || Module <- lists:uniq([Module || {_, #{module := Module}} <- Read])]),
    {Once, lists:append(Others) ++ [{File, none, Why} || {{File, _}, {error, Why}} <- Heads]}.

one_of([{_, #{module := Module, digest := Digest}} | _] = Files) ->
    {Same, Others} = lists:partition(fun({_, #{digest := Other}}) -> Other =:= Digest end, Files),
    [{_, {Judged, _} = Beam} | _] = lists:keysort(1, [{-Bytes, Beam} || {Beam, #{debug_bytes := Bytes}} <- Same]),
    {{Beam, Module}, [{File, Module, {another_version, Judged}} || {{File, _}, _} <- Others]}.

%% A crafted one must not take more of its reader than of its judge.
head(Beam, Ms) ->
    case mailbox_audit_limits:within(fun() -> mailbox_audit_beam:head(Beam) end, Ms) of
        {ok, Head} -> Head;
        {error, Why} -> {error, Why}
    end.

%% So that no core is left with a large one at the end.
largest_first(Beams) -> [Each || {_, Each} <- lists:sort([{-size_of(Beam), Each} || {Beam, _} = Each <- Beams])].

size_of({File, in_file}) -> filelib:file_size(File);
size_of({_, Bytes}) -> byte_size(Bytes).

limit(Options) -> maps:get(limit_ms, Options, mailbox_audit_limits:ms()).

%% What is crafted must not hold up the judging of others, or take the memory of all. Its name is known, as it is not read again here.
judged({File, _} = Beam, Module, Search, Ms) ->
    case mailbox_audit_limits:within(fun() -> judged(Beam, Search) end, Ms) of
        {ok, Judged} -> Judged;
        {error, Why} -> {skipped, {File, Module, Why}}
    end.

%% What is damaged or crafted must not end the judging of others, whatever it makes fail.
judged({File, _} = Beam, Search) ->
    try mailbox_audit_beam:code(Beam, fun(Backend) -> mailbox_audit_backend:load(Backend, File, Search) end) of
        {ok, Code} -> judged_code(File, Code);
        {error, {Module, Why}} -> {skipped, {File, Module, Why}}
    catch _:_ -> {skipped, {File, none, not_a_beam}}
    end.

%% What is made of forms that no compiler of this release has written may fail.
judged_code(File, #{module := Module} = Code) ->
    try receives(File, Code)
    catch _:_ -> {skipped, {File, Module, not_taken("this abstract code is unknown to it", Code)}}
    end.

%% Only what receives has to be compiled.
receives(File, #{module := Module, forms := Forms} = Code) ->
    case mailbox_audit_limits:shallow(Forms) andalso mailbox_audit_records:filled(Forms) of
        {ok, Filled} -> receives(File, Filled, Code);
        {error, Why} -> {skipped, {File, Module, Why}};
        false -> {skipped, {File, Module, too_deep}}
    end.

receives(File, Forms, #{module := Module, options := Options} = Code) ->
    {Marked, _} = WithLines = mailbox_audit_marks:marked(Forms),
    #{receives := Receives} = Seen = mailbox_audit_receives:of_forms(WithLines, Options),
    case said(Receives, Code#{forms := Marked}) of
        {ok, Said} ->
            {ok, (maps:with([exports, calls], Seen))#{module => Module, findings => findings(Module, Receives, Said)}};
        {error, no_compiler} -> {skipped, {File, Module, no_compiler}};
        {error, Words} -> {skipped, {File, Module, not_taken(Words, Code)}}
    end.

%% A newer release may write code that this one does not know.
not_taken(Words, #{compiler := Version}) ->
    case mailbox_audit_compiler:is_newer(Version) of
        true -> {newer_compiler, Version, erlang:system_info(otp_release)};
        false -> Words
    end.

said([], _Code) -> {ok, []};
said(_, Code) ->
    case mailbox_audit_compiler:is_here() of
        true -> mailbox_audit_compiler:says(Code);
        false -> {error, no_compiler}
    end.

findings(Module, Receives, Said) ->
    [begin
         {Verdict, Reason} = mailbox_audit_verdict:judge(Received, Said),
         (maps:with([function, file, line, spawned, loops, nested], Received))
             #{module => Module, verdict => Verdict, reason => Reason, identity => Identity,
               polls => maps:get(timeout, Received) =:= zero}
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

%% @doc Whether all that was named is judged, as it is now. What was named and holds no module is judged not at all.
-spec coverage(report()) -> coverage().
coverage(#{modules := 0}) -> nothing;
coverage(#{skipped := [], outdated := []}) -> all;
coverage(#{}) -> part.
