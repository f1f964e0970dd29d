%% @doc Is a variant as good as stock? Compares the results of OTP's suites on both,
%% case by case. Every run is a map of decoded JSON, as otp_tests_suite makes it.
-module(otp_tests_compare).

-export([suite/3, report/2]).
-export_type([compared/0, report/0]).

-type compared() :: #{suite := binary(), cases := non_neg_integer(), runs := pos_integer(),
                      seconds := number(), stock_seconds := number(),
                      different := [row()], unsteady := [row()], added := [row()],
                      failing := [row()], skipped := non_neg_integer()}.
%% `seconds' are those of the first run.
-type row() :: #{'case' := binary(), stock := [binary()], variant := [binary()],
                 reason := binary()}.
%% The results of the case in each run.
-type report() :: #{atom() => term()}.

%% @doc Compares runs of a suite on stock with runs of it on a variant, in the
%% order in which they were made. A case is `same' if its first runs agree. It is
%% `unsteady' if they do not, but some outcome occurred on both stock and the variant;
%% else it is `different'. A case that stock lacks was added by a patch, and must pass: it
%% is unsteady if it passed in only some of its runs.
-spec suite(string(), [otp_tests_suite:results(), ...], [otp_tests_suite:results(), ...]) -> compared().
suite(Suite, [#{~"seconds" := StockSeconds} | _] = OnStock, [#{~"seconds" := Seconds} | _] = OnVariant) ->
    Names = lists:usort(lists:append([maps:keys(Cases) || #{~"cases" := Cases} <- OnStock ++ OnVariant])),
    Rows = [row(Name, OnStock, OnVariant) || Name <- Names],
    Of = fun(Verdict) -> [Row || {V, Row} <- Rows, V =:= Verdict] end,
    Same = Of(same),
    #{suite => ertslab_text:binary(Suite), cases => length(Rows), runs => length(OnVariant),
      seconds => Seconds, stock_seconds => StockSeconds,
      different => Of(different), unsteady => Of(unsteady), added => Of(added),
      failing => [Row || Row <- Same, is_any(Row, [~"failed", ~"crashed"])],
      skipped => length([Row || Row <- Same, is_any(Row, [~"skipped", ~"auto_skipped"])])}.

row(Name, OnStock, OnVariant) ->
    Stock = [results(Name, Run) || Run <- OnStock],
    Variant = [results(Name, Run) || Run <- OnVariant],
    {verdict(Stock, Variant),
     #{'case' => Name, stock => [joined(Results) || Results <- Stock],
       variant => [joined(Results) || Results <- Variant],
       reason => reason(Name, OnVariant ++ OnStock)}}.

results(Name, Run) -> lists:sort([Result || #{~"result" := Result} <- outcomes(Name, Run)]).

outcomes(Name, #{~"cases" := Cases}) -> maps:get(Name, Cases, []).

joined([]) -> ~"absent";
joined(Results) -> iolist_to_binary(lists:join("+", Results)).

verdict([Same | _], [Same | _]) -> same;
verdict(Stock, Variant) ->
    case lists:usort(Stock) of
        [[]] -> verdict_of_added([Results || Results <- Variant, lists:usort(Results) =/= [~"ok"]], Variant);
        _ ->
            case [Results || Results <- Variant, lists:member(Results, Stock)] of
                [] -> different;
                [_ | _] -> unsteady
            end
    end.

verdict_of_added([], _Variant) -> added;
verdict_of_added(NotPassed, Variant) when length(NotPassed) < length(Variant) -> unsteady;
verdict_of_added(_, _) -> different.

%% The reason of the first run that did not pass.
reason(Name, Runs) ->
    case [Reason || Run <- Runs, #{~"result" := Result, ~"reason" := Reason} <- outcomes(Name, Run),
                    Result =/= ~"ok"] of
        [Reason | _] -> Reason;
        [] -> ~""
    end.

is_any(#{variant := [Joined | _]}, Wanted) ->
    lists:any(fun(Result) -> lists:member(Result, Wanted) end, binary:split(Joined, ~"+", [global])).

%% @doc The report on all suites. It is `ok' if no case is different.
-spec report([compared()], #{atom() => binary()}) -> report().
report(Compared, About) ->
    Total = fun(Key) -> lists:append([maps:get(Key, Suite) || Suite <- Compared]) end,
    About#{suites => Compared,
           cases => lists:sum([Cases || #{cases := Cases} <- Compared]),
           skipped => lists:sum([Skipped || #{skipped := Skipped} <- Compared]),
           different => Total(different), unsteady => Total(unsteady),
           added => Total(added), failing => Total(failing), ok => Total(different) =:= []}.
