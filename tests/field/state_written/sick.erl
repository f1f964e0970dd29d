%% A server writes all of its state to a file in each call that changes it, for safety. Twelve clients change a little now and then.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, client/1]).

start() ->
    {ok, _} = gen_server:start({local, chain_state}, ?MODULE, [], []),
    _ = [spawn(?MODULE, client, [N]) || N <- lists:seq(1, 12)],
    timer:sleep(500).

client(N) ->
    ok = gen_server:call(chain_state, {put, N, rand:uniform(1000)}, infinity),
    timer:sleep(rand:uniform(200)),
    client(N).

init([]) -> {ok, maps:from_list([{N, #{owner => N, nonce => 0, acl => [N, N + 1, read]}} || N <- lists:seq(1, 300_000)])}.

handle_call({put, N, Value}, _, State) ->
    Changed = State#{N => Value},
    ok = save(Changed),
    {reply, ok, Changed}.

handle_cast(_, State) -> {noreply, State}.

save(State) ->
    File = filename:join(os:getenv("TMPDIR", "/tmp"), "chain_state." ++ os:getpid()),
    ok = file:write_file(File, term_to_binary(State)),
    ok = file:delete(File).
