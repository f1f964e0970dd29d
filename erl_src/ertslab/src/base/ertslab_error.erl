%% @doc The ways in which a command fails. Each carries one clear
%% sentence; ertslab_cli prints it and sets the exit status.
-module(ertslab_error).

-export([usage/2, wants_the_lab/1, failure/2, beyond/2, incomplete/2, put_off/1, at_last/2, text/1, foreign/1, reason_text/1]).

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

%% @doc Calls the function, and puts its failure off: what is known by then has to be told first.
-spec put_off(fun(() -> _)) -> [binary()].
put_off(Fun) ->
    try _ = Fun(), []
    catch throw:{failure, Sentence} -> [Sentence]
    end.

%% @doc Ends a call as the function does, with the failures that were put off. They never hide a result beyond a bound.
-spec at_last([binary()], fun(() -> ok)) -> ok.
at_last(Failures, End) ->
    try End() of
        ok when Failures =:= [] -> ok;
        ok -> failure("~ts", [lines(Failures)])
    catch throw:{Kind, Sentence} -> throw({Kind, lines(Failures ++ [Sentence])})
    end.

lines(Sentences) -> text(lists:join("\nertslab: ", Sentences)).

%% @doc What another program wrote, as text. Bytes that are no UTF-8 are taken for Latin-1. A control character is a blank, so that
%% it cannot command a terminal.
-spec foreign(binary()) -> binary().
foreign(Bytes) ->
    Text = case unicode:characters_to_binary(Bytes) of
               Valid when is_binary(Valid) -> Valid;
               _ -> unicode:characters_to_binary(Bytes, latin1)
           end,
    re:replace(Text, "(?![\\n\\t])[\\x{0}-\\x{1f}\\x{7f}-\\x{9f}]", " ", [global, unicode, {return, binary}]).

%% @doc Any characters as a UTF-8 binary.
-spec text(unicode:chardata()) -> binary().
text(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Text when is_binary(Text) -> Text
    end.

%% @doc The reason on one line: an exception of the experiment without its stack.
-spec reason_text(term()) -> binary().
reason_text({exception, undef, [Missing | _]}) -> reason_text({undef, [Missing]});
reason_text({undef, [{Module, Function, Arguments, _} | _]}) ->
    Arity = case is_list(Arguments) of true -> length(Arguments); false -> Arguments end,
    text(io_lib:format("there is no function ~tw:~tw/~b", [Module, Function, Arity]));
reason_text({exception, Reason, _Stack}) -> reason_text(Reason);
reason_text({Reason, [{_, _, _, _} | _]}) -> reason_text(Reason);
reason_text({Reason, {gen_server, call, _}}) -> reason_text(Reason);
reason_text({does_not_load, Module}) ->
    text(io_lib:format("~ts, which the experiment needs, does not load there ('./build.sh native' builds native code)", [Module]));
reason_text({cannot_run, Sentence}) -> text(Sentence);
%% By `peer', which has no answer for a call whose process was ended by a signal.
reason_text({case_clause, {crash, Reason}}) -> text(io_lib:format("its process was ended (~0tP)", [Reason, 12]));
reason_text(timeout) -> <<"no answer in time">>;
reason_text({exit_status, _}) -> <<"the VM ended">>;
reason_text(Gone) when Gone =:= normal; Gone =:= noproc; Gone =:= noconnection -> <<"the VM ended">>;
reason_text(Reason) -> text(io_lib:format("~0tP", [Reason, 12])).
