%% Which functions another is reached from.
-module(reached).

-export([far/1, near/1, starter/1, by_a_fun/1, unrelated/0]).

far(Port) -> {ok, near(Port)}.

near(Port) -> hidden(Port).

hidden(Port) ->
    receive {Port, Data} -> Data end.

starter(Port) ->
    spawn(fun() -> receive {Port, other} -> ok end end).

by_a_fun(Ports) -> lists:map(fun hidden/1, Ports).

unrelated() -> ok.
