%% JSON text: what it says, and that it is the text of stdlib's own module.
-module(ertslab_json_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, it_is_laid_out_in_lines/1, what_text_has_is_escaped/1, what_is_no_text_is_refused/1, it_is_as_stdlib_has_it/1]).

all() -> [it_is_laid_out_in_lines, what_text_has_is_escaped, what_is_no_text_is_refused, it_is_as_stdlib_has_it].

it_is_laid_out_in_lines(_) ->
    ?assertEqual(<<"{\n  \"a\": [1,2.5,null],\n  \"b\": { \"c\": \"x\" },\n"
                   "  \"d\": {\n    \"e\": [\n      \"f\",\n      1\n    ]\n  }\n}\n">>,
                 text(#{d => #{e => [<<"f">>, 1]}, a => [1, 2.5, null], b => #{c => x}})).

what_text_has_is_escaped(_) ->
    ?assertEqual(<<"\"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001F\d/日\"\n"/utf8>>, text(<<"\"\\\b\t\n\f\r\x01\x1f\d/日"/utf8>>)).

what_is_no_text_is_refused(_) ->
    ?assertError({case_clause, _}, text(<<255>>)).

%% Terms of each kind and depth, and lists that are longer than a line.
it_is_as_stdlib_has_it(_) ->
    _ = rand:seed(exsss, 40),
    [?assertEqual(iolist_to_binary(json:format(Term)), text(Term)) || _ <- lists:seq(1, 3000), Term <- [term(4)]].

text(Term) -> iolist_to_binary(ertslab_json:format(Term)).

term(0) -> leaf();
term(Depth) ->
    case rand:uniform(6) of
        1 -> maps:from_list([{element(rand:uniform(4), {a, 'b"', long_as_it_is, '日'}), term(Depth - 1)} || _ <- some(4)]);
        2 -> [term(Depth - 1) || _ <- some(5)];
        3 -> [leaf() || _ <- some(60)];
        4 -> maps:from_list([{<<N>>, term(Depth - 1)} || N <- some(3)]);
        _ -> leaf()
    end.

some(Most) -> lists:seq(1, rand:uniform(Most + 1) - 1).

leaf() ->
    element(rand:uniform(8), {rand:uniform(1000000), -7, 1.0e100 * rand:uniform(), rand:uniform(), true, null, 'an atom',
                              <<"text \"with\"\n日"/utf8>>}).
