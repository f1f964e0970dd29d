%% @doc Passes a dam's events to the user's function, in a process of its own, so that a function
%% that crashes or hangs does not affect the dam. While a hundred events wait for that process,
%% further events are lost and counted.
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
%% What the function has for the last events.
-define(LAST_MS, 5_000).

%% @doc The function of the library telemetry, if that library is available. It is no dependency.
-spec telemetry() -> callback() | undefined.
telemetry() -> executes(telemetry).

executes(Module) ->
    _ = code:ensure_loaded(Module),
    case erlang:function_exported(Module, execute, 3) of
        true -> fun Module:execute/3;
        false -> undefined
    end.

%% @doc Starts the process. With the callback `undefined' no process is needed.
-spec start_link(callback()) -> events(); (undefined) -> undefined.
start_link(undefined) -> undefined;
start_link(Callback) -> begin_with(Callback, counters:new(2, [atomics])).

begin_with(Callback, Counters) -> {proc_lib:spawn_link(?MODULE, init, [{self(), Callback, Counters}]), Counters}.

%% @doc Starts the process again after it has died. The events that waited for it are lost, and the
%% event that it was passing on counts as lost too.
-spec start_again(callback(), events()) -> events().
start_again(Callback, {_, Counters}) ->
    Waited = counters:get(Counters, ?WAITING),
    ok = counters:sub(Counters, ?WAITING, Waited),
    ok = counters:add(Counters, ?LOST, Waited),
    begin_with(Callback, Counters).

%% @doc Passes an event to the process, without waiting.
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

%% @doc Whether the pid is this process.
-spec is_process(pid(), events() | undefined) -> boolean().
is_process(_, undefined) -> false;
is_process(Pid, {Own, _}) -> Pid =:= Own.

%% @doc Ends the process once it has passed on the waiting events, or after 5 seconds. The caller may
%% end before that.
-spec stop(events() | undefined) -> ok.
stop(undefined) -> ok;
stop({Pid, _}) ->
    _ = spawn(fun() -> await_end(Pid) end),
    unlink(Pid),
    Pid ! stop,
    ok.

await_end(Pid) ->
    Monitor = monitor(process, Pid),
    receive {'DOWN', Monitor, process, Pid, _} -> ok
    after ?LAST_MS -> exit(Pid, kill)
    end.

-spec init({Dam :: pid(), callback(), counters:counters_ref()}) -> ok.
init({Dam, Callback, Counters} = State) ->
    receive
        {event, Event, Measurements, Metadata} ->
            try Callback(Event, Measurements, Metadata)
            catch _:_ -> counters:add(Counters, ?LOST, 1)
            end,
            counters:sub(Counters, ?WAITING, 1),
            init(State);
        stop -> ok;
        {'EXIT', Dam, _} -> ok; % the function may trap exits
        _ -> init(State)
    end.
