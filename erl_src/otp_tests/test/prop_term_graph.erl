%% @doc The property that terms are the same after any collections.
-module(prop_term_graph).

-include_lib("proper/include/proper.hrl").

-export([prop_terms_survive_collections/0, prop_terms_survive_collections/1, program/0, node_/0, limits/0]).

%% To one large program, and the sizes of that and of its small terms.
-define(SMALL_PROGRAMS, 20).
-define(LARGE_STEPS, 20).
-define(SMALL_NODE, 8).

prop_terms_survive_collections() -> prop_terms_survive_collections(fun(_) -> ok end).

%% `Note' sees each program before it runs, which may end the VM.
prop_terms_survive_collections(Note) ->
    ?FORALL(Program, program(),
            begin
                ok = Note(Program),
                equals(term_graph_owner:run(Program), ok)
            end).

%% A large program takes about forty times as long as a small one.
program() ->
    frequency([{?SMALL_PROGRAMS, {small, options(), list(step(node_()))}},
               {1, {large, options(), ?LAZY(resize(?LARGE_STEPS, list(step(large_node()))))}}]).

options() ->
    [{message_queue_data, oneof([on_heap, off_heap])},
     {min_heap_size, oneof([1, 1, 1000, 100_000])},
     {fullsweep_after, oneof([0, 1, 65535, 65535])}].

step(Node) ->
    frequency([{12, {make, Node}},
               {2, {dictionary, Node}},
               {2, {literal, Node}},
               {3, {decode, Node}},
               {3, {message, Node}},
               {3, {mailbox, Node}},
               {1, receive_all},
               {2, {forget, index()}},
               {1, purge},
               {15, collecting()},
               {3, {under, deed(), oneof([collecting(), purge])}},
               {1, {kill, deed(), index()}}]).

collecting() -> frequency([{8, minor}, {4, major}, {2, hibernate}, {1, {deep, range(1, 200)}}]).

deed() -> oneof([messages, suspension, collection, questions]).

index() -> range(0, 1000).

node_() -> ?SIZED(Size, node_(Size div 2)).

node_(0) ->
    frequency([{14, leaf()},
               {4, {held, index()}},
               {4, {tail, index(), oneof([range(0, 4), index()])}},
               {4, {part, index(), index()}}]);
node_(Size) ->
    Child = ?LAZY(node_(Size div 4)),
    Few = ?LAZY(resize(5, list(node_(Size div 4)))),
    frequency([{3, node_(0)},
               {6, {list, Few, oneof([{value, []}, {value, []}, Child])}},
               {2, {spine, cells(), each(node_(0)), oneof([{value, []}, Child])}},
               {3, {tuple, Few}},
               {2, {map, ?LAZY(resize(4, list({node_(0), node_(Size div 4)})))}},
               {1, {large_map, oneof([range(1, 8), range(30, 70)]), node_(0)}},
               {2, {function, Few}}]).

leaf() ->
    frequency([{6, {value, oneof([[], {}, a, #{}, ~"", range(-10, 10), fun lists:sort/1])}},
               {1, {big, range(1, 5)}},
               {1, {float, index()}},
               {1, oneof([fresh_reference, owner])},
               {2, {binary, oneof([range(0, 70), range(0, 2000)])}},
               {2, {bits, range(0, 200), range(0, 100)}},
               {2, {literal, index()}}]).

%% Few enough for a small program, that is for term_graph_owner:words(small).
cells() -> frequency([{32, range(1, 10)}, {8, range(1, 100)}, {1, around(512)}]).

each(Shared) -> oneof([integer, tuple, pair, list, {shared, Shared}]).

%% So many cells a collector may move at once: gc-list-spine.patch has one such number, others
%% were tried, and more may be. Two terms of the last are more than the 131,072 words from
%% which on OTP collects on a dirty scheduler.
limits() -> [512, 1024, 4096, 8192, 65536].

around(Limit) -> oneof([Limit - 1, Limit, Limit + 1, 2 * Limit]).

%% Mostly one long spine, with an end that may be improper or the tail of another. Its cells
%% share a leaf at most: the flat size of so many large terms would take hours to tell.
large_node() ->
    Small = resize(?SMALL_NODE, node_()),
    frequency([{4, {spine, ?LET(Limit, oneof(limits()), around(Limit)), each(leaf()), end_(Small)}},
               {1, {list, resize(3, list(Small)), {tail, index(), index()}}},
               {1, {tuple, [{held, index()}, Small, {held, index()}]}},
               {1, Small}]).

end_(Small) -> oneof([{value, []}, {value, improper}, {tail, index(), oneof([range(0, 4), around(4096)])}, Small]).
