%% 300 processes call a server of another node, which waits for a database inside each call and answers none of them.
-module(sick).
-export([start/0, serve/1, asks/0]).

start() ->
    Far = list_to_atom(os:getenv("PEER")),
    {Module, Code, File} = code:get_object_code(?MODULE),
    {module, _} = erpc:call(Far, code, load_binary, [Module, File, Code]),
    Starter = self(),
    spawn(Far, ?MODULE, serve, [Starter]),
    receive serving -> ok end,
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 300)],
    timer:sleep(500),
    ok.

serve(Starter) ->
    true = register(prices, self()),
    Starter ! serving,
    receive never -> ok end.

asks() -> gen_server:call({prices, list_to_atom(os:getenv("PEER"))}, {price, 1}, infinity).
