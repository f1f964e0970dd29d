%% @doc What runs on the node while a flag of a process is tried: a keeper, which asks the process and puts everything back, and a
%% meter, which traces it. The keeper puts back whatever ends the trial: the client is done, killed or cut off, the meter has too
%% much to count, or the process sets the flag itself. Then it removes this module, if it was carried there.
%%
%% process_flag/2 works on the calling process alone. So the process is sent what sys:replace_state/3 sends, with a fun that sets
%% the flag, sends what it found, and throws. The state is then neither replaced nor copied: `sys' and the behaviours keep the old
%% one when the fun throws, and what `sys' answers goes to a process that has ended, since gen_event answers with its states.
%%
%% It calls nothing but modules that every node has, and nothing newer than OTP 25.
-module(diagnose_try_probe).

-export([format/0, keep/3]).
%% For the tests.
-export([totals/1, is_near/5, initial_call/2]).

%% arms: a turn each, with the setting or without. settle, window: milliseconds at the beginning of a turn that do not count, and of
%% those that do. limit: milliseconds of all turns together.
-type asked() :: #{process := string(), flag := atom(), value := term(), arms := [arm(), ...], settle := pos_integer(),
                   window := pos_integer(), answer := pos_integer(), limit => pos_integer()}.
-type arm() :: with | without.
%% Of a turn: nanoseconds that the process was scheduled in, and those in which it collected; its reductions; collections; the mean
%% of the bytes of its heaps and of the binaries that it refers to.
-type totals() :: #{wall | running | collecting := non_neg_integer(), reductions | minor | full | bytes := non_neg_integer()}.
%% When (native), the reductions until then, and bytes.
-type mark() :: {integer(), non_neg_integer(), non_neg_integer()}.
-type turn() :: #{arm := arm(), messages := non_neg_integer() | unknown, wall | running | collecting := non_neg_integer(),
                  reductions | minor | full | bytes := non_neg_integer()}.
-type why() :: noproc | died | no_process | suspended | sensitive | too_long | no_otp_process | silent | traced |
             overloaded | overrun | idle | near_max_heap
             | {bad_value, term()} | {set_meanwhile, term()} | {ended, term()}.
-export_type([asked/0, arm/0, turn/0, why/0]).

%% Called where they are.
-ignore_xref([{trace, session_info, 1}]).

-include("probe/sessions.hrl").

-define(FORMAT, 1).
%% An overload: so many processes ready to run for each scheduler, at so many looks.
-define(OVERLOAD, 10).
-define(LOOKS, 10).
-define(BETWEEN_MS, 10).
%% Until a process is asked once more to put its flag back.
-define(AGAIN_MS, 1000).
%% Looks at the stack of a process that works, until its end is seen.
-define(STACKS, 25).
%% The VM tells no more of it.
-define(DEEPEST_STACK, 8).
-define(BEHAVIOURS, [gen_server, gen_statem, gen_event, supervisor, supervisor_bridge, 'Elixir.GenServer', 'Elixir.Supervisor']).
%% A dictionary is copied whole before OTP 26.2, and what its values share as often as they refer to it. Only one process is asked, and
%% only one that hibernates, which must have some state for a try to make sense.
-define(SMALL_WORDS, 400_000).
%% A turn begins when the process has collected so often, or at last after so many times to settle.
-define(COLLECTIONS, 4).
-define(SETTLES, 4).
%% Where more events wait for the meter, it ends. It looks at every so many.
-define(EVENTS_WAITING, 50_000).
-define(EVENTS, 1000).
%% A turn ends when the process has done so much, or at last after so many times its length.
-define(REDUCTIONS, 100_000).
-define(WINDOWS, 8).
%% A process that does less in two turns does nothing.
-define(IDLE_REDUCTIONS, 10_000).
%% A gibibyte of heap at its smallest.
-define(MOST_WORDS, 134_217_728).
%% A collection counts against max_heap_size what is there, a new young generation and a new old one, the latter two up to two
%% thirds larger (minor_collection() of erl_gc.c): four times the heap, and six once it has grown.
-define(ROOM, 8).
%% To purge a module the VM wakes every process.
-define(PURGED, 50_000).
-define(PURGES, 100).
-define(WORD, 8).

%% @doc Of what goes to and fro.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc Tries, and tells the client `{diagnose_try, Pid, Event}': `{turn, turn()}' each, and at last `{done, Result}'.
-spec keep(Client :: pid(), asked(), IsCarried :: boolean()) -> ok | boolean().
keep(Client, Asked, IsCarried) ->
    Result = try kept(Client, monitor(process, Client), Asked)
             catch
                 throw:{stopped, Why} -> {error, Why};
                 %% Such as no room for another process: what was carried here is removed all the same.
                 _:Reason -> {error, {ended, Reason}}
             end,
    ok = tell(Client, {done, Result}),
    removed(IsCarried andalso erlang:system_info(process_count) =< ?PURGED).

%% A connection that is full or cut must keep nothing from being put back.
tell(Client, Event) ->
    _ = erlang:send(Client, {diagnose_try, self(), Event}, [noconnect, nosuspend]),
    ok.

%% Nothing but a process in the fun of a request runs this code then, for microseconds: code that is run is not purged, since that
%% would kill who runs it. The last call leaves the code, as this process runs it, too.
removed(false) -> ok;
removed(true) ->
    _ = erlang:check_old_code(?MODULE) andalso code:soft_purge(?MODULE),
    true = code:delete(?MODULE),
    lists:any(fun code:soft_purge/1, lists:duplicate(?PURGES, ?MODULE)).

-spec stopped(why()) -> no_return().
stopped(Why) -> throw({stopped, Why}).

kept(Client, ClientMonitor, #{process := Text, flag := Flag, value := Value, answer := Ms} = Asked) ->
    not is_overloaded(?LOOKS) orelse stopped(overloaded),
    Pid = process(Text),
    #{before := Before} = Known = fit(Pid, Flag, Ms),
    Tried = valid(Flag, Value, Known),
    {Gone, GoneMonitor} = spawn_monitor(erlang, make_ref, []),
    receive {'DOWN', GoneMonitor, _, _, _} -> ok end,
    Keeper = #{client => Client, client_monitor => ClientMonitor, pid => Pid, pid_monitor => monitor(process, Pid), meter => self(),
               meter_monitor => none, gone => Gone, flag => Flag, answer => Ms, until => until(Asked)},
    _ = asked(none, Keeper),
    Counts = statistics(get, Keeper) =:= no_statistics,
    Result = try
                 metered(Keeper, Asked#{before => Before, tried => Tried, counts => Counts})
             catch
                 throw:{stopped, Why} -> {error, Why};
                 _:Reason -> {error, {ended, Reason}}
             end,
    put_back(Result, Before, Tried, Counts, Keeper).

%% When all turns must be done. A client of an earlier version gives no limit.
until(#{limit := Ms}) -> deadline(Ms);
until(#{}) -> infinity.

process([$< | _] = Text) ->
    try list_to_pid(Text) of
        Pid when node(Pid) =:= node() -> Pid;
        _ -> stopped(no_process)
    catch error:badarg -> stopped(no_process)
    end;
process(Name) ->
    try whereis(list_to_existing_atom(Name)) of
        Pid when is_pid(Pid) -> Pid;
        _ -> stopped(noproc)
    catch error:badarg -> stopped(noproc)
    end.

is_overloaded(0) -> true;
is_overloaded(Left) ->
    case erlang:statistics(total_run_queue_lengths) > ?OVERLOAD * erlang:system_info(schedulers_online) of
        true ->
            wait(?BETWEEN_MS),
            is_overloaded(Left - 1);
        false -> false
    end.

wait(Ms) -> receive after Ms -> ok end.

%% What is to be known of the process, which may not answer for long.
fit(Pid, Flag, Ms) ->
    case within(fun() -> known(Pid, Flag) end, Ms) of
        {ok, #{} = Known} -> Known;
        {ok, Why} -> stopped(Why);
        {error, Why} -> stopped(Why)
    end.

within(Fun, Ms) ->
    Self = self(),
    Tag = make_ref(),
    {Helper, Monitor} = spawn_monitor(fun() -> Self ! {Tag, Fun()} end),
    receive
        {Tag, Result} ->
            true = demonitor(Monitor, [flush]),
            {ok, Result};
        {'DOWN', Monitor, _, _, Reason} -> {error, {ended, Reason}}
    after Ms ->
            exit(Helper, kill),
            receive {'DOWN', Monitor, _, _, _} -> {error, silent} end
    end.

known(Pid, Flag) ->
    case process_info(Pid, [status, garbage_collection, garbage_collection_info]) of
        undefined -> noproc;
        [{status, suspended} | _] -> suspended;
        [_, {_, Collection}, {_, Info}] ->
            case {erlang:trace_info(Pid, flags), other_sessions(Pid)} of
                {{flags, []}, []} ->
                    case serves(Pid, ?STACKS) of
                        true -> unless_sensitive(Pid, #{before => value(Pid, Flag), max => max_heap(Collection), heap => words(Info)});
                        false -> no_otp_process;
                        suspended -> suspended
                    end;
                {undefined, _} -> noproc;
                _ -> traced
            end
    end.

%% Of a process with the flag `sensitive' the VM tells no events, and shows neither dictionary nor stack. A process of a behaviour has
%% something in its dictionary. A backtrace may be long, so it is made last.
unless_sensitive(Pid, Known) ->
    case initial_call(Pid) =:= undefined andalso process_info(Pid, backtrace) of
        {backtrace, <<>>} -> sensitive;
        _ -> Known
    end.

%% Of processes that are killed beyond it.
max_heap(Collection) ->
    case lists:keyfind(max_heap_size, 1, Collection) of
        {_, #{size := Words, kill := true}} when Words > 0 -> Words;
        _ -> none
    end.

words(Info) -> lists:sum([Words || {Key, Words} <- Info, Key =:= heap_block_size orelse Key =:= old_heap_block_size]).

value(Pid, message_queue_data) -> of_info(process_info(Pid, message_queue_data));
value(Pid, Flag) -> of_info(lists:keyfind(Flag, 1, of_info(process_info(Pid, garbage_collection)))).

of_info({_, Value}) -> Value;
of_info(_) -> [].

%% Whether it takes the messages of `sys'. To a process that does not, such a message could be fatal. The stack of one that does
%% ends with proc_lib, which called a behaviour with the callbacks of `sys'. (A module that is no behaviour may have these callbacks
%% for one of its processes, and other processes beside.) Of a deep stack the end is not seen.
serves(Pid, 0) -> begins_as_server(Pid);
serves(Pid, Looks) ->
    case process_info(Pid, current_stacktrace) of
        undefined -> false;
        {_, Stack} ->
            case lists:reverse([Module || {Module, _, _, _} <- Stack]) of
                [proc_lib, sys | _] -> suspended;
                [proc_lib, Module | _] -> takes_system_messages(Module);
                Frames when length(Frames) >= ?DEEPEST_STACK ->
                    wait(?BETWEEN_MS),
                    serves(Pid, Looks - 1);
                [] -> begins_as_server(Pid);
                [erlang] -> begins_as_server(Pid);
                _ -> false
            end
    end.

takes_system_messages(Module) ->
    lists:all(fun({Name, Arity}) -> erlang:function_exported(Module, Name, Arity) end,
              [{system_continue, 3}, {system_terminate, 4}, {behaviour_info, 1}]).

%% One that hibernates has no stack.
begins_as_server(Pid) ->
    case initial_call(Pid) of
        {gen_event, init_it, _} -> true;
        {supervisor, Module, 1} when is_atom(Module) -> true;
        {Module, init, 1} when is_atom(Module) -> lists:any(fun(Name) -> lists:member(Name, ?BEHAVIOURS) end, behaviours(Module));
        _ -> false
    end.

initial_call(Pid) ->
    try process_info(Pid, {dictionary, '$initial_call'}) of
        {_, Call} -> Call;
        undefined -> undefined
    catch
        error:badarg ->
            case process_info(Pid, total_heap_size) of
                {_, Words} -> initial_call(Pid, Words);
                undefined -> undefined
            end
    end.

%% @doc The same by the whole dictionary.
-spec initial_call(pid(), non_neg_integer()) -> term().
initial_call(Pid, Words) when Words =< ?SMALL_WORDS ->
    case process_info(Pid, dictionary) of
        {_, Dictionary} -> proplists:get_value('$initial_call', Dictionary);
        undefined -> undefined
    end;
initial_call(_, _) -> undefined.

behaviours(Module) ->
    try Module:module_info(attributes) of
        Attributes -> lists:append([Names || {Key, Names} <- Attributes, Key =:= behaviour orelse Key =:= behavior])
    catch error:undef -> []
    end.

%% What the flag will be: sizes are rounded up. A process of its own sets it first.
valid(Flag, Value, #{before := Before, max := Max, heap := Heap}) ->
    _ = lists:member(Flag, [min_heap_size, min_bin_vheap_size]) andalso is_integer(Value) andalso Value > ?MOST_WORDS
        andalso stopped({bad_value, Value}),
    _ = is_integer(Max) andalso is_near(Flag, Value, Before, Heap, Max) andalso stopped(near_max_heap),
    case within(fun() -> try process_flag(Flag, Value) of _ -> {is, value(self(), Flag)} catch error:_ -> bad end end, infinity) of
        {ok, {is, Tried}} -> Tried;
        _ -> stopped({bad_value, Value})
    end.

%% @doc Whether a process with so many words of heap could come to be killed beyond its limit by a setting, which may enlarge the heap.
%% How much the messages are that would come onto the heap is not known.
-spec is_near(atom(), term(), term(), non_neg_integer(), pos_integer()) -> boolean().
is_near(message_queue_data, on_heap, off_heap, _, _) -> true;
is_near(min_heap_size, Value, Before, Heap, Max) when is_integer(Value), Value > Before -> ?ROOM * max(Value, Heap) > Max;
is_near(_, Value, Before, Heap, Max) when is_integer(Value), Value > Before -> ?ROOM * Heap > Max;
is_near(_, _, _, Heap, Max) -> 2 * Heap > Max.

%% Has the process make a mark, and change the flag, if it is as expected.
asked(Change, #{meter := Meter} = Keeper) -> await(mark, request(Change, Meter, Keeper), Keeper).

%% The fun throws always.
-dialyzer({nowarn_function, request/3}).
request(Change, To, #{pid := Pid, gone := Gone, flag := Flag}) ->
    Tag = make_ref(),
    Pid ! {system, {Gone, Tag}, {replace_state, fun(_State) -> ok = marked(To, Tag, Flag, Change), throw(?MODULE) end}},
    Tag.

%% The process itself does this.
marked(To, Tag, Flag, Change) ->
    Before = value(self(), Flag),
    _ = case Change of
            {Before, Value} -> process_flag(Flag, Value);
            _ -> as_it_is
        end,
    [{_, Reductions}, {_, Info}] = process_info(self(), [reductions, garbage_collection_info]),
    To ! {mark, Tag, Before, {erlang:monotonic_time(), Reductions, bytes(Info)}},
    ok.

bytes(Info) ->
    ?WORD * lists:sum([Words || {Key, Words} <- Info, is_held(Key)]).

is_held(heap_block_size) -> true;
is_held(old_heap_block_size) -> true;
is_held(mbuf_size) -> true;
is_held(bin_vheap_size) -> true;
is_held(bin_old_vheap_size) -> true;
is_held(_) -> false.

%% The messages that the process took, by its own account (sys:statistics/2).
statistics(What, Keeper) -> await(answer, request_statistics(What, make_ref(), Keeper), Keeper).

request_statistics(What, Tag, #{pid := Pid}) ->
    Pid ! {system, {self(), Tag}, {debug, {statistics, What}}},
    Tag.

await(Kind, Tag, #{answer := Ms} = Keeper) -> await(Kind, Tag, deadline(Ms), Keeper).

%% An atom is more than any number.
await(Kind, Tag, Until, #{client_monitor := Client, pid_monitor := Process, meter_monitor := Meter, until := Last} = Keeper) ->
    receive
        {Tag, {ok, no_statistics}} when Kind =:= answer -> no_statistics;
        {Tag, Answer} when Kind =:= answer -> Answer;
        {mark, Tag, Before, Mark} -> {Before, Mark};
        %% gen_event calls the fun for each of its handlers.
        {mark, _, _, _} -> await(Kind, Tag, Until, Keeper);
        {'DOWN', Client, _, _, _} -> stopped({ended, client});
        {'DOWN', Process, _, _, _} -> stopped(died);
        {'DOWN', Meter, _, _, Why} -> stopped(of_meter(Why))
    after max(0, min(Until, Last) - erlang:monotonic_time(millisecond)) ->
            case Kind of
                _ when Last < Until -> stopped(too_long);
                time -> ok;
                _ -> stopped(silent)
            end
    end.

deadline(Ms) -> erlang:monotonic_time(millisecond) + Ms.

pass(Ms, Keeper) -> await(time, make_ref(), deadline(Ms), Keeper).

of_meter(Why) when Why =:= traced; Why =:= overrun -> Why;
of_meter(Why) -> {ended, Why}.

metered(#{pid := Pid} = Unmetered, #{arms := Arms, before := Before, counts := Counts} = Asked) ->
    Self = self(),
    Tag = make_ref(),
    {Meter, Monitor} = spawn_opt(fun() -> meter(Self, Tag, Pid) end, [monitor, {priority, high}, {message_queue_data, off_heap}]),
    Keeper = Unmetered#{meter := Meter, meter_monitor := Monitor},
    try
        traced = await(answer, Tag, Keeper),
        _ = Counts andalso statistics(true, Keeper),
        turns(Arms, Before, 0, Asked, Keeper)
    after
        true = demonitor(Monitor, [flush]),
        exit(Meter, kill)
    end.

turns([], _, _, #{before := Before, tried := Tried}, _) -> {ok, #{before => Before, tried => Tried}};
turns([Arm | Arms], Now, Work, #{before := Before, tried := Tried, settle := Settle, window := Window} = Asked, Keeper) ->
    Value = case Arm of with -> Tried; without -> Before end,
    _ = as_set(Now, asked({Now, Value}, Keeper)),
    ok = settled(Settle, ?SETTLES, 0, Value, Keeper),
    {_, First} = measured(Value, Keeper),
    {#{reductions := Reductions} = Totals, Last} = worked(Window, ?WINDOWS, none, Value, Keeper),
    Messages = case is_integer(First) andalso is_integer(Last) of true -> Last - First; false -> unknown end,
    _ = length(Arms) rem 2 =:= 0 andalso Work + Reductions < ?IDLE_REDUCTIONS andalso stopped(idle),
    ok = tell(maps:get(client, Keeper), {turn, Totals#{arm => Arm, messages => Messages}}),
    turns(Arms, Value, Work + Reductions, Asked, Keeper).

worked(Ms, Left, Before, Value, Keeper) ->
    ok = pass(Ms, Keeper),
    {Totals, Messages} = measured(Value, Keeper),
    case joined(Before, Totals) of
        #{reductions := Reductions} = Joined when Reductions >= ?REDUCTIONS; Left =:= 1 -> {Joined, Messages};
        Joined -> worked(Ms, Left - 1, Joined, Value, Keeper)
    end.

joined(none, Totals) -> Totals;
joined(#{wall := Before, bytes := Held} = First, #{wall := Wall, bytes := Bytes} = Second) ->
    Sums = maps:map(fun(Key, Value) -> Value + maps:get(Key, Second) end, First),
    Sums#{bytes := (Held * Before + Bytes * Wall) div max(1, Before + Wall)}.

%% Until what the setting changes has changed: the heap, by some collections.
settled(_, 0, _, _, _) -> ok;
settled(Ms, Left, Seen, Value, Keeper) ->
    ok = pass(Ms, Keeper),
    #{minor := Minor, full := Full} = as_set(Value, asked(none, Keeper)),
    case Seen + Minor + Full of
        Collections when Collections >= ?COLLECTIONS -> ok;
        Collections -> settled(Ms, Left - 1, Collections, Value, Keeper)
    end.

%% The mark and the account of messages follow each other in the mailbox, which may be long.
measured(Value, #{meter := Meter} = Keeper) ->
    Mark = request(none, Meter, Keeper),
    Account = request_statistics(get, make_ref(), Keeper),
    Totals = as_set(Value, await(mark, Mark, Keeper)),
    {Totals, of_account(await(answer, Account, Keeper))}.

of_account({ok, Counts}) when is_list(Counts) -> proplists:get_value(messages_in, Counts, unknown);
of_account(_) -> unknown.

as_set(Value, {Value, Totals}) -> Totals;
as_set(_, {Other, _}) -> stopped({set_meanwhile, Other}).

%% For as long as it takes: the process finds the request when it goes on. What it has set itself meanwhile stays.
put_back(Result, Before, Tried, Counts, #{pid := Pid, client := Client, answer := Ms} = Keeper) ->
    Monitor = monitor(process, Pid),
    Ask = fun() ->
                  Tag = request({Tried, Before}, self(), Keeper),
                  request_statistics(case Counts of true -> false; false -> get end, Tag, Keeper)
          end,
    case set_back(Ask(), Monitor, Ms) of
        set -> Result;
        died -> died(Result);
        Later ->
            ok = tell(Client, {waits, Result}),
            set_later(Later, Ask, Monitor, Result)
    end.

%% A gen_event that has no handlers any more answers, and sets nothing: it is asked again until it has one.
set_later({silent, Tag}, Ask, Monitor, Result) -> set_later(set_back(Tag, Monitor, infinity), Ask, Monitor, Result);
set_later(unset, Ask, Monitor, Result) ->
    wait(?AGAIN_MS),
    set_later(set_back(Ask(), Monitor, infinity), Ask, Monitor, Result);
set_later(set, _, _, Result) -> Result;
set_later(died, _, _, Result) -> died(Result).

%% The mark comes first.
set_back(Tag, Monitor, Ms) ->
    receive
        {Tag, _} ->
            receive {mark, Tag, _, _} -> set
            after 0 -> unset
            end;
        {'DOWN', Monitor, _, _, _} -> died
    after Ms -> {silent, Tag}
    end.

died({ok, _}) -> {error, died};
died(Error) -> Error.

%% The meter

meter(Keeper, Tag, Pid) ->
    Monitor = monitor(process, Keeper),
    case is_traced(Pid) of
        true ->
            Keeper ! {Tag, traced},
            metering(Keeper, Monitor, ?EVENTS, unseen());
        false -> exit(traced)
    end.

%% Where somebody else traces the process, or it has ended, the VM refuses.
-dialyzer({nowarn_function, is_traced/1}).
is_traced(Pid) ->
    try erlang:trace(Pid, true, [running, garbage_collection, monotonic_timestamp]) =:= 1
    catch error:badarg -> false
    end.

metering(Keeper, Monitor, 0, Seen) ->
    case process_info(self(), message_queue_len) of
        {_, Waiting} when Waiting > ?EVENTS_WAITING -> exit(overrun);
        _ -> metering(Keeper, Monitor, ?EVENTS, Seen)
    end;
metering(Keeper, Monitor, Left, Seen) ->
    receive
        {trace_ts, _, Event, Info, At} -> metering(Keeper, Monitor, Left - 1, event(Event, Info, At, Seen));
        {mark, Tag, Before, Mark} ->
            {Totals, Next} = total(Mark, Seen),
            Keeper ! {mark, Tag, Before, Totals},
            metering(Keeper, Monitor, Left - 1, Next);
        {'DOWN', Monitor, _, _, _} -> ok
    end.

unseen() ->
    #{in => out, gc => none, last => none, running => 0, collecting => 0, minor => 0, full => 0, area => 0, from => none}.

event(in, _, At, Seen) -> Seen#{in := At};
event(out, _, At, #{in := In, running := Running} = Seen) when is_integer(In) -> Seen#{in := out, running := Running + At - In};
event(Start, Info, At, Seen) when Start =:= gc_minor_start; Start =:= gc_major_start -> (held(At, bytes(Info), Seen))#{gc := At};
event(gc_minor_end, Info, At, Seen) -> collected(minor, Info, At, Seen);
event(gc_major_end, Info, At, Seen) -> collected(full, Info, At, Seen);
event(_, _, _, Seen) -> Seen.

%% While it collects it holds what it held before.
collected(Kind, Info, At, #{gc := Began, collecting := Collecting, last := {_, Held}} = Seen) when is_integer(Began) ->
    #{Kind := Times} = Now = held(At, Held, Seen),
    Now#{Kind := Times + 1, gc := none, collecting := Collecting + At - Began, last := {At, bytes(Info)}};
collected(_, _, _, Seen) -> Seen.

%% In between it grows evenly.
held(At, Bytes, #{last := {Before, Held}, area := Area} = Seen) ->
    Seen#{last := {At, Bytes}, area := Area + (At - Before) * (Held + Bytes) div 2};
held(At, Bytes, #{last := none} = Seen) -> Seen#{last := {At, Bytes}}.

%% The process runs when it makes a mark. The first mark ends what was before all turns.
total({At, Reductions, Bytes}, Seen) ->
    #{in := In, running := Running, collecting := Collecting, minor := Minor, full := Full, area := Area, from := From} =
        held(At, Bytes, Seen),
    {Began, Reduced} = case From of none -> {At, Reductions}; _ -> From end,
    {#{wall => ns(At - Began), running => ns(Running + case In of out -> 0; _ -> At - In end), collecting => ns(Collecting),
       reductions => Reductions - Reduced, minor => Minor, full => Full,
       bytes => case At - Began of 0 -> Bytes; Wall -> Area div Wall end},
     (unseen())#{in := At, last := {At, Bytes}, from := {At, Reductions}}}.

ns(Native) -> erlang:convert_time_unit(Native, native, nanosecond).

%% @doc Of each turn that marks delimit, what these events add up to. Times are native.
-spec totals([{trace_ts, pid(), atom(), term(), integer()} | {mark, term(), term(), mark()}]) -> [totals()].
totals(Events) -> totals(Events, unseen()).

totals([], _) -> [];
totals([{trace_ts, _, Event, Info, At} | Events], Seen) -> totals(Events, event(Event, Info, At, Seen));
totals([{mark, _, _, Mark} | Events], Seen) ->
    {Totals, Next} = total(Mark, Seen),
    [Totals | totals(Events, Next)].
