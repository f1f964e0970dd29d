%% @doc A census and its prediction as a page of text. Pure.
-module(diagnose_census_text).

-export([report/2, not_traced/1, not_covered/0]).

-define(FEWER, 0.995).

%% @doc The whole report.
-spec report(node(), diagnose_census:result()) -> iolist().
report(Node, #{release := Release, accounts := #{ms := Ms, schedulers := Schedulers, faults := Faults}} = Census) ->
    #{cores := Cores, untold := Untold, parts := Parts} = diagnose_census_prediction:shares(Census),
    [io_lib:format("~ts, OTP ~b, ~ts processes\n\n", [Node, Release, diagnose_wording:count(maps:get(processes, Census))]),
     io_lib:format("Working time of the VM's threads in ~.1f s: ~.2f cores of ~b schedulers\n", [Ms / 1000, Cores, Schedulers]),
     [row(Label, percent(maps:get(Part, Parts))) || {Part, Label} <- parts()],
     io_lib:format("  Scheduling and busy waiting, which the VM does not distinguish, take ~ts more.\n", [percent(Untold)]),
     [row("page faults a second", diagnose_wording:count(round(1000 * Faults / Ms))) || is_integer(Faults)],
     traced(Census),
     prediction(diagnose_census_prediction:of_census(Census)),
     "\nNot covered:\n", [["  ", One, "\n"] || One <- not_covered()]].

parts() ->
    [{code, "code, native functions and sends"}, {collections, "collections"}, {ports, "ports"}, {polling, "polling"},
     {auxiliary, "auxiliary work"}].

row(Label, Value) -> io_lib:format("  ~-42ts~18ts\n", [Label, Value]).

percent(Share) -> io_lib:format("~.1f %", [100.0 * Share]).

traced(#{traced := {no, Why}}) -> ["\nNo process was traced: ", not_traced(Why), ".\n"];
traced(#{traced := #{processes := Processes, busiest := Busiest, work := Work, ms := Ms, slices := Slices, sends := Sends,
                    collected := Collected} = Traced}) ->
    [io_lib:format("\n~b processes were traced (~b of the busiest, others by chance)~ts~ts\n",
                   [Processes, Busiest, [["; they did ", percent(Work), " of the reductions"] || is_float(Work)],
                    [io_lib:format("; ~b with large heaps were not", [Count]) || #{too_large := Count} <- [Traced], Count > 0]]),
     collections(Ms, Slices, Collected), sends(Sends)].

%% @doc Why nothing was traced, without a full stop.
-spec not_traced(diagnose_census_probe:why_not()) -> iolist().
not_traced(overloaded) -> "ten processes or more for each scheduler wait for their turn";
not_traced(traced) -> "somebody else traces processes of this node";
not_traced(nobody) -> "no process has a heap that is small enough";
not_traced(out_of_time) -> "the time was over";
not_traced({ended, Reason}) -> ["the process that traces ended there (", diagnose_wording:end_reason(Reason), ")"].

collections(_, _, []) -> row("collections a second", "0");
collections(Ms, Slices, Collected) ->
    Sum = fun(Key, Of) -> lists:sum([maps:get(Key, One) || One <- Of]) end,
    Count = Sum(count, Collected),
    [row("collections a second", rate(1000 * Count / Ms, Slices)),
     row("  of them full", percent(Sum(count, [One || #{kind := full} = One <- Collected]) / Count)),
     row("  words copied, of the words in the heaps", percent(Sum(copied, Collected) / max(1, Sum(found, Collected))))].

sends(#{ms := Ms, slices := Slices, classes := Classes, beside := Beside, repeated := Repeated, most_receivers := Most}) ->
    Count = lists:sum([C || #{count := C} <- Classes]),
    Words = lists:sum([W || #{words := W} <- Classes]),
    Sent = max(1, Count + Beside),
    [row("messages a second", rate(1000 * (Count + Beside) / Ms, Slices)),
     [row("  of them to ports and other nodes", percent(Beside / Sent)) || Beside > 0],
     row("  bytes in a message, within the node", diagnose_wording:bytes(round(8 * Words / max(1, Count)))),
     [[io_lib:format("  ~-20ts~14ts~14ts~18ts\n", ["words of a message", "messages", "words", "time of a send"]),
       [class(Class, Count, Words) || #{count := C} = Class <- Classes, C > 0]] || Count > 0],
     [io_lib:format("  ~ts of them had been sent to another receiver before, unchanged; each to up to ~b receivers.\n",
                    [percent(Repeated / Count), Most]) || Count > 0, Repeated > 0]].

class(#{most := Most, count := Count, words := Words, ns := Ns}, All, AllWords) ->
    io_lib:format("  ~-20ts~14ts~14ts~18ts\n", [upto(Most), percent(Count / All), percent(Words / max(1, AllWords)), time(Ns)]).

upto(more) -> "more";
upto(0) -> "none to copy";
upto(Most) -> ["up to ", diagnose_wording:count(Most)].

time(unknown) -> "unknown";
time(Ns) when Ns < 1000 -> io_lib:format("~b ns", [round(Ns)]);
time(Ns) -> io_lib:format("~.1f us", [Ns / 1000]).

%% By all of the time, and in the mean slice: where these differ, it goes by bursts.
rate(Least, Slices) ->
    case {round(min(Least, Slices)), round(max(Least, Slices))} of
        {Same, Same} -> diagnose_wording:count(Same);
        {Low, High} -> [diagnose_wording:count(Low), " to ", diagnose_wording:count(High)]
    end.

prediction(#{collections := Collections, sends := Sends, faults := Faults, made := Made, to := To, mean_to := Mean, rest := {_, Rest}}) ->
    ["\nWhat tuned would save of the working time, predicted from measurements\n",
     [io_lib:format("  Its heaps have more room, so it makes only ~ts of these collections.\n", [percent(Made)]) || Made =< ?FEWER],
     part("collections", Collections), part("sends", Sends), part("page faults", Faults),
     io_lib:format("  With these savings alone, the ratio to the time on stock is ~ts; ~.3f by mean ratios.\n", [interval(To), Mean]),
     io_lib:format("  The rest, up to ~ts, is not predicted. Measured ratios of whole programs, tuned to stock:\n",
                   [percent(Rest)]),
     ["  ", lists:join(", ", [io_lib:format("~ts ~.3f", [Name, Ratio])
                              || #{name := Name, ratio := Ratio} <- diagnose_census_prediction:programs()]), ".\n"]].

part(Name, unknown) -> io_lib:format("  ~-12ts unknown\n", [Name]);
part(Name, #{share := Share, ratio := Ratio, saves := {Least, Most}}) ->
    io_lib:format("  ~-12ts ~ts of the time; tuned needs ~ts of that: saves ~.1f to ~.1f %\n",
                  [Name, shares(Share), interval(Ratio), 100.0 * Least, 100.0 * Most]).

shares({Low, High}) -> io_lib:format("~.1f to ~.1f %", [100.0 * Low, 100.0 * High]).

interval({Low, High}) -> io_lib:format("~.3f to ~.3f", [Low, High]).

%% @doc What no row of the prediction has.
-spec not_covered() -> [string(), ...].
not_covered() ->
    ["code that the JIT made", "maps and calls by apply", "tables", "hibernations", "processes that began and ended between two looks",
     "the first heaps that `tuned` gives to processes",
     "shared subterms, which a send copies once for each use (a trace shows only the copy)"].
