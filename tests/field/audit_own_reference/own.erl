%% A receive that matches a reference which another function of the module made: compilers newer than that of OTP 25 fail to explain it.
-module(own).
-export([asks/1, waits/1, any/0]).

asks(Server) ->
    Ref = sent(Server),
    receive {Ref, Answer} -> Answer end.

sent(Server) ->
    Ref = make_ref(),
    Server ! {self(), Ref},
    Ref.

waits(Port) -> receive {Port, Data} -> Data end.
any() -> receive Any -> Any end.
