%% A home-made monitor asks each of 60,000 processes for its memory and its mailbox, over and over.
-module(sick).
-export([start/0, session/0, collects/0]).

start() ->
    _ = [spawn(?MODULE, session, []) || _ <- lists:seq(1, 60_000)],
    true = register(vm_stats, spawn(?MODULE, collects, [])),
    ok.

session() -> receive stop -> ok end.

collects() ->
    Known = [process_info(Pid, [memory, message_queue_len, current_function]) || Pid <- processes()],
    true = length(Known) > 0,
    timer:sleep(50),
    collects().
