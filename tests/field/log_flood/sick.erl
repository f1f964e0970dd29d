%% 150 processes log as fast as they can: the handler of the log makes each wait for its line.
-module(sick).
-export([start/0, noisy/1]).

start() ->
    ok = logger:remove_handler(default),
    ok = logger:add_handler(disk, logger_std_h, #{config => #{file => "flood.log", max_no_bytes => 2_000_000, max_no_files => 2},
                                                  formatter => {logger_formatter, #{single_line => true}}}),
    [spawn(?MODULE, noisy, [N]) || N <- lists:seq(1, 150)],
    timer:sleep(500),
    ok.

noisy(N) -> logger:error("request ~p failed: ~p", [N, lists:seq(1, 50)]), noisy(N).
