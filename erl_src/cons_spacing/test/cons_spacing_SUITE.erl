%% Layouts that are known, each measured exactly.
-module(cons_spacing_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([collected_twice/0, all/0, empty_list/1, list_of_one_cell/1, dense_list/1, improper_list/1, literal_tail/1,
         arguments_of_the_report_are_told/1, nif_that_is_not_built_is_told/1, no_list_is_badarg/1,
         term_with_lists_everywhere/1, sharing_counts_once/1,
         large_map_holds_no_lists_of_its_own/1, hibernation_spreads/1, report_raises_what_the_fun_raises/1,
         compact_is_dense_until_a_full_sweep/1, state_of_a_server/1, state_is_left_as_it_was/1,
         what_has_no_state_is_badarg/1, agrees_with_a_slow_model/1, long_walk_yields/1,
         collection_in_the_middle_is_noticed/1, two_collections_are_noticed/1, deep_nesting/1, huge_values/1,
         measuring_leaves_no_message/1, collected_without_end/1, addresses_yield/1,
         last_element_is_not_copied/1, times_that_are_none/1, server_collected_without_end/1,
         list_goes_with_the_caller/1]).
-export([init/1, handle_call/3, handle_cast/2]).
-export([compare_with_model/2]).

all() ->
    [empty_list, list_of_one_cell, dense_list, improper_list, literal_tail,
     arguments_of_the_report_are_told, nif_that_is_not_built_is_told, no_list_is_badarg,
     term_with_lists_everywhere, sharing_counts_once, large_map_holds_no_lists_of_its_own,
     hibernation_spreads, report_raises_what_the_fun_raises, compact_is_dense_until_a_full_sweep,
     state_of_a_server, state_is_left_as_it_was, what_has_no_state_is_badarg,
     agrees_with_a_slow_model, long_walk_yields, collection_in_the_middle_is_noticed,
     two_collections_are_noticed,
     deep_nesting, huge_values, measuring_leaves_no_message, collected_without_end, addresses_yield,
     last_element_is_not_copied, times_that_are_none, server_collected_without_end, list_goes_with_the_caller].

empty_list(_) ->
    ?assertMatch(#{cells := 0, mean := undefined, min := undefined, histogram := [],
                   cache_lines := +0.0, tail := proper}, cons_spacing:measure([])).

list_of_one_cell(_) ->
    ?assertMatch(#{cells := 1, mean := undefined, adjacent := +0.0, tail := proper},
                 cons_spacing:measure([self()])).

dense_list(_) ->
    #{built := #{spacing := Spacing}} = cons_spacing_report:before_after(fun() -> dense(10_000) end),
    ?assertMatch(#{cells := 10_000, mean := 16.0, deviation := +0.0, min := 16, max := 16,
                   forward := 1.0, backward := +0.0, adjacent := 1.0, histogram := [{16, 9_999}],
                   cache_lines := 250.0, tail := proper},
                 Spacing#{cache_lines := rounded(Spacing)}).

%% A list that begins in the middle of a line touches one line more.
rounded(#{cache_lines := Lines}) when Lines >= 250.0, Lines =< 250.2 -> 250.0.

improper_list(_) ->
    ?assertMatch(#{cells := 2, tail := improper}, cons_spacing:measure([self(), self() | self()])).

literal_tail(_) ->
    Own = [self(), self()],
    ?assertMatch(#{cells := 4, tail := literal}, cons_spacing:measure(Own ++ [a, b])),
    ?assertMatch(#{cells := 3, tail := literal}, cons_spacing:measure(Own ++ [a | b])),
    ?assertMatch(#{cells := 2, tail := proper}, cons_spacing:measure(Own)).

no_list_is_badarg(_) ->
    [begin
         {badarg, Stack} = failure(fun() -> cons_spacing:measure(Term) end),
         ?assertMatch(#{1 := "not a list"}, cons_spacing:format_error(badarg, Stack))
     end || Term <- [atom, 1, 1 bsl 70, 1.5, ~"binary", {[]}, #{}, self(), fun() -> ok end]],
    {badarg, _} = failure(fun() -> cons_spacing:compact([a | b]) end),
    {badarg, _} = failure(fun() -> cons_spacing:of_state(none) end).

%% Of the report, too, which another process measures.
arguments_of_the_report_are_told(_) ->
    Empty = fun() -> [] end,
    [begin
         {badarg, Stack} = failure(fun() -> apply(cons_spacing_report, Name, Arguments) end),
         ?assertEqual({Name, Arguments, Told}, {Name, Arguments, cons_spacing:format_error(badarg, Stack)}),
         [{_, _, _, Info} | _] = Stack,
         ?assertMatch(#{module := cons_spacing}, proplists:get_value(error_info, Info))
     end || {Name, Arguments, Told} <-
                [{before_after, [x, 10], #{1 => "not a function without arguments"}},
                 {before_after, [x], #{1 => "not a function without arguments"}},
                 {before_after, [fun(_) -> [] end, 10], #{1 => "not a function without arguments"}}]
                ++ [{before_after, [Empty, Words], #{2 => "not a number of words that a heap may have"}}
                    || Words <- [-1, 0, 1.5, x, 1 bsl 70]]
                ++ [{hibernation_report, [NoList], #{1 => "not a proper list"}} || NoList <- [[1 | 2], x]]].

%% A copy of the application without its NIF, in a node of its own.
nif_that_is_not_built_is_told(Config) ->
    Ebin = filename:join([proplists:get_value(priv_dir, Config), "no_nif", "ebin"]),
    [begin
         File = filename:join(Ebin, atom_to_list(Module) ++ ".beam"),
         ok = filelib:ensure_dir(File),
         {ok, _} = file:copy(code:which(Module), File)
     end || Module <- [cons_spacing, cons_spacing_nif, cons_spacing_report]],
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["-pa", Ebin, "-kernel", "logger_level", "none"]}),
    [begin
         Call = try peer:call(Peer, Module, Name, Arguments) of Value -> {no_failure, Value} catch Class:Reason -> {Class, Reason} end,
         ?assertEqual({Module, Name, {error, no_nif}}, {Module, Name, Call})
     end || {Module, Name, Arguments} <- [{cons_spacing, measure, [[1]]}, {cons_spacing, measure_term, [{}]},
                                          {cons_spacing, of_state, [kernel_safe_sup]},
                                          {cons_spacing_report, hibernation_report, [[1]]}]],
    ok = peer:stop(Peer),
    ?assertMatch(#{general := "the NIF of cons_spacing is not built" ++ _},
                 cons_spacing:format_error(no_nif, [{cons_spacing, measure, [[1]], [{error_info, #{cause => no_nif}}]}])).

failure(Fun) ->
    try Fun() of Value -> {no_failure, Value}
    catch error:Reason:Stack -> {Reason, Stack}
    end.

%% Four lists: the outer one, and one in each of a tuple, a map and a list.
term_with_lists_everywhere(_) ->
    Term = [{self(), [self()]}, #{key => [one(), two()]}, [[]], 1 bsl 70, 1.5, ~"binary"],
    ?assertMatch(#{lists := 4, cells := 6 + 1 + 2 + 1}, cons_spacing:measure_term(Term)),
    ?assertMatch(#{lists := 0, cells := 0, words := 0}, cons_spacing:measure_term(atom)).

%% What the compiler cannot know to be the same.
one() -> list_to_atom("one").
two() -> list_to_atom("two").

sharing_counts_once(_) ->
    Shared = [self(), self()],
    ?assertMatch(#{lists := 3, cells := 4, words := 2 * 4 + 4},
                 cons_spacing:measure_term({Shared, [self() | Shared], [Shared]})).

large_map_holds_no_lists_of_its_own(_) ->
    Plain = maps:from_list([{N, N} || N <- lists:seq(1, 1000)]),
    ?assertMatch(#{lists := 0, cells := 0}, cons_spacing:measure_term(Plain)),
    Listed = maps:map(fun(N, _) -> [N, self()] end, Plain),
    ?assertMatch(#{lists := 1000, cells := 2000}, cons_spacing:measure_term(Listed)).

hibernation_spreads(_) ->
    #{built := #{spacing := Built}, collected := #{spacing := Collected},
      hibernated := #{spacing := Hibernated, length_ns := Time}} =
        cons_spacing_report:before_after(
          fun() -> ([erlang:make_tuple(14, N) || N <- lists:seq(1, 10_000)] ++ [none]) -- [none] end,
          1_000_000),
    ?assertMatch(#{cells := 10_000, mean := 16.0}, Built),
    [?assertMatch(#{mean := 136.0, deviation := +0.0, adjacent := +0.0, histogram := [{128, 9_999}]},
                  Spread) || Spread <- [Collected, Hibernated]],
    ?assert(is_integer(Time)),
    ?assertMatch(#{built := #{spacing := #{cells := 100}}},
                 cons_spacing_report:hibernation_report(lists:seq(1, 100))).

report_raises_what_the_fun_raises(_) ->
    Raised = fun(Fun) -> try cons_spacing_report:before_after(Fun) of Report -> Report catch Class:Reason -> {Class, Reason} end end,
    [?assertEqual({Class, Reason}, Raised(fun() -> erlang:raise(Class, Reason, []) end))
     || Class <- [error, exit, throw], Reason <- [planned, {a, b}, {a, []}, normal]],
    ?assertEqual({exit, killed}, Raised(fun() -> exit(self(), kill), receive never -> [] end end)),
    ?assertEqual({exit, {a, b}}, Raised(fun() -> _ = spawn_link(fun() -> exit({a, b}) end), receive never -> [] end end)),
    [?assertEqual({error, badarg}, Raised(fun() -> NoList end)) || NoList <- [none, [a | b]]].

compact_is_dense_until_a_full_sweep(_) ->
    apart(fun() ->
                  List = [erlang:make_tuple(3, N) || N <- lists:seq(1, 10_000)],
                  true = garbage_collect(),
                  ?assertMatch(#{adjacent := +0.0}, cons_spacing:measure(List)),
                  {garbage_collection, Before} = process_info(self(), garbage_collection),
                  Dense = cons_spacing:compact(List),
                  {garbage_collection, After} = process_info(self(), garbage_collection),
                  [?assertEqual(proplists:lookup(Flag, Before), proplists:lookup(Flag, After)) || Flag <- [min_heap_size, fullsweep_after]],
                  ?assertEqual(List, Dense),
                  ?assertMatch(#{adjacent := 1.0}, cons_spacing:measure(Dense)),
                  true = garbage_collect(self(), [{type, minor}]),
                  ?assertMatch(#{adjacent := 1.0}, cons_spacing:measure(Dense)),
                  true = garbage_collect(),
                  %% The list before it is still there, so the values follow its cells.
                  ?assertEqual(Dense, List),
                  true = garbage_collect(),
                  ?assertMatch(#{cells := 10_000}, cons_spacing:measure(Dense)),
                  ?assertEqual([], cons_spacing:compact([])),
                  ?assertEqual([one], cons_spacing:compact([one]))
          end).

%% In a process of its own, whose heap holds nothing else.
apart(Fun) ->
    {_, Monitor} = spawn_monitor(Fun),
    receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) end.

state_of_a_server(_) ->
    {ok, Server} = gen_server:start_link(?MODULE, 10_000, []),
    ?assertMatch(#{lists := 1, cells := 10_000, mean := Mean} when Mean =/= 40.0,
                 cons_spacing:of_state(Server)),
    true = garbage_collect(Server),
    %% Cell, value, cell, value: 2 and 3 words.
    ?assertMatch(#{lists := 1, cells := 10_000, mean := Mean, adjacent := +0.0}
                   when Mean >= 40.0 andalso Mean < 40.1, cons_spacing:of_state(Server)),
    ok = gen_server:stop(Server).

state_is_left_as_it_was(_) ->
    {ok, Server} = gen_server:start_link(?MODULE, 10, []),
    Before = sys:get_state(Server),
    #{cells := 10} = cons_spacing:of_state(Server),
    ?assertEqual(Before, sys:get_state(Server)),
    ok = gen_server:stop(Server).

what_has_no_state_is_badarg(_) ->
    {ok, Events} = gen_event:start_link(),
    ok = gen_event:add_handler(Events, error_logger_tty_h, []),
    {badarg, Stack} = failure(fun() -> cons_spacing:of_state(Events) end),
    ?assertMatch(#{1 := "a process without one state of its own"},
                 cons_spacing:format_error(badarg, Stack)),
    ok = gen_event:stop(Events),
    ?assertExit(_, cons_spacing:of_state(Events, 100)).

init(Cells) -> {ok, dense_of_pairs(Cells)}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.

dense(Cells) -> lists:seq(1, Cells + 1) -- [Cells + 1].

dense_of_pairs(Cells) -> [{N, N} || N <- lists:seq(1, Cells)].

agrees_with_a_slow_model(_) ->
    [apart(fun() -> compare_with_model(Seed, 20 * Seed) end) || Seed <- lists:seq(1, 50)].

compare_with_model(Seed, Cells) ->
    List = random_layout(rand:seed_s(exsss, Seed), Cells),
    {Addresses, Spacing} = measured_where_it_stays(List),
    Model = model(lists:reverse(Addresses)),
    Measured = maps:with(maps:keys(Model), Spacing),
    ?assertEqual(maps:remove(deviation, Model), maps:remove(deviation, Measured)),
    [Expected, Deviation] = [maps:get(deviation, Map) || Map <- [Model, Measured]],
    %% Both are rounded, and where the pieces of a heap lie far apart they are of 12 digits.
    ?assert(abs(Expected - Deviation) < 1.0e-3 + 1.0e-9 * Expected, {Expected, Deviation}),
    ok.

%% The addresses are garbage that can have the list collected before it is measured.
measured_where_it_stays(List) ->
    Before = cons_spacing_nif:addresses(List),
    Spacing = cons_spacing:measure(List),
    case cons_spacing_nif:addresses(List) of
        Before -> {Before, Spacing};
        _ -> measured_where_it_stays(List)
    end.

%% Values of random sizes, pieces that are turned round, and collections between.
random_layout(Seed, Cells) -> random_layout(Seed, Cells, []).

random_layout(_, 0, List) -> List;
random_layout(Seed0, Left, List) ->
    case rand:uniform_s(20, Seed0) of
        {1, Seed} -> true = garbage_collect(self(), [{type, minor}]), random_layout(Seed, Left - 1, [x | List]);
        {2, Seed} -> true = garbage_collect(), random_layout(Seed, Left - 1, [y | List]);
        {3, Seed} -> random_layout(Seed, Left - 1, lists:reverse([z | List]));
        {N, Seed} -> random_layout(Seed, Left - 1, [erlang:make_tuple(N, N) | List])
    end.

model(Addresses) ->
    Distances = lists:zipwith(fun(Next, This) -> Next - This end,
                              tl(Addresses), lists:droplast(Addresses)),
    Links = length(Distances),
    Mean = lists:sum(Distances) / Links,
    Squares = lists:sum([math:pow(D - Mean, 2) || D <- Distances]),
    Words = Addresses ++ [Address + 8 || Address <- Addresses],
    #{cells => length(Addresses), mean => Mean, deviation => math:sqrt(Squares / Links),
      min => lists:min(Distances), max => lists:max(Distances),
      forward => length([D || D <- Distances, D > 0]) / Links,
      backward => length([D || D <- Distances, D < 0]) / Links,
      adjacent => length([D || D <- Distances, abs(D) =:= 16]) / Links,
      histogram => lists:sort(maps:to_list(count([power_of_two(abs(D)) || D <- Distances]))),
      cache_lines => per_thousand(Words, 64, Addresses),
      pages => per_thousand(Words, 4096, Addresses)}.

per_thousand(Words, Unit, Cells) ->
    1000 * (length(lists:usort([Word div Unit || Word <- Words])) / length(Cells)).

count(Keys) -> lists:foldl(fun(Key, Counts) -> maps:update_with(Key, fun(N) -> N + 1 end, 1, Counts) end, #{}, Keys).

power_of_two(Distance) -> power_of_two(Distance, 1).
power_of_two(Distance, Power) when Distance < 2 * Power -> Power;
power_of_two(Distance, Power) -> power_of_two(Distance, 2 * Power).

%% How long a scheduler is held is measured, not tested; that it is let go is tested.
long_walk_yields(_) ->
    apart(fun() ->
                  List = lists:seq(1, 3_000_000),
                  1 = trace_running(),
                  #{cells := 3_000_000} = cons_spacing:measure(List),
                  _ = erlang:trace(self(), false, [running])
          end).

%% The tracer counts how often this process is put aside.
trace_running() ->
    Tested = self(),
    Tracer = spawn_link(fun() -> count_pauses(Tested, 0) end),
    erlang:trace(Tested, true, [running, {tracer, Tracer}]).

count_pauses(Tested, Pauses) ->
    receive
        {trace, Tested, out, _} -> count_pauses(Tested, Pauses + 1);
        _ -> count_pauses(Tested, Pauses)
    after 200 ->
            true = Pauses > 10
    end.

collection_in_the_middle_is_noticed(_) ->
    apart(fun() ->
                  List = [{N, N} || N <- lists:seq(1, 1_000_000)],
                  Tested = self(),
                  _ = spawn_link(fun() -> [garbage_collect(Tested) || _ <- lists:seq(1, 3)] end),
                  #{cells := 1_000_000, lists := 1, histogram := Histogram} =
                      cons_spacing:measure_term(List),
                  ?assertEqual(999_999, lists:sum([Links || {_, Links} <- Histogram]))
          end).

deep_nesting(_) ->
    Deep = lists:foldl(fun(_, Inner) -> [Inner] end, [], lists:seq(1, 1_000_000)),
    ?assertMatch(#{lists := 1_000_000, cells := 1_000_000}, cons_spacing:measure_term(Deep)),
    Wide = lists:foldl(fun(_, Inner) -> {Inner, [x]} end, [], lists:seq(1, 100_000)),
    ?assertMatch(#{cells := 1}, cons_spacing:measure_term(Wide)).

huge_values(_) ->
    Tuple = erlang:make_tuple(1_000_000, [self()]),
    ?assertMatch(#{lists := 1, cells := 1, words := 1_000_001 + 2}, cons_spacing:measure_term(Tuple)).

%% With heaps of one size the second collection brings each term back to where it was. Both are asked for between two slices, in a VM of
%% its own with one scheduler. What is on the stack has as many words copied before the walk's own terms as lay before them at first.
two_collections_are_noticed(_) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["+S", "1:1", "-pa" | code:get_path()]}),
    try ?assertEqual(lists:duplicate(3, {571_428, proper}), [peer:call(Peer, ?MODULE, collected_twice, []) || _ <- [1, 2, 3]])
    after peer:stop(Peer)
    end.

collected_twice() ->
    Tester = self(),
    {Walker, Monitor} = spawn_opt(fun() -> walks_beside(Tester) end, [monitor, {min_heap_size, 4_000_000}, {fullsweep_after, 1000}]),
    receive {Walker, ready} -> Walker ! go end,
    true = is_process_alive(Walker),
    true = erlang:yield(),
    [true, true] = [erlang:garbage_collect(Walker) || _ <- [1, 2]],
    receive {'DOWN', Monitor, process, Walker, {Count, Tail, _Kept}} -> {Count, Tail} end.

-spec walks_beside(pid()) -> no_return().
walks_beside(Tester) ->
    Cells = lists:seq(1, 571_428),
    Tuple = {Tester},
    List = [Tester],
    true = garbage_collect(),
    true = garbage_collect(self(), [{type, minor}]),
    Tester ! {self(), ready},
    receive go -> ok end,
    #{cells := Count, tail := Tail} = cons_spacing:measure(Cells),
    exit({Count, Tail, {Tuple, List, length(Cells)}}).

measuring_leaves_no_message(_) ->
    apart(fun() ->
                  _ = process_flag(trap_exit, true),
                  [_ = cons_spacing:measure(List) || List <- [dense(10), [self() | self()], [1, 2, 3], [self(), 1, 2]]],
                  ?assertEqual(none, receive Left -> Left after 50 -> none end)
          end).

%% It ends, with what there is or with an error that says why not. The collector pauses: a process that is collected without
%% a pause is never scheduled by the VM, whatever it would do.
collected_without_end(_) ->
    apart(fun() ->
                  List = dense(3_000_000),
                  Tested = self(),
                  Collector = spawn_link(fun Again() -> true = garbage_collect(Tested), ok = timer:sleep(1), Again() end),
                  try #{cells := 3_000_000} = cons_spacing:measure(List)
                  catch error:moved:Stack -> ?assertMatch(#{1 := "collected by other processes" ++ _}, cons_spacing:format_error(moved, Stack))
                  end,
                  unlink(Collector),
                  exit(Collector, kill),
                  3_000_000 = length(List)
          end).

last_element_is_not_copied(_) ->
    [apart(fun() ->
                   List = [Large],
                   true = garbage_collect(),
                   {total_heap_size, Before} = process_info(self(), total_heap_size),
                   ?assertMatch(#{cells := 1, tail := proper}, cons_spacing:measure(List)),
                   {total_heap_size, After} = process_info(self(), total_heap_size),
                   ?assert(After - Before < erts_debug:flat_size(Large) div 2, {Before, After}),
                   1 = length(List)
           end)
     || Large <- [dense(100_000), erlang:make_tuple(200_000, self()), maps:from_keys(dense(100_000), self()), 1 bsl 4_000_000,
                  (fun(Kept) -> fun() -> Kept end end)(dense(100_000))]],
    Shared = lists:foldl(fun(_, Inner) -> [Inner, Inner] end, self(), lists:seq(1, 60)),
    ?assertMatch(#{cells := 1, tail := proper}, cons_spacing:measure([Shared])),
    ?assertMatch(#{cells := 2, tail := improper}, cons_spacing:measure([self(), self() | erlang:make_tuple(100_000, self())])),
    ?assertMatch(#{cells := 3, tail := literal}, cons_spacing:measure([self()] ++ [{a, "b", 1.5}, #{c => [~"d", -1]}])).

times_that_are_none(_) ->
    [begin
         {badarg, Stack} = failure(fun() -> cons_spacing:of_state(kernel_sup, Time) end),
         ?assertMatch(#{2 := "not a time" ++ _}, cons_spacing:format_error(badarg, Stack))
     end || Time <- [soon, -1, 1.5, 1 bsl 40]].

%% As collected_without_end, and in a server.
server_collected_without_end(_) ->
    {ok, Server} = gen_server:start_link(?MODULE, 3_000_000, []),
    Collector = spawn_link(fun Again() -> true = garbage_collect(Server), ok = timer:sleep(1), Again() end),
    try #{cells := 3_000_000} = cons_spacing:of_state(Server, infinity)
    catch error:moved:Stack -> ?assertMatch(#{1 := "collected by other processes" ++ _}, cons_spacing:format_error(moved, Stack))
    end,
    unlink(Collector),
    exit(Collector, kill),
    ok = gen_server:stop(Server).

addresses_yield(_) ->
    apart(fun() ->
                  List = lists:seq(1, 1_000_000),
                  1 = trace_running(),
                  1_000_000 = length(cons_spacing_nif:addresses(List)),
                  _ = erlang:trace(self(), false, [running])
          end).

%% Also where that is killed.
list_goes_with_the_caller(_) ->
    Test = self(),
    Caller = spawn(fun() -> cons_spacing_report:before_after(fun() -> Test ! {holds, self()}, receive never -> dense(10) end end) end),
    Holder = receive {holds, Pid} -> Pid end,
    Monitor = monitor(process, Holder),
    exit(Caller, kill),
    receive {'DOWN', Monitor, process, Holder, Reason} -> ?assertEqual(killed, Reason) after 5_000 -> error(stays) end.
