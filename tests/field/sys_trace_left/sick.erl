%% Somebody watched the events of a server by sys:trace/2, and did not end that: each is printed with the state of the server.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, guest/0]).

start() ->
    {ok, Pid} = gen_server:start({local, bookings}, ?MODULE, [], []),
    ok = sys:trace(Pid, true),
    _ = [spawn(?MODULE, guest, []) || _ <- lists:seq(1, 40)],
    timer:sleep(200),
    ok.

init([]) -> {ok, maps:from_list([{Room, free} || Room <- lists:seq(1, 4000)])}.

handle_call({book, Room}, _, Rooms) -> {reply, maps:get(Room, Rooms), Rooms#{Room := taken}}.

handle_cast(_, Rooms) -> {noreply, Rooms}.

guest() ->
    _ = gen_server:call(bookings, {book, rand:uniform(4000)}, infinity),
    timer:sleep(20),
    guest().
