%% A result is kept for all. The first who asks for it fetches it from a service that does not answer, and the others wait for the first.
-module(sick).
-export([start/0]).

start() ->
    Owner = self(),
    spawn(fun() ->
                  results = ets:new(results, [named_table, public]),
                  Owner ! made,
                  receive stop -> ok end
          end),
    receive made -> ok end,
    _ = [spawn(fun() -> submit() end) || _ <- lists:seq(1, 1000)],
    true = register(smpp_listener, spawn(fun listen/0)),
    ok.

listen() ->
    timer:sleep(20),
    spawn(fun() -> submit() end),
    listen().

submit() ->
    Result = result(encodings, fun fetch/0),
    {done, Result}.

result(Key, Fetch) ->
    case ets:insert_new(results, {Key, runs}) of
        true ->
            Result = Fetch(),
            ets:insert(results, {Key, Result}),
            Result;
        false -> from_first(Key)
    end.

fetch() ->
    timer:sleep(600_000),
    [gsm7, ucs2].

from_first(Key) -> receive {result, Key, Result} -> Result end.
