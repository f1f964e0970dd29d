%% The counts of the experiment, exactly.
-module(exp_spacing_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_value_size_is_exact/1]).

all() -> [every_value_size_is_exact].

%% A cell has 2 words and a tuple of N has N + 1, of 8 bytes each.
every_value_size_is_exact(_) ->
    [begin
         #{samples := Samples} =
             ertslab_worker:run(exp_spacing, #{cells => 10_001, value_words => Words}),
         ?assertMatch([{distance_dense, [16.0]}, {deviation_dense, [+0.0]}, {lines_dense, [250]},
                       {distance_hibernated, [Distance]}, {deviation_hibernated, [+0.0]},
                       {lines_hibernated, [_]}], Samples)
     end || {Words, Distance} <- [{0, 16.0}, {1, 32.0}, {3, 48.0}, {14, 136.0}]].
