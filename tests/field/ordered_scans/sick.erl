%% A publisher looks for the subscribers of a topic in an ordered_set whose key begins with the topic. It compares the topic in a guard
%% of the search, so each search visits all 200,000 rows.
-module(sick).
-export([start/0, publisher/1]).

start() ->
    Self = self(),
    spawn(fun() ->
                  subscriptions = ets:new(subscriptions, [named_table, public, ordered_set, {read_concurrency, true}]),
                  _ = [ets:insert(subscriptions, {{N rem 1000, N}, subscriber}) || N <- lists:seq(1, 200_000)],
                  Self ! made,
                  erlang:hibernate(timer, sleep, [infinity])
          end),
    receive made -> ok end,
    true = register(publisher, spawn(?MODULE, publisher, [1])),
    ok.

publisher(N) ->
    200 = length(subscribers(N rem 1000)),
    publisher(N + 1).

subscribers(Topic) -> ets:select(subscriptions, [{{{'$1', '$2'}, '_'}, [{'=:=', '$1', Topic}], ['$2']}]).
