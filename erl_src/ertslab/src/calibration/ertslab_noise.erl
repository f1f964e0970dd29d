%% @doc The noise of machines, drawn at random: by how much a run would be longer or shorter if everything measured
%% were the same. Pure: the state of the random numbers is passed in and returned.
%%
%% A model is a set of parameters for one common generator. Effects on a whole run (the state of the machine, its
%% layout, a slow run) hit all metrics of the run alike. The remaining noise is drawn for each metric separately.
-module(ertslab_noise).

-export([names/0, says/1, parameters/1, session/3]).
-export_type([name/0, parameters/0, shape/0, run/0]).

-type name() :: independent | drift | spikes | levels | autocorrelated.

%% Deviations are of natural logs, so 0.02 is about 2 %. A factor multiplies the duration. A chance is from 0 to 1.
%% `run_sd': of the runs, for each metric separately (normal).
%% `iteration_sd': of the iterations within a run (normal).
%% `drift': the factor by which the last run is longer than the first one, in equal steps of the log. `walk_sd': of
%% each step of a random walk from run to run, added to the drift.
%% `slow_run', `slow_iteration': chance and factor of a spike.
%% `level': chance and factor of the slower of two layouts; each run draws one.
%% `state': the autocorrelation from run to run and the stationary deviation of a first-order machine state (AR(1)).
-type parameters() :: #{run_sd := float(), iteration_sd := float(),
                        drift := float(), walk_sd := float(),
                        slow_run := {float(), float()}, slow_iteration := {float(), float()},
                        level := {float(), float()}, state := {float(), float()}}.

-type shape() :: #{runs := pos_integer(), metrics := pos_integer(), iterations := pos_integer()}.

%% A list for each metric, with a factor for each iteration. Multiplied by the true value it gives the measured value.
-type run() :: [[float()]].

%% @doc All models, the mildest first.
-spec names() -> [name()].
names() -> [independent, drift, spikes, levels, autocorrelated].

%% @doc A short description of the model.
-spec says(name()) -> binary().
says(independent) -> <<"runs differ by 1.5 %, iterations by 2.5 %; all others add to this">>;
says(drift) -> <<"the machine slows down by 30 % over the session, on a random walk">>;
says(spikes) -> <<"4 % of runs are 1.5 times slower, 4 % of iterations 3 times">>;
says(levels) -> <<"each run draws its layout: 40 % of them are 1.15 times slower">>;
says(autocorrelated) -> <<"the speed of the machine varies by 5 %, and changes after about 10 runs">>.

%% @doc The parameters of a model.
-spec parameters(name()) -> parameters().
parameters(independent) ->
    #{run_sd => 0.015, iteration_sd => 0.025, drift => 1.0, walk_sd => 0.0,
      slow_run => {0.0, 1.0}, slow_iteration => {0.0, 1.0},
      level => {0.0, 1.0}, state => {0.0, 0.0}};
parameters(drift) -> (parameters(independent))#{drift := 1.3, walk_sd := 0.01};
parameters(spikes) ->
    (parameters(independent))#{slow_run := {0.04, 1.5}, slow_iteration := {0.04, 3.0}};
parameters(levels) -> (parameters(independent))#{level := {0.4, 1.15}};
parameters(autocorrelated) -> (parameters(independent))#{state := {0.9, 0.05}}.

%% @doc The runs of one session, in order.
-spec session(name(), shape(), rand:state()) -> {[run()], rand:state()}.
session(Name, #{runs := Runs} = Shape, Random0) ->
    Parameters = parameters(Name),
    {Machine, Random} = machine(Parameters, Runs, Random0),
    lists:mapfoldl(fun(State, R) -> run(State, Parameters, Shape, R) end, Random, Machine).

%% The log of the machine's state in each run: the sum of drift, random walk and AR(1) state.
machine(#{drift := Drift, walk_sd := WalkSd, state := {Correlation, Sd}}, Runs, Random0) ->
    Step = math:log(Drift) / max(1, Runs - 1),
    Fresh = Sd * math:sqrt(1 - Correlation * Correlation),
    {First, Random1} = rand:normal_s(Random0),
    {States, {_, _, Random}} =
        lists:mapfoldl(fun(_, {Trend, Mood, R0}) ->
                               {Walked, R1} = rand:normal_s(R0),
                               {Moved, R} = rand:normal_s(R1),
                               {Trend + Mood, {Trend + Step + WalkSd * Walked,
                                               Correlation * Mood + Fresh * Moved, R}}
                       end, {0.0, Sd * First, Random1}, lists:seq(1, Runs)),
    {States, Random}.

run(State, #{slow_run := Slow, level := Level} = Parameters, #{metrics := Metrics} = Shape, Random0) ->
    {Spike, Random1} = perhaps(Slow, Random0),
    {Layout, Random2} = perhaps(Level, Random1),
    lists:mapfoldl(fun(_, R) -> metric(State + Spike + Layout, Parameters, Shape, R) end,
                   Random2, lists:seq(1, Metrics)).

metric(State, #{run_sd := Sd} = Parameters, #{iterations := Iterations}, Random0) ->
    {Own, Random} = rand:normal_s(Random0),
    Centre = State + Sd * Own,
    lists:mapfoldl(fun(_, R) -> iteration(Centre, Parameters, R) end,
                   Random, lists:seq(1, Iterations)).

iteration(Centre, #{iteration_sd := Sd, slow_iteration := Slow}, Random0) ->
    {Own, Random1} = rand:normal_s(Random0),
    {Spike, Random} = perhaps(Slow, Random1),
    {math:exp(Centre + Sd * Own + Spike), Random}.

%% The log of the factor with the given chance, else the log of 1. A chance of 0 draws no random number.
perhaps({+0.0, _Factor}, Random) -> {0.0, Random};
perhaps({Chance, Factor}, Random0) ->
    case rand:uniform_s(Random0) of
        {Drawn, Random} when Drawn < Chance -> {math:log(Factor), Random};
        {_, Random} -> {0.0, Random}
    end.
