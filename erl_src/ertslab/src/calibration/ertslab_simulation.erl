%% @doc Simulates a comparison: the files that a runner would have written on a machine of known noise, for a variant
%% of known effect. Pure; the same seed gives the same comparison.
%%
%% The plan and the lines are those of a real comparison of three arms and two metrics, so the analysis, beginning
%% with {@link ertslab_summary:make/2}, cannot tell the difference.
-module(ertslab_simulation).

-export([comparison/2, summary/1, summary/2]).
-export_type([spec/0, seed/0, comparison/0]).

%% `effect': by how much the variant's first metric is faster, from 0 (no difference at all) to below 1. `order':
%% `paired' orders runs as {@link ertslab_schedule} does; `sequential' makes all runs of one arm before those of the
%% next, which is wrong and only for contrast.
-type spec() :: #{noise := ertslab_noise:name() | ertslab_recording:recording(), pairs := pos_integer(),
                  effect := float(), order := paired | sequential, _ => _}.

%% Seeds for all comparisons, for one kind of them, and for a single one.
-type seed() :: {integer(), integer(), integer()}.

-type comparison() :: #{plan := ertslab_session:plan(), samples := [ertslab_session:sample()]}.

-define(LABELS, [<<"stock">>, <<"stock_copy">>, <<"variant">>]).
-define(VARIANT, 2).
-define(METRICS, [first, second]).
-define(ITERATIONS, 5).
-define(TRUE_NS, 1.0e6).

%% @doc The plan and the raw samples of one comparison.
-spec comparison(spec(), seed()) -> comparison().
comparison(#{noise := Noise, pairs := Pairs, order := Order} = Spec, Seed) ->
    {ScheduleSeed, Random} = rand:uniform_s(1 bsl 31, rand:seed_s(exsss, Seed)),
    Runs = ordered(Order, ertslab_schedule:runs(ScheduleSeed, Pairs, 1, length(?LABELS))),
    Shape = #{runs => length(Runs), metrics => length(?METRICS), iterations => ?ITERATIONS},
    {Noises, _} = noises(Noise, Shape, Random),
    #{plan => plan(Pairs, ScheduleSeed),
      samples => lists:append(lists:zipwith(fun(Run, Factors) -> lines(Spec, Run, Factors) end,
                                            Runs, Noises))}.

noises(#{runs := _} = Recording, Shape, Random) -> ertslab_recording:session(Recording, Shape, Random);
noises(Name, Shape, Random) -> ertslab_noise:session(Name, Shape, Random).

ordered(paired, Runs) -> Runs;
ordered(sequential, Runs) -> lists:sort(fun(#{arm := A}, #{arm := B}) -> A =< B end, Runs).

%% The lines of a run as they would be read from its folder.
lines(#{effect := Effect}, #{run := Run, pair := Pair, order := Order, arm := Arm,
                             padding := Padding}, Factors) ->
    Label = lists:nth(Arm + 1, ?LABELS),
    Common = #{<<"type">> => <<"sample">>, <<"run">> => Run, <<"pair">> => Pair, <<"order">> => Order,
               <<"padding">> => Padding, <<"case">> => 0, <<"arm">> => Arm, <<"experiment">> => <<"simulation">>, <<"label">> => Label,
               <<"variant">> => Label, <<"build_id">> => <<"0">>, <<"params">> => #{}, <<"unit">> => <<"ns">>},
    [Common#{<<"metric">> => atom_to_binary(Metric),
             <<"values">> => [round(true_value(Metric, Arm, Effect) * Factor) || Factor <- Values]}
     || {Metric, Values} <- lists:zip(?METRICS, Factors)].

true_value(first, ?VARIANT, Effect) -> ?TRUE_NS * (1 - Effect);
true_value(_, _, _) -> ?TRUE_NS.

plan(Pairs, Seed) ->
    #{experiment => <<"simulation">>, title => <<"a machine of known noise">>, otp => <<"0">>,
      quick => false, exact => false, pairs => Pairs, seed => Seed,
      same_within => 0.01, control => lists:nth(2, ?LABELS), replace_disturbed => true,
      estimator => ertslab_estimate:default(), rounds => metrics, run_ms => 0,
      labelled => <<"variant">>, swept => null, cases => [#{}],
      arms => [#{label => Label, variant => Label, params => #{}, vm => #{build_id => <<"0">>}}
               || Label <- ?LABELS],
      baseline => 0, baseline_label => hd(?LABELS),
      metrics => [#{name => Metric, unit => ns} || Metric <- ?METRICS], contrasts => [],
      machine => #{cpu => null, cores => null, kernel => null}, module => ?MODULE}.

%% @doc The summary that a user would get.
-spec summary(comparison()) -> ertslab_result:summary().
summary(Comparison) -> summary(Comparison, ertslab_estimate:default()).

%% @doc The same with a given estimator.
-spec summary(comparison(), ertslab_estimate:name()) -> ertslab_result:summary().
summary(#{plan := Plan, samples := Samples}, Estimator) ->
    ertslab_summary:make(Plan#{estimator := Estimator}, #{samples => Samples, runs => []}).
