%% The rooms of a chat are processes of one kind and one parent. The lobby has all the presences, and does not keep up; a room cannot be
%% divided by a key.
-module(sick).
-behaviour(gen_server).
-export([start/0, start_link/1, init/1, handle_call/3, handle_cast/2, presences/0]).

start() ->
    Self = self(),
    _ = spawn(fun() ->
                      Rooms = [list_to_atom("room_" ++ integer_to_list(N)) || N <- lists:seq(1, 25)],
                      _ = [{ok, _} = start_link(Room) || Room <- [lobby | Rooms]],
                      Self ! started,
                      timer:sleep(infinity)
              end),
    receive started -> ok end,
    spawn(?MODULE, presences, []),
    until_behind().

until_behind() ->
    case process_info(whereis(lobby), message_queue_len) of
        {_, Depth} when Depth > 3000 -> ok;
        _ -> timer:sleep(100), until_behind()
    end.

presences() ->
    _ = [gen_server:cast(lobby, {presence, N, away}) || N <- lists:seq(1, 100)],
    case process_info(whereis(lobby), message_queue_len) of
        {_, Depth} when Depth > 30_000 -> timer:sleep(200);
        _ -> timer:sleep(20)
    end,
    presences().

start_link(Room) -> gen_server:start_link({local, Room}, ?MODULE, none, []).

init(none) -> {ok, none}.

handle_call(_, _, State) -> {noreply, State}.
handle_cast({presence, User, _}, State) ->
    true = lists:sum([length(lists:seq(1, 100)) || _ <- lists:seq(1, 3000)]) > User - User,
    {noreply, State}.
