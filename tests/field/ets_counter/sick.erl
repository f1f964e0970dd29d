%% All requests write the histogram that they count into as one row of one table, which has no write_concurrency.
-module(sick).
-export([start/0, counts/0]).

start() ->
    Self = self(),
    spawn(fun() ->
                  metrics = ets:new(metrics, [named_table, public, set]),
                  true = ets:insert(metrics, {requests, 0}),
                  Self ! made,
                  receive stop -> ok end
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, counts, []) || _ <- lists:seq(1, 4)],
    ok.

%% A request does other work, too: were it nothing but waiting for a lock, which costs no reductions, nobody else would
%% run for long. While the row is copied to the table, the table is locked, also where cores hand a lock over fast.
counts() -> counts(erlang:make_tuple(10_000, 0)).

counts(Buckets) ->
    _ = ets:update_counter(metrics, requests, 1),
    true = ets:insert(metrics, {latencies, Buckets}),
    true = erlang:bump_reductions(100),
    counts(Buckets).
