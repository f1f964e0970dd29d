%% Digests of terms: the same on each release, of all that a term is, and of bounded cost.
-module(ertslab_digest_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, equal_terms_have_equal_digests/1, different_terms_have_different_ones/1, what_another_vm_has_otherwise_is_alike/1,
         an_older_release_has_the_same/1, what_is_too_large_is_cut/1, a_map_that_does_not_fit_is_cut_whatever_its_order/1,
         a_large_integer_costs_what_it_is_long/1]).
-export([digests/0]).

all() ->
    [equal_terms_have_equal_digests, different_terms_have_different_ones, what_another_vm_has_otherwise_is_alike,
     an_older_release_has_the_same, what_is_too_large_is_cut, a_map_that_does_not_fit_is_cut_whatever_its_order,
     a_large_integer_costs_what_it_is_long].

equal_terms_have_equal_digests(_) ->
    Pairs = [{N, #{N => [N]}} || N <- lists:seq(1, 1000)],
    same(maps:from_list(Pairs), maps:from_list(lists:reverse(Pairs))),
    same(lists:foldl(fun maps:remove/2, maps:from_list(Pairs), lists:seq(2, 1000)), #{1 => #{1 => [1]}}),
    <<_:3, Unaligned:13/bitstring, _/bitstring>> = <<"abcd">>,
    same(Unaligned, <<(binary:decode_unsigned(<<"abcd">>) bsr 16 band 16#1fff):13>>).

%% All pairs of them, 1 and 1.0 as keys among them.
different_terms_have_different_ones(_) ->
    Terms = terms() ++ [[], {}, #{}, <<>>, '', 0, 0.0, -1, 1 bsl 64, -(1 bsl 64), 'a', "a", <<"a">>, [a], {a}, #{a => a}, [[a]],
                        {{a}}, <<1:1>>,
                        <<1:2>>, <<1:8>>, [a | b], [a, b], [[a] | b], {[], a}, {a, []}, #{1 => 1.0}, #{1.0 => 1}, #{1 => 1}, #{1.0 => 1.0},
                        #{1 => a, 1.0 => b}, #{1 => b, 1.0 => a}, #{a => b, b => a}, #{a => a, b => b}, self(), make_ref(), fun lists:map/2,
                        fun lists:map/3, fun lists:foldl/3, fun(X) -> X end, fun(X, _) -> X end, 'é', <<"é"/utf8>>],
    Digests = [ertslab_digest:of_term(Term) || Term <- Terms],
    ?assertEqual([], [{A, B} || {{A, Same}, N} <- lists:zip(lists:zip(Terms, Digests), lists:seq(1, length(Terms))),
                                {B, Other} <- lists:nthtail(N, lists:zip(Terms, Digests)), Same =:= Other, A =/= B]).

what_another_vm_has_otherwise_is_alike(_) ->
    same([self(), make_ref()], [whereis(init), make_ref()]),
    same(adder(1), adder(2)).

adder(N) -> fun(M) -> M + N end.

%% In a VM of the distribution's release. What term_to_binary/2 writes of these terms differs between 25 and 27.
an_older_release_has_the_same(Config) ->
    case filelib:is_regular("/usr/bin/erl") of
        false -> {skip, "no Erlang of the distribution is here"};
        true ->
            VM = ertslab_installation:find("/usr"),
            Dir = proplists:get_value(priv_dir, Config),
            [compiled(Module, Dir) || Module <- [ertslab_digest, ?MODULE]],
            {ok, Running} = ertslab_vm:start(VM, ["-pa", Dir], []),
            {ok, There} = ertslab_vm:call(Running, ?MODULE, digests, [], 30_000),
            ertslab_vm:stop(Running),
            ?assertEqual([], [Term || {Term, Here, Other} <- lists:zip3(terms(), digests(), There), Here =/= Other])
    end.

compiled(Module, Dir) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    {ok, Module, Beam} = compile:forms(Forms, [r25, {feature, maybe_expr, disable}]),
    ok = file:write_file(filename:join(Dir, lists:concat([Module, ".beam"])), Beam).

digests() -> [ertslab_digest:of_term(Term) || Term <- terms()].

terms() ->
    Large = maps:from_list([{{key, N, N * 1.0, integer_to_binary(N)}, #{list_to_atom("k" ++ integer_to_list(N)) => N}}
                            || N <- lists:seq(1, 100)]),
    [ok, 'åß', '日本', Large, #{Large => Large}, [Large | {Large}], #{a => #{b => #{c => 1.0, 1 => d, 1.0 => e}}}, -0.0, 1.0e300, 0.1,
     <<1:3>>, <<"abc", 5:7>>, 1 bsl 200, -(1 bsl 200), lists:seq(1, 300), [1000 | 2000], lists:duplicate(70_000, 7), {self(), make_ref()},
     fun lists:map/2].

%% A million cells deep, 2^100 cells by sharing, and half a gigabyte: none takes more than the steps that were allowed.
what_is_too_large_is_cut(_) ->
    Deep = lists:foldl(fun(_, Term) -> {Term} end, [], lists:seq(1, 1_000_000)),
    Shared = lists:foldl(fun(_, Term) -> [Term | Term] end, [], lists:seq(1, 100)),
    SharedMaps = lists:foldl(fun(_, Term) -> #{a => Term, b => Term} end, [], lists:seq(1, 100)),
    Wide = erlang:make_tuple(1_000_000, wide),
    [begin
         ?assertMatch({in_part, _}, ertslab_digest:of_term(Term, 1000)),
         same(Term, Term)
     end || Term <- [Deep, Shared, SharedMaps, Wide, lists:seq(1, 1_000_000), binary:copy(<<"a">>, 500_000_000)]],
    ?assertMatch({whole, _}, ertslab_digest:of_term(lists:seq(1, 499), 1000)),
    %% What is before the cut counts, what is behind it does not.
    Of = fun(List) -> ertslab_digest:of_term(List, 1000) end,
    ?assertNotEqual(Of([a | lists:seq(1, 5000)]), Of([b | lists:seq(1, 5000)])),
    ?assertEqual(Of(lists:seq(1, 5000)), Of(lists:seq(1, 5000) ++ [a])).

a_map_that_does_not_fit_is_cut_whatever_its_order(_) ->
    Keys = lists:seq(1, 100),
    Of = fun(Order, Steps) -> ertslab_digest:of_term([#{K => lists:seq(1, K) || K <- Order} | tail], Steps) end,
    [?assertEqual(Of(Keys, Steps), Of(lists:reverse(Keys), Steps)) || Steps <- lists:seq(1, 12_000, 97)],
    ?assertMatch({in_part, _}, Of(Keys, 1000)).

same(A, B) -> ?assertEqual(ertslab_digest:of_term(A), ertslab_digest:of_term(B)).

%% As many bytes as a binary of that length; 2,000 of half a megabyte would take minutes.
a_large_integer_costs_what_it_is_long(_) ->
    Large = 1 bsl 64_000,
    ?assertMatch({whole, _}, ertslab_digest:of_term([Large, -Large], 400)),
    ?assertMatch({in_part, _}, ertslab_digest:of_term([Large, -Large], 200)),
    ?assertMatch({in_part, _}, ertslab_digest:of_term(Large, 10)),
    ?assertNotEqual(ertslab_digest:of_term(Large), ertslab_digest:of_term(Large + 1)),
    ?assertNotEqual(ertslab_digest:of_term(Large), ertslab_digest:of_term(-Large)),
    [same(Edge, Edge + 0) || Edge <- [1 bsl 63, -(1 bsl 63), 1 bsl 63 - 1, -(1 bsl 63) - 1]].
