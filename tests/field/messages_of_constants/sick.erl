%% Messages that each refer to a constant of 180 kB: they are small where they wait, and 900 MB as a copy.
-module(sick).
-export([start/0]).

-define(TEN(One), [One, One, One, One, One, One, One, One, One, One]).
-define(RULES, ?TEN(?TEN(?TEN(?TEN(1))))).

start() ->
    Pid = spawn(fun applies/0),
    true = register(pricing, Pid),
    [Pid ! {apply, N, ?RULES} || N <- lists:seq(1, 5000)],
    ok.

applies() -> receive {apply, _, _} -> timer:sleep(2000) end, applies().
