%% Any value that a file may hold, as text.
-module(ertslab_report_value_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, numbers_of_any_size_are_text/1]).

all() -> [numbers_of_any_size_are_text].

numbers_of_any_size_are_text(_) ->
    [?assertEqual(Text, ertslab_report_value:value(Value))
     || {Value, Text} <- [{1.0e300, ~"1.0e300"}, {-1.0e300, ~"-1.0e300"}, {0.0, ~"0"}, {2.0, ~"2"}, {1.2345, ~"1.234"}, {0.04, ~"0.04"},
                          {0.0004, ~"0.0004"}, {1.0e15, ~"1.0e15"}]].
