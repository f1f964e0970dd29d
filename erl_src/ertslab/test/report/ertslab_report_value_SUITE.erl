%% Any value that a file may hold, as text.
-module(ertslab_report_value_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_word_of_a_command_is_quoted/1, numbers_of_any_size_are_text/1]).

all() -> [a_word_of_a_command_is_quoted, numbers_of_any_size_are_text].

%% For a shell, which the reader pastes it into.
a_word_of_a_command_is_quoted(_) ->
    [?assertEqual(Quoted, unicode:characters_to_list(ertslab_text:shell_word(Word)))
     || {Word, Quoted} <- [{"/tmp/looks.jsonl", "/tmp/looks.jsonl"}, {"/tmp/two words", "'/tmp/two words'"}, {~"it's", "'it'\\''s'"},
                           {"", "''"}, {"größe", "'größe'"}, {"a\nb", "'a\nb'"}]].

numbers_of_any_size_are_text(_) ->
    [?assertEqual(Text, ertslab_report_value:value(Value))
     || {Value, Text} <- [{1.0e300, ~"1.0e300"}, {-1.0e300, ~"-1.0e300"}, {0.0, ~"0"}, {2.0, ~"2"}, {1.2345, ~"1.234"}, {0.04, ~"0.04"},
                          {0.0004, ~"0.0004"}, {1.0e15, ~"1.0e15"}]].
