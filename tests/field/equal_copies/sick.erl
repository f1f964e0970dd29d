%% 200 sessions each got the whole catalogue in a message, and keep it.
-module(sick).
-export([start/0, session/1]).

start() ->
    Catalogue = [{N, [{name, "article " ++ integer_to_list(N)}, {price, N * 100}, {size, {N, N + 1, N + 2}}]} || N <- lists:seq(1, 9000)],
    Sessions = [spawn(?MODULE, session, [none]) || _ <- lists:seq(1, 200)],
    _ = [Session ! {catalogue, Catalogue} || Session <- Sessions],
    timer:sleep(2000),
    _ = [erlang:garbage_collect(Session) || Session <- Sessions],
    ok.

session(Catalogue) ->
    receive
        {catalogue, New} -> session(New);
        {price, From, N} ->
            From ! proplists:get_value(N, Catalogue),
            session(Catalogue)
    end.
