%% What runs on each node of term_cluster_SUITE: a relay, and workers that send terms on a way
%% round the cluster and compare what comes back.
-module(term_cluster).

-export([start_relay/0, start_workers/2, look/0, stop_workers/0, relay/0]).

-define(LIMIT_MS, 300_000).
-define(PART_WORDS, 4_000).
-define(FLAT_WORDS, 1_000_000).
-define(SIZES, [2, 5, 10, 20, 40]).
-define(TERMS, 1).
-define(WORDS, 2).

start_relay() -> register(?MODULE, spawn(fun relay/0)).

%% So many workers, whose terms go by the relays of these other nodes. One term is on its way for each.
start_workers(Others, Workers) ->
    Counters = counters:new(?WORDS, []),
    Pids = [spawn_opt(fun() -> worker(Others, Counters) end, options(Nth)) || Nth <- lists:seq(1, Workers)],
    persistent_term:put(?MODULE, {Counters, Pids}).

options(Nth) ->
    [{message_queue_data, element(1 + Nth rem 2, {on_heap, off_heap})},
     {fullsweep_after, element(1 + Nth div 2 rem 2, {0, 65535})}].

%% How many terms have come back as they were, and what the node takes.
look() ->
    {Counters, _} = persistent_term:get(?MODULE),
    {counters:get(Counters, ?TERMS), endurance_soak:resident()}.

%% How the workers ended, and how many words have come back as they were.
stop_workers() ->
    {Counters, Workers} = persistent_term:get(?MODULE),
    Monitors = [{Pid, monitor(process, Pid)} || Pid <- Workers],
    _ = [Pid ! stop || Pid <- Workers],
    Ends = [ended(Pid, Monitor) || {Pid, Monitor} <- Monitors],
    {Ends, counters:get(Counters, ?TERMS), counters:get(Counters, ?WORDS)}.

ended(Pid, Monitor) ->
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason
    after ?LIMIT_MS -> {hung, process_info(Pid, [current_stacktrace, message_queue_len])}
    end.

relay() ->
    receive
        {_, [], Worker, Tag, Term} -> Worker ! {Tag, Term};
        {relay, [Next | Nodes], Worker, Tag, Term} -> {?MODULE, Next} ! {relay, Nodes, Worker, Tag, Term}
    end,
    endurance_chaos:chance(50) andalso garbage_collect(),
    case endurance_chaos:chance(50) of
        true -> erlang:hibernate(?MODULE, relay, []);
        false -> relay()
    end.

worker(Others, Counters) ->
    receive
        stop -> ok
    after 0 ->
            ok = counters:add(Counters, ?WORDS, round_trip(Others)),
            ok = counters:add(Counters, ?TERMS, 1),
            worker(Others, Counters)
    end.

%% By both of the others, in either order.
round_trip(Others) ->
    Term = random_term(),
    [First | Nodes] = element(rand:uniform(2), {Others, lists:reverse(Others)}),
    Tag = make_ref(),
    {?MODULE, First} ! {relay, Nodes, self(), Tag, Term},
    endurance_chaos:chance(4) andalso garbage_collect(self(), [{type, endurance_chaos:one_of([minor, major])}]),
    receive
        {Tag, Term} -> erts_debug:flat_size(Term);
        {Tag, Other} -> error({damaged, erts_debug:flat_size(Term), erts_debug:flat_size(Other)})
    after ?LIMIT_MS -> error({lost, First, Nodes})
    end.

random_term() ->
    {ok, Nodes} = proper_gen:pick(proper_types:vector(endurance_chaos:one_of([1, 3, 10]), prop_term_graph:node_()),
                                  endurance_chaos:one_of(?SIZES)),
    Terms = lists:foldl(fun(Node, Held) -> [up_to(?PART_WORDS, term_graph:build(Node, Held)) | Held] end, [], Nodes),
    up_to(?FLAT_WORDS, lists:duplicate(rand:uniform(100), Terms)).

%% Sharing upon sharing soon makes terms that are larger than all memory when flat, as they are sent.
up_to(Words, Term) ->
    case erts_debug:flat_size(Term) =< Words of
        true -> Term;
        false -> too_large
    end.
