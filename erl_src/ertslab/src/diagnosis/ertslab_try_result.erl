%% @doc What turns with and without a setting say: a ratio each of processor time, collections and memory. Pure.
-module(ertslab_try_result).

-export([metrics/2, fewest_pairs/0]).
-export_type([metric/0, name/0]).

%% Processor time is the time that the process is scheduled in, its collections included.
-type name() :: time_a_message | time_a_reduction | collecting_a_message | collecting_a_reduction | collections_a_message
              | collections_a_reduction | full_sweeps_a_message | full_sweeps_a_reduction | memory.
%% Medians of the turns, in nanoseconds, collections or bytes. A ratio is that of the turns with the setting to those without.
-type metric() :: #{name := name(), without := float(), with := float(), ratio := ertslab_stats:ratio() | unknown,
                    verdict := lower | higher | same | unseen | unknown}.

-define(BOUND, 0.01).
%% What the verdict allows the corrected p value to be.
-define(LEVEL, 0.05).

%% @doc Of turns two by two, one of each two with the setting. There are metrics by the message where every turn had some. Of memory
%% there is none where the setting is about messages: the VM says how much of the heap they take, but not how much beside it.
-spec metrics(diagnose_try:flag(), [diagnose_try_probe:turn(), ...]) -> [metric()].
metrics(Flag, Turns) ->
    Pairs = pairs(Turns),
    Units = [message || lists:all(fun(#{messages := Messages}) -> is_integer(Messages) andalso Messages > 0 end, Turns)] ++ [reduction],
    judged([metric(Metric, Pairs) || Metric <- of_units(Units) ++ [{memory, none} || Flag =/= message_queue_data]]).

%% @doc How many pairs of turns can tell a difference in one row, after the correction for all rows that there can be.
-spec fewest_pairs() -> pos_integer().
fewest_pairs() -> ertslab_stats:min_pairs(1 - ?LEVEL / length([memory | of_units([message, reduction])])).

%% The work by the message is what counts: a collection has reductions of its own.
of_units(Units) ->
    [{Of, hd(Units)} || Of <- [time, collecting]]
        ++ [{time, Unit} || Unit <- tl(Units)]
        ++ [{Of, hd(Units)} || Of <- [collections, full_sweeps]].

pairs([]) -> [];
pairs([#{arm := with} = With, #{arm := without} = Without | Turns]) -> [{Without, With} | pairs(Turns)];
pairs([#{arm := without} = Without, #{arm := with} = With | Turns]) -> [{Without, With} | pairs(Turns)].

metric(Metric, Pairs) ->
    {Without, With} = lists:unzip([{value(Metric, One), value(Metric, Other)} || {One, Other} <- Pairs]),
    #{name => name(Metric), without => ertslab_stats:median(Without), with => ertslab_stats:median(With),
      ratio => case lists:all(fun(Value) -> Value > 0 end, Without ++ With) of
                   true -> ertslab_stats:ratio(Without, With);
                   false -> unknown
               end}.

value({memory, none}, #{bytes := Bytes}) -> float(Bytes);
value({Of, Unit}, Turn) -> amount(Of, Turn) / max(1, units(Unit, Turn)).

amount(time, #{running := Ns}) -> Ns;
amount(collecting, #{collecting := Ns}) -> Ns;
amount(collections, #{minor := Minor, full := Full}) -> Minor + Full;
amount(full_sweeps, #{full := Full}) -> Full.

units(message, #{messages := Messages}) -> Messages;
units(reduction, #{reductions := Reductions}) -> Reductions.

name({memory, none}) -> memory;
name({time, message}) -> time_a_message;
name({time, reduction}) -> time_a_reduction;
name({collecting, message}) -> collecting_a_message;
name({collecting, reduction}) -> collecting_a_reduction;
name({collections, message}) -> collections_a_message;
name({collections, reduction}) -> collections_a_reduction;
name({full_sweeps, message}) -> full_sweeps_a_message;
name({full_sweeps, reduction}) -> full_sweeps_a_reduction.

%% The metrics are judged together: the p values are corrected for their number.
judged(Metrics) ->
    Known = [P || #{ratio := #{p := P}} <- Metrics],
    judged(Metrics, ertslab_stats:holm(Known)).

judged([], []) -> [];
judged([#{ratio := unknown} = Metric | Metrics], Adjusted) -> [Metric#{verdict => unknown} | judged(Metrics, Adjusted)];
judged([#{ratio := Ratio} = Metric | Metrics], [P | Adjusted]) ->
    [Metric#{verdict => verdict(Ratio#{p_adjusted => P})} | judged(Metrics, Adjusted)].

verdict(#{estimate := Estimate} = Ratio) ->
    case ertslab_verdict:verdict(Ratio, #{bound => ?BOUND}) of
        #{verdict := changed} when Estimate < 1 -> lower;
        #{verdict := changed} -> higher;
        #{verdict := same} -> same;
        #{verdict := unsure} -> unseen
    end.
