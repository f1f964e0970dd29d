%% Each of eight services has a leader, which has a global lock as long as it lives, and three processes that wait to take over.
-module(sick).
-export([start/0, candidate/1]).

start() ->
    _ = [spawn(?MODULE, candidate, [Service]) || Service <- [billing, cleanup, exports, invoices, mails, prices, reports, stock],
                                                 _ <- lists:seq(1, 4)],
    timer:sleep(500),
    ok.

candidate(Service) -> global:trans({{leader, Service}, self()}, fun leads/0).

leads() ->
    timer:sleep(1000),
    _ = lists:sum(lists:seq(1, 1000)),
    leads().
