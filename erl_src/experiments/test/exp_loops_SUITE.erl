%% The loops of exp_loops do what they are called, and so do their copies elsewhere.
-module(exp_loops_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, loops_give_what_the_library_gives/1, copies_do_the_same/1, copies_call_themselves/1,
         a_wrong_copy_is_told/1]).

all() -> [loops_give_what_the_library_gives, copies_do_the_same, copies_call_themselves, a_wrong_copy_is_told].

loops_give_what_the_library_gives(_) ->
    {List, Pairs} = Input = building_loops:input(10),
    Is = fun(Expected, Loop) -> ?assertEqual(Expected, building_loops:run(Loop, Input), Loop) end,
    Is(lists:reverse(List), reverse),
    Is(lists:map(fun(N) -> 2 * N end, List), map),
    Is(lists:seq(2, 11), comprehension),
    Is(lists:zip(List, List), zip),
    Is(lists:reverse(lists:zip(List, List)), pairs),
    Is({[10, 8, 6, 4, 2], [9, 7, 5, 3, 1]}, partition),
    Is({10, 45}, foldl),
    Is(lists:sum([A + B || {A, B} <- Pairs]), walk),
    Is(lists:reverse(lists:sort(List ++ List)), merge),
    Is({b, c, a}, rotate),
    Is([{N + 1, N} || N <- List], swap),
    Is(lists:reverse([{A, B, A + B} || {A, B} <- Pairs]), saved),
    Is([1 + A + B || {A, B} <- Pairs], funs),
    Is([maps:from_list([{id, N}, {name, N}]) || N <- List], maps),
    Is({state, 10, 10, 55, undefined, 10}, records),
    Is({37, [{ok, 10}, none, {ok, 8}, {ok, 7}, none, {ok, 5}, {ok, 4}, none, {ok, 2}, {ok, 1}]}, replies),
    Is(lists:sum([erlang:phash2(N) || N <- List]), bifs).

%% They hold more functions, so that the others come later.
copies_do_the_same(_) ->
    Input = building_loops:input(100),
    Copies = placed_module:copies(building_loops, 3),
    Functions = [length(Copy:module_info(functions)) || Copy <- [building_loops | Copies]],
    [Own | _] = Functions,
    ?assertEqual([Own, Own, Own + 1, Own + 2], Functions),
    [?assertEqual(building_loops:run(Loop, Input), Copy:run(Loop, Input), {Copy, Loop})
     || Copy <- Copies, Loop <- building_loops:names()].

%% Else a part of what is timed would lie in one place only. This table has its module's name.
copies_call_themselves(_) ->
    [begin
         Table = Copy:open(ets),
         ?assertEqual(Copy, ets:info(Table, name)),
         ok = Copy:close(ets, Table)
     end || Copy <- placed_module:copies(small_programs, 2)].

a_wrong_copy_is_told(_) ->
    State = exp_loops:setup(#{loop => reverse, elements => 10}),
    {_, [Hash | _] = Hashes} = exp_loops:run(element, State),
    ?assertEqual(ok, exp_loops:verify(element, Hashes, State)),
    ?assertMatch({wrong, _}, exp_loops:verify(element, [Hash + 1 | Hashes], State)).
