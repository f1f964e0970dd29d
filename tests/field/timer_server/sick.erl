%% 200 sessions set and cancel a time-out for each packet by the module timer, whose calls all go to one server.
-module(sick).
-export([start/0, session/1, late/1]).

start() ->
    _ = [spawn(?MODULE, session, [none]) || _ <- lists:seq(1, 200)],
    timer:sleep(500),
    ok.

session(Timer) ->
    _ = timer:cancel(Timer),
    {ok, Next} = timer:apply_after(30_000, ?MODULE, late, [self()]),
    session(Next).

late(_) -> ok.
