%% @doc Why a measured VM ended, or why a call in it did not return. Pure.
-module(ertslab_crash).

-export([says/1, cause/1]).

%% @doc The reason on one line: an exception of the experiment without its stack.
-spec says(term()) -> binary().
says(Reason) -> said(cause(Reason)).

%% @doc The reason without what only says where it was raised.
-spec cause(term()) -> term().
cause({exception, Reason, _Stack}) -> cause(Reason);
cause({Reason, [{_, _, _, _} | _]}) -> cause(Reason);
cause({Reason, {gen_server, call, _}}) -> cause(Reason);
cause(Reason) -> Reason.

said({does_not_load, Module}) -> ertslab_text:binary(io_lib:format("~ts, which the experiment needs, does not load there", [Module]));
said({cannot_run, Sentence}) -> ertslab_text:binary(Sentence);
said(timeout) -> <<"no answer in time">>;
said({exit_status, _}) -> <<"the VM ended">>;
said(Gone) when Gone =:= normal; Gone =:= noproc; Gone =:= noconnection -> <<"the VM ended">>;
said(Reason) -> ertslab_text:binary(io_lib:format("~0tP", [Reason, 12])).
