%% Pairs of processes that ask and answer each other as fast as they can: the processors are busy, and nobody waits long.
-module(sick).
-export([start/0, asks/1, answers/0]).

start() ->
    _ = [spawn(?MODULE, asks, [spawn(?MODULE, answers, [])]) || _ <- lists:seq(1, 8)],
    ok.

asks(Server) ->
    Ref = make_ref(),
    Server ! {self(), Ref, {ping, <<"hello">>}},
    receive {Ref, {ping, _}} -> asks(Server) end.

answers() -> receive {From, Ref, What} -> From ! {Ref, What}, answers() end.
