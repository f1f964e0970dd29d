%% @doc Which receive a process goes through: the stacks that were seen of it, joined with the audit of the very
%% modules that are loaded there.
-module(diagnose_receives).

-include_lib("kernel/include/file.hrl").

-export([scans/3, join/2]).
-export_type([judged/0, cost/0]).

-type judged() :: #{module() => {ok, [mailbox_audit_static:of_module()]} | {error, why()}}.
-type why() :: no_mailbox_audit | other_code | not_readable | too_large | no_debug_info | not_a_beam | string()
             | too_many | out_of_time | out_of_memory.
-type cost() :: #{milliseconds := non_neg_integer(), bytes := non_neg_integer(), carried_bytes := non_neg_integer()}.
%% Of judging, which compiles: bytes of memory, and bytes of code that came from the node.

-define(DEEP, 1000).
-define(MODULES, 10).
%% Of all that is carried.
-define(BEAM_BYTES, 2_000_000).
%% Compiling may take 12 MB where the node itself does it.
-define(OWN_WORDS, 1_500_000).
-define(NOT_PRELOADED, ["Meta", "Attr", "CInf", "Dbgi", "Docs", "Type"]).

%% @doc The receives that processes with deep mailboxes go through, the modules that could not be judged, and what judging
%% cost. The modules of the deepest mailboxes come first; it takes no longer than it may.
-spec scans(node(), [diagnose_types:suspect()], LimitMs :: pos_integer()) -> {[diagnose_types:scan()], [{module(), why()}], cost()}.
scans(Node, Suspects, Limit) ->
    Began = now_ms(),
    {First, Others} = split(modules(Suspects)),
    {Results, {Memory, Carried}} = lists:mapfoldl(fun(Module, Spent) -> limited(Node, Module, Began + Limit, Spent) end, {0, 0}, First),
    Judged = maps:from_list(Results ++ [{Module, {error, too_many}} || Module <- Others]),
    {lists:append([join(Suspect, Judged) || Suspect <- Suspects]), [{Module, Why} || {Module, {error, Why}} <- maps:to_list(Judged)],
     #{milliseconds => now_ms() - Began, bytes => Memory, carried_bytes => Carried}}.

now_ms() -> erlang:monotonic_time(millisecond).

modules(Suspects) ->
    Seen = [{-Depth, Module} || #{least_depth := Depth, samples := Samples} <- Suspects, Depth >= ?DEEP,
                                {_, [{Module, _, _} | _], _} <- Samples],
    lists:uniq([Module || {_, Module} <- lists:sort(Seen)]).

split(Modules) -> lists:split(min(?MODULES, length(Modules)), Modules).

-dialyzer({nowarn_function, limited/4}). % the fun exits with what it found
%% In a process of its own, which ends when its time is over, or before it takes too much of the memory of this node.
limited(Node, Module, Until, {Memory, Carried} = Spent) ->
    Options = [{priority, low} || Node =:= node()]
        ++ [{max_heap_size, #{size => ?OWN_WORDS, kill => true, error_logger => false}} || Node =:= node()],
    {Pid, Monitor} = spawn_opt(fun() -> exit(counted(Node, Module, ?BEAM_BYTES - Carried)) end, [monitor | Options]),
    receive
        {'DOWN', Monitor, process, _, {judged, Result, M, C}} -> {{Module, Result}, {max(Memory, M), Carried + C}};
        {'DOWN', Monitor, process, _, killed} -> {{Module, {error, out_of_memory}}, {max(Memory, 8 * ?OWN_WORDS), Carried}};
        {'DOWN', Monitor, process, _, _} -> {{Module, {error, not_readable}}, Spent}
    after max(0, Until - now_ms()) ->
            exit(Pid, kill),
            true = demonitor(Monitor, [flush]),
            {{Module, {error, out_of_time}}, Spent}
    end.

counted(Node, Module, BytesLeft) ->
    {Result, Carried} = judged(Node, Module, BytesLeft),
    {memory, Memory} = process_info(self(), memory),
    {judged, Result, Memory, Carried}.

judged(Node, Module, BytesLeft) ->
    case code:ensure_loaded(mailbox_audit) of
        {module, _} ->
            try beam(Node, Module, diagnose_node:call(Node, Module, module_info, [md5]), BytesLeft) of
                {{ok, Beam}, Carried} -> {mailbox_audit:module(Beam), Carried};
                {{error, Why}, Carried} -> {{error, Why}, Carried}
            catch
                throw:{diagnose_node, _} -> {{error, not_readable}, 0};
                error:{exception, _, _} -> {{error, not_readable}, 0} % such as code that was purged meanwhile
            end;
        {error, _} -> {{error, no_mailbox_audit}, 0}
    end.

%% The own file where it is the same code, so that nothing is carried.
beam(Node, Module, Md5, BytesLeft) ->
    case local(Module, Md5) of
        {ok, Beam} -> {{ok, Beam}, 0};
        {error, Why} when Node =:= node() -> {{error, Why}, 0};
        {error, _} -> remote(Node, diagnose_node:call(Node, code, which, [Module]), Module, Md5, BytesLeft)
    end.

local(Module, Md5) ->
    case code:which(Module) of
        [_ | _] = File -> same(file:read_file(File), Module, Md5);
        preloaded -> same(file:read_file(preloaded(code:root_dir(), erlang:system_info(version), Module)), Module, Md5);
        _ -> {error, not_readable}
    end.

%% What is a part of the emulator lies among the libraries, too.
preloaded(Root, Version, Module) -> filename:join([Root, "lib", "erts-" ++ Version, "ebin", atom_to_list(Module) ++ ".beam"]).

remote(Node, preloaded, Module, Md5, BytesLeft) ->
    Root = diagnose_node:call(Node, code, root_dir, []),
    File = preloaded(Root, diagnose_node:call(Node, erlang, system_info, [version]), Module),
    remote(Node, File, Module, Md5, BytesLeft);
remote(Node, [_ | _] = File, Module, Md5, BytesLeft) ->
    case diagnose_node:call(Node, file, read_file_info, [File]) of
        {ok, #file_info{size = Size}} when Size > BytesLeft -> {{error, too_large}, 0};
        _ ->
            Read = diagnose_node:call(Node, file, read_file, [File]),
            {same(Read, Module, Md5), erlang:external_size(Read)}
    end;
remote(_Node, _Unknown, _Module, _Md5, _BytesLeft) -> {{error, not_readable}, 0}.

same({ok, Beam}, Module, Md5) ->
    case beam_lib:md5(Beam) of
        {ok, {Module, Md5}} -> {ok, Beam};
        {ok, {Module, _}} -> same_preloaded(beam_lib:md5(as_preloaded(Beam)), {ok, {Module, Md5}}, Beam);
        _ -> {error, other_code}
    end;
same({error, _}, _Module, _Md5) -> {error, not_readable}.

same_preloaded(Same, Same, Beam) -> {ok, Beam};
same_preloaded(_, _, _) -> {error, other_code}.

%% The emulator has its own modules without these chunks, and says the digest of what is left.
as_preloaded(Beam) ->
    {ok, _, Chunks} = beam_lib:all_chunks(Beam),
    {ok, Bare} = beam_lib:build_module([Chunk || {Name, _} = Chunk <- Chunks, not lists:member(Name, ?NOT_PRELOADED)]),
    Bare.

%% @doc The receives that one process goes through, by what was judged. It must be seen in one at half of the looks at
%% least. A function that loops may take each message at once: it goes through all that wait if it waits nevertheless.
-spec join(diagnose_types:suspect(), judged()) -> [diagnose_types:scan()].
join(#{least_depth := Depth, samples := Samples, pid := Pid}, Judged) when Depth >= ?DEEP ->
    Of = lists:sum([Times || {_, _, Times} <- Samples]),
    Hits = [{Receive, Module, Caller, Times}
            || {Status, [{Module, Name, Arity} | Callers], Times} <- Samples,
               Receive <- lists:sublist(receives(Module, source_function(Name, Arity), Judged), 1),
               Status =:= waiting orelse not maps:get(loops, Receive),
               Caller <- [case Callers of [First | _] -> First; [] -> none end]],
    Functions = lists:usort([{Module, Function} || {#{function := Function}, Module, _, _} <- Hits]),
    [Scan || One <- Functions, #{seen := Seen} = Scan <- [scan(Pid, One, Hits, Of)], 2 * Seen >= Of];
join(_Suspect, _Judged) -> [].

%% A stack does not say at which receive of its function a process waits: where one of them does not scan, none is named.
receives(Module, Function, Judged) ->
    case Judged of
        #{Module := {ok, Receives}} ->
            Own = [One || #{function := F} = One <- Receives, F =:= Function],
            [One || lists:all(fun(#{verdict := Verdict}) -> Verdict =:= scans end, Own), One <- Own];
        #{} -> []
    end.

%% The caller is that of most looks.
scan(Pid, {Module, {Name, Arity}}, Hits, Of) ->
    Here = [{Times, Caller, Receive} || {#{function := F} = Receive, M, Caller, Times} <- Hits, {M, F} =:= {Module, {Name, Arity}}],
    {_, Caller, #{file := File, line := Line}} = lists:max(Here),
    #{pid => Pid, function => {Module, Name, Arity}, file => unicode:characters_to_binary(filename:basename(File)), line => Line,
      called_from => Caller, seen => lists:sum([Times || {Times, _, _} <- Here]), looks => Of}.

%% A fun or a comprehension is named after the function around it: -name/1-fun-0-.
source_function(Name, Arity) ->
    case re:run(atom_to_list(Name), "^-(.+)/([0-9]+)-", [{capture, all_but_first, list}, unicode]) of
        {match, [Around, Digits]} -> {list_to_atom(Around), list_to_integer(Digits)};
        nomatch -> {Name, Arity}
    end.
