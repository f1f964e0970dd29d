%% Each request opens the database again and does not close it: the file stays open as long as the server that served the request.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, client/1]).

start() ->
    ok = file:write_file("places", binary:copy(<<"DE,Berlin;">>, 1000)),
    Servers = [element(2, {ok, _} = gen_server:start(?MODULE, [], [])) || _ <- lists:seq(1, 20)],
    _ = [gen_server:call(Server, {place, N}) || Server <- Servers, N <- lists:seq(1, 15)],
    _ = [spawn(?MODULE, client, [Server]) || Server <- Servers],
    timer:sleep(500),
    ok.

client(Server) ->
    timer:sleep(400 + rand:uniform(100)),
    _ = gen_server:call(Server, {place, rand:uniform(1000)}),
    client(Server).

init([]) -> {ok, []}.
handle_call({place, N}, _, State) ->
    {ok, File} = file:open("places", [read, binary]),
    {ok, Place} = file:pread(File, 10 * (N - 1), 10),
    {reply, Place, State}.
handle_cast(_, State) -> {noreply, State}.
