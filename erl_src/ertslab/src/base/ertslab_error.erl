%% @doc The ways in which a command fails. Each carries one clear
%% sentence; ertslab_cli prints it and sets the exit status.
-module(ertslab_error).

-export([usage/2, wants_the_lab/1, failure/2, beyond/2, incomplete/2, text/1, reason_text/1]).

%% @doc The arguments of the call are wrong: exit status 2.
-spec usage(io:format(), [term()]) -> no_return().
usage(Format, Args) -> throw({usage, text(io_lib:format(Format, Args))}).

%% @doc The command needs a checkout, and this is the single file that is made of one: exit status 2.
-spec wants_the_lab(unicode:chardata()) -> no_return().
wants_the_lab(What) -> usage("~ts needs a checkout of ertslab in which './build.sh demo' has run", [What]).

%% @doc Something could not be done: exit status 1.
-spec failure(io:format(), [term()]) -> no_return().
failure(Format, Args) -> throw({failure, text(io_lib:format(Format, Args))}).

%% @doc A result exceeds a bound that the user gave: exit status 3.
-spec beyond(io:format(), [term()]) -> no_return().
beyond(Format, Args) -> throw({beyond, text(io_lib:format(Format, Args))}).

%% @doc Nothing was found, but not everything could be examined: exit status 4.
-spec incomplete(io:format(), [term()]) -> no_return().
incomplete(Format, Args) -> throw({incomplete, text(io_lib:format(Format, Args))}).

%% @doc Any characters as a UTF-8 binary.
-spec text(unicode:chardata()) -> binary().
text(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Text when is_binary(Text) -> Text
    end.

%% @doc The reason on one line: an exception of the experiment without its stack.
-spec reason_text(term()) -> binary().
reason_text({exception, Reason, _Stack}) -> reason_text(Reason);
reason_text({Reason, [{_, _, _, _} | _]}) -> reason_text(Reason);
reason_text({Reason, {gen_server, call, _}}) -> reason_text(Reason);
reason_text({does_not_load, Module}) ->
    text(io_lib:format("~ts, which the experiment needs, does not load there ('./build.sh native' builds native code)", [Module]));
reason_text({cannot_run, Sentence}) -> text(Sentence);
reason_text(timeout) -> <<"no answer in time">>;
reason_text({exit_status, _}) -> <<"the VM ended">>;
reason_text(Gone) when Gone =:= normal; Gone =:= noproc; Gone =:= noconnection -> <<"the VM ended">>;
reason_text(Reason) -> text(io_lib:format("~0tP", [Reason, 12])).
