%% Somebody has raised the limits of a handler of logger, so that no event of an incident is lost: its file takes fewer than come.
-module(sick).
-export([start/0, logs/1]).

start() ->
    Limits = #{file => "audit.log", sync_mode_qlen => 5_000_000, drop_mode_qlen => 5_000_000, flush_qlen => 5_000_000,
               burst_limit_enable => false, overload_kill_enable => false},
    ok = logger:add_handler(audit, logger_std_h, #{config => Limits, formatter => {logger_formatter, #{template => [msg, "\n"]}}}),
    ok = logger:remove_handler(default),
    ok = logger:set_primary_config(level, info),
    _ = [spawn(?MODULE, logs, [N]) || N <- lists:seq(1, 20)],
    timer:sleep(2000),
    ok.

logs(N) ->
    _ = [logger:info("order ~b", [N * M]) || M <- lists:seq(1, 50)],
    timer:sleep(20),
    logs(N + 1).
