%% A server makes tensors of 4 MB by native functions, and drops each. To it they are a few words, so it is not collected.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, tensor/1]).

start() ->
    ok = erlang:load_nif("./sick_nif", 0),
    {ok, Server} = gen_server:start({local, predictions}, ?MODULE, [], [{spawn_opt, [{min_heap_size, 50_000}]}]),
    _ = [true = gen_server:call(Server, predict) || _ <- lists:seq(1, 100)],
    ok.

init([]) -> {ok, none}.
handle_call(predict, _, State) -> {reply, is_reference(tensor(4_000_000)), State}.
handle_cast(_, State) -> {noreply, State}.

tensor(_Bytes) -> erlang:nif_error(not_loaded).
