%% Each of three workers makes words of a large term for a line that is not logged, since nobody asked for that level.
-module(sick).
-export([start/0, worker/1]).

start() ->
    _ = [spawn(?MODULE, worker, [N]) || N <- lists:seq(1, 3)],
    timer:sleep(200),
    ok.

worker(N) ->
    State = #{sessions => [{Id, #{user => <<"user">>, since => Id, rooms => [lobby, {room, Id}]}} || Id <- lists:seq(1, 60)]},
    debug(info, lists:flatten(io_lib:format("state of ~p: ~p", [N, State]))),
    timer:sleep(1),
    worker(N).

debug(debug, Line) -> io:put_chars(Line);
debug(_, _) -> ok.
