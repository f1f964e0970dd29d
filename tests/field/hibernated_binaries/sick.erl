%% 300 connections that hibernate, each with the name of its user, which is a part of the first packet of 1 MB.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    [{ok, _} = gen_server:start(?MODULE, N, []) || N <- lists:seq(1, 300)],
    timer:sleep(200),
    ok.

init(N) ->
    <<_:100/binary, User:80/binary, _/binary>> = binary:copy(<<N:32>>, 250_000),
    {ok, User, hibernate}.
handle_call(_, _, S) -> {reply, ok, S, hibernate}.
handle_cast(_, S) -> {noreply, S, hibernate}.
