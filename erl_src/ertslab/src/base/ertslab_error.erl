%% @doc The ways in which a command ends badly. All carry one clear
%% sentence; ertslab_cli prints it and sets the exit status.
-module(ertslab_error).

-export([usage/2, failure/2, beyond/2, text/1, reason_text/1]).

%% @doc The words of the call are wrong: exit status 2.
-spec usage(io:format(), [term()]) -> no_return().
usage(Format, Args) -> throw({usage, text(io_lib:format(Format, Args))}).

%% @doc Something could not be done: exit status 1.
-spec failure(io:format(), [term()]) -> no_return().
failure(Format, Args) -> throw({failure, text(io_lib:format(Format, Args))}).

%% @doc What was measured is beyond a bound that was given: exit status 3.
-spec beyond(io:format(), [term()]) -> no_return().
beyond(Format, Args) -> throw({beyond, text(io_lib:format(Format, Args))}).

%% @doc Any characters as a UTF-8 binary.
-spec text(unicode:chardata()) -> binary().
text(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Text when is_binary(Text) -> Text
    end.

%% @doc A line's worth of the reason: an exception of the experiment without its stack.
-spec reason_text(term()) -> binary().
reason_text({exception, Reason, _Stack}) -> reason_text(Reason);
reason_text({Reason, [{_, _, _, _} | _]}) -> reason_text(Reason);
reason_text({Reason, {gen_server, call, _}}) -> reason_text(Reason);
reason_text({does_not_load, Module}) ->
    text(io_lib:format("~ts, which the experiment needs, does not load there ('./build.sh native' builds native code)", [Module]));
reason_text({cannot_run, Sentence}) -> text(Sentence);
reason_text(timeout) -> ~"no answer in time";
reason_text({exit_status, _}) -> ~"the VM ended";
reason_text(Gone) when Gone =:= normal; Gone =:= noproc; Gone =:= noconnection -> ~"the VM ended";
reason_text(Reason) -> text(io_lib:format("~0tP", [Reason, 12])).
