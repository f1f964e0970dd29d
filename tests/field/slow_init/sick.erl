%% A supervisor starts rooms, each of which asks a database in its init; and it is asked by 20 clients at a time.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, room/0, handle_call/3, handle_cast/2, client/0]).

start() ->
    {ok, Sup} = supervisor:start_link({local, room_sup}, ?MODULE, supervisor),
    true = unlink(Sup),
    _ = [spawn(?MODULE, client, []) || _ <- lists:seq(1, 20)],
    timer:sleep(300),
    ok.

client() ->
    {ok, Room} = supervisor:start_child(room_sup, []),
    ok = supervisor:terminate_child(room_sup, Room),
    client().

room() -> gen_server:start_link(?MODULE, room, []).

init(supervisor) -> {ok, {#{strategy => simple_one_for_one}, [#{id => room, start => {?MODULE, room, []}, restart => temporary}]}};
init(room) -> {ok, select()}.

select() -> receive after 100 -> rows end.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
