%% Which differences between emulators a reader is told of.
-module(ertslab_emulator_facts_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, alike_say_nothing/1, paths_are_no_difference/1, each_difference_is_a_sentence/1]).

all() -> [alike_say_nothing, paths_are_no_difference, each_difference_is_a_sentence].

alike_say_nothing(_) ->
    ?assertEqual([], ertslab_emulator_facts:differing([])),
    ?assertEqual([], ertslab_emulator_facts:differing([{~"a", facts(#{})}, {~"b", facts(#{erts => ~"17.1"})}])).

paths_are_no_difference(_) ->
    ?assertEqual([], ertslab_emulator_facts:differing([{~"a", facts(#{flags => ~"-O2 -I/one/tree -g"})},
                                                       {~"b", facts(#{flags => ~"-g -O2 -I/other"})}])).

each_difference_is_a_sentence(_) ->
    Other = facts(#{compiler => ~"gnuc 14.2.0", flags => ~"-g -O1", flavour => ~"emu"}),
    Sentences = ertslab_emulator_facts:differing([{~"a", facts(#{})}, {~"b", Other}]),
    ?assertEqual([~"The arms also differ in the compiler: a gnuc 12.2.0; b gnuc 14.2.0.",
                  ~"The arms also differ in its flags: a -O2 -g; b -O1 -g.",
                  ~"The arms also differ in JIT or interpreter: a jit; b emu."], Sentences).

facts(More) ->
    maps:merge(#{compiler => ~"gnuc 12.2.0", flags => ~"-g -O2", flavour => ~"jit", erts => ~"13.1", word_bits => 64}, More).
