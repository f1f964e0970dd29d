%% 15,000 processes write by transactions to one table, again and again: the process of mnesia that coordinates them has them all in its mailbox.
-module(sick).
-export([start/0, writer/1]).
start() ->
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(log, [{ram_copies, [node()]}]),
    [spawn(?MODULE, writer, [N]) || N <- lists:seq(1, 15_000)], timer:sleep(3000), ok.
writer(N) -> _ = mnesia:transaction(fun() -> mnesia:write({log, N rem 100, os:timestamp()}) end), writer(N).
