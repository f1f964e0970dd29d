%% @doc The ways in which a command fails. An error is a value, as in OTP: the module that makes the reason exports
%% `format_error/1', which says it in a sentence. ertslab_cli prints that sentence, with the advice of ertslab_advice, and
%% sets the exit status.
-module(ertslab_error).

-export([usage/2, failure/2, beyond/2, incomplete/2, several/2, each/1, put_off/1, at_last/2, sentence/1, sentence/2]).
-export_type([kind/0, error/0, thrown/0]).

-type kind() :: usage | failure | beyond | incomplete.
-type error() :: {module(), Reason :: term()}.
%% What is thrown beside the kind.
-type thrown() :: error() | [error(), ...].

%% @doc The arguments of the call are wrong: exit status 2.
-spec usage(module(), term()) -> no_return().
usage(Module, Reason) -> throw({usage, {Module, Reason}}).

%% @doc Something could not be done: exit status 1.
-spec failure(module(), term()) -> no_return().
failure(Module, Reason) -> throw({failure, {Module, Reason}}).

%% @doc A result exceeds a bound that the user gave: exit status 3.
-spec beyond(module(), term()) -> no_return().
beyond(Module, Reason) -> throw({beyond, {Module, Reason}}).

%% @doc Nothing was found, but not everything could be examined: exit status 4.
-spec incomplete(module(), term()) -> no_return().
incomplete(Module, Reason) -> throw({incomplete, {Module, Reason}}).

%% @doc Several errors that end the call together; the door says each.
-spec several(kind(), [error(), ...]) -> no_return().
several(Kind, Errors) -> throw({Kind, Errors}).

%% @doc The errors that were thrown together.
-spec each(thrown()) -> [error(), ...].
each({_, _} = Error) -> [Error];
each([_ | _] = Errors) -> Errors.

%% @doc Calls the function, and puts its failure off: what is known by then has to be told first.
-spec put_off(fun(() -> _)) -> [error()].
put_off(Fun) ->
    try _ = Fun(), []
    catch throw:{failure, Thrown} -> each(Thrown)
    end.

%% @doc Ends a call as the function does, with the failures that were put off. They never hide a result beyond a bound.
-spec at_last([error()], fun(() -> ok)) -> ok.
at_last(Failures, End) ->
    try End() of
        ok when Failures =:= [] -> ok;
        ok -> several(failure, Failures)
    catch throw:{Kind, Thrown} -> several(Kind, Failures ++ each(Thrown))
    end.

%% @doc What an error says, without advice. Bytes of others that are no UTF-8 are taken for Latin-1.
-spec sentence(error()) -> binary().
sentence({Module, Reason}) -> ertslab_text:binary(io_lib:format("~ts", [Module:format_error(Reason)])).

%% @doc What an error says that does not end the call. The door puts `says' into the options of a call, and so the advice.
-spec sentence(error(), #{says => fun((error()) -> binary()), _ => _}) -> binary().
sentence(Error, #{says := Says}) -> Says(Error);
sentence(Error, #{}) -> sentence(Error).
