%% @doc The number of a run: the one value that a run stands for in a metric. Nothing else in ertslab derives it. Pure.
%%
%% It is made from all values that the run measured, by the estimator that the experiment chose
%% ({@link ertslab_estimate}). Runs that are compared are first given equal numbers of values, and freed of what their
%% turns had in common, as far as the estimator wants that.
-module(ertslab_run_numbers).

-export([of_runs/4, shown/1, iterations/1]).
-export_type([run_number/0, point/0, shown/0, iterations/0]).

%% `values': what the number was made from.
-type run_number() :: #{value := float(), values := [number(), ...]}.
%% The number of a run, with its place. `aside' marks a run of a pair that was measured again, which no result counts.
-type point() :: #{run := pos_integer(), pair := pos_integer(), aside := boolean(), value := float(), values := [number(), ...]}.
%% The same as it is kept and drawn. `iterations' is how many values it was made from.
-type shown() :: #{run := pos_integer(), pair := pos_integer(), aside := boolean(), value := number(), iterations := pos_integer()}.
%% How the single values of all runs of an arm are distributed. `deviation' is the sample's, in the unit of the values. This
%% describes them and proves nothing: values of one run are not independent.
-type iterations() :: #{number := pos_integer(), mean := number(), deviation := number() | none, median := number(), q99 := number()}.

%% @doc The number of each run, by the key of the run. Runs are compared with each other if the function gives the same
%% for their keys.
-spec of_runs(ertslab_estimate:name(), ertslab_experiment:rounds(), fun((Key) -> term()), #{Key => [ertslab_experiment:value(), ...]}) ->
          #{Key => run_number()}.
of_runs(Estimator, Rounds, Together, Values) ->
    maps:map(fun(_, Compared) -> of_values(Estimator, numbers(Compared)) end,
             ertslab_estimate:compared(Estimator, Rounds, Together, Values)).

of_values(Estimator, Numbers) -> #{value => ertslab_estimate:of_run(Estimator, Numbers), values => Numbers}.

%% Numbers stay the list that they are in, since there may be millions of them.
numbers(Values) ->
    case lists:all(fun is_number/1, Values) of
        true -> Values;
        false -> ertslab_slope:numbers(Values)
    end.

%% @doc Points as they are kept, in the order of the runs.
-spec shown([point()]) -> [shown()].
shown(Points) ->
    lists:sort(fun(#{run := A}, #{run := B}) -> A =< B end,
               [(maps:remove(values, Point))#{iterations => length(Values)} || #{values := Values} = Point <- Points]).

%% @doc The distribution of all values of the points that count.
-spec iterations([point()]) -> iterations() | none.
iterations(Points) ->
    case lists:append([Values || #{aside := false, values := Values} <- Points]) of
        [] -> none;
        Values ->
            Mean = lists:sum(Values) / length(Values),
            #{number => length(Values), mean => Mean, deviation => deviation(Mean, Values),
              median => ertslab_stats:median(Values), q99 => ertslab_stats:quantile(Values, 0.99)}
    end.

deviation(_, [_]) -> none;
deviation(Mean, Values) ->
    math:sqrt(lists:sum([(Value - Mean) * (Value - Mean) || Value <- Values]) / (length(Values) - 1)).
