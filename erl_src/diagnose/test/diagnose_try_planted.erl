%% @doc Processes to try a flag on, and what gives them work. It is compiled on the node, whatever its release.
-module(diagnose_try_planted).
-behaviour(gen_server).

-export([plant/1, fed/2, loop/0, flags/1, block/2, traced/1, spinning/1, named/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, callback_mode/0, handle_event/4, handle_event/2, handle_call/2]).
-export([worked/2, system_continue/3, system_terminate/4]).

-define(KEPT, 20).

%% @doc Starts one of that kind, which does not end with the caller.
-spec plant(atom()) -> pid().
plant(Kind) ->
    Self = self(),
    spawn(fun() -> Self ! {planted, started(Kind)}, receive after infinity -> ok end end),
    receive {planted, Pid} -> Pid end.

started(server) -> pid(gen_server:start_link(?MODULE, server, []));
started(hibernating) -> pid(gen_server:start_link(?MODULE, hibernating, []));
started(hibernated) ->
    Pid = started(hibernating),
    Pid ! work,
    Pid;
started(limited) -> pid(gen_server:start_link(?MODULE, limited, []));
started(sensitive) -> pid(gen_server:start_link(?MODULE, sensitive, []));
started(statem) -> pid(gen_statem:start_link(?MODULE, statem, []));
started(supervisor) -> pid(supervisor:start_link(?MODULE, supervisor));
started(of_others) -> pid(diagnose_try_behaviour:start_link(?MODULE));
started(handlerless) -> pid(gen_event:start_link());
started(event) ->
    Pid = pid(gen_event:start_link()),
    ok = gen_event:add_handler(Pid, {?MODULE, 1}, event),
    ok = gen_event:add_handler(Pid, {?MODULE, 2}, event),
    Pid;
%% It waits for an answer that never comes: the call is of gen_server, the process is not.
started(caller) -> spawn_link(fun() -> gen_server:call(started(mute), nothing, infinity) end);
started(mute) -> spawn_link(fun() -> receive after infinity -> ok end end);
started(loop) -> spawn_link(?MODULE, loop, []);
started(proc_lib_loop) -> proc_lib:spawn_link(?MODULE, loop, []).

pid({ok, Pid}) -> Pid.

%% @doc Ends at the first message that it does not know.
-spec loop() -> no_return().
loop() ->
    receive
        work -> loop();
        Other -> exit({unknown, Other})
    end.

%% @doc Gives it work until one of both ends: messages that are all alike, in small bunches.
-spec fed(pid(), atom()) -> pid().
fed(Pid, event) -> fed_by(Pid, {notify, work});
fed(Pid, _) -> fed_by(Pid, work).

fed_by(Pid, Message) -> spawn(fun() -> feed(Pid, Message, monitor(process, Pid)) end).

feed(Pid, Message, Monitor) ->
    _ = [Pid ! Message || _ <- lists:seq(1, 20)],
    receive {'DOWN', Monitor, _, _, _} -> ok
    after 2 -> feed(Pid, Message, Monitor)
    end.

%% @doc All that a process can set.
-spec flags(pid()) -> [term()].
flags(Pid) ->
    {_, Collection} = process_info(Pid, garbage_collection),
    {_, Queue} = process_info(Pid, message_queue_data),
    [Queue | [lists:keyfind(Key, 1, Collection) || Key <- [fullsweep_after, min_heap_size, min_bin_vheap_size, max_heap_size]]].

%% @doc It does nothing else for so long.
-spec block(pid(), pos_integer()) -> ok.
block(Pid, Ms) ->
    Pid ! {block, Ms},
    ok.

%% @doc Somebody who traces the process.
-spec traced(pid()) -> pid().
traced(Pid) ->
    Self = self(),
    Tracer = spawn(fun() ->
                           1 = erlang:trace(Pid, true, [procs]),
                           Self ! traces,
                           receive after infinity -> ok end
                   end),
    receive traces -> Tracer end.

%% @doc So many that never wait.
-spec spinning(pos_integer()) -> pid().
spinning(Count) ->
    spawn(fun() ->
                  _ = [spawn_link(fun spin/0) || _ <- lists:seq(1, Count)],
                  receive after infinity -> ok end
          end).

spin() -> spin().

%% @doc Gives it a name.
-spec named(pid(), atom()) -> true.
named(Pid, Name) -> register(Name, Pid).

init(supervisor) -> {ok, {#{}, []}};
init(limited) ->
    _ = process_flag(max_heap_size, #{size => 1_000_000, kill => true, error_logger => false}),
    {ok, {limited, []}};
init(sensitive) ->
    _ = process_flag(sensitive, true),
    {ok, {sensitive, []}};
init(statem) -> {ok, state, []};
init(Kind) -> {ok, {Kind, []}}.

callback_mode() -> handle_event_function.

handle_event(_, Event, state, Kept) -> {keep_state, worked(Event, Kept)}.

handle_event(Event, {Kind, Kept}) -> {ok, {Kind, worked(Event, Kept)}}.

handle_call(_, State) -> {ok, ok, State}.

handle_call(kept, _, {_, Kept} = State) -> {reply, length(Kept), State}.

handle_cast(_, State) -> {noreply, State}.

handle_info(Event, {hibernating, Kept}) -> {noreply, {hibernating, worked(Event, Kept)}, hibernate};
handle_info(Event, {Kind, Kept}) -> {noreply, {Kind, worked(Event, Kept)}}.

%% A module with these may well have other processes beside.
system_continue(_, _, _) -> exit(never).

system_terminate(_, _, _, _) -> exit(never).

%% @doc What it does with a message.
-spec worked(term(), [term()]) -> [term()].
worked({block, Ms}, Kept) ->
    receive after Ms -> Kept end;
worked({fullsweep_after, Value}, Kept) ->
    _ = process_flag(fullsweep_after, Value),
    Kept;
worked(_, Kept) -> lists:sublist([lists:seq(1, 200) | Kept], ?KEPT).
