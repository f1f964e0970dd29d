%% @doc Statistics of the latencies of answers.
-module(program_latency).

-export([p99/1, histogram/0, note/2, noted/1]).
-export_type([histogram/0]).

%% Nanoseconds of millions of answers, which as a list would load the collector. Longer times fall into the last bucket.
-opaque histogram() :: counters:counters_ref().

-define(BIN_NS, 50).
-define(BINS, 40_000).

%% @doc The 99th percentile: the least time that 99 of 100 answers do not exceed. It is 0 without answers.
-spec p99([Time]) -> Time when Time :: number().
p99([]) -> 0;
p99(Times) -> lists:nth(rank(length(Times)), lists:sort(Times)).

rank(Count) -> (Count * 99 + 99) div 100.

%% @doc An empty histogram. Any process of this node may add to it.
-spec histogram() -> histogram().
histogram() -> counters:new(?BINS, []).

%% @doc Adds the nanoseconds that an answer took.
-spec note(histogram(), non_neg_integer()) -> ok.
note(Histogram, Ns) -> counters:add(Histogram, min(?BINS, 1 + Ns div ?BIN_NS), 1).

%% @doc The number of answers, and their 99th percentile to 50 ns, up to 2 ms.
-spec noted(histogram()) -> #{count := non_neg_integer(), p99 := non_neg_integer()}.
noted(Histogram) ->
    Counts = [counters:get(Histogram, Bin) || Bin <- lists:seq(1, ?BINS)],
    Count = lists:sum(Counts),
    #{count => Count, p99 => ?BIN_NS * bin(Counts, rank(Count), 0)}.

bin(_, Left, Bin) when Left =< 0 -> Bin;
bin([Count | Counts], Left, Bin) -> bin(Counts, Left - Count, Bin + 1).
