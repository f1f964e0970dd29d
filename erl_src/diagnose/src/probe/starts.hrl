%%% What is started while the look lasts: processes, and what becomes of them, and programs of the system. What starts and ends between two
%%% looks is not seen, so all counts are the least.

-define(STARTS_MS, 20).
%% So many of the newest are tried at each look; so many of them that live are asked.
-define(TRIED, 50).
-define(ASKED_NEWBORN, 10).
%% So many are monitored in all; so many parents are told apart, and so many are told of.
-define(MONITORED, 2000).
-define(PARENTS, 200).
-define(TOLD_PARENTS, 6).
%% Of so many that started most of those that are left it is asked what they are.
-define(ROOTS, 10).
%% So many stacks of them are told apart, and so many are told of.
-define(KINDS_OF_SAMPLES, 500).
-define(TOLD_SAMPLES, 50).
%% Less than that is no large copy.
-define(COPIED_BYTES, 100_000).
%% Programs are looked for so often, and so many new ports are asked each time.
-define(PROGRAMS_MS, 50).
%% After a list of the ports that took a time, it rests for so many times as long.
-define(LISTING_RESTS, 20).
%% Of fewer steps between the numbers of ports none is typical.
-define(STEPS, 8).
%% So many that are ended soon after one has failed, each so long after the one before.
-define(SWEPT, 5).
-define(SWEEP_MS, 100).
-define(ALL_CHILDREN, 200).
%% Supervisors are traced for so long, without the arguments of calls.
-define(ASKED_MS, 1000).
-define(ASKED_FLAGS, [call, arity, procs]).
%% Modules of functions that a program calls and has not written.
-define(OF_THE_RUNTIME, [ets, erlang, maps, lists, persistent_term, binary]).
%% What file:posix() and inet:posix() may be: a text, since atoms would be made on the node.
-define(POSIX,
        <<" eacces eagain ebadf ebadmsg ebusy edeadlk edeadlock edquot eexist efault efbig eftype eintr einval eio eisdir eloop emfile"
          " emlink emultihop enametoolong enfile enobufs enodev enolck enolink enoent enomem enospc enosr enostr enosys enotblk enotdir"
          " enotsup enxio eopnotsupp eoverflow eperm epipe erange erofs espipe esrch estale etxtbsy exdev eaddrinuse eaddrnotavail"
          " eafnosupport ealready econnaborted econnrefused econnreset edestaddrreq ehostdown ehostunreach einprogress eisconn emsgsize"
          " enetdown enetunreach enopkg enoprotoopt enotconn enotty enotsock eproto eprotonosupport eprototype esocktnosupport"
          " etimedout ewouldblock exbadport exbadseq ">>).
-define(ASKED_PORTS, 20).

%% @doc Who starts processes until then, by those that live at some look: how many of them ended, how many of these with an error and
%% which, and what they were given to begin with. None of these parents counts, nor this application.
-spec starts([pid()], integer()) -> diagnose_types:starts() | too_many.
starts(Own, Until) ->
    Began = now_ms(),
    #{steps := Steps} = Seen = started_until([self() | Own], Until, moment(),
                                             #{looks => 0, steps => [], watched => named(), parents => #{}, named => #{}, samples => #{}}),
    case started(Steps) of
        too_many -> too_many;
        Started -> starts_of(Seen, Started, max(1, now_ms() - Began))
    end.

starts_of(#{looks := Looks, steps := Steps, parents := Parents, named := Named, samples := Samples, watched := Watched}, Started, Ms) ->
    Of = maps:values(lists:foldl(fun same_parents/2, #{},
                                 [One || {_, #{failed := Failed, copied := Copied, taken := Taken}} = One <- maps:to_list(Parents),
                                         Failed + Copied + Taken > 0])),
    Rank = fun(Key) -> [One || {_, One} <- ranked(?TOLD_PARENTS div 2, [{Value, One} || #{Key := Value} = One <- Of, Value > 0])] end,
    #{looks => Looks, unlisted => are_unlisted(Steps), ms => Ms, a_second => 1000 * Started div Ms, most => most_starts(Parents),
      again => [#{name => Name, pid => pid_text(Pid), reason => Reason}
                || {Name, Reason} <- maps:to_list(Named), Pid <- [whereis(Name)], is_pid(Pid)],
      left => left_by(maps:values(Watched), Parents),
      turns => turns(maps:values(Parents)),
      lasting => lasting(maps:values(Parents), Ms),
      parents => lists:uniq(Rank(failed) ++ Rank(copied) ++ Rank(taken)),
      samples => [{Status, Frames, Times} || {Times, {Status, Frames}} <- ranked(?TOLD_SAMPLES, [{N, S} || {S, N} <- maps:to_list(Samples)])]}.

turns(Parents) ->
    Turning = [{Turned, One} || #{turned := Turned, failed := 0, born := Born, sweep_born := Before} = One <- Parents,
                                Turned > 0, Born > Before],
    [(maps:with([name, label, turned], named_parent(One)))#{pid => pid_text(Pid), labels => most_of_all(Labels)}
     || {_, #{pid := Pid, labels := Labels} = One} <- ranked(?TOLD_PARENTS div 2, Turning)].

%% Supervisors whose children end, none of them with an error, while others are started that were given little. Who asks for these is not
%% known yet.
lasting(Parents, Ms) ->
    Ending = [{Ended, One} || #{ended := Ended, born := Born, failed := 0, copied := 0, taken := 0} = One <- Parents,
                              Ended >= ?FAILED, Born >= ?FAILED, 1000 * Ended >= ?FAILED_A_SECOND * Ms],
    [(maps:with([name, label, ended], One))#{pid => pid_text(Pid), labels => most_of_all(Labels)}
     || {_, Starter} <- ranked(?TOLD_PARENTS div 2, Ending), #{pid := Pid, label := Label, labels := Labels} = One <- [named_parent(Starter)],
        Label =:= unknown orelse is_supervisor(Label)].

%% @doc The same with how many children each starts, and how often it is asked for something or told of an end, by a trace of that for a
%% moment. A supervisor that starts some and is not asked to starts those again that have ended. One of OTP 25 is known by that alone.
%% None where somebody else traces such things.
-spec asked_to_start([diagnose_types:lasting()]) -> [diagnose_types:lasting()].
asked_to_start(Supervisors) ->
    process_flag(trap_exit, true),
    ok = ends_with_its_worker(),
    process_flag(priority, high),
    Pids = [list_to_pid(binary_to_list(Text)) || #{pid := Text} <- Supervisors],
    case lists:all(fun is_untraced/1, asked_functions()) andalso not lists:any(fun calls_are_traced/1, [new_processes | Pids]) of
        true ->
            _ = [erlang:trace_pattern(Function, [{'_', calls_of_these(Pids), []}], []) || Function <- asked_functions()],
            Traced = [Pid || Pid <- Pids, is_switched(Pid, true, ?ASKED_FLAGS)],
            Began = now_ms(),
            Seen = asked_until(Began + ?ASKED_MS, maps:from_list([{pid_text(Pid), {0, 0, 0}} || Pid <- Traced])),
            Ms = max(1, now_ms() - Began),
            _ = [is_switched(Pid, false, ?ASKED_FLAGS) || Pid <- Traced],
            ok = trace_as_it_was(),
            [One#{asked => Asked, told => Told, started => Started, ms => Ms}
             || #{pid := Pid} = One <- Supervisors, #{Pid := {Asked, Told, Started}} <- [Seen]];
        false -> []
    end.

asked_functions() ->
    [{Module, Function, Arity} || {Module, Function, Arity} <- [{supervisor, handle_call, 3}, {supervisor, handle_cast, 2},
                                                                {supervisor, handle_info, 2},
                                                                {'Elixir.DynamicSupervisor', handle_call, 3},
                                                                {'Elixir.DynamicSupervisor', handle_info, 2}],
                                  erlang:module_loaded(Module)].

asked_until(Until, Seen) ->
    receive
        {trace, Pid, call, {_, handle_info, _}} -> asked_until(Until, counted_for(Pid, {0, 1, 0}, Seen));
        {trace, Pid, call, _} -> asked_until(Until, counted_for(Pid, {1, 0, 0}, Seen));
        {trace, Pid, spawn, _, _} -> asked_until(Until, counted_for(Pid, {0, 0, 1}, Seen));
        Event when element(1, Event) =:= trace -> asked_until(Until, Seen)
    after max(0, Until - now_ms()) -> Seen
    end.

counted_for(Pid, {Asked, Told, Started}, Seen) ->
    Text = pid_text(Pid),
    case Seen of
        #{Text := {A, T, S}} -> Seen#{Text := {A + Asked, T + Told, S + Started}};
        #{} -> Seen
    end.

%% Who has started those that live yet, where it was not started meanwhile, too: whoever was is one of those that are left.
left_by(Watched, Parents) ->
    Left = [{Parent, Pid} || {Parent, _, Pid} <- Watched],
    Born = maps:from_list([{Pid, new} || {_, Pid} <- Left]),
    Most = ranked(?ROOTS, [{Times, Pid} || Pid <- lists:usort([Parent || {Parent, _} <- Left]), not is_map_key(Pid, Born),
                                           #{born := Times} <- [maps:get(Pid, Parents)]]),
    Roots = lists:foldl(fun same_parents/2, #{}, [{Pid, named_parent(maps:get(Pid, Parents))} || {_, Pid} <- Most]),
    [One || {_, One} <- ranked(?TOLD_PARENTS div 2, [{Times, One} || #{born := Times} = One <- maps:values(Roots)])].

%% Monitors of those with a name. A monitor asks nothing of a process that may be stuck.
named() -> maps:from_list([{monitor(process, Pid), {name, Name}} || {Pid, Name} <- maps:to_list(names())]).

%% Who has started most of those that were seen.
most_starts(Parents) ->
    All = [{Born, One} || #{born := Born} = One <- maps:values(Parents)],
    case ranked(1, All) of
        [{Most, One}] ->
            #{pid := Pid, name := Name, label := Label, labels := Labels} = named_parent(One),
            #{pid => pid_text(Pid), name => Name, label => Label, part => ratio(Most, lists:sum([Born || {Born, _} <- All])),
              labels => most_of_all(Labels)};
        [] -> none
    end.

started_until(Own, Until, Before, #{looks := Looks, steps := Steps} = Seen) ->
    Now = with_all_children(ends(Seen, min(Until, now_ms() + ?STARTS_MS))),
    case now_ms() < Until andalso started_since(Before, ?TRIED) of
        false -> Now;
        {Pids, Step, Moment} ->
            started_until(Own, Until, Moment,
                          newborns(lists:reverse(Pids), ?ASKED_NEWBORN, Own, Now#{looks := Looks + 1, steps := [Step | Steps]}))
    end.

%% Where many children of a supervisor were ended together, and none was seen to fail before: that one may be none of those that were tried.
%% Each time when those that are watched have ended, and others were started, all are watched.
with_all_children(#{parents := Parents} = Seen) ->
    lists:foldl(fun all_children/2, Seen,
                [Parent || {Parent, #{all := true, watching := 0, sweep := {_, Last, _}}} <- maps:to_list(Parents),
                           now_ms() - Last >= ?STARTS_MS]).

all_children(Parent, #{watched := Watched, parents := Parents} = Seen) ->
    #{Parent := One} = Parents,
    case map_size(Watched) < ?MONITORED - ?ALL_CHILDREN andalso apart(fun() -> children_of(Parent) end) of
        Children when is_list(Children) ->
            Seen#{watched := maps:merge(Watched, maps:from_list([{monitor(process, Pid), {Parent, true, Pid}} || Pid <- Children])),
                  parents := Parents#{Parent := One#{watching := length(Children)}}};
        _ -> Seen#{parents := Parents#{Parent := One#{all := false}}} % one of them does not answer: not again
    end.

children_of(Parent) -> [Pid || Pid <- lists:sublist(linked(Parent), ?ALL_CHILDREN), process_info(Pid, parent) =:= {parent, Parent}].

newborns(Pids, Left, _Own, Seen) when Pids =:= []; Left =:= 0 -> Seen;
newborns([Pid | Others], Left, Own, Seen) ->
    case process_info(Pid, [initial_call, parent, garbage_collection, garbage_collection_info, status, current_stacktrace]) of
        [{_, Call}, {_, Parent}, {_, Settings}, {_, Info}, {_, Status}, {_, Stack}] when is_pid(Parent), node(Parent) =:= node() ->
            Sizes = sizes(Info),
            case lists:member(Parent, Own) orelse began_with(Pid, Call, Stack) of
                true -> newborns(Others, Left, Own, Seen);
                {?MODULE, _, _} -> newborns(Others, Left, Own, Seen);
                Label ->
                    New = #{label => Label, lib => is_of_proc_lib(Call), copied => copied(Settings, Sizes), taken => taken(Sizes),
                            limit => deadly_limit(Settings)},
                    newborns(Others, Left - 1, Own, sampled_newborn(Status, Stack, newborn(Pid, Parent, New, Seen)))
            end;
        _ -> newborns(Others, Left, Own, Seen)
    end.

%% The heap at which the VM kills it, in bytes; 0 where it does not.
deadly_limit(Settings) ->
    case proplists:get_value(max_heap_size, Settings) of
        #{size := Words, kill := true} -> erlang:system_info(wordsize) * Words;
        _ -> 0
    end.

%% The VM tells the first frames alone: the last one of so many is none that a fun began with.
began_with(_Pid, {erlang, apply, 2}, Stack) -> began_with(Stack);
began_with(Pid, Call, _Stack) -> label(Pid, #{initial_call => Call}).

%% @doc The function that a process began with, by its stack, where that may be all of it.
-spec began_with([{module(), atom(), arity(), term()}]) -> mfa() | unknown.
began_with([_ | _] = Stack) when length(Stack) < ?FRAMES -> frame(lists:last(Stack));
began_with(_) -> unknown.

%% One that lives for less than a look is seen at any moment of its life, so what these are in is what all of them work at.
sampled_newborn(Status, Stack, #{samples := Samples} = Seen) when map_size(Samples) < ?KINDS_OF_SAMPLES ->
    Seen#{samples := counted_as({Status, [frame(Frame) || Frame <- lists:sublist(Stack, ?FRAMES)]}, Samples)};
sampled_newborn(_, _, Seen) -> Seen.

is_of_proc_lib({proc_lib, init_p, _}) -> true;
is_of_proc_lib(_) -> false.

%% @doc Bytes in the first heap of a process that has not been collected: what it was given to begin with, if it is more than a process
%% makes by itself before its first collection. That heap is made as large as that needs.
-spec copied([{atom(), term()}], #{used | old | recent | fragments := non_neg_integer(), _ => _}) -> non_neg_integer().
copied(Settings, #{used := Used, old := 0, recent := 0, fragments := Fragments}) when Used - Fragments >= ?COPIED_BYTES ->
    Least = erlang:system_info(wordsize) * proplists:get_value(min_heap_size, Settings, 0),
    case proplists:get_value(minor_gcs, Settings) of
        0 when Used - Fragments > Least -> Used - Fragments;
        _ -> 0
    end;
copied(_, _) -> 0.

%% @doc Bytes beside that heap: what was copied to the process since, in one piece that had no room there. A native function that makes a
%% term of one that the process has (lists:reverse/2, ++, maps:to_list/1) puts it there, too: then the heap has at least half as much.
-spec taken(#{used | fragments := non_neg_integer(), _ => _}) -> non_neg_integer().
taken(#{used := Used, fragments := Fragments}) when Fragments >= ?COPIED_BYTES, 2 * (Used - Fragments) < Fragments -> Fragments;
taken(_) -> 0.

newborn(Pid, Parent, #{label := Label, lib := IsLib, copied := Copied, taken := Taken, limit := Limit},
        #{watched := Watched, parents := Parents} = Seen)
  when is_map_key(Parent, Parents); map_size(Parents) < ?PARENTS ->
    Known = maps:get(Parent, Parents, no_newborns(Parent)),
    #{born := Born, copies := Copies, copied := Sum, takes := Takes, taken := All, labels := Labels, limit := Most,
      watching := Watching} = One =
        case Copied + Taken of 0 -> Known; _ -> named_parent(Known) end,
    IsWatched = map_size(Watched) < ?MONITORED andalso not maps:get(all, One),
    More = case IsWatched of
               true -> Watched#{monitor(process, Pid) => {Parent, IsLib, Pid}};
               false -> Watched
           end,
    Seen#{watched := More,
          parents := Parents#{Parent => One#{born := Born + 1, watching := Watching + is(IsWatched),
                                             copies := Copies + is(Copied > 0), copied := Sum + Copied,
                                             takes := Takes + is(Taken > 0), taken := All + Taken, limit := max(Limit, Most),
                                             labels := counted_as(Label, Labels)}}};
newborn(_, _, _, Seen) -> Seen.

no_newborns(Parent) ->
    #{pid => Parent, name => '', label => not_asked, born => 0, ended => 0, failed => 0, copies => 0, copied => 0, takes => 0, taken => 0,
      limit => 0, labels => #{}, reasons => #{}, watching => 0, all => false, sweep => none, sweeps => 0, swept => 0,
      turned => 0, sweep_born => 0}.

%% Only of those that are told of: each is a signal. It may be gone soon.
named_parent(#{pid := Parent, label := not_asked} = One) -> One#{name := registered_as(Parent), label := labelled_apart(Parent)};
named_parent(One) -> One.

%% Whoever asks may be a helper, which ends with one that it is linked to.
labelled_apart(Pid) -> case apart(fun() -> {label, labelled(Pid)} end) of {label, Label} -> Label; lost -> unknown end.

counted_as(What, Counts) -> maps:update_with(What, fun(Times) -> Times + 1 end, 1, Counts).

%% Those that end until then.
ends(#{watched := Watched, parents := Parents, named := Named} = Seen, Until) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Watched) ->
            Now = Seen#{watched := Watched#{Monitor := ended}},
            ends(case maps:get(Monitor, Watched) of
                     {name, Name} -> Now#{named := named_ended(Name, Reason, Named)};
                     {Parent, IsLib, _} -> Now#{parents := maps:update_with(Parent, fun(One) -> ended_by(Reason, IsLib, One) end, Parents)}
                 end, Until)
    after max(0, Until - now_ms()) -> Seen
    end.

%% One that had ended before it was monitored told no reason.
named_ended(_, noproc, Named) -> Named;
named_ended(Name, Reason, Named) -> case is_failure(Reason) of true -> Named#{Name => end_reason(Reason)}; false -> Named end.

%% Whoever is no child of a supervisor, nor of proc_lib, may give its result as the reason of its exit.
ended_by(noproc, _, #{watching := Watching} = One) -> One#{watching := Watching - 1};
ended_by(Reason, IsLib, #{ended := Ended, watching := Watching} = One) ->
    Now = swept_by(Reason, now_ms(), One#{ended := Ended + 1, watching := Watching - 1}),
    case is_failure(Reason) of
        true -> failed_by(Reason, IsLib, named_parent(Now));
        false -> Now
    end.

%% @doc Counts the ends of a supervisor's children: after one has failed the others are ended at once, until hardly one is left. So ends a
%% supervisor whose intensity is reached, or for all that depend on one. `watching': how many are left of those that are watched. all: who
%% failed is to be looked for.
-spec swept_by(term(), Ms :: integer(), Parent) -> Parent
              when Parent :: #{watching | sweeps | swept := integer(), all := boolean(),
                               sweep := none | {Why :: failed | unknown | counted, Last :: integer(), Count :: non_neg_integer()}, _ => _}.
swept_by(shutdown, At, #{sweep := {Why, Last, Count}} = Parent) when At - Last =< ?SWEEP_MS ->
    swept(Why, Parent#{sweep := {Why, At, Count + 1}});
swept_by(shutdown, At, Parent) -> Parent#{sweep := {unknown, At, 1}, sweep_born => maps:get(born, Parent, 0)};
swept_by(Reason, At, Parent) ->
    case is_failure(Reason) of
        true -> Parent#{sweep := {failed, At, 0}};
        false -> Parent
    end.

swept(counted, #{swept := Swept} = Parent) -> Parent#{swept := Swept + 1};
swept(Why, #{sweep := {_, At, Count}, watching := Left, sweeps := Sweeps, swept := Swept} = Parent)
  when Count >= ?SWEPT, 4 * Left =< Count ->
    case Why of
        failed -> Parent#{sweep := {counted, At, Count}, sweeps := Sweeps + 1, swept := Swept + Count};
        unknown -> turned(Left, Count, Parent#{all := true})
    end;
swept(_, Parent) -> Parent.

%% All that were watched are ended, and none was started meanwhile: not one after the other, as those of sessions that end.
turned(0, Count, #{born := Born, sweep_born := Born, turned := Turned} = Parent) -> Parent#{turned := Turned + Count};
turned(_, _, Parent) -> Parent.

failed_by(Reason, IsLib, #{failed := Failed, reasons := Reasons, label := Label} = One) ->
    case IsLib orelse is_supervisor(Label) of
        true -> One#{failed := Failed + 1, reasons := counted_as(end_reason(Reason), Reasons)};
        false -> One
    end.

is_failure(normal) -> false;
is_failure(shutdown) -> false;
is_failure({shutdown, _}) -> false;
is_failure(_) -> true.

is_supervisor({supervisor, _, _}) -> true;
is_supervisor({'Elixir.DynamicSupervisor', _, _}) -> true;
is_supervisor(_) -> false.

%% @doc The reason of an exit by its tag and arity, never by its contents; with the function where there is a stack.
-spec end_reason(term()) -> binary().
end_reason({Why, [{Module, Function, _, Where} = First | Callers]}) when is_atom(Module), is_atom(Function), is_list(Where) ->
    iolist_to_binary([why(Why), " in ", failed_in(First), gone_table(Why, First), called_in_program(Module, Callers)]);
end_reason(Why) -> why(Why).

failed_in({Module, Function, Args, _}) ->
    Arity = case Args of _ when is_list(Args) -> length(Args); _ -> Args end,
    [atom_to_binary(Module, utf8), $:, atom_to_binary(Function, utf8), [[$/, integer_to_list(Arity)] || is_integer(Arity)]].

%% The first argument of nearly all functions of ets.
gone_table(badarg, {ets, _, [Table | _], _}) when is_atom(Table); is_reference(Table) ->
    case ets:info(Table, type) of
        undefined -> [" (there is no table", [[" ", atom_to_binary(Table, utf8)] || is_atom(Table)], ")"];
        _ -> ""
    end;
gone_table(_, _) -> "".

%% Where a function of the VM fails, what the program's author knows is the one that called it.
called_in_program(Module, [{Caller, Function, _, _} = Frame | Below]) when is_atom(Caller), is_atom(Function) ->
    case lists:member(Module, ?OF_THE_RUNTIME) of
        true when Caller =:= Module -> called_in_program(Module, Below);
        true -> [" called by ", failed_in(Frame)];
        false -> ""
    end;
called_in_program(_, _) -> "".

%% Whose answer it called for is no secret, if that has a name.
why({Tag, {Module, call, [Server | _]}} = Why) when is_atom(Tag) ->
    case lists:member(Module, [gen_server, gen_statem, 'Elixir.GenServer']) andalso name_of(Server) of
        [_ | _] = Name -> iolist_to_binary([${, atom_to_binary(Tag, utf8), ", call of ", Name, $}]);
        _ -> shape(Why)
    end;
%% Errors of the system are no secret, either.
why({Tag, Error}) when is_atom(Tag) ->
    case of_system(Error) of
        unknown -> shape({Tag, Error});
        Text -> iolist_to_binary([${, atom_to_binary(Tag, utf8), ", ", Text, $}])
    end;
why(Why) -> shape(Why).

name_of(Name) when is_atom(Name) -> [atom_to_binary(Name, utf8)];
name_of({Name, Node}) when is_atom(Name), is_atom(Node), Name =/= global ->
    [atom_to_binary(Name, utf8), " on ", atom_to_binary(Node, utf8)];
name_of(_) -> [].

of_system({error, Error}) ->
    case of_system(Error) of
        unknown -> unknown;
        Text -> ["{error, ", Text, $}]
    end;
of_system(Error) when is_atom(Error) ->
    Name = atom_to_binary(Error, utf8),
    case binary:match(?POSIX, <<" ", Name/binary, " ">>) of
        nomatch -> unknown;
        _ -> Name
    end;
of_system(_) -> unknown.

%% Processes alike start processes alike. One of them is told of, the one of most.
same_parents({Pid, #{name := Name, label := Label, labels := Labels, reasons := Reasons} = One}, All) ->
    Key = case Label of unknown -> Pid; _ -> {Label, Name} end,
    Told = (maps:without([watching, sweep, sweep_born, turned, all], One))#{pid := pid_text(Pid), parents => 1,
                                                        gone => is(not is_process_alive(Pid)),
                                                        labels := most_of_all(Labels), reasons := most_of_all(Reasons)},
    maps:update_with(Key, fun(Other) -> both_parents(Told, Other) end, Told, All).

most_of_all(Counts) -> [{What, Times} || {Times, What} <- ranked(?FEW_SHAPES, [{Times, What} || {What, Times} <- maps:to_list(Counts)])].

both_parents(#{born := A} = One, #{born := B} = Other) when A > B -> both_parents(Other, One);
both_parents(Less, More) ->
    maps:map(fun(Key, Value) when Key =:= parents; Key =:= born; Key =:= ended; Key =:= failed; Key =:= copies; Key =:= copied;
                                  Key =:= takes; Key =:= taken; Key =:= sweeps; Key =:= swept; Key =:= gone ->
                     Value + maps:get(Key, Less);
                (limit, Value) -> max(Value, maps:get(limit, Less));
                (Key, Value) when Key =:= labels; Key =:= reasons ->
                     most_of_all(lists:foldl(fun({What, Times}, Sum) ->
                                                     maps:update_with(What, fun(T) -> T + Times end, Times, Sum)
                                             end, maps:from_list(Value), maps:get(Key, Less)));
                (_, Value) -> Value
             end, More).

%% @doc Programs of the system that run, and how many are started until then, by the new ports; who has started them.
-spec programs(integer()) -> diagnose_types:programs() | unknown.
programs(Until) ->
    Began = now_ms(),
    case few_ports_in() of
        {Ports, Took} when is_list(Ports) ->
            case programs_until(Until, #{before => Ports, took => Took, last => none, started => 0, newest => [], asked => 0, seen => [],
                                         attempts => no_attempts()}) of
                unknown -> unknown;
                Seen -> programs_of(Seen, max(1, now_ms() - Began))
            end;
        {unknown, _} -> unknown
    end.

programs_of(#{before := Ports, started := Counted, newest := Numbers, asked := Asked, seen := Seen, attempts := Attempts}, Ms) ->
    Started = max(Counted, opened_in_order(Numbers, length(Ports), erlang:system_info(port_limit))),
    Alive = [Program || Port <- Ports, Program <- program_of(Port)],
    All = lists:ukeysort(1, Alive ++ Seen),
    Owners = [Owner || {_, Owner, _} <- All],
    #{alive => length(Alive), seen => length(Seen),
      started_a_second => round(1000 * Started * ratio(length(Seen), Asked) / Ms),
      names => [{Name, Count} || {Count, Name} <- most_frequent([Name || {_, _, Name} <- All])],
      owners => [{pid_text(Owner), registered_as(Owner), Count} || {Count, Owner} <- most_frequent(Owners)],
      labels => case length(All) >= ?PROGRAMS_SEEN of true -> labels_of(Owners); false -> [] end,
      connects => attempts_of(Attempts, Started, Ms)}.

few_ports() ->
    case erlang:system_info(port_count) =< ?PORTS of
        true -> lists:sort(erlang:ports());
        false -> unknown
    end.

%% With how long it took. A table with places for tens of millions of ports takes as many microseconds and more, and who lists it at the
%% same time waits.
few_ports_in() ->
    Began = now_ms(),
    Ports = few_ports(),
    {Ports, now_ms() - Began}.

%% Where each has another owner.
labels_of(Owners) ->
    Labels = [Label || Owner <- lists:sublist(lists:uniq(Owners), ?ASKED_PORTS), Label <- [labelled_apart(Owner)], Label =/= unknown],
    [{Label, Count} || {Count, Label} <- most_frequent(Labels)].

programs_until(Until, #{before := Before, took := Took, last := Last, started := Started, newest := Numbers, asked := Asked, seen := Seen,
                        attempts := Attempts} = All) ->
    wait(min(?PROGRAMS_MS + ?LISTING_RESTS * Took, max(0, Until - now_ms()))),
    case now_ms() < Until andalso few_ports_in() of
        false -> All;
        {unknown, _} -> unknown;
        {Ports, Takes} ->
            New = Ports -- Before,
            Few = lists:nthtail(max(0, length(New) - ?ASKED_PORTS), New),
            {Opened, Newest} = opened(Last, New),
            Tried = attempts(Few, Ports, Attempts),
            programs_until(Until, #{before => Ports, took => Takes, last => Newest, started => Started + Opened,
                                    asked => Asked + length(Few), newest => [Newest || New =/= []] ++ Numbers, attempts => Tried,
                                    seen => [One || Port <- Few, One <- program_of(Port)] ++ Seen})
    end.

%% @doc How many ports were opened since the last one that was new, with those that were closed again, where their numbers tell that;
%% and the last one now.
-spec opened(Last, [port()]) -> {non_neg_integer(), Last} when Last :: non_neg_integer() | none.
opened(Last, []) -> {0, Last};
opened(Last, New) ->
    Newest = port_number(lists:last(New)),
    case is_integer(Last) andalso is_first_round(Newest, port_limit) of
        true -> {max(0, Newest - Last), Newest};
        false -> {length(New), Newest}
    end.

%% @doc At least how many ports were opened, by the numbers of the newest one at each look (the last first), also where they are given
%% again. Those that live long give theirs back in any order, and are left out: so the steps from look to look are random, and a
%% quarter of them go down, or some are far too large. What is closed at once leaves the order as it was.
-spec opened_in_order([non_neg_integer()], Held :: non_neg_integer(), Limit :: pos_integer()) -> non_neg_integer().
opened_in_order([_ | Before] = Numbers, Held, Limit) when length(Before) >= ?STEPS ->
    Steps = lists:sort(lists:zipwith(fun erlang:'-'/2, lists:droplast(Numbers), Before)),
    max(0, lists:nth(length(Steps) div 4, Steps)) * length(Steps) * max(0, Limit - Held) div Limit;
opened_in_order(_, _, _) -> 0.

program_of(Port) ->
    case erlang:port_info(Port, os_pid) of
        {_, Id} when is_integer(Id) ->
            [{Port, Owner, program(Name)}
             || {_, Owner} <- [erlang:port_info(Port, connected)], {_, Name} <- [erlang:port_info(Port, name)]];
        _ -> []
    end.
