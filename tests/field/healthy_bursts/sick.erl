%% A pool of workers that compute for a while, each with garbage of its own, and rest; what is done is handed out one by one.
-module(sick).
-export([start/0, works/1]).

start() ->
    Pool = spawn(fun() -> hands_out(0) end),
    _ = [spawn(?MODULE, works, [Pool]) || _ <- lists:seq(1, 8)],
    ok.

hands_out(N) -> receive {next, From, Ref} -> From ! {Ref, N}, hands_out(N + 1) end.

works(Pool) ->
    Ref = make_ref(),
    Pool ! {next, self(), Ref},
    receive {Ref, N} -> _ = lists:sum([X * X rem 7 || X <- lists:seq(N, N + 20_000)]) end,
    timer:sleep(50),
    works(Pool).
