%% @doc Which receive a process goes through: the stacks that were seen of it, joined with the audit of the very
%% modules that are loaded there.
-module(diagnose_receives).

-export([scans/3, join/2, undecided/2]).
-export_type([judged/0, cost/0]).

-type judged() :: #{module() => {ok, [mailbox_audit_static:of_module()]} | {error, why()}}.
-type why() :: no_mailbox_audit | diagnose_code:why() | mailbox_audit_beam:why() | too_many | out_of_time | out_of_memory
             | {undecided, mailbox_audit_receives:function_name(), File :: binary(), Line :: non_neg_integer()}.
%% undecided: its module was judged, but of this receive the compiler does not say whether it scans.
-type cost() :: #{milliseconds := non_neg_integer(), bytes := non_neg_integer(), carried_bytes := non_neg_integer()}.
%% Of judging, which compiles: bytes of memory, and bytes of code that came from the node.

-include("diagnose_bounds.hrl").

-define(OFTEN, 10).
-define(MODULES, 10).
%% Of all that is carried.
-define(BEAM_BYTES, 2_000_000).
%% Compiling may take 12 MB where the node itself does it.
-define(OWN_WORDS, 1_500_000).
%% And 2 GB where another does it. The process that is limited judges itself, as its memory is told.
-define(OTHER_WORDS, 256_000_000).

%% @doc The receives that processes with deep mailboxes go through, the modules or receives that could not be judged, and what
%% judging cost. The modules of the deepest mailboxes come first; it takes no longer than it may.
-spec scans(node(), [diagnose_types:suspect()], LimitMs :: pos_integer()) -> {[diagnose_types:scan()], [{module(), why()}], cost()}.
scans(Node, Suspects, Limit) ->
    Began = now_ms(),
    {First, Others} = split(modules(Suspects)),
    {Results, {Memory, Carried}} = lists:mapfoldl(fun(Module, Spent) -> limited(Node, Module, Began + Limit, Spent) end, {0, 0}, First),
    Judged = maps:from_list(Results ++ [{Module, {error, too_many}} || Module <- Others]),
    {lists:append([join(Suspect, Judged) || Suspect <- Suspects]), [{Module, Why} || {Module, {error, Why}} <- maps:to_list(Judged)]
         ++ lists:usort(lists:append([undecided(Suspect, Judged) || Suspect <- Suspects])),
     #{milliseconds => now_ms() - Began, bytes => Memory, carried_bytes => Carried}}.

now_ms() -> erlang:monotonic_time(millisecond).

%% The code of erlang is that of the VM, not of its file; and its functions in which processes are seen are native.
modules(Suspects) ->
    Seen = [{-Depth, Module} || #{usual_depth := Depth, samples := Samples} <- Suspects, Depth >= ?DEEP,
                                {_, [{Module, _, _} | _], _} <- Samples, Module =/= erlang],
    lists:uniq([Module || {_, Module} <- lists:sort(Seen)]).

split(Modules) -> lists:split(min(?MODULES, length(Modules)), Modules).

-dialyzer({nowarn_function, limited/4}). % the fun exits with what it found
%% In a process of its own, which ends when its time is over, or before it takes too much of the memory of this node.
limited(Node, Module, Until, {Memory, Carried} = Spent) ->
    Options = [{priority, low} || Node =:= node()]
        ++ [{max_heap_size, #{size => words(Node), kill => true, error_logger => false}}],
    {Pid, Monitor} = spawn_opt(fun() -> exit(counted(Node, Module, ?BEAM_BYTES - Carried)) end, [monitor | Options]),
    receive
        {'DOWN', Monitor, process, _, {judged, Result, M, C}} -> {{Module, Result}, {max(Memory, M), Carried + C}};
        {'DOWN', Monitor, process, _, killed} -> {{Module, {error, too_much(Node)}}, {max(Memory, 8 * words(Node)), Carried}};
        {'DOWN', Monitor, process, _, _} -> {{Module, {error, not_readable}}, Spent}
    after max(0, Until - now_ms()) ->
            exit(Pid, kill),
            true = demonitor(Monitor, [flush]),
            {{Module, {error, out_of_time}}, Spent}
    end.

words(Node) when Node =:= node() -> ?OWN_WORDS;
words(_) -> min(?OTHER_WORDS, (1 bsl (8 * erlang:system_info(wordsize) - 5)) - 1). % no more than fits in a word

too_much(Node) when Node =:= node() -> out_of_memory;
too_much(_) -> takes_too_much_memory.

counted(Node, Module, BytesLeft) ->
    {Result, Carried} = judged(Node, Module, BytesLeft),
    {memory, Memory} = process_info(self(), memory),
    {judged, Result, Memory, Carried}.

judged(Node, Module, BytesLeft) ->
    case code:ensure_loaded(mailbox_audit) of
        {module, _} ->
            case diagnose_code:of_node(Node, Module, BytesLeft) of
                {{ok, Beam}, Carried} ->
                    %% What reading left would count, too. For a module of 340 lines a limit of 1.7 million words was needed then, and
                    %% 0.9 million without it.
                    true = erlang:garbage_collect(),
                    {by_audit(Node, Beam), Carried};
                {{error, Why}, Carried} -> {{error, Why}, Carried}
            end;
        {error, _} -> {{error, no_mailbox_audit}, 0}
    end.

%% A node that looks at itself stays as it is.
by_audit(Node, Beam) ->
    case mailbox_audit:module(Beam, #{search => Node =/= node(), in_caller => true}) of
        {error, {newer_compiler, _, _}} = TooNew when Node =/= node() -> by_its_own(diagnose_newer:module(Node, Beam), TooNew);
        Judged -> Judged
    end.

by_its_own(error, TooNew) -> TooNew;
by_its_own(Judged, _TooNew) -> Judged.

%% @doc The receives that one process goes through, by what was judged. It must be seen in one at a tenth of the looks at
%% least: each time costs it a look at all that wait. A function that loops may take each message at once: it goes through all that
%% wait if it waits nevertheless, or if it looks without waiting (`after 0') for what is not there.
-spec join(diagnose_types:suspect(), judged()) -> [diagnose_types:scan()].
join(#{usual_depth := Depth, samples := Samples, pid := Pid}, Judged) when Depth >= ?DEEP ->
    Of = lists:sum([Times || {_, _, Times} <- Samples]),
    Hits = [{Receive, Module, Caller, Times}
            || {Status, [{Module, Name, Arity} | Callers], Times} <- Samples, Status =/= suspended,
               Receive <- lists:sublist(receives(Status, own(Module, Name, Arity, Judged)), 1),
               Caller <- [case Callers of [First | _] -> First; [] -> none end]],
    Functions = lists:usort([{Module, Function} || {#{function := Function}, Module, _, _} <- Hits]),
    [Scan || One <- Functions, #{seen := Seen} = Scan <- [scan(Pid, One, Hits, Of)], is_often(Seen, Of)];
join(_Suspect, _Judged) -> [].

is_often(Seen, Of) -> ?OFTEN * Seen >= Of andalso (Seen > 1 orelse Of =:= 1).

%% @doc The receives that one process goes through as often, and of which the compiler does not say whether they scan.
-spec undecided(diagnose_types:suspect(), judged()) -> [{module(), why()}].
undecided(#{usual_depth := Depth, samples := Samples}, Judged) when Depth >= ?DEEP ->
    Of = lists:sum([Times || {_, _, Times} <- Samples]),
    Hits = [{{Module, {undecided, Function, base(File), Line}}, Times}
            || {Status, [{Module, Name, Arity} | _], Times} <- Samples, Status =/= suspended,
               #{function := Function, file := File, line := Line} <- unknown(Status, own(Module, Name, Arity, Judged))],
    [One || One <- lists:usort([One || {One, _} <- Hits]), is_often(lists:sum([Times || {Hit, Times} <- Hits, Hit =:= One]), Of)];
undecided(_Suspect, _Judged) -> [].

own(Module, Name, Arity, Judged) ->
    Function = source_function(Name, Arity),
    case Judged of
        #{Module := {ok, Receives}} -> [as_called(Module, One) || #{function := F} = One <- Receives, F =:= Function];
        #{} -> []
    end.

%% The compiler gives this receive of demonitor/2 a marker for the sake of callers that wait for the message of a monitor of their own.
%% Where it is seen often, the reference is of a monitor that was made elsewhere, and has none.
as_called(erts_internal, #{function := {flush_monitor_messages, 3}} = Receive) -> Receive#{verdict := scans};
as_called(_Module, Receive) -> Receive.

%% A stack does not say at which receive of its function a process is. Where it waits and one of them does not scan, none is named;
%% where it works, one that scans is what takes the time.
receives(Status, Own) ->
    Scan = [One || #{verdict := scans} = One <- Own],
    case Status of
        waiting when length(Scan) < length(Own) -> [];
        waiting -> Scan;
        _ -> [One || One <- Scan, goes_through_all(One, Own)]
    end.

%% In a clause of a receive with a marker it is reached only after the message that this one waits for. Until then it takes no time.
goes_through_all(#{nested := true} = One, Own) ->
    not lists:any(fun(#{verdict := Verdict}) -> Verdict =:= marker end, Own)
        andalso goes_through_all(maps:remove(nested, One), Own);
goes_through_all(#{loops := Loops, polls := Polls}, _Own) -> Polls orelse not Loops.

%% Those that may scan, where the others do.
unknown(Status, Own) ->
    Unknown = [One || #{verdict := unknown} = One <- Own],
    case {Status, receives(Status, Own -- Unknown)} of
        {waiting, Scan} when length(Scan) + length(Unknown) < length(Own) -> [];
        {waiting, _} -> Unknown;
        {_, []} -> [One || One <- Unknown, goes_through_all(One, Own)];
        {_, _} -> []
    end.

%% The caller is that of most looks.
scan(Pid, {Module, {Name, Arity}}, Hits, Of) ->
    Here = [{Times, Caller, Receive} || {#{function := F} = Receive, M, Caller, Times} <- Hits, {M, F} =:= {Module, {Name, Arity}}],
    {_, Caller, #{file := File, line := Line}} = lists:max(Here),
    #{pid => Pid, function => {Module, Name, Arity}, file => base(File), line => Line,
      called_from => Caller, seen => lists:sum([Times || {Times, _, _} <- Here]), looks => Of}.

base(File) -> unicode:characters_to_binary(filename:basename(File)).

%% A fun or a comprehension is named after the function around it: -name/1-fun-0-.
source_function(Name, Arity) ->
    case re:run(atom_to_list(Name), "^-(.+)/([0-9]+)-", [{capture, all_but_first, list}, unicode]) of
        {match, [Around, Digits]} -> {list_to_atom(Around), list_to_integer(Digits)};
        nomatch -> {Name, Arity}
    end.
