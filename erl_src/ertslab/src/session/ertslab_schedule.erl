%% @doc The order of the runs of a comparison.
%%
%% The unit is a pair (with more than two arms: a block). It has each arm of each
%% case once, the cases in random order and within each case the arms in
%% random order. If a run measures all cases, it has each arm once. Neighbours in time see the same machine, so drift
%% cancels in their ratio. Measuring all of A before all of B would find differences where there are
%% none.
-module(ertslab_schedule).

-export([of_plan/1, replacing/2, runs/4, rows/4, shuffle/2]).
-export_type([run/0, run_case/0]).

-type run() :: #{run := pos_integer(), pair := pos_integer(), order := pos_integer(),
                 'case' := run_case(), arm := non_neg_integer(),
                 padding := non_neg_integer()}.
%% The case that a run measures, counted from 0, or all of them.
-type run_case() :: non_neg_integer() | all.
%% `padding': the number of bytes that are added to the run's environment, since its
%% length shifts the stacks of the VM's threads, and with them the luck of the layout
%% (Mytkowicz et al. 2009).

-define(MOST_PADDING, 4095).

%% @doc The runs of a plan, without those that replace disturbed ones.
-spec of_plan(ertslab_session:plan()) -> [run()].
of_plan(#{seed := Seed, pairs := Pairs, arms := Arms} = Plan) ->
    with_cases(Plan, runs(Seed, Pairs, units(Plan), length(Arms))).

%% @doc The runs of a plan that replace others, given as pairs and cases.
-spec replacing(ertslab_session:plan(), [{pos_integer(), run_case()}]) -> [run()].
replacing(#{seed := Seed, pairs := Pairs, arms := Arms} = Plan, PairsAndCases) ->
    with_cases(Plan, rows(Seed, Pairs * units(Plan) * length(Arms), length(Arms), PairsAndCases)).

units(#{rounds := cases}) -> 1;
units(#{cases := Cases}) -> length(Cases).

with_cases(#{rounds := cases}, Runs) -> [Run#{'case' := all} || Run <- Runs];
with_cases(#{}, Runs) -> Runs.

%% @doc The runs for `Pairs' pairs. `case' and `arm' count from 0. The same
%% seed gives the same runs, and those for fewer pairs are a prefix of those
%% for more.
-spec runs(integer(), pos_integer(), pos_integer(), pos_integer()) -> [run()].
runs(Seed, Pairs, Cases, Arms) ->
    Random = rand:seed_s(exsss, Seed),
    {Blocks, _} = lists:mapfoldl(fun(Pair, R) -> block(Pair, Cases, Arms, R) end,
                                 Random, lists:seq(1, Pairs)),
    numbered(lists:append(Blocks)).

block(Pair, Cases, Arms, Random0) ->
    {CaseOrder, Random1} = shuffle(lists:seq(0, Cases - 1), Random0),
    {Rows, Random} = lists:mapfoldl(fun(Case, R) -> row(Pair, Case, Arms, R) end,
                                    Random1, CaseOrder),
    {lists:append(Rows), Random}.

%% @doc More runs of the same kind for single pairs of single cases, numbered
%% from `After' + 1.
-spec rows(integer(), non_neg_integer(), pos_integer(), [{pos_integer(), run_case()}]) ->
          [run()].
rows(Seed, After, Arms, PairsAndCases) ->
    {Rows, _} = lists:mapfoldl(fun({Pair, Case}, R) -> row(Pair, Case, Arms, R) end,
                               rand:seed_s(exsss, Seed + 1), PairsAndCases),
    [Run#{run := After + Number} || #{run := Number} = Run <- numbered(lists:append(Rows))].

row(Pair, Case, Arms, Random0) ->
    {ArmOrder, Random1} = shuffle(lists:seq(0, Arms - 1), Random0),
    lists:mapfoldl(fun({Order, Arm}, R0) ->
                           {Padding, R} = rand:uniform_s(?MOST_PADDING + 1, R0),
                           {#{pair => Pair, 'case' => Case, arm => Arm, order => Order,
                              padding => Padding - 1}, R}
                   end, Random1, lists:enumerate(ArmOrder)).

numbered(Runs) -> [Run#{run => Number} || {Number, Run} <- lists:enumerate(Runs)].

%% @doc The list in random order, and the next state of the random numbers.
-spec shuffle([Element], rand:state()) -> {[Element], rand:state()}.
shuffle(List, Random0) ->
    {Keyed, Random} = lists:mapfoldl(fun(Element, R0) ->
                                             {Key, R} = rand:uniform_s(R0),
                                             {{Key, Element}, R}
                                     end, Random0, List),
    {[Element || {_Key, Element} <- lists:sort(Keyed)], Random}.
