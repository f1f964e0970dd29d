%% Random terms of up to 200,000 words, for soaks.
-module(random_terms).

-export([term/0]).

-define(SIZES, [2, 5, 10, 20]).
-define(WORDS, 200_000).
%% One term in so many holds more than 50,000 words, that is a long spine of pairs.
-define(LARGE, 50).
-define(LARGE_CELLS, [10_001, 16_384, 30_000]).

-spec term() -> term().
term() ->
    Term = case endurance_chaos:chance(?LARGE) of
               true -> built({spine, endurance_chaos:one_of(?LARGE_CELLS), pair, random_node()});
               false -> built(random_node())
           end,
    case erts_debug:flat_size(Term) =< ?WORDS of
        true -> Term;
        false -> too_large
    end.

built(Node) -> term_graph:build(Node, [[rand:uniform(1000), {}], {key, fun lists:reverse/1}]).

random_node() ->
    {ok, Node} = proper_gen:pick(prop_term_graph:node_(), endurance_chaos:one_of(?SIZES)),
    Node.
