%% @doc Takes a census of a live node: where its time goes, what its processes send and collect. It is what
%% {@link diagnose_census_prediction} predicts from. Afterwards all is as it was there, whatever ended it.
-module(diagnose_census).

-export([run/2, is_complete/1, format_error/1]).
-export_type([options/0, result/0, reason/0]).

-define(PROBE, diagnose_census_probe).
%% The keeper waits for ten seconds itself.
-define(GRACE_MS, 15_000).
-define(EACH_MS, 5000).

%% for: the milliseconds of all of it. oldest: as for diagnose:node/1.
-type options() :: #{node := node(), for := pos_integer(), oldest => file:filename()}.
-type result() :: diagnose_census_probe:result().
-type reason() :: {census, diagnose_census_probe:why()} | diagnose_node:reason().

%% @doc Takes it. The function gets the milliseconds that are left, every five seconds.
-spec run(options(), fun((LeftMs :: non_neg_integer()) -> term())) -> {ok, result()} | {error, reason()}.
run(#{node := Node, for := Ms} = Options, Each) ->
    try diagnose_node:carried(Node, ?PROBE, Options) of
        Codes -> heard(diagnose_node:keeper(Node, ?PROBE, #{ms => Ms}, Codes), erlang:monotonic_time(millisecond) + Ms, Each)
    catch
        throw:{diagnose_node, Reason} -> {error, Reason}
    end.

heard({Keeper, Monitor} = Running, End, Each) ->
    Left = End - erlang:monotonic_time(millisecond),
    receive
        {diagnose_census, Keeper, Result} ->
            ok = diagnose_node:ended(Monitor, ?GRACE_MS),
            why(Result);
        {'DOWN', Monitor, process, _, Exit} -> {error, diagnose_node:why_ended(?PROBE, Exit, silent)}
    after max(0, min(?EACH_MS, Left + ?GRACE_MS)) ->
            case Left + ?GRACE_MS =< ?EACH_MS of
                true ->
                    true = demonitor(Monitor, [flush]),
                    {error, silent};
                false ->
                    _ = Each(max(0, Left - ?EACH_MS)),
                    heard(Running, End, Each)
            end
    end.

why({ok, Result}) -> {ok, Result};
why({error, Why}) -> {error, {census, Why}}.

%% @doc Whether processes could be traced, so that more is known than where the time goes.
-spec is_complete(result()) -> boolean().
is_complete(#{traced := Traced}) -> is_map(Traced).

%% @doc An error as one sentence, without its full stop.
-spec format_error(reason()) -> string().
format_error({census, no_accounting}) ->
    "its emulator was built without microstate accounting, so it does not tell where its time goes";
format_error({census, disturbed}) ->
    "somebody else switched microstate accounting off or reset it meanwhile; try again when that is over";
format_error({census, out_of_time}) -> "the time was over before the node told where its time goes: some process did not answer";
format_error({census, {ended, Reason}}) -> lists:flatten(io_lib:format("the census ended there (~ts)", [diagnose_wording:end_reason(Reason)]));
format_error(busy) -> "somebody else takes a census of this node at the moment; wait until that is over";
format_error(Reason) when Reason =:= silent; Reason =:= nodedown -> "the node does not answer any more";
format_error({other_version, _}) ->
    "the node has another version of diagnose loaded; use that one, or remove it there: code:delete(diagnose_census_probe),"
    " code:purge(diagnose_census_probe)";
format_error(Reason) -> diagnose_wording:error(Reason).
