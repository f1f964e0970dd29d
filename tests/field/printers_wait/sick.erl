%% Forty workers print to the group leader of a session whose shell is stuck.
-module(sick).
-export([start/0, shell/0, works/1]).

start() ->
    Shell = spawn(?MODULE, shell, []),
    _ = [spawn(?MODULE, works, [Shell]) || _ <- lists:seq(1, 40)],
    ok.

shell() -> receive never -> ok end.

works(Shell) ->
    true = group_leader(Shell, self()),
    io:format("done~n"),
    works(Shell).
