%% The first call of the module codec loads it. Its on_load function asks a server, which calls codec: they wait for each other, and all who
%% call codec wait for the code server.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, request/0]).

start() ->
    {ok, _} = gen_server:start({local, keyring}, ?MODULE, [], []),
    _ = [spawn(?MODULE, request, []) || _ <- lists:seq(1, 40)],
    timer:sleep(300),
    ok.

request() -> 32 = codec:key_size().

init([]) -> {ok, <<0:256>>}.

handle_call(current, _, Key) -> {reply, binary:part(Key, 0, codec:key_size()), Key}.

handle_cast(_, Key) -> {noreply, Key}.
