%% Each request for the metrics copies, sorts and formats a table of 120,000 rows, in a process that lives for a second.
-module(sick).
-export([start/0, scraper/0, metrics_page/0]).

start() ->
    Starter = self(),
    spawn(fun() ->
                  meters = ets:new(meters, [named_table, public]),
                  true = ets:insert(meters, [{{http_requests, [{host, host(H)}, {route, R}, {le, B}]}, B}
                                             || H <- lists:seq(1, 2000), R <- lists:seq(1, 6), B <- lists:seq(1, 10)]),
                  Starter ! ready,
                  receive never -> ok end
          end),
    receive ready -> ok end,
    _ = [spawn(?MODULE, scraper, []) || _ <- lists:seq(1, 3)],
    timer:sleep(1000).

host(H) -> iolist_to_binary(["shop-", integer_to_list(H), ".example.org"]).

scraper() ->
    {_, Monitor} = spawn_monitor(?MODULE, metrics_page, []),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    timer:sleep(1000),
    scraper().

metrics_page() ->
    exit({scraped, iolist_size([metric_line(Row) || Row <- lists:sort(ets:tab2list(meters))])}).

metric_line({{Name, Labels}, Value}) -> io_lib:format("~s~p ~w~n", [Name, Labels, Value]).
