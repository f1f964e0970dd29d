%% @doc What a log of looks says of a node: the looks within bounds, and the two spans before and after a time. Pure.
-module(ertslab_watch_spans).

-export([seen/2, format_error/1]).
-export_type([seen/0, spans/0, reason/0]).

%% Times in seconds, UTC.
-type spans() :: #{from => integer(), until => integer(), split => integer(), _ => _}.
%% What is drawn: the records within the bounds. `changes' without a split: `none'.
-type seen() :: #{node := binary(), records := [ertslab_watch_log:record(), ...], damaged := non_neg_integer(), split := integer() | none,
                  changes := none | [{atom(), ertslab_watch_change:change()}],
                  kinds := [{binary(), Before :: {non_neg_integer(), non_neg_integer()}, After :: {non_neg_integer(), non_neg_integer()}}]}.

-type reason() :: no_look | none_between | {none_before, integer()} | {none_from, integer()}.

%% @doc What the records say within the bounds. Fails if there is nothing, or nothing on one side of the split.
-spec seen(ertslab_watch_log:contents(), spans()) -> seen().
seen(#{node := Node, records := All, damaged := Damaged}, Spans) ->
    From = maps:get(from, Spans, 0),
    Records = [Record || #{at := At} = Record <- All, At >= From, At =< maps:get(until, Spans, At)],
    [Record || #{findings := _} = Record <- Records] =/= [] orelse ertslab_error:failure(?MODULE, none(Spans)),
    Split = maps:get(split, Spans, none),
    %% Without a split, all are before it: a number is less than an atom.
    {Before, After} = lists:partition(fun(#{at := At}) -> At < Split end, [Record || #{findings := _} = Record <- Records]),
    Split =/= none andalso (Before =:= [] orelse After =:= []) andalso
        ertslab_error:failure(?MODULE, {case Before of [] -> none_before; _ -> none_from end, Split}),
    #{node => Node, records => Records, damaged => Damaged, split => Split, changes => changes(Split, Before, After),
      kinds => kinds(Before, After)}.

none(#{from := _}) -> none_between;
none(#{until := _}) -> none_between;
none(#{}) -> no_look.

-spec format_error(reason()) -> unicode:chardata().
format_error(no_look) -> "the log has no look.";
format_error(none_between) -> "the log has no look between these times.";
format_error({none_before, Split}) -> ["the log has no look before ", ertslab_text:time(Split), "."];
format_error({none_from, Split}) -> ["the log has no look from ", ertslab_text:time(Split), "."].

changes(none, _, _) -> none;
changes(_, Before, After) ->
    ertslab_watch_change:changes([{Name, values(Name, Before), values(Name, After)} || Name <- ertslab_watch_log:quantities()]).

values(Name, Records) -> [{At, Value} || #{at := At, Name := Value} <- Records, is_number(Value)].

%% In how many looks each kind of finding was there, of how many.
kinds(Before, After) ->
    All = lists:usort(lists:append([Findings || #{findings := Findings} <- Before ++ After])),
    [{Kind, found(Kind, Before), found(Kind, After)} || Kind <- All].

found(Kind, Records) -> {length([Kind || #{findings := Findings} <- Records, lists:member(Kind, Findings)]), length(Records)}.
