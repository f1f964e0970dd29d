%% @doc `ertslab try': what a setting of a live process changes, by turns with it and without it.
-module(ertslab_try).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {too_short, Seconds :: non_neg_integer(), Turns :: pos_integer()}
                | {failed, Process :: string(), Node :: string(), diagnose_try:reason()}.

-define(PAIRS, 12).
-define(FOR_MS, 60_000).
%% A turn takes as long at least.
-define(TURN_MS, 100).

%% @doc The command.
-spec run(map()) -> ok.
run(#{node := Name, process := Process, setting := {Flag, Value}} = Options) ->
    Pairs = maps:get(turns, Options, ?PAIRS),
    Ms = maps:get(for, Options, ?FOR_MS),
    Ms div (2 * Pairs) >= ?TURN_MS
        orelse ertslab_error:usage(?MODULE, {too_short, Ms div 1000, Pairs}),
    ok = ertslab_own_code:keep(),
    Node = ertslab_live_node:connected(Name, Options),
    Asked = (ertslab_oldest:applications())#{node => Node, process => Process, flag => Flag, value => Value, pairs => Pairs, for => Ms},
    case diagnose_try:run(Asked, counting(2 * Pairs)) of
        {ok, Result} -> io:put_chars(shown(Result#{metrics => ertslab_try_result:metrics(Flag, maps:get(turns, Result))}, Options));
        {error, Reason} -> ertslab_error:failure(?MODULE, {failed, Process, Name, Reason})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({too_short, Seconds, Turns}) -> io_lib:format("--for ~b s is too short for twice ~b turns", [Seconds, Turns]);
format_error({failed, Process, Node, Why}) -> [Process, " of ", Node, ": ", diagnose_try:format_error(Why), "."].

%% Says after the first turn, and from time to time, how much is left.
counting(Turns) ->
    Done = counters:new(1, []),
    Began = erlang:monotonic_time(millisecond),
    Step = max(1, Turns div 4),
    fun(_) ->
            ok = counters:add(Done, 1, 1),
            case counters:get(Done, 1) of
                Count when Count =:= 1; Count rem Step =:= 0, Count < Turns ->
                    Left = (erlang:monotonic_time(millisecond) - Began) * (Turns - Count) div Count,
                    io:format(standard_error, "~b of ~b turns, about ~b s left~n", [Count, Turns, Left div 1000]);
                _ -> ok
            end
    end.

shown(#{before := Before, tried := Tried, turns := Turns, metrics := Metrics}, Options) ->
    #{node := Node, process := Process, setting := {Flag, _}} = Options,
    case Options of
        #{json := true} ->
            ertslab_json:format(#{format => 1, node => ertslab_text:binary(Node), process => ertslab_text:binary(Process), flag => Flag,
                                  without => Before, with => Tried, metrics => [as_json(Metric) || Metric <- Metrics],
                                  turns => [maps:map(fun(_, Value) -> known(Value) end, Turn) || Turn <- Turns]});
        #{} ->
            [io_lib:format("~ts of ~ts: ~b turns with ~ts=~w, and ~b with the value before, ~w.~n",
                           [Process, Node, length(Turns) div 2, Flag, Tried, length(Turns) div 2, Before]),
             ["The process had this value already: all turns are alike.\n" || Before =:= Tried],
             $\n,
             row(["", "before", "with it", "ratio", "95 % interval", ""]),
             [row(cells(Metric)) || Metric <- Metrics],
             "\nProcessor time is the time that the process was scheduled in, collections included.\nThe flag has its value from before.\n"]
    end.

known(unknown) -> null;
known(Value) -> Value.

as_json(#{ratio := unknown} = Metric) -> Metric#{ratio := null};
as_json(#{ratio := Ratio} = Metric) ->
    Metric#{ratio := maps:map(fun(_, too_few) -> null; (_, Value) -> Value end, maps:with([estimate, low, high, p, pairs], Ratio))}.

row([Name, Without, With, Ratio, Interval, Verdict]) ->
    [string:trim(io_lib:format("~-29ts~12ts~12ts~8ts  ~-16ts  ~ts", [Name, Without, With, Ratio, Interval, Verdict]), trailing), $\n].

cells(#{name := Name, without := Without, with := With, ratio := Ratio, verdict := Verdict}) ->
    [label(Name), value(Name, Without), value(Name, With) | of_ratio(Ratio)] ++ [words(Verdict)].

of_ratio(unknown) -> ["", ""];
of_ratio(#{estimate := Estimate, low := Low, high := High}) ->
    [io_lib:format("~.3f", [Estimate]), case Low of too_few -> "too few turns"; _ -> io_lib:format("~.3f to ~.3f", [Low, High]) end].

label(time_a_message) -> "processor time a message";
label(time_a_reduction) -> "processor time a reduction";
label(collecting_a_message) -> "  of it collecting";
label(collecting_a_reduction) -> "  of it collecting";
label(collections_a_message) -> "collections / 1000 messages";
label(collections_a_reduction) -> "collections / 1M reductions";
label(full_sweeps_a_message) -> "  of them full sweeps";
label(full_sweeps_a_reduction) -> "  of them full sweeps";
label(memory) -> "memory, on average".

value(memory, Bytes) -> diagnose_wording:bytes(round(Bytes));
value(Name, Number) when Name =:= collections_a_message; Name =:= full_sweeps_a_message -> io_lib:format("~.3f", [1000 * Number]);
value(Name, Number) when Name =:= collections_a_reduction; Name =:= full_sweeps_a_reduction -> io_lib:format("~.3f", [1.0e6 * Number]);
value(_, Ns) when Ns >= 1.0e6 -> io_lib:format("~.2f ms", [Ns / 1.0e6]);
value(_, Ns) when Ns >= 1000 -> io_lib:format("~.2f us", [Ns / 1000]);
value(_, Ns) -> io_lib:format("~.2f ns", [Ns]).

words(lower) -> "lower";
words(higher) -> "higher";
words(same) -> "the same within 1 %";
words(unseen) -> "no difference detected";
words(unknown) -> "no ratio: 0 in some turn".
