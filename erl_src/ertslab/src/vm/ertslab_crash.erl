%% @doc Why a measured VM ended, or why a call in it did not return. Pure.
-module(ertslab_crash).

-export([says/1, cause/1]).

%% @doc The reason on one line: an exception of the experiment without its stack.
-spec says(term()) -> binary().
says(Reason) -> said(cause(Reason)).

%% @doc The reason without what only says where it was raised.
-spec cause(term()) -> term().
cause({exception, undef, [Missing | _]}) -> {undef, [Missing]};
cause({undef, [{_, _, _, _} | _]} = Reason) -> Reason;
cause({exception, Reason, _Stack}) -> cause(Reason);
cause({Reason, [{_, _, _, _} | _]}) -> cause(Reason);
cause({Reason, {gen_server, call, _}}) -> cause(Reason);
cause(Reason) -> Reason.

said({does_not_load, Module}) -> ertslab_text:binary(io_lib:format("~ts, which the experiment needs, does not load there", [Module]));
said({no_value, Metric, Value}) ->
    ertslab_text:binary(io_lib:format("the value of ~tw is neither a number from 0 to 1.0e300 nor points of different N: ~0tP",
                                      [Metric, Value, 12]));
said({no_pair, Metric, Returned}) ->
    ertslab_text:binary(io_lib:format("run(~tw, State) has to return {Value, Result}, and returned ~0tP", [Metric, Returned, 12]));
said({cannot_run, Sentence}) -> ertslab_text:binary(Sentence);
said({undef, [{Module, Function, Arguments, _} | _]}) ->
    Arity = case is_list(Arguments) of true -> length(Arguments); false -> Arguments end,
    ertslab_text:binary(io_lib:format("there is no function ~tw:~tw/~b", [Module, Function, Arity]));
%% By `peer', which has no answer for a call whose process was ended by a signal.
said({case_clause, {crash, Reason}}) -> ertslab_text:binary(io_lib:format("its process was ended (~0tP)", [Reason, 12]));
said({exited, Why}) -> ertslab_text:binary(io_lib:format("it exited (~0tP)", [Why, 12]));
said(timeout) -> <<"no answer in time">>;
said({exit_status, _}) -> <<"the VM ended">>;
said(Gone) when Gone =:= normal; Gone =:= noproc; Gone =:= noconnection -> <<"the VM ended">>;
said(Reason) -> ertslab_text:binary(io_lib:format("~0tP", [Reason, 12])).
