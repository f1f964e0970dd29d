%% Answers are kept by the keys of their requests, for requests that come again. Those that have expired are never deleted.
-module(sick).
-export([start/0, answers/1]).

start() ->
    Self = self(),
    _ = spawn(fun() ->
                      request_keys = ets:new(request_keys, [named_table, public]),
                      _ = [keep({old, N}) || N <- lists:seq(1, 18_000)],
                      Self ! kept,
                      receive stop -> ok end
              end),
    receive kept -> ok end,
    _ = [spawn(?MODULE, answers, [N]) || N <- lists:seq(1, 25)],
    ok.

keep(Key) -> true = ets:insert(request_keys, {Key, erlang:monotonic_time(second) + 60, binary:copy(<<"answer">>, 500)}).

answers(N) ->
    true = keep({new, N}),
    timer:sleep(100),
    answers(N + 25).
