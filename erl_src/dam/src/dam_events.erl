%% @doc Hands a dam's events to the user's function, in a process of its own: one
%% that crashes or hangs there hurts nobody. While a hundred wait for it, further
%% ones are lost and counted.
-module(dam_events).

-export([telemetry/0, start_link/1, start_again/2, is_process/2, emit/4, lost/1, stop/1]).
-export([init/1]).
-export_type([events/0, callback/0]).

-type callback() :: fun((Event :: [atom(), ...], Measurements :: #{atom() => number()},
                         Metadata :: #{atom() => term()}) -> term()).
-opaque events() :: {pid(), counters:counters_ref()}.

-define(WAITING, 1).
-define(LOST, 2).
-define(MAX_WAITING, 100).

%% @doc The library telemetry's function, where the application has that library. It is no dependency.
-spec telemetry() -> callback() | undefined.
telemetry() -> executes(telemetry).

executes(Module) ->
    _ = code:ensure_loaded(Module),
    case erlang:function_exported(Module, execute, 3) of
        true -> fun Module:execute/3;
        false -> undefined
    end.

%% @doc Starts the process; a callback of `undefined' needs none.
-spec start_link(callback()) -> events(); (undefined) -> undefined.
start_link(undefined) -> undefined;
start_link(Callback) -> begin_with(Callback, counters:new(2, [atomics])).

begin_with(Callback, Counters) -> {proc_lib:spawn_link(?MODULE, init, [{Callback, Counters}]), Counters}.

%% @doc Starts the process again after it has died. What waited for it is lost, and the
%% one that it was handing over when it died counts as lost too.
-spec start_again(callback(), events()) -> events().
start_again(Callback, {_, Counters}) ->
    Waited = counters:get(Counters, ?WAITING),
    ok = counters:sub(Counters, ?WAITING, Waited),
    ok = counters:add(Counters, ?LOST, Waited),
    begin_with(Callback, Counters).

%% @doc Hands over an event; does not wait.
-spec emit([atom(), ...], #{atom() => number()}, #{atom() => term()}, events() | undefined) -> ok.
emit(_, _, _, undefined) -> ok;
emit(Event, Measurements, Metadata, {Pid, Counters}) ->
    case counters:get(Counters, ?WAITING) < ?MAX_WAITING of
        true ->
            counters:add(Counters, ?WAITING, 1),
            Pid ! {event, Event, Measurements, Metadata},
            ok;
        false -> counters:add(Counters, ?LOST, 1)
    end.

%% @doc How many events were lost.
-spec lost(events() | undefined) -> non_neg_integer().
lost(undefined) -> 0;
lost({_, Counters}) -> counters:get(Counters, ?LOST).

%% @doc Whether that is the process.
-spec is_process(pid(), events() | undefined) -> boolean().
is_process(_, undefined) -> false;
is_process(Pid, {Own, _}) -> Pid =:= Own.

%% @doc Lets the process end once it has handed over what waits. The caller may end before.
-spec stop(events() | undefined) -> ok.
stop(undefined) -> ok;
stop({Pid, _}) ->
    unlink(Pid),
    Pid ! stop,
    ok.

-spec init({callback(), counters:counters_ref()}) -> ok.
init({Callback, Counters} = State) ->
    receive
        {event, Event, Measurements, Metadata} ->
            try Callback(Event, Measurements, Metadata)
            catch _:_ -> counters:add(Counters, ?LOST, 1)
            end,
            counters:sub(Counters, ?WAITING, 1),
            init(State);
        stop -> ok;
        _ -> init(State)
    end.
