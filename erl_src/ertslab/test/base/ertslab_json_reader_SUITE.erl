%% JSON is read as stdlib's own module reads it, and what is wrong is placed.
-module(ertslab_json_reader_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, each_kind_of_value/1, what_is_wrong_has_a_place/1, it_reads_as_stdlib_does/1, lines_are_as_stdlib_writes_them/1]).

all() -> [each_kind_of_value, what_is_wrong_has_a_place, it_reads_as_stdlib_does, lines_are_as_stdlib_writes_them].

each_kind_of_value(_) ->
    ?assertEqual(#{~"a" => [1, -2.5, -300.0, 100.0, null, true, false, ~"xé\x{1f600}\n/\"\\"], ~"b" => #{}, ~"" => []},
                 ertslab_json_reader:decode(~B| {"a":[1, -2.5,-3e2,1E+2 ,null,true,false,"x\u00e9\ud83d\ude00\n\/\"\\"], "b":{},"" : [ ] }
                                              |)).

what_is_wrong_has_a_place(_) ->
    [?assertError({not_json, Position}, ertslab_json_reader:decode(Text))
     || {Text, Position} <- [{~"", 0}, {~"[1,", 3}, {~B|"ab|, 3}, {~"01", 1}, {~"[1.]", 3}, {~"-", 1}, {~"1e", 2}, {~"[1e999]", 3},
                             {<<255>>, 0}, {<<$", 255, $">>, 1}, {<<$", 10, $">>, 1}, {~B|"\ud800"|, 3}, {~B|"\ud800\u0041"|, 9},
                             {~B|"\u12g4"|, 3}, {~B|"\x"|, 2},
                             {~B|{"a" 1}|, 5}, {~"{1:2}", 1}, {~"[1 2]", 3}, {~"[1] 2", 4}, {~"[1,]", 3}, {~"nul", 0},
                             {binary:copy(~"9", 400), 0}]].

%% Texts as stdlib writes them, and the same with a byte changed or cut off. (stdlib loses the sign of `-0e1'.)
it_reads_as_stdlib_does(_) ->
    _ = rand:seed(exsss, 40),
    lists:foreach(fun(_) ->
                          Text = iolist_to_binary(json:encode(term(4))),
                          At = rand:uniform(byte_size(Text)) - 1,
                          <<Before:At/binary, _, After/binary>> = Text,
                          [?assertEqual(read(fun json:decode/1, One), read(fun ertslab_json_reader:decode/1, One), One)
                           || One <- [Text, <<Before/binary, (rand:uniform(128) - 1), After/binary>>, Before],
                              re:run(One, "-0[eE]") =:= nomatch]
                  end, lists:seq(1, 3000)).

read(Decode, Text) ->
    try {ok, Decode(Text)}
    catch error:_ -> wrong
    end.

lines_are_as_stdlib_writes_them(_) ->
    _ = rand:seed(exsss, 41),
    [?assertEqual(json:decode(iolist_to_binary(json:encode(Term))), json:decode(iolist_to_binary(ertslab_json:line(Term))))
     || _ <- lists:seq(1, 1000), Term <- [term(4)]],
    ?assertEqual(~B|{"a":[1,2.5,null],"b":{"c":"x"}}|, iolist_to_binary(ertslab_json:line(#{b => #{c => x}, a => [1, 2.5, null]}))).

term(0) -> leaf();
term(Depth) ->
    case rand:uniform(5) of
        1 -> maps:from_list([{element(rand:uniform(4), {~"a", ~"b\"", ~"long as it is", ~"日"}), term(Depth - 1)} || _ <- some(4)]);
        2 -> [term(Depth - 1) || _ <- some(5)];
        _ -> leaf()
    end.

some(Most) -> lists:seq(1, rand:uniform(Most + 1) - 1).

leaf() ->
    element(rand:uniform(9), {rand:uniform(1000000), -7, 1 bsl 100, 1.0e100 * rand:uniform(), -rand:uniform(), true, null, false,
                              ~"text \"with\"\n日\x{1f600}\\"}).
