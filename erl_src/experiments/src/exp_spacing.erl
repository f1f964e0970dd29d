%% @doc The places of the cells of a list before and after hibernation, counted.
%%
%% cons_spacing measures the list of exp_hibernate. These places are the cause of the times
%% in exp_hibernate.
-module(exp_spacing).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "the distance between list cells, before and after hibernation",
      shows => "why a walk gets slower: the collector puts each value between two cells",
      origin => "Memory matters - even in Erlang, LShift, 2010, which logged pointer distances",
      vms => [<<"stock">>, <<"stock_copy">>, <<"prefetch">>],
      parameters =>
          [#{name => cells, min => 2, max => 20_000_000,
             quick => [300_001], full => [300_001, 3_000_001],
             doc => "cells of the list"},
           #{name => value_words, min => 0, max => 1000,
             quick => [14], full => [0, 3, 14],
             doc => "words in each value: 0 is a small integer, N a tuple of N"}],
      metrics =>
          [#{name => Name, unit => Unit, doc => Doc ++ When}
           || {Stage, When} <- [{"dense", ", as built"}, {"hibernated", ", after hibernation"}],
              {Name, Unit, Doc} <- metrics(Stage)],
      contrasts => [],
      exact => true,
      estimator => typical,
      rounds => none,
      run_ms => 0,
      warm_up => 0,
      iterations => 1,
      loads => [cons_spacing_nif],
      timeout_ms => 300_000}.

metrics(Stage) ->
    [{list_to_atom("distance_" ++ Stage), bytes, "mean distance from cell to cell"},
     {list_to_atom("deviation_" ++ Stage), bytes, "standard deviation of that distance"},
     {list_to_atom("lines_" ++ Stage), per_1000, "cache lines that 1,000 cells lie on"}].

%% Both stages are measured at once, in a process of their own.
-spec setup(ertslab_experiment:params()) -> map().
setup(#{cells := Cells, value_words := Words}) ->
    Build = fun() -> exp_hibernate:dense_list(Cells, Words) end,
    #{built := #{spacing := Built}, hibernated := #{spacing := Hibernated}} =
        cons_spacing_report:before_after(Build, exp_hibernate:heap_words(Cells, Words)),
    #{cells => Cells, dense => Built, hibernated => Hibernated}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {number(), non_neg_integer()}.
run(Metric, State) ->
    [What, Stage] = string:split(atom_to_list(Metric), "_"),
    #{cells := Cells} = Spacing = maps:get(list_to_existing_atom(Stage), State),
    {value(What, Spacing), Cells}.

value("distance", #{mean := Mean}) -> Mean;
value("deviation", #{deviation := Deviation}) -> Deviation;
%% Rounded to whole lines: whether a list begins in the middle of one is chance.
value("lines", #{cache_lines := Lines}) -> round(Lines).

-spec verify(atom(), non_neg_integer(), map()) -> ok | {wrong, term()}.
verify(_, Found, #{cells := Cells}) -> ertslab_experiment:expect(Cells, Found).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
