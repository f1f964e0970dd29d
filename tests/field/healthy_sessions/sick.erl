%% 500 sessions that get a message of a few kB every half second, decode it, and keep what is new of it: they are in use.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    _ = [{ok, _} = gen_server:start(?MODULE, N, []) || N <- lists:seq(1, 500)],
    ok.

init(N) -> {ok, {N, []}, 500 + N rem 100}.
handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(timeout, {N, _}) ->
    Frame = term_to_binary([{seat, K, N} || K <- lists:seq(1, 200)]),
    {noreply, {N, lists:sublist(binary_to_term(Frame), 20)}, 500 + N rem 100}.
