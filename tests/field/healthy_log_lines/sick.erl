%% An importer that works all the time, and logs a line of each of its 200 batches a second. A file takes them.
-module(sick).
-export([start/0, imports/1]).

start() ->
    ok = logger:add_handler(lines, logger_std_h, #{config => #{file => "import.log"}}),
    ok = logger:remove_handler(default),
    ok = logger:set_primary_config(level, info),
    _ = spawn(?MODULE, imports, [0]),
    ok.

imports(N) ->
    Rows = lists:sort([{erlang:phash2({N, Row}), Row} || Row <- lists:seq(1, 300)]),
    logger:info("batch ~b: ~b rows", [N, length(Rows)]),
    timer:sleep(3),
    imports(N + 1).
