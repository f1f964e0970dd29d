%% @doc The outcome of each case, from Common Test's machine-readable log `suite.log'.
%% It is written as the cases run, so it is useful even if the VM died.
-module(otp_tests_log).

-export([cases/1]).
-export_type([cases/0, outcome/0]).

-type outcome() :: #{binary() => binary()}.
%% `result' (ok, failed, skipped, auto_skipped or crashed) and `reason'.
-type cases() :: #{Name :: binary() => [outcome()]}.
%% A case that belongs to several groups has several outcomes.

%% The functions around the cases matter only if they fail.
-define(AROUND, [~"init_per_suite", ~"end_per_suite", ~"init_per_group", ~"end_per_group"]).

%% @doc The outcomes of the cases in a log. A case that began and has no outcome crashed.
-spec cases(binary()) -> cases().
cases(Text) ->
    Outcomes = outcomes([words(Line) || Line <- binary:split(Text, ~"\n", [global])], none),
    maps:groups_from_list(fun({Name, _}) -> Name end, fun({_, Outcome}) -> Outcome end,
                          [Entry || {Name, #{~"result" := Result}} = Entry <- Outcomes,
                                    not (is_around(Name) andalso Result =:= ~"ok")]).

words(<<"=case ", Rest/binary>>) -> {'case', string:trim(Rest)};
words(<<"=result ", Rest/binary>>) -> {result, string:trim(Rest)};
words(_) -> other.

outcomes([{'case', Name} | Lines], Before) -> unfinished(Before) ++ outcomes(Lines, Name);
outcomes([{result, _} | Lines], none) -> outcomes(Lines, none);
outcomes([{result, Words} | Lines], Name) -> [{Name, outcome(Words)} | outcomes(Lines, none)];
outcomes([other | Lines], Name) -> outcomes(Lines, Name);
outcomes([], Name) -> unfinished(Name).

unfinished(none) -> [];
unfinished(Name) -> [{Name, #{~"result" => ~"crashed", ~"reason" => ~"the VM ended in it"}}].

outcome(Words) ->
    [Result | Reason] = binary:split(Words, ~":"),
    #{~"result" => Result, ~"reason" => string:trim(iolist_to_binary(Reason))}.

is_around(Name) ->
    [_Suite | Function] = binary:split(Name, ~":"),
    lists:member(iolist_to_binary(Function), ?AROUND).
