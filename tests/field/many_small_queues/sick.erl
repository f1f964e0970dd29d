%% 3,000 sessions whose clients do not read: 300 messages wait in each, a million in all.
-module(sick).
-export([start/0, session/0]).

start() ->
    Sessions = [spawn(?MODULE, session, []) || _ <- lists:seq(1, 3000)],
    [Session ! {deliver, N, <<"payload">>} || Session <- Sessions, N <- lists:seq(1, 300)],
    ok.

session() -> receive {acknowledged, _} -> session() end.
