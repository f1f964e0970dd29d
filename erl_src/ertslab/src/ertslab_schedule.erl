%% @doc In which order the runs of a comparison are made.
%%
%% The unit is a pair (with more than two arms: a block): each arm of each
%% case once, the cases in random order and within each case the arms in
%% random order. Neighbours in time see the same machine, so drift cancels in
%% their ratio; measuring A first and then B finds differences where there are
%% none.
-module(ertslab_schedule).

-export([runs/4]).
-export_type([run/0]).

-type run() :: #{run := pos_integer(), pair := pos_integer(), order := pos_integer(),
                 'case' := non_neg_integer(), arm := non_neg_integer()}.

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

row(Pair, Case, Arms, Random0) ->
    {ArmOrder, Random} = shuffle(lists:seq(0, Arms - 1), Random0),
    {[#{pair => Pair, 'case' => Case, arm => Arm, order => Order}
      || {Order, Arm} <- lists:enumerate(ArmOrder)],
     Random}.

numbered(Runs) -> [Run#{run => Number} || {Number, Run} <- lists:enumerate(Runs)].

shuffle(List, Random0) ->
    {Keyed, Random} = lists:mapfoldl(fun(Element, R0) ->
                                             {Key, R} = rand:uniform_s(R0),
                                             {{Key, Element}, R}
                                     end, Random0, List),
    {[Element || {_Key, Element} <- lists:sort(Keyed)], Random}.
