%% A producer whose broker is gone: it tries again by handle_continue at once, for ever.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_continue/2]).

start() ->
    {ok, _} = gen_server:start({local, producer}, ?MODULE, [], []),
    ok.

init([]) -> {ok, 0, {continue, connect}}.

handle_call(_, _, Tried) -> {reply, ok, Tried}.

handle_cast(_, Tried) -> {noreply, Tried}.

handle_continue(connect, Tried) ->
    case whereis(broker) of
        undefined -> {noreply, Tried + 1, {continue, connect}};
        _ -> {noreply, Tried}
    end.
