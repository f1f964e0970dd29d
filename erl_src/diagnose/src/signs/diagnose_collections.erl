%% @doc From the reasons of collections to signs: which setting has them come at a better time, what it saves and what memory it costs.
%% A setting is given in words, as the VM takes it. Pure.
-module(diagnose_collections).

-export([of_process/1, of_births/2]).

-include("../diagnose_bounds.hrl").

-define(WORD, 8).
%% With a full sweep after so many minor collections twenty of twenty-one are saved, and what dies in the old generation is freed all the
%% same. Where nearly as many come between two already, four times as many save three of four.
-define(AFTER, 20).
-define(TOLD_FUNCTIONS, 3).

%% @doc The signs of a process that was traced: at most one for each kind.
-spec of_process(diagnose_types:suspect()) -> [diagnose_types:sign()].
of_process(#{pauses := #{why := [_ | _]}} = Suspect) ->
    [Sign || Sign <- needless(Suspect), not is_by_hibernation(Suspect, Sign)]
        ++ case pressure(Suspect) of [] -> promoted(Suspect); Pressure -> Pressure end;
of_process(#{}) -> [].

%% Each hibernation asks for one, too, which a long collection tells of.
is_by_hibernation(#{hibernates := Hibernates}, #{evidence := #{sweeps := Count, asked := Asked}}) -> Hibernates andalso 2 * Asked >= Count.

%% Full sweeps by the count, or asked for, that leave nearly all that was there already at the one before.
needless(#{pauses := #{why := Why, window_ms := Ms, settings := Settings}} = Suspect) ->
    Sweeps = [One || #{kind := full, reason := Reason} = One <- Why, Reason =:= count orelse Reason =:= asked],
    [#{count := Count, us := Us, left := Left, aged := Aged}] = [sums(Sweeps)],
    Asked = sum(count, [One || #{reason := asked} = One <- Sweeps]),
    Now = maps:get(fullsweep_after, Settings, 0),
    Setting = [{fullsweep_after, max(?AFTER, 4 * (Now + 1))} || 2 * Asked < Count],
    [with_setting(Setting,
                  diagnose_sign:sign(needless_full_sweeps,
                                     #{sweeps => Count, asked => Asked, fullsweep_after => maps:get(fullsweep_after, Settings, unknown),
                                       left_bytes => Left div Count, freed_bytes => max(0, Aged - Left) div Count,
                                       spent_ms => Us / 1000, window_ms => Ms, saves_ms => saved_sweeps(Setting, Now, Sweeps) / 1000,
                                       memory_bytes => Left div Count, sure => likely},
                                     needless_advice(Setting), proof(Suspect, Setting)))
     || Count >= ?FULL_SWEEPS, is_costly(Us, Ms), Left >= ?WORTH_BYTES * Count, Aged >= ?WORTH_BYTES * Count, Left >= ?MOSTLY * Aged].

%% Those that are asked for come all the same.
saved_sweeps([{fullsweep_after, After}], Now, Sweeps) ->
    sum(us, [One || #{reason := count} = One <- Sweeps]) * (After - Now) div (After + 1);
saved_sweeps([], _, Sweeps) -> sum(us, Sweeps).

needless_advice([{fullsweep_after, After}]) ->
    ["Each full sweep copies all live data, although about as much is alive as before. With fullsweep_after ",
     integer_to_list(After), " (spawn_opt, or process_flag/2 in the process), one of ", integer_to_list(After + 1),
     " collections is a full sweep. Until then, the old generation keeps its garbage."];
needless_advice([]) ->
    "Somebody requests full collections of it (erlang:garbage_collect/0,1, or a purge of a module), although about as much is alive"
    " as before. Request a collection only after large work, or leave collecting to the VM.".

%% Full sweeps that the old generation's room brought about, and that free most of it: garbage that minor collections have copied there and
%% that fills the memory meanwhile. After so many minor ones as promote what lives, a full one copies no more than they did.
promoted(#{pauses := #{why := Why, window_ms := Ms}} = Suspect) ->
    Sweeps = [One || #{kind := full, reason := Reason} = One <- Why, Reason =/= asked, Reason =/= count],
    #{count := Count, us := Us, left := Left, old := Old, freed := Freed, old_held := OldHeld, held_freed := HeldFreed} = sums(Sweeps),
    Minors = sum(count, of_kind(minor, Why)),
    After = case Old of 0 -> 0; _ -> (Left * Minors) div (max(1, Count) * Old) end,
    Copied = sum(left, Why),
    Then = Left div max(1, Count) * (Minors + Count) div (After + 1) + sum(left, of_kind(minor, Why)) * After div (After + 1),
    [with_setting([{fullsweep_after, After}],
                  diagnose_sign:sign(promoted_garbage,
                                     #{sweeps => Count, minor => Minors, old_bytes => (Old + OldHeld) div Count,
                                       freed_bytes => (Freed + HeldFreed) div Count, of_binaries => HeldFreed div Count,
                                       left_bytes => Left div Count, spent_ms => (Us + sum(us, of_kind(minor, Why))) / 1000,
                                       window_ms => Ms, copied_bytes => Copied, copied_then_bytes => Then,
                                       saves_bytes => (Freed + HeldFreed) div Count, memory_bytes => 0,
                                       sure => case Then =< Copied of true -> likely; false -> memory_only end},
                                     promoted_advice(After), proof(Suspect, [{fullsweep_after, After}])))
     || Count >= ?FULL_SWEEPS, Minors > 0, After * Count =< Minors div 2, Freed + HeldFreed >= ?WORTH_BYTES * Count,
        2 * (Freed + HeldFreed) >= Old + OldHeld,
        %% A queue that keeps up has some garbage there, too, and no setting makes it copy less.
        (is_costly(Us + sum(us, of_kind(minor, Why)), Ms) andalso 4 * Then =< 3 * Copied)
            orelse Freed + HeldFreed >= ?MOST_HELD_BYTES * Count].

promoted_advice(After) ->
    ["Terms die soon after they were promoted to the old generation. Only a full sweep frees them there, and full sweeps come late."
     " With fullsweep_after ", integer_to_list(After), " (spawn_opt, or process_flag/2 in the process), ",
     case After of
         0 -> "each collection is a full sweep";
         1 -> "each second collection is a full sweep";
         _ -> ["a full sweep comes after ", integer_to_list(After), " minor collections"]
     end,
     ". Each full sweep copies all live data, so set this flag for this process alone."].

%% Collections because binaries outside the heap fill what the VM lets a process hold of them, though all of these live, or though what
%% they free is little beside what they copy. A virtual heap as large as the heap lets the memory double at most.
pressure(#{pauses := #{why := Why, window_ms := Ms}} = Suspect) ->
    Virtual = [One || #{reason := Reason} = One <- Why, Reason =:= virtual_heap orelse Reason =:= old_virtual_heap],
    #{count := Count, us := Us, left := Left, young := Young, held_left := HeldLeft, virtual := Block} = sums(Virtual),
    Full = of_kind(full, Virtual),
    Held = sum(held, Virtual) + sum(old_held, Full),
    Freed = max(0, Young + sum(old, Full) - Left) + max(0, Held - HeldLeft),
    All = sum(count, Why),
    Usual = max(1, Block div max(1, Count)),
    Bytes = power_of_two(lists:max([4 * Usual, 2 * HeldLeft div max(1, Count), sum(left, Full) div max(1, sum(count, Full))])),
    [with_setting([{min_bin_vheap_size, Bytes div ?WORD}],
                  diagnose_sign:sign(binary_pressure,
                                     #{collections => Count, full => sum(count, Full), 'of' => All, held_bytes => Held div Count,
                                       held_left_bytes => HeldLeft div Count, copied_bytes => Left, freed_bytes => Freed,
                                       virtual_bytes => Usual, spent_ms => Us / 1000, window_ms => Ms,
                                       saves_ms => Us * (Bytes - Usual) div Bytes / 1000, memory_bytes => Bytes, sure => likely},
                                     ["The VM counts the bytes of binaries outside the heap, and collects when they fill a virtual heap."
                                      " With min_bin_vheap_size ", integer_to_list(Bytes div ?WORD),
                                      " (words; process_flag/2 in the process; spawn_opt ignores it unless min_heap_size or"
                                      " fullsweep_after is given, too), one of ", integer_to_list(Bytes div Usual),
                                      " of these collections remains. Dead binaries are then freed later."],
                                     proof(Suspect, [{min_bin_vheap_size, Bytes div ?WORD}])))
     || Count >= ?VIRTUAL_COLLECTIONS, 2 * Count >= All, is_costly(Us, Ms),
        HeldLeft >= ?MOSTLY * Held orelse Left >= ?MOSTLY * (Left + Freed)].

%% @doc The sign of a process that starts many which grow through the same sizes; with what those do that were seen when they were new.
-spec of_births(diagnose_types:births(), diagnose_types:starts() | unknown | too_many) -> [diagnose_types:sign()].
of_births(#{labels := Labels, window_ms := Ms, ended := Ended, grown := Grown, collections := Collections, us := Us, left := Left,
            first := First, sizes := Sizes, limit := Limit}, Starts)
  when Grown >= ?BIRTHS ->
    In = works_in(Labels, Starts),
    Middle = lists:nth((Grown + 1) div 2, Sizes),
    IsLimited = Limit > 0 andalso 2 * Middle > Limit,
    Alike = length([Size || Size <- Sizes, 2 * Size >= Middle, Size =< 2 * Middle]),
    Words = Middle div ?WORD,
    [with_setting([{min_heap_size, Words} || not IsLimited],
                  diagnose_sign:sign(small_start,
                                     #{'of' => [diagnose_wording:label(Label) || Label <- Labels], ended => Ended, grown => Grown,
                                       collections => Collections, first_bytes => First div Grown, last_bytes => Middle, alike => Alike,
                                       copied_bytes => Left, spent_ms => Us / 1000, window_ms => Ms,
                                       saves_ms => Us * (Collections - Grown) div Collections / 1000,
                                       memory_bytes => max(0, Middle - First div Grown), sure => likely, limit_bytes => Limit,
                                       in => In},
                                     case IsLimited of
                                         true ->
                                             "Before the heap grows beyond max_heap_size, the VM ends the process (kill), so find out how"
                                             " these processes end: the work of those that are killed is lost, and starts again. Have them"
                                             " keep less at a time, or raise the limit.";
                                         false ->
                                             [["First see what they make there, and whether they need all of it (a list for one of its"
                                               " elements). If they do: " || In =/= []],
                                              larger_start(Words, Middle - First div Grown)]
                                     end, diagnose_proof:look()))
     || 2 * Grown >= Ended, Alike >= ?MOSTLY * Grown, is_costly(Us, Ms)];
of_births(#{}, _) -> [].

%% The functions that these are in at most looks, if they are most of those that are started.
works_in(Labels, #{samples := Samples, most := #{labels := Most}}) ->
    {Looks, Functions} = diagnose_samples:worked_in(Samples),
    [diagnose_wording:label(Function) || Looks >= ?BUSY_LOOKS, lists:any(fun(Label) -> lists:keymember(Label, 1, Most) end, Labels),
                                         {Function, Times} <- lists:sublist(Functions, ?TOLD_FUNCTIONS), 2 * Times >= Looks];
works_in(_, _) -> [].

larger_start(Words, More) ->
    ["Each process begins with a small heap, and is collected at each size until the heap is as large as"
     " its work needs. With min_heap_size ", integer_to_list(Words),
     " (words; spawn_opt, also of gen_server and supervisor's start functions) it begins with"
     " this size. Processes that need less memory then also have ",
     diagnose_wording:bytes(max(0, More)), " more while they live."].

proof(Suspect, [Setting]) -> diagnose_proof:setting(Suspect, Setting);
proof(_, []) -> diagnose_proof:look().

with_setting([Setting], Sign) -> Sign#{setting => Setting};
with_setting([], Sign) -> Sign.

is_costly(Us, Ms) -> Us >= ?COSTLY * 1000 * Ms.

of_kind(Kind, Why) -> [One || #{kind := K} = One <- Why, K =:= Kind].

sum(Key, Why) -> lists:sum([maps:get(Key, One) || One <- Why]).

sums(Why) ->
    maps:from_list([{Key, sum(Key, Why)}
                    || Key <- [count, us, young, old, aged, left, freed, held, old_held, held_left, held_freed, virtual]]).

power_of_two(Bytes) -> 1 bsl ceil(math:log2(Bytes)).
