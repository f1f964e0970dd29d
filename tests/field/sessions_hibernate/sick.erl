%% 500 sessions hibernate after each message, of which each gets about fifteen a second: each copies 100 kB, nearly all of it alive.
-module(sick).
-behaviour(gen_server).
-export([start/0]).
-export([init/1, handle_call/3, handle_cast/2]).

start() ->
    Sessions = [element(2, {ok, _} = gen_server:start(?MODULE, [], [])) || _ <- lists:seq(1, 500)],
    spawn(fun() -> clients(erlang:monotonic_time(millisecond), Sessions, 0) end),
    ok.

clients(Began, Sessions, Sent) ->
    timer:sleep(10),
    Due = 15 * length(Sessions) * (erlang:monotonic_time(millisecond) - Began) div 1000,
    {Now, Later} = lists:split(min(Due - Sent, length(Sessions)), Sessions),
    [gen_server:cast(Session, {frame, rand:uniform(700)}) || Session <- Now],
    clients(Began, Later ++ Now, max(Due, Sent)).

init([]) -> {ok, maps:from_list([{Room, {Room, 0, [Room, Room, Room, Room]}} || Room <- lists:seq(1, 700)]), hibernate}.

handle_call(_, _, Rooms) -> {reply, ok, Rooms, hibernate}.

handle_cast({frame, Room}, Rooms) ->
    #{Room := {_, Unread, Last}} = Rooms,
    {noreply, Rooms#{Room := {Room, Unread + 1, Last}}, hibernate}.
