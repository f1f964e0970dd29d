%% The NIF while those who measure are killed at random moments, others ask for their collection,
%% and its code is loaded anew: what is counted is what there is, and nothing is left afterwards.
-module(cons_spacing_chaos_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, init_per_suite/1, end_per_suite/1, laws_hold_among_kills/1]).

-define(CLIENTS, 4).
-define(LARGE_CELLS, 300_000).
-define(LAYOUTS, 40).
-define(TERM_SIZE, 40).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [laws_hold_among_kills].

init_per_suite(Config) -> endurance_chaos:silence(Config).

end_per_suite(Config) -> endurance_chaos:end_silence(Config).

laws_hold_among_kills(_) ->
    Snapshot = endurance_chaos:snapshot(),
    Ledger = ets:new(cons_spacing_chaos, [public, {write_concurrency, true}]),
    true = ets:insert(Ledger, [{walks, 0}, {loads, 0}, {collections, 0}]),
    Measuring = endurance_chaos:supervise([endurance_chaos:client(Nth, Ledger, fun() -> measure(Ledger) end)
                                         || Nth <- lists:seq(1, ?CLIENTS)]),
    Disturbing = endurance_chaos:supervise(
                   [endurance_chaos:client(loader, Ledger, fun() -> load(Ledger) end),
                    endurance_chaos:client(collector, Ledger, fun() -> collect(Measuring, Ledger) end)]),
    Sampler = endurance_soak:start(fun() -> {count(walks, Ledger), endurance_soak:resident()} end, endurance_chaos:seconds()),
    Kills = endurance_chaos:run([{client, 1, infinity, fun() -> endurance_chaos:alive(Measuring) end}]),
    Growth = endurance_soak:stop(Sampler),
    ?assertEqual(true, endurance_chaos:all_finished(Disturbing, Ledger)),
    ?assertEqual(true, endurance_chaos:all_finished(Measuring, Ledger)),
    ?assertEqual([], endurance_chaos:faults(Ledger)),
    Comment = comment(Kills, Ledger, Growth),
    [ok = gen_server:stop(Supervisor) || Supervisor <- [Disturbing, Measuring]],
    true = ets:delete(Ledger),
    ?assertEqual([], endurance_chaos:left(Snapshot)),
    {comment, Comment}.

comment(#{client := Killed}, Ledger, Growth) ->
    lists:flatten(io_lib:format("~b s; ~b killed, ~b walks, ~b loads of the code, ~b collections by others; ~ts",
                                [endurance_chaos:seconds(), Killed, count(walks, Ledger), count(loads, Ledger),
                                 count(collections, Ledger), endurance_soak:text(Growth)])).

count(What, Ledger) -> ets:lookup_element(Ledger, What, 2).

measure(Ledger) ->
    endurance_chaos:is_over(Ledger) orelse
        begin
            ok = measure_one(rand:uniform(10)),
            _ = ets:update_counter(Ledger, walks, 1),
            measure(Ledger)
        end.

%% The first is long enough to be killed and collected in the middle of it. A walk that others
%% have begun anew a hundred times gives up.
measure_one(1) ->
    Large = [{N} || N <- lists:seq(1, ?LARGE_CELLS)],
    try #{cells := ?LARGE_CELLS, lists := 1} = cons_spacing:measure_term(Large), ok
    catch error:moved -> ok
    end;
measure_one(N) when N =< 4 ->
    cons_spacing_SUITE:compare_with_model(rand:uniform(1_000_000), 1 + rand:uniform(?LAYOUTS));
measure_one(_) ->
    %% Decoded, it shares nothing, and nothing of it is a literal.
    Term = binary_to_term(term_to_binary(random_term())),
    {Cells, Lists} = cells_and_lists(Term),
    #{cells := Cells, lists := Lists} = cons_spacing:measure_term(Term),
    ok.

random_term() ->
    {ok, Term} = proper_gen:pick(proper_types:any(), rand:uniform(?TERM_SIZE)),
    endurance_chaos:one_of([Term, {Term, [Term]}, #{Term => Term}, [Term | Term], lists:duplicate(50, Term),
                          maps:from_list([{N, [N, Term]} || N <- lists:seq(1, 100)])]).

%% Of a term that shares nothing. A list of which another one is the tail is one.
cells_and_lists([_ | _] = List) -> spine(List, {0, 1});
cells_and_lists(Tuple) when is_tuple(Tuple) -> sum(tuple_to_list(Tuple));
cells_and_lists(#{} = Map) -> sum(maps:keys(Map) ++ maps:values(Map));
cells_and_lists(_) -> {0, 0}.

spine([Head | Tail], {Cells, Lists}) -> spine(Tail, plus({Cells + 1, Lists}, cells_and_lists(Head)));
spine(Tail, Sum) -> plus(Sum, cells_and_lists(Tail)).

sum(Terms) -> lists:foldl(fun(Term, Sum) -> plus(Sum, cells_and_lists(Term)) end, {0, 0}, Terms).

plus({A, B}, {C, D}) -> {A + C, B + D}.

%% The old code goes with all who are in it; each load takes the states of walks over.
load(Ledger) ->
    ok = timer:sleep(rand:uniform(100)),
    _ = code:purge(cons_spacing_nif),
    {module, cons_spacing_nif} = code:load_file(cons_spacing_nif),
    _ = ets:update_counter(Ledger, loads, 1),
    endurance_chaos:is_over(Ledger) orelse load(Ledger).

collect(Measuring, Ledger) ->
    _ = [garbage_collect(Pid, [{type, endurance_chaos:one_of([minor, major])}]) || Pid <- endurance_chaos:alive(Measuring)],
    _ = ets:update_counter(Ledger, collections, ?CLIENTS),
    ok = timer:sleep(rand:uniform(5)),
    endurance_chaos:is_over(Ledger) orelse collect(Measuring, Ledger).
