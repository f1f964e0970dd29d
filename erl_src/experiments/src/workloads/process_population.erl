%% @doc Thousands of processes that wait, for the experiments on the memory
%% of processes.
%%
%% One process starts them, without links or monitors. They are measured when
%% each of them is in the state of its kind.
-module(process_population).
-behaviour(gen_server).

-export([kinds/0, grow/3, ready/0, settle/0]).
-export([wait/0, init/1, handle_call/3, handle_cast/2]).
-export_type([kind/0]).

-type kind() :: waiting | hibernated | gen_server | messages_on_heap | messages_off_heap.

-define(MESSAGES, 10).
%% Elements of the tuple that each message is: 8 words with its header.
-define(ELEMENTS, 7).

%% @doc The kinds of processes: one in a receive; one that hibernates; an idle
%% gen_server; and two in a receive that matches none of their 10 messages of 8
%% words, which are on the heap or off it.
-spec kinds() -> [{kind(), Says :: string()}].
kinds() ->
    [{waiting, "in a receive"},
     {hibernated, "that hibernates"},
     {gen_server, "that is an idle gen_server"},
     {messages_on_heap, "with 10 messages on its heap"},
     {messages_off_heap, "with 10 messages off its heap"}].

%% @doc Lets a population grow to each of these ascending sizes, and calls
%% the fun at each size. Returns the result of the fun at each size, and how many processes
%% were not in their kind's state at the last. All processes are gone when it returns.
-spec grow(kind(), [pos_integer()], fun(() -> Reading)) ->
          {[{pos_integer(), Reading}], NotAsWanted :: non_neg_integer()}.
grow(Kind, Sizes, Read) ->
    Caller = self(),
    {Parent, Monitor} = spawn_monitor(fun() -> Caller ! {self(), grown(Kind, Sizes, Read)} end),
    receive
        {Parent, Grown} ->
            demonitor(Monitor, [flush]),
            Grown;
        {'DOWN', Monitor, process, Parent, Reason} -> error(Reason)
    end.

grown(Kind, Sizes, Read) ->
    ok = ready(),
    Others = erlang:system_info(process_count),
    {Readings, _} = lists:mapfoldl(fun(Size, Before) ->
                                           ok = add(Kind, Size - Before),
                                           ok = settle(),
                                           {{Size, Read()}, Size}
                                   end, 0, Sizes),
    Population = [Pid || Pid <- processes(), process_info(Pid, parent) =:= {parent, self()}],
    NotAsWanted = lists:last(Sizes) - length([Pid || Pid <- Population, is_as_wanted(Kind, Pid)]),
    lists:foreach(fun(Pid) -> exit(Pid, kill) end, Population),
    ok = await_count(Others),
    {Readings, NotAsWanted}.

%% Keeps no list of the processes, since that would grow with them.
add(_Kind, 0) -> ok;
add(Kind, Left) ->
    Pid = start(Kind),
    ok = await(Pid),
    ok = fill(Kind, Pid),
    add(Kind, Left - 1).

start(waiting) -> spawn(?MODULE, wait, []);
start(hibernated) -> spawn(erlang, hibernate, [?MODULE, wait, []]);
start(gen_server) ->
    {ok, Pid} = gen_server:start(?MODULE, [], []),
    Pid;
start(messages_on_heap) -> spawn_opt(?MODULE, wait, [], [{message_queue_data, on_heap}]);
start(messages_off_heap) -> spawn_opt(?MODULE, wait, [], [{message_queue_data, off_heap}]).

await(Pid) ->
    case process_info(Pid, status) of
        {status, waiting} -> ok;
        {status, _} ->
            erlang:yield(),
            await(Pid)
    end.

%% A suspended process does not run while messages come, so the senders can put
%% each message directly on its heap.
fill(Kind, Pid) when Kind =:= messages_on_heap; Kind =:= messages_off_heap ->
    true = erlang:suspend_process(Pid),
    lists:foreach(fun(_) -> Pid ! erlang:make_tuple(?ELEMENTS, 0) end, lists:seq(1, ?MESSAGES)),
    true = erlang:resume_process(Pid),
    await(Pid);
fill(_Kind, _Pid) -> ok.

%% @doc Makes this VM accept the request of settle/0.
-spec ready() -> ok.
ready() ->
    _ = erts_debug:set_internal_state(available_internal_state, true),
    ok.

%% @doc Waits until freed memory is given back. The replies of processes stay in heap
%% fragments until the caller is collected, and memory that one scheduler frees
%% for another is given back with a delay.
-spec settle() -> ok.
settle() ->
    true = garbage_collect(),
    _ = erts_debug:set_internal_state(wait, deallocations),
    ok.

is_as_wanted(Kind, Pid) ->
    Items = [status, current_function, message_queue_len, message_queue_data],
    wanted(Kind, [Value || {_, Value} <- process_info(Pid, Items)]).

wanted(waiting, [waiting, {?MODULE, wait, 0}, 0, _]) -> true;
wanted(hibernated, [waiting, {erlang, hibernate, 3}, 0, _]) -> true;
wanted(gen_server, [waiting, {gen_server, _, _}, 0, _]) -> true;
wanted(messages_on_heap, [waiting, {?MODULE, wait, 0}, ?MESSAGES, on_heap]) -> true;
wanted(messages_off_heap, [waiting, {?MODULE, wait, 0}, ?MESSAGES, off_heap]) -> true;
wanted(_, _) -> false.

%% A process counts until the last of its memory is given back.
await_count(Count) ->
    case erlang:system_info(process_count) > Count of
        true -> timer:sleep(1), await_count(Count);
        false -> settle()
    end.

%% @doc The life of a process of the population.
-spec wait() -> stop.
wait() -> receive stop -> stop end.

-spec init([]) -> {ok, []}.
init([]) -> {ok, []}.

-spec handle_call(term(), gen_server:from(), []) -> {reply, ok, []}.
handle_call(_Request, _From, State) -> {reply, ok, State}.

-spec handle_cast(term(), []) -> {noreply, []}.
handle_cast(_Request, State) -> {noreply, State}.
