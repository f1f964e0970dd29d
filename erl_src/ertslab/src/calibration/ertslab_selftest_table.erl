%% @doc The reports of the self-test as text.
-module(ertslab_selftest_table).

-export([render/1, machine/1]).
-export_type([report/0, machine_report/0]).

-type report() :: #{comparisons := pos_integer(), seed := integer(), ok := boolean(),
                    identical := [ertslab_selftest_rates:result()], power := [ertslab_selftest_rates:result()],
                    replayed := [ertslab_replay:result()]}.
-type machine_report() :: #{atom() => term()}.

%% @doc The results of the simulation: identical arms, followed by known effects.
-spec render(report()) -> iolist().
render(#{comparisons := Comparisons, seed := Seed, identical := Identical, power := Power, replayed := Replayed}) ->
    [io_lib:format("Identical VMs in simulated noise, ~b comparisons each, seed ~b: how often is"
                   " anything called changed?~n~n", [Comparisons, Seed]),
     ertslab_text:columns([[<<"noise">>, <<"changed">>, <<"void">>, <<"either, 95 % interval">>,
                             <<"if iterations are pooled">>, <<"if A runs first, then B">>, <<"">>]
                            | [identical(Result) || Result <- Identical]]),
     $\n, [[atom_to_binary(Noise), ": ", ertslab_noise:says(Noise), ".\n"] || #{noise := Noise} <- Identical],
     limits(Comparisons), wrong_found(Identical),
     io_lib:format("~nA variant that is faster, in the noise 'independent', ~b comparisons each: how often"
                   " is it found?~n~n", [Comparisons]),
     ertslab_text:columns([[<<"pairs">>, <<"effect">>, <<"found">>, <<"reference">>, <<"difference">>,
                             <<"called 'same'">>, <<"">>] | [power(Result) || Result <- Power]]),
     "\nThe reference is another program's simulation. An effect of 1 %, which is the bound, is\n"
     "found half of the time at most, since the estimate must reach the bound.\n",
     replayed(Replayed)].

%% A line for each kind of noise: how often a change is reported without an effect, and with one.
replayed([]) -> [];
replayed([#{pairs := Pairs} | _] = Results) ->
    [Few, Many] = [F([N || #{comparisons := N} <- Results]) || F <- [fun lists:min/1, fun lists:max/1]],
    Effects = lists:usort([Effect || #{effect := Effect} <- Results]),
    Names = ertslab_estimate:names(),
    [io_lib:format("~nThe same comparisons by ~ts estimators, ~b pairs, ~b comparisons each (~b with an effect): how often is a change"
                   " found,~nas ~ts? Where there is none, at most 5 % is ok.~n~n",
                   [case Names of [_, _] -> "both"; _ -> "all" end, Pairs, Many, Few, lists:join(" / ", [called(Name) || Name <- Names])]),
     ertslab_text:columns([[<<"noise">> | [effect(Effect) || Effect <- Effects]] ++ [<<"">>]
                            | [replayed(Noise, [R || #{noise := Of} = R <- Results, Of =:= Noise])
                               || Noise <- lists:uniq([Noise || #{noise := Noise} <- Results])]])].

replayed(Noise, Results) ->
    [Noise | [lists:join(" / ", [percent(maps:get(Name, Result)) || Name <- ertslab_estimate:names()]) || Result <- Results]]
        ++ [said(lists:all(fun(#{ok := Ok}) -> Ok end, Results))].

called(Name) ->
    Quoted = io_lib:format("'~ts'", [Name]),
    case {atom_to_binary(Name), ertslab_estimate:words(Name)} of
        {Same, Same} -> Quoted;
        {_, Words} -> [Quoted, " (the ", Words, ")"]
    end.

effect(+0.0) -> <<"no effect">>;
effect(Effect) -> io_lib:format("~b %", [round(100 * Effect)]).

identical(#{noise := Noise, rate := Rate, either := Either, low := Low, high := High, void := Void,
            comparisons := N, ok := Ok,
            wrong_analyses := #{pooled := #{rate := Pooled}, sequential := #{rate := Sequential}}}) ->
    [atom_to_binary(Noise), percent(Rate), percent(Void / N),
     [percent(Either), io_lib:format(" (~ts to ~ts)", [digits(Low * 100), digits(High * 100)])],
     percent(Pooled), percent(Sequential), said(Ok)].

limits(Comparisons) when Comparisons >= 1000 ->
    "changed: comparisons with a changed row; ok up to 5 %. void: comparisons whose control changed.\n"
    "Either: ok up to the bound that a true rate of 5 % stays below in 999 of 1000 cases.\n";
limits(Comparisons) ->
    io_lib:format("changed: comparisons with a changed row. void: comparisons whose control changed. ~b comparisons"
                  " are few:~nok is up to the bound that a true rate of 5 % stays below in 999 of 1000 cases.~n", [Comparisons]).

%% The wrong analyses show that the limit can be missed.
wrong_found(Identical) ->
    Missed = [Ok || #{wrong_analyses := Wrong} <- Identical, #{ok := Ok} <- maps:values(Wrong), not Ok],
    io_lib:format("By that rule the two wrong analyses fail in ~b of ~b places.~n",
                  [length(Missed), 2 * length(Identical)]).

power(#{pairs := Pairs, effect := Effect, rate := Rate, reference := Reference,
        difference := Difference, same := Same, comparisons := N, ok := Ok}) ->
    [integer_to_binary(Pairs), io_lib:format("~b %", [round(100 * Effect)]), percent(Rate),
     percent(Reference), io_lib:format("~ts~.1f", [sign(Difference), abs(Difference * 100)]),
     percent(Same / N), said(Ok)].

sign(Difference) when Difference < 0 -> "-";
sign(_) -> "+".

%% @doc The results of comparing stock with its copy on this machine.
-spec machine(machine_report()) -> iolist().
machine(#{comparisons := Comparisons, pairs := Pairs, void := Void, metrics := Metrics, ok := Ok, dir := Dir}) ->
    [io_lib:format("stock and its copy, ~b comparisons of ~b pairs on this machine: their verdicts~n~n",
                   [Comparisons, Pairs]),
     ertslab_text:columns([[<<"metric">>, <<"changed">>, <<"same">>, <<"unsure">>]
                            | [metric(Metric) || Metric <- Metrics]]),
     io_lib:format("~nComparisons with a row called changed, which are void: ~b of ~b: ~ts~n"
                   "Samples and summaries: ~ts~n", [Void, Comparisons, said(Ok), Dir])].

metric(#{metric := Metric, changed := Changed, same := Same, unsure := Unsure}) ->
    [Metric | [integer_to_binary(Count) || Count <- [Changed, Same, Unsure]]].

percent(Share) -> [digits(Share * 100), " %"].

digits(Number) -> io_lib:format("~.1f", [float(Number)]).

said(true) -> <<"ok">>;
said(false) -> <<"not ok">>.
