%% A server answers each call with all that it has, a map of 20,000 keys, which is copied for each of 9 callers. They need one key each.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/0]).

start() ->
    {ok, _} = gen_server:start({local, config_server}, ?MODULE, [], []),
    _ = [spawn(?MODULE, asks, []) || _ <- lists:seq(1, 9)],
    ok.

init([]) -> {ok, maps:from_list([{I, {I, [a, b, c], #{x => I}}} || I <- lists:seq(1, 20_000)])}.

handle_call(get_all, _, Config) -> {reply, Config, Config}.

handle_cast(_, Config) -> {noreply, Config}.

asks() ->
    Config = gen_server:call(config_server, get_all, infinity),
    #{} = maps:get(x, #{x => Config}),
    timer:sleep(rand:uniform(3) - 1),
    asks().
