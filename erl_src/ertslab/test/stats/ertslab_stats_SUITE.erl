%% @doc Tests of ertslab_stats, and of ertslab_slope against the same
%% reference: published worked examples and tables, values
%% of SciPy, wrong input, and the properties of prop_ertslab_stats.
-module(ertslab_stats_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, groups/0, suite/0, init_per_group/2, end_per_group/2]).

-export([depression_scale/1, darwin_maize/1, critical_values/1,
         smallest_samples/1, holm_examples/1, location_and_spread/1,
         normal_table/1, student_table/1]).
-export([stored_reference/1, live_reference/1]).
-export([empty_samples/1, arguments_out_of_range/1, too_few_pairs/1,
         zeros/1, many_pairs/1, very_many_pairs/1, integers_give_floats/1]).
-export([properties/1]).

%% Relative to the larger of the value and 1, except where a test says more.
-define(TOLERANCE, 1.0e-9).

suite() ->
    [{timetrap, {minutes, 10}}].

all() ->
    [{group, published}, {group, reference}, {group, edges},
     {group, properties}].

groups() ->
    [{published, [],
      [depression_scale, darwin_maize, critical_values, smallest_samples,
       holm_examples, location_and_spread, normal_table, student_table]},
     {reference, [], [stored_reference, live_reference]},
     {edges, [],
      [empty_samples, arguments_out_of_range, too_few_pairs, zeros,
       many_pairs, very_many_pairs, integers_give_floats]},
     {properties, [], [properties]}].

init_per_group(properties, Config) ->
    case code:ensure_loaded(proper) of
        {module, proper} -> Config;
        {error, _} -> ct:fail("PropEr is not in the code path")
    end;
init_per_group(_, Config) ->
    Config.

end_per_group(_, _) ->
    ok.

%% Published examples

%% Hollander and Wolfe, sections 3.1 to 3.3: the Hamilton depression
%% scale factor IV of nine patients before (x) and after (y) a tranquilizer.
%% The rank sum of the improvements is 40 of 45, the one-sided p value 0.0195,
%% the estimate of the effect y - x is -0.46, and its interval, of 96.1%, is
%% from -0.786 to -0.010.
depression_scale(_) ->
    Before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    After = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
    Effects = lists:zipwith(fun erlang:'-'/2, After, Before),
    ?assertEqual(0.0390625, ertslab_stats:signed_rank_p(Effects)),
    ?assertEqual(0.0390625, ertslab_stats:signed_rank_p(
                              rank_sum_sample(9, 45 - 40))),
    close(-0.46, ertslab_stats:hodges_lehmann(Effects)),
    close({-0.786, -0.010},
          ertslab_stats:signed_rank_interval(Effects, 0.95)),
    close({-0.786, -0.010},
          ertslab_stats:signed_rank_interval(Effects, 0.96)).

%% Darwin's crossed and self-fertilised maize, in eighths of an inch (Fisher,
%% The Design of Experiments, 1935). The p value is in SciPy's manual page of
%% `scipy.stats.wilcoxon'; the rank sum of the negative differences is 24.
darwin_maize(_) ->
    Differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48],
    ?assertEqual(0.041259765625, ertslab_stats:signed_rank_p(Differences)).

%% The largest rank sums with a two-sided p value of at most 0.10, 0.05 and
%% 0.01, from the tables of McCornack (1965), Journal of the American
%% Statistical Association 60, 864-871.
critical_values(_) ->
    check_critical(0.10, 5, [0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 30, 35, 41, 47,
                             53, 60, 67, 75, 83, 91, 100]),
    check_critical(0.05, 6, [0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46,
                             52, 58, 65, 73, 81, 89, 98, 107, 116, 126, 137,
                             147, 159, 170, 182, 195, 208, 221, 235, 249, 264,
                             279, 294, 310, 327, 343, 361, 378, 396, 415,
                             434]),
    check_critical(0.01, 8, [0, 1, 3, 5, 7, 9, 12, 15, 19, 23, 27, 32, 37, 42,
                             48, 54, 61, 68]).

check_critical(Alpha, First, Critical) ->
    [check_critical_value(Alpha, N, Sum)
     || {N, Sum} <- lists:enumerate(First, Critical)],
    ok.

check_critical_value(Alpha, N, Sum) ->
    P = ertslab_stats:signed_rank_p(rank_sum_sample(N, Sum)),
    Next = ertslab_stats:signed_rank_p(rank_sum_sample(N, Sum + 1)),
    ?assert(P =< Alpha andalso Alpha < Next, {N, Sum, P, Next}),
    %% The interval leaves out as many Walsh averages on each side. Those of
    %% powers of 2 are all different.
    Powers = [math:pow(2, K) || K <- lists:seq(1, N)],
    Walsh = ertslab_stats:walsh_averages(Powers),
    ?assertEqual(N * (N + 1) div 2, length(lists:usort(Walsh))),
    ?assertEqual({lists:nth(Sum + 1, Walsh),
                  lists:nth(Sum + 1, lists:reverse(Walsh))},
                 ertslab_stats:signed_rank_interval(Powers, 1 - Alpha)).

%% The sample 1 to N with signs so that the negative ranks have this sum.
rank_sum_sample(0, 0) ->
    [];
rank_sum_sample(N, Sum) when Sum >= N ->
    [-N | rank_sum_sample(N - 1, Sum - N)];
rank_sum_sample(N, Sum) ->
    [N | rank_sum_sample(N - 1, Sum)].

%% The first entries of the same tables, and 2 / 2^n on the spot.
smallest_samples(_) ->
    ?assertEqual([2, 4, 5, 6, 8, 11],
                 [ertslab_stats:min_pairs(C)
                  || C <- [0.5, 0.8, 0.90, 0.95, 0.99, 0.999]]),
    ?assertEqual([2, 3, 4, 5, 6],
                 [ertslab_stats:min_pairs(1 - 2 / (1 bsl N))
                  || N <- [2, 3, 4, 5, 6]]),
    Six = [0.5, 1.25, 2.0, 4.5, 9.0, 20.0],
    ?assertEqual({0.5, 20.0}, ertslab_stats:signed_rank_interval(Six, 0.95)),
    ?assertEqual(too_few,
                 ertslab_stats:signed_rank_interval(tl(Six), 0.95)),
    ?assertEqual({1.25, 20.0},
                 ertslab_stats:signed_rank_interval(tl(Six), 0.90)),
    %% A p value of exactly 1 - confidence is small enough: 4 / 2^6.
    ?assertEqual({0.875, 14.5},
                 ertslab_stats:signed_rank_interval(Six, 0.9375)).

%% Holm (1979), Scandinavian Journal of Statistics 6, 65-70: with four tests
%% at 0.05 the smallest p value is compared with 0.05 / 4, the next ones with
%% 0.05 / 3, 0.05 / 2 and 0.05. The first family is the usual worked example:
%% 0.005 and 0.01 fall, 0.03 does not, and 0.04 stays with it.
holm_examples(_) ->
    close([0.03, 0.06, 0.06, 0.02],
          ertslab_stats:holm([0.01, 0.04, 0.03, 0.005])),
    close([0.05, 0.08, 0.09, 0.09, 0.09],
          ertslab_stats:holm([0.01, 0.02, 0.03, 0.04, 0.05])),
    close([1.0, 1.0, 0.03], ertslab_stats:holm([0.5, 0.9, 0.01])),
    close([0.04, 0.04], ertslab_stats:holm([0.02, 0.02])),
    ?assertEqual([0.25], ertslab_stats:holm([0.25])).

%% The deviation is the example of the article "Median absolute deviation" of
%% Wikipedia; the quantiles follow from the definition of type 7.
location_and_spread(_) ->
    ?assertEqual(1.0, ertslab_stats:mad([1, 1, 2, 2, 4, 6, 9])),
    ?assertEqual(2.0, ertslab_stats:median([6, 1, 9, 2, 1, 4, 2])),
    ?assertEqual(2.5, ertslab_stats:median([4, 1, 3, 2])),
    ?assertEqual([1.0, 1.75, 2.5, 3.25, 4.0],
                 [ertslab_stats:quantile([3, 1, 4, 2], P)
                  || P <- [0, 0.25, 0.5, 0.75, 1]]),
    ?assertEqual([1.0, 1.5, 2.0, 2.5, 3.0, 4.0],
                 ertslab_stats:walsh_averages([2, 4, 1])),
    ?assertEqual(2.25, ertslab_stats:hodges_lehmann([2, 4, 1])).

%% Abramowitz and Stegun, table 26.10.
student_table(_) ->
    [?assert(abs(ertslab_stats:student_quantile(Chance, Freedom) - Value) < 0.0006, {Chance, Freedom})
     || {Chance, Freedom, Value} <- [{0.05, 1, 12.706}, {0.05, 2, 4.303}, {0.05, 5, 2.571}, {0.10, 5, 2.015}, {0.05, 9, 2.262},
                                     {0.10, 9, 1.833}, {0.01, 9, 3.250}, {0.01, 10, 3.169}, {0.001, 9, 4.781}]],
    [?assert(abs(ertslab_stats:student_p(ertslab_stats:student_quantile(0.02, Freedom), Freedom) - 0.02) < 1.0e-9)
     || Freedom <- [1, 2, 7, 8, 30]].

normal_table(_) ->
    close([-1.959963984540054, 0.0, 0.8416212335729143, 1.2815515655446004,
           1.6448536269514722, 1.959963984540054, 2.5758293035489004],
          [ertslab_stats:normal_quantile(P)
           || P <- [0.025, 0.5, 0.8, 0.9, 0.95, 0.975, 0.995]]).

%% Reference values

stored_reference(Config) ->
    check_reference(stored_terms(Config)).

%% Where a Python with SciPy is in the path the script that made the stored
%% values has to make them again.
live_reference(Config) ->
    Script = data_file(Config, "reference.py"),
    case first_output([[Python, Script] || Python <- pythons()]) of
        {ok, Python, Output} ->
            Terms = parsed(Config, Output),
            close(stored_terms(Config), Terms),
            check_reference(Terms),
            {comment, "recomputed with " ++ filename:basename(Python)};
        none ->
            check_reference(stored_terms(Config)),
            {comment, "no Python with SciPy: stored values only"}
    end.

check_reference(Terms) ->
    Kinds = lists:usort([element(1, Term) || Term <- Terms]),
    ?assertEqual([hodges_lehmann, holm, interval, kruskal, mad, normal_quantile,
                  quantile, ratio, signed_rank_p, slope], Kinds),
    lists:foreach(fun check_term/1, Terms).

check_term({signed_rank_p, _, Sample, P}) ->
    relatively_close(P, ertslab_stats:signed_rank_p(Sample));
check_term({hodges_lehmann, _, Sample, Estimate}) ->
    close(Estimate, ertslab_stats:hodges_lehmann(Sample));
check_term({interval, _, Sample, Confidence, Bounds}) ->
    close(Bounds, ertslab_stats:signed_rank_interval(Sample, Confidence));
check_term({mad, _, Sample, Mad}) ->
    close(Mad, ertslab_stats:mad(Sample));
check_term({quantile, _, Sample, Prob, Quantile}) ->
    close(Quantile, ertslab_stats:quantile(Sample, Prob)),
    Prob == 0.5 andalso close(Quantile, ertslab_stats:median(Sample));
check_term({holm, Ps, Adjusted}) ->
    close(Adjusted, ertslab_stats:holm(Ps));
check_term({kruskal, Groups, P}) ->
    relatively_close(P, ertslab_kruskal:p(Groups));
check_term({normal_quantile, Prob, Z}) ->
    close(Z, ertslab_stats:normal_quantile(Prob));
check_term({slope, _, Points, Confidence, Estimate, {Low, High}}) ->
    Slope = ertslab_slope:theil_sen(Points, Confidence),
    close([Estimate, Low, High], [maps:get(Key, Slope) || Key <- [estimate, low, high]]);
check_term({ratio, Baseline, Variant, Values}) ->
    Ratio = ertslab_stats:ratio(Baseline, Variant),
    close(Values, [maps:get(Key, Ratio)
                   || Key <- [estimate, low, high, low90, high90, p, sd_log]]),
    ?assertEqual(length(Baseline), maps:get(pairs, Ratio)).

stored_terms(Config) ->
    {ok, Terms} = file:consult(data_file(Config, "reference.terms")),
    Terms.

data_file(Config, Name) ->
    filename:join(proplists:get_value(data_dir, Config), Name).

parsed(Config, Output) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "live.terms"),
    ok = file:write_file(File, Output),
    {ok, Terms} = file:consult(File),
    Terms.

%% Every python3 of the path: the first need not be the one with SciPy.
pythons() ->
    Folders = string:lexemes(os:getenv("PATH", ""), ":"),
    Found = [os:find_executable("python3", Folder) || Folder <- Folders],
    [Python || Python <- Found, Python =/= false].

first_output([]) ->
    none;
first_output([[Program | Arguments] | Others]) ->
    Port = open_port({spawn_executable, Program},
                     [{args, Arguments}, exit_status, binary]),
    case output(Port, []) of
        {0, Output} -> {ok, Program, Output};
        {_, _} -> first_output(Others)
    end.

output(Port, Before) ->
    receive
        {Port, {data, Data}} -> output(Port, [Before, Data]);
        {Port, {exit_status, Status}} -> {Status, Before}
    end.

%% Wrong and unusual input

empty_samples(_) ->
    [?assertError(function_clause, Fun())
     || Fun <- [fun() -> ertslab_stats:median([]) end,
                fun() -> ertslab_stats:quantile([], 0.5) end,
                fun() -> ertslab_stats:mad([]) end,
                fun() -> ertslab_stats:walsh_averages([]) end,
                fun() -> ertslab_stats:hodges_lehmann([]) end,
                fun() -> ertslab_stats:signed_rank_p([]) end,
                fun() -> ertslab_stats:signed_rank_interval([], 0.95) end,
                fun() -> ertslab_stats:ratio([], []) end]],
    ?assertEqual([], ertslab_stats:holm([])).

arguments_out_of_range(_) ->
    Sample = [1.0, 2.0, 3.0],
    [?assertError(function_clause, ertslab_stats:quantile(Sample, P))
     || P <- [-0.1, 1.1]],
    [begin
         ?assertError(function_clause,
                      ertslab_stats:signed_rank_interval(Sample, C)),
         ?assertError(function_clause, ertslab_stats:min_pairs(C)),
         ?assertError(function_clause, ertslab_stats:normal_quantile(C))
     end || C <- [-0.5, 0.0, 0, 1, 1.0, 95]],
    ?assertError(function_clause, ertslab_stats:ratio(Sample, tl(Sample))),
    ?assertError(function_clause, ertslab_stats:ratio([], Sample)),
    ?assertError(badarith, ertslab_stats:ratio([1.0, 0.0], [1.0, 1.0])),
    ?assertError(badarith, ertslab_stats:ratio([1.0, 1.0], [1.0, -1.0])).

too_few_pairs(_) ->
    ?assertMatch(#{estimate := 2.0, low := too_few, high := too_few,
                   low90 := too_few, high90 := too_few,
                   p := 1.0, pairs := 1, sd_log := too_few},
                 ertslab_stats:ratio([1.0], [2.0])),
    Five = ertslab_stats:ratio([1, 1, 1, 1, 1], [2, 3, 4, 5, 6]),
    ?assertMatch(#{low := too_few, high := too_few, p := 0.0625}, Five),
    close([2.0, 6.0], [maps:get(Key, Five) || Key <- [low90, high90]]).

zeros(_) ->
    ?assertEqual(1.0, ertslab_stats:signed_rank_p([0, 0.0, -0.0])),
    ?assertEqual(ertslab_stats:signed_rank_p([1, 2, 3, -4, 5]),
                 ertslab_stats:signed_rank_p([0, 1, 2, 0.0, 3, -4, -0.0, 5])),
    Same = ertslab_stats:ratio(lists:seq(1, 9), lists:seq(1, 9)),
    ?assertEqual(#{estimate => 1.0, low => 1.0, high => 1.0, low90 => 1.0,
                   high90 => 1.0, p => 1.0, pairs => 9, sd_log => 0.0}, Same).

%% Across the change to the normal approximation, and far out in its tail.
many_pairs(_) ->
    Exact = ertslab_stats:signed_rank_p(rank_sum_sample(50, 434)),
    Normal = ertslab_stats:signed_rank_p(rank_sum_sample(51, 453)),
    ?assert(abs(Exact - Normal) < 0.003, {Exact, Normal}),
    ?assertEqual(1.0, ertslab_stats:signed_rank_p(rank_sum_sample(51, 663))),
    Tail = ertslab_stats:signed_rank_p(lists:seq(1, 3000)),
    ?assert(Tail > 0.0 andalso Tail < 1.0e-300, Tail),
    %% The normal approximation gives up earlier than the smallest sample.
    ?assertEqual(51, ertslab_stats:min_pairs(1 - 1.0e-15)),
    ?assertEqual({1.0, 51.0},
                 ertslab_stats:signed_rank_interval(lists:seq(1, 51),
                                                    1 - 1.0e-15)).

%% Without the list of all averages, which of 10,000 pairs takes gigabytes, and exactly what that list would give.
very_many_pairs(_) ->
    {Sample, Random} = lists:mapfoldl(fun(_, R) -> rand:normal_s(R) end, rand:seed_s(exsss, 1), lists:seq(1, 331)),
    [begin
         Averages = ertslab_stats:walsh_averages(S),
         ?assertEqual(ertslab_stats:median(Averages), ertslab_stats:hodges_lehmann(S)),
         {Low, High} = ertslab_stats:signed_rank_interval(S, 0.95),
         ?assert(lists:member(Low, Averages) andalso lists:member(High, Averages)),
         ?assertEqual(length([A || A <- Averages, A =< Low]), length([A || A <- Averages, A >= High]))
     end || S <- [Sample, tl(Sample), tl(tl(Sample)), [abs(X) || X <- Sample], [-abs(X) * 1.0e-300 || X <- Sample]]],
    Tied = [round(2 * X) || X <- Sample],
    ?assertEqual(ertslab_stats:median(ertslab_stats:walsh_averages(Tied)), ertslab_stats:hodges_lehmann(Tied)),
    {Many, _} = lists:mapfoldl(fun(_, R0) -> {X, R} = rand:normal_s(R0), {math:exp(1 + X / 10), R} end, Random, lists:seq(1, 10_000)),
    {Pid, Monitor} = spawn_opt(fun() -> exit(ertslab_stats:ratio(lists:duplicate(10_000, 1), Many)) end,
                               [monitor, {max_heap_size, #{size => 4_000_000, kill => true, error_logger => false}}]),
    receive {'DOWN', Monitor, process, Pid, #{estimate := Estimate, low := L, high := H}} ->
            ?assert(L < Estimate andalso Estimate < H andalso L < math:exp(1) andalso H > math:exp(1), {L, Estimate, H})
    end.

integers_give_floats(_) ->
    Sample = [3, 1, 2, 5, 4, 6],
    {Low, High} = ertslab_stats:signed_rank_interval(Sample, 0.95),
    Values = [Low, High, ertslab_stats:median([2]),
              ertslab_stats:median(Sample), ertslab_stats:mad(Sample),
              ertslab_stats:hodges_lehmann(Sample),
              ertslab_stats:signed_rank_p(Sample)]
        ++ [ertslab_stats:quantile(Sample, P) || P <- [0, 0.5, 1]]
        ++ ertslab_stats:walsh_averages(Sample)
        ++ ertslab_stats:holm([1, 1])
        ++ maps:values(maps:remove(pairs, ertslab_stats:ratio(Sample, Sample))),
    ?assertEqual([], [V || V <- Values, not is_float(V)]).

%% Properties

properties(_) ->
    Module = prop_ertslab_stats,
    Names = [Name || {Name, 0} <- Module:module_info(exports),
                     lists:prefix("prop_", atom_to_list(Name))],
    ?assertMatch([_ | _], Names),
    Options = [{numtests, 300}, {to_file, user}],
    Failed = [Name || Name <- Names,
                      true =/= proper:quickcheck(Module:Name(), Options)],
    ?assertEqual([], Failed),
    {comment, integer_to_list(length(Names)) ++ " properties"}.

%% Comparison

close(Expected, Value) ->
    ?assert(is_close(Expected, Value), {Expected, Value}).

is_close(A, B) when is_number(A), is_number(B) ->
    abs(A - B) =< ?TOLERANCE * max(1.0, max(abs(A), abs(B)));
is_close([A | As], [B | Bs]) ->
    is_close(A, B) andalso is_close(As, Bs);
is_close(A, B) when is_tuple(A), is_tuple(B) ->
    is_close(tuple_to_list(A), tuple_to_list(B));
is_close(A, B) ->
    A =:= B.

relatively_close(Expected, Value) ->
    ?assert(abs(Expected - Value) =< ?TOLERANCE * Expected,
            {Expected, Value}).
