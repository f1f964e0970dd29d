%% Each of 6 workers looks for the rows of an owner by a pattern without the key, in a table of 300,000 rows.
-module(sick).
-export([start/0, works/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  references = ets:new(references, [named_table, public, {read_concurrency, true}]),
                  true = ets:insert(references, [{N, N rem 1000, function} || N <- lists:seq(1, 300_000)]),
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    _ = [spawn(?MODULE, works, [N]) || N <- lists:seq(1, 6)],
    ok.

works(N) ->
    Found = ets:match_object(references, {'_', N rem 1000, '_'}),
    _ = length(Found),
    works(N + 1).
