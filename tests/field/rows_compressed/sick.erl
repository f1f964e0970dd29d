%% A catalogue is kept in a compressed table of large rows. Each page decodes whole rows for one field of each.
-module(sick).
-export([start/0, pages/0]).

start() ->
    _ = spawn(fun() ->
                      catalogue = ets:new(catalogue, [named_table, public, compressed, {read_concurrency, true}]),
                      _ = [ets:insert(catalogue, {N, N, [{Field, <<"the description of field ", Field:32>>, N} || Field <- lists:seq(1, 8000)]})
                           || N <- lists:seq(1, 100)],
                      receive stop -> ok end
              end),
    timer:sleep(3000),
    _ = [spawn(?MODULE, pages, []) || _ <- lists:seq(1, 30)],
    timer:sleep(500),
    ok.

pages() ->
    [{_, _, _}] = ets:lookup(catalogue, 1 + erlang:unique_integer([positive]) rem 100),
    timer:sleep(2),
    pages().
