%% @doc What is said of how long answers took.
-module(program_latency).

-export([p99/1]).

%% @doc The 99th percentile: the least time within which 99 of 100 came. Of no answers it is 0.
-spec p99([Time]) -> Time when Time :: number().
p99([]) -> 0;
p99(Times) -> lists:nth((length(Times) * 99 + 99) div 100, lists:sort(Times)).
