%% Healthy: a server keeps an index in its own heap, which does not grow, and answers some hundred calls a second. What its calls leave
%% in the young heap is no growth.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Pid} = gen_server:start({local, place_index}, ?MODULE, [], [{timeout, infinity}]),
    _ = [spawn(fun() -> asks(Pid) end) || _ <- lists:seq(1, 10)],
    ok.

asks(Pid) ->
    _ = gen_server:call(Pid, {near, rand:uniform(400_000)}, infinity),
    timer:sleep(20),
    asks(Pid).

init([]) -> {ok, gb_trees:from_orddict([{N, {N * 0.1, N * 0.2, [{zip, N rem 9999}, {street, N * 3}]}} || N <- lists:seq(1, 400_000)]), hibernate}.
handle_call({near, Key}, _, Index) -> {reply, next(8, gb_trees:iterator_from(Key, Index)), Index}.
handle_cast(_, Index) -> {noreply, Index}.

next(0, _) -> [];
next(Left, Iterator) ->
    case gb_trees:next(Iterator) of
        {Key, Value, Rest} -> [{Key, Value} | next(Left - 1, Rest)];
        none -> []
    end.
