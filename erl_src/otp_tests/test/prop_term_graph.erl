%% @doc The property that terms are the same after any collections.
-module(prop_term_graph).

-include_lib("proper/include/proper.hrl").

-export([prop_terms_survive_collections/0, prop_terms_survive_collections/1, node_/0]).

prop_terms_survive_collections() -> prop_terms_survive_collections(fun(_) -> ok end).

%% `Note' sees each program before it runs, which may end the VM.
prop_terms_survive_collections(Note) ->
    ?FORALL(Program, program(),
            begin
                ok = Note(Program),
                equals(term_graph_owner:run(Program), ok)
            end).

program() -> {options(), list(step())}.

options() ->
    [{message_queue_data, oneof([on_heap, off_heap])},
     {min_heap_size, oneof([1, 1, 1000, 100_000])},
     {fullsweep_after, oneof([0, 1, 65535, 65535])}].

step() ->
    frequency([{12, {make, node_()}},
               {2, {dictionary, node_()}},
               {2, {literal, node_()}},
               {3, {decode, node_()}},
               {3, {message, node_()}},
               {3, {mailbox, node_()}},
               {1, receive_all},
               {2, {forget, index()}},
               {1, purge},
               {8, minor},
               {4, major},
               {2, hibernate},
               {1, {deep, range(1, 200)}}]).

index() -> range(0, 1000).

node_() -> ?SIZED(Size, node_(Size div 2)).

node_(0) ->
    frequency([{6, {value, oneof([[], {}, a, #{}, ~"", range(-10, 10), fun lists:sort/1])}},
               {1, {big, range(1, 5)}},
               {1, {float, index()}},
               {1, oneof([fresh_reference, owner])},
               {2, {binary, oneof([range(0, 70), range(0, 2000)])}},
               {2, {bits, range(0, 200), range(0, 100)}},
               {2, {literal, index()}},
               {4, {held, index()}},
               {4, {tail, index(), oneof([range(0, 4), index()])}},
               {4, {part, index(), index()}}]);
node_(Size) ->
    Child = ?LAZY(node_(Size div 4)),
    Few = ?LAZY(resize(5, list(node_(Size div 4)))),
    frequency([{3, node_(0)},
               {6, {list, Few, oneof([{value, []}, {value, []}, Child])}},
               {1, {repeated, cells(), Child}},
               {1, {numbers, cells(), oneof([{value, []}, Child])}},
               {3, {tuple, Few}},
               {2, {map, ?LAZY(resize(4, list({node_(0), node_(Size div 4)})))}},
               {1, {large_map, oneof([range(1, 8), range(30, 70)]), node_(0)}},
               {2, {function, Few}}]).

%% Now and then about as many as gc-list-spine.patch moves at once, and what else is bounded.
cells() ->
    frequency([{32, range(1, 10)}, {8, range(1, 100)}, {2, range(510, 515)}, {2, range(1022, 1027)},
               {1, range(4094, 4099)}, {1, range(8190, 8195)}]).
