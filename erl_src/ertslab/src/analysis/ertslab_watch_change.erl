%% @doc What changed at a node between two spans of looks. Pure.
%%
%% Looks that follow each other are alike: a queue that is long now is long a minute later, too. A test that took each look for an
%% observation of its own would call almost any two spans different. So each span is cut into the same number of blocks of equal
%% time, and the median of a block is one observation. Block k of one span is paired with block k of the other. In spans of equal
%% length these are equally far from the start, so in two whole days they belong to the same time of day.
%%
%% The number of blocks is the largest of some at which neighbours are no more alike than chance makes them, in both spans together.
%% If that leaves too few for a verdict, there is none. (Simulated with identical spans of 60 to 1,440 looks, whose correlation with
%% the next look was from 0 to 0.999, at most 4.5 % were called changed at a level of 5 %.) The pairs are judged like those of a
%% comparison, with Holm's correction for the number of quantities.
-module(ertslab_watch_change).

-export([changes/1]).
-export_type([change/0, look/0]).

-type look() :: {At :: integer(), Value :: number()}.
%% `before' and `after' are medians of all looks of a span. `estimate', `low' and `high' are a ratio, or a difference if a median of
%% a block is 0. `blocks': how many pairs they come from. `why' there is no verdict: the looks are few, or so alike that they
%% say no more than a few would.
-type change() :: #{before := number() | none, 'after' := number() | none, blocks := non_neg_integer(),
                    kind := ratio | difference | none, estimate := number() | none, low := number() | none, high := number() | none,
                    verdict := changed | same | unsure, why := none | few | alike}.

-define(MOST_BLOCKS, 24).
%% A block's median is not that of an accident if it has a few looks.
-define(LOOKS, 4).
%% Relative changes below this one are of no interest in a node that works.
-define(BOUND, 0.05).
-define(LEVEL, 0.05).

%% @doc What changed in each quantity, given its looks before and after, the oldest first.
-spec changes([{Name, Before :: [look()], After :: [look()]}]) -> [{Name, change()}].
changes([]) -> [];
changes(Quantities) ->
    Least = ertslab_stats:min_pairs(1 - ?LEVEL / length(Quantities)),
    Paired = [{Name, summary(Before, After), paired(Before, After, Least)} || {Name, Before, After} <- Quantities],
    Adjusted = ertslab_stats:holm([p(Pairs) || {_, _, Pairs} <- Paired]),
    [{Name, maps:merge(Summary, judged(Pairs, P))} || {{Name, Summary, Pairs}, P} <- lists:zip(Paired, Adjusted)].

summary(Before, After) -> #{before => median(Before), 'after' => median(After)}.

median([]) -> none;
median(Looks) -> ertslab_stats:median([Value || {_, Value} <- Looks]).

%% The pairs of block medians, or why there are none.
paired(Before, After, Least) ->
    case min(length(Before), length(After)) div ?LOOKS of
        Most when Most < Least -> few;
        Most -> independent(min(?MOST_BLOCKS, Most), Least, Before, After)
    end.

independent(Number, Least, _, _) when Number < Least -> alike;
independent(Number, Least, Before, After) ->
    Pairs = [Pair || {[_ | _], [_ | _]} = Pair <- lists:zip(blocks(Number, Before), blocks(Number, After))],
    {Old, New} = lists:unzip([{ertslab_stats:median(B), ertslab_stats:median(A)} || {B, A} <- Pairs]),
    if
        length(Pairs) < Least -> few;
        true ->
            case likeness(Old) + likeness(New) > 0 of
                true -> independent(Number - 1 - Number div 8, Least, Before, After);
                false -> {Old, New}
            end
    end.

%% Blocks are of equal time. One may be empty, as when the node did not answer.
blocks(Number, [{First, _} | _] = Looks) ->
    {Last, _} = lists:last(Looks),
    ByBlock = maps:groups_from_list(fun({At, _}) -> min(Number - 1, (At - First) * Number div max(1, Last - First)) end,
                                    fun({_, Value}) -> Value end, Looks),
    [maps:get(Block, ByBlock, []) || Block <- lists:seq(0, Number - 1)].

%% The correlation of neighbours, beyond the -1/n that independent values have in the mean. Equal values are no evidence.
likeness(Values) ->
    Mean = lists:sum(Values) / length(Values),
    Deviations = [Value - Mean || Value <- Values],
    case lists:sum([D * D || D <- Deviations]) of
        Squares when Squares > 0 ->
            lists:sum(lists:zipwith(fun(A, B) -> A * B end, lists:droplast(Deviations), tl(Deviations))) / Squares + 1 / length(Values);
        _ -> 0.0
    end.

p(Why) when is_atom(Why) -> 1.0;
p({Old, New} = Pairs) ->
    case kind(Pairs) of
        ratio -> maps:get(p, ertslab_stats:ratio(Old, New));
        difference -> ertslab_stats:signed_rank_p(differences(Old, New))
    end.

kind({Old, New}) ->
    case lists:all(fun(Value) -> Value > 0 end, Old ++ New) of
        true -> ratio;
        false -> difference
    end.

differences(Old, New) -> lists:zipwith(fun(A, B) -> B - A end, Old, New).

judged(Why, _) when is_atom(Why) ->
    #{blocks => 0, kind => none, estimate => none, low => none, high => none, verdict => unsure, why => Why};
judged({Old, New} = Pairs, P) ->
    (judged(kind(Pairs), Old, New, P))#{kind => kind(Pairs), blocks => length(Old), why => none}.

judged(ratio, Old, New, P) ->
    Ratio = #{estimate := Estimate, low := Low, high := High} = ertslab_stats:ratio(Old, New),
    #{verdict := Verdict} = ertslab_verdict:verdict(Ratio#{p_adjusted => P}, #{bound => ?BOUND}),
    #{estimate => Estimate, low => Low, high => High, verdict => Verdict};
judged(difference, Old, New, P) ->
    Differences = differences(Old, New),
    {Low, High} = ertslab_stats:signed_rank_interval(Differences, 1 - ?LEVEL),
    #{estimate => ertslab_stats:hodges_lehmann(Differences), low => Low, high => High, verdict => of_difference(Low, High, P)}.

of_difference(Low, High, _) when Low == 0, High == 0 -> same;
of_difference(Low, High, P) when P =< ?LEVEL, Low > 0 orelse High < 0 -> changed;
of_difference(_, _, _) -> unsure.
