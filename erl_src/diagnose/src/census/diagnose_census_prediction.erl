%% @doc From a census and from what the lab measured: which part of its processor time a node would save on the variant `tuned'. Each
%% figure names the page or the result that holds it, and a test compares them. Pure.
%%
%% An interval goes from the kind of heap or term that gains least to the one that gains most, since what the node's heaps are like is
%% not known.
-module(diagnose_census_prediction).

-export([of_census/1, shares/1, figures/0, programs/0, fault/0, fewest/0]).
-export_type([prediction/0, part/0, interval/0, figure/0, program/0, kept/0]).

-type interval() :: {Low :: float(), High :: float()}.
%% share: of the working time. ratio: of tuned's time to stock's for it; mean: of all kinds of heap or term. saves: of the working time.
-type part() :: #{share | ratio | saves := interval(), mean_ratio | mean_saves := float()}.
%% to: the processor time with tuned, to that without, if it changed nothing else. made: how many collections it makes for each of
%% stock's, weighed by their time.
-type prediction() :: #{collections := part(), sends | faults := part() | unknown, made := float(), to := interval(), mean_to := float(),
                        rest := interval()}.
%% rows: what the page has, word for word.
-type figure() :: #{best | mean | worst := float(), page := binary(), rows := [binary(), ...]}.
%% A value that follows from two numbers of each row: see where it is used.
-type kept() :: #{value := float(), page := binary(), rows := [binary(), ...]}.
%% ratio: of the metric, tuned to stock, as the result of that folder has it.
-type program() :: #{name := binary(), ratio := float(), data := file:filename(), metric := binary()}.

-define(XEON, <<"doc/results/2026-11-24-xeon.md">>).
%% Those of 50 words were measured, and those of 2,000.
-define(SMALL_CLASSES, [0, 10, 100]).
%% As in gc-heap-room.patch: no heap is made larger for room, in words, and the part of the root of what lives times the rate.
-define(ROOMY_HEAP, 46_422).
-define(ROOM_DIVISOR, 4).
%% Time that the VM does not tell from waiting.
-define(UNTOLD, [other, busy_wait]).

%% @doc Ratios of `tuned' to stock, of the kind that gained most, of the one that gained least, and the mean of 18 kinds. The best of
%% large heaps was not kept, and so it is that of small ones: this makes the interval wider.
-spec figures() -> [{Name :: term(), figure()}].
figures() ->
    Large = fun(Row) -> [<<"`--vm stock,tuned --param size=200000 --pairs 20` (3:02)">>, Row] end,
    Minor = <<"| minor collection | 0.732 (0.729 to 0.734) | 0.995 to 1.002 | ints 0.51, iolists 0.57, floats 0.60 |">>,
    Promoting = <<"| the next, which promotes | 0.812 (0.810 to 0.815) | 0.999 to 1.002 | ints 0.60, funs 0.67, floats 0.68 |"
                  " strings 1.035, binaries 1.019 |">>,
    Full = <<"| full sweep | 0.772 (0.769 to 0.775) | 0.999 to 1.003 | ints 0.55, iolists 0.61, floats 0.62 | `deep` 1.012,"
             " binaries 0.955 |">>,
    Sending = <<"| sending | 0.827 (0.823 to 0.830) | 0.810 (0.807 to 0.814) | 0.997 to 1.003 | floats 0.666, tuples 0.668 | funs 0.958 |">>,
    [{{minor, small}, figure(0.51, 0.732, 1.049, [Minor, <<"| minor | 0.770 (0.747 to 0.806) | 0.996 to 1.004 | trees 1.049">>])},
     {{promoting, small}, figure(0.60, 0.812, 1.035, [Promoting])},
     {{full, small}, figure(0.55, 0.772, 1.012, [Full])},
     {{minor, large}, figure(0.51, 0.848, 1.206,
                              [Minor, <<"The ratio of the minor collection of strings is 1.206 at this size.">>
                               | Large(<<"| 0.848 (0.836 to 0.859) |">>)])},
     {{promoting, large}, figure(0.60, 0.862, 1.08,
                                  [Promoting, <<"The ratio of the promotion of strings is 1.08.">>
                                   | Large(<<"| 0.862 (0.854 to 0.871) |">>)])},
     {{full, large}, figure(0.55, 0.841, 1.012, [Full | Large(<<"| 0.841 (0.831 to 0.851) |">>)])},
     {{sending, small}, figure(0.666, 0.881, 1.029, [Sending, <<"| sending | 0.881 (0.879 to 0.883) |">>,
                                                     <<"the worst of 90 results is 1.029 (sending a map of 12 keys)">>])},
     {{sending, large}, figure(0.666, 0.810, 0.958, [Sending])}].

figure(Best, Mean, Worst, Rows) -> #{best => Best, mean => Mean, worst => Worst, page => ?XEON, rows => Rows}.

%% @doc The processor time of a page fault that the carriers of `tuned' save, in nanoseconds, with the system calls that map and unmap: what
%% ten rounds saved, by the faults that they saved. And the part of the faults that was left.
-spec fault() -> #{ns | left := kept()}.
fault() ->
    Page = <<"doc/results/2026-11-27-epyc.md">>,
    Faults = <<"| page faults | 95,355 | 6,618 |">>,
    #{ns => #{value => 112.41e6 * 10 * (1 - 0.758) / (95_355 - 6618), page => Page,
              rows => [<<"| processor time of the server | 112.41 ms | 0.758 (0.736 to 0.782) |">>, Faults]},
      left => #{value => 6618 / 95_355, page => Page, rows => [Faults]}}.

%% @doc How few collections a program made on `tuned', to those on stock, at the least: those of processes that live shortly, and are not
%% traced.
-spec fewest() -> kept().
fewest() ->
    #{value => 2869.2 / 17_023.6, page => <<"doc/results/2026-12-01-xeon.md">>, rows => [<<"| cowboy | 17,023.6 | 2,869.2 |">>]}.

%% @doc Whole programs on `tuned', OTP 27: processor time to stock's.
-spec programs() -> [program(), ...].
programs() ->
    [program(<<"Elixir's compiler">>, 0.799, "elixir-27", <<"cpu">>),
     program(<<"RabbitMQ, classic queue">>, 0.825, "queues-27", <<"classic_cpu">>),
     program(<<"cowboy">>, 0.858, "web-27", <<"cpu">>),
     program(<<"RabbitMQ, quorum queue">>, 0.891, "queues-27", <<"quorum_cpu">>),
     program(<<"ejabberd">>, 0.959, "ejabberd-27", <<"cpu">>)].

program(Name, Ratio, Folder, Metric) ->
    #{name => Name, ratio => Ratio, data => "doc/results/data/2026-11-27-epyc/" ++ Folder, metric => Metric}.

%% @doc The parts of the working time, and the time that the VM does not tell from waiting awake, to the working time. Both are by what
%% all threads did.
-spec shares(diagnose_census:result()) -> #{working_ns := number(), cores | untold := float(), parts := #{atom() => float()}}.
shares(#{accounts := #{ms := Ms, states := States}}) ->
    Working = maps:without([sleep | ?UNTOLD], States),
    Sum = lists:sum(maps:values(Working)),
    #{working_ns => Sum, cores => Sum / (Ms * 1.0e6), untold => ratio(sum(?UNTOLD, States), Sum),
      parts => maps:map(fun(_, Time) -> ratio(Time, Sum) end, joined(Working))}.

%% Where OTP was configured so, states are told in more detail.
joined(Working) ->
    #{collections => sum([gc, gc_full], Working), code => sum([emulator, bif, nif, send, ets, timers, alloc], Working),
      ports => sum([port], Working), polling => sum([check_io], Working), auxiliary => sum([aux], Working)}.

sum(Names, States) -> lists:sum(maps:values(maps:with(Names, States))).

ratio(_, Whole) when Whole == 0 -> 0.0;
ratio(Part, Whole) -> Part / Whole.

%% @doc What `tuned' would save, as far as that can be told.
-spec of_census(diagnose_census:result()) -> prediction().
of_census(#{traced := Traced, accounts := Accounts} = Census) ->
    #{parts := #{collections := Collecting}, untold := Untold, cores := Cores} = shares(Census),
    Made = made(Traced),
    Collections = part({Collecting / (1 + Untold), Collecting}, collecting_ratio(Traced, Made, Collecting * Cores)),
    Sends = sends(Traced, Cores, Untold),
    Faults = faults(Accounts, Cores),
    Apart = [Collections, Sends],
    All = [Faults | Apart], % the time of the faults is in the others, too
    {Least, Most} = added([Saves || #{saves := Saves} <- All]),
    {Low, High} = added([Share || #{share := Share} <- Apart]),
    #{collections => Collections, sends => Sends, faults => Faults, made => Made, to => {max(0.0, 1 - Most), 1 - Least},
      mean_to => 1 - lists:sum([Saves || #{mean_saves := Saves} <- All]), rest => {max(0.0, 1 - High), 1 - Low}}.

%% A heap that is filled fast has more room on `tuned' (gc-heap-room.patch), and is collected less often in proportion. What is collected
%% for another reason stays.
made(#{filled := [_ | _] = Filled}) ->
    lists:sum([Ns * of_stock(Filling) || #{ns := Ns} = Filling <- Filled]) / lists:sum([Ns || #{ns := Ns} <- Filled]);
made(_) -> 1.0.

of_stock(#{room := unknown}) -> 1.0;
of_stock(#{room := Room, live := Live, rate := Rate}) ->
    Roomy = min(?ROOMY_HEAP, Live + math:sqrt(Live * Rate) / ?ROOM_DIVISOR) - Live,
    (Room + 1) / (max(Room, Roomy) + 1).

%% Which of them are those of heaps is not known.
faults(#{faults := unknown}, _) -> unknown;
faults(#{faults := Faults, ms := Ms}, Cores) ->
    #{ns := #{value := Ns}, left := #{value := Left}} = fault(),
    part({0.0, min(1.0, ratio(Faults * Ns / (Ms * 1.0e6), Cores))}, {Left, (1 + Left) / 2, 1.0}).

added(Intervals) -> {lists:sum([Low || {Low, _} <- Intervals]), lists:sum([High || {_, High} <- Intervals])}.

part({Low, High} = Share, {Best, Mean, Worst}) ->
    #{share => Share, ratio => {Best, Worst}, mean_ratio => Mean,
      saves => {lists:min([Low * (1 - Worst), High * (1 - Worst)]), lists:max([Low * (1 - Best), High * (1 - Best)])},
      mean_saves => (Low + High) / 2 * (1 - Mean)}.

%% By the time that the traced collections took. What was not traced may be of any kind.
collecting_ratio(#{collected := [_ | _] = Collected, ms := Ms}, Made, Cores) ->
    Seen = lists:sum([Ns || #{ns := Ns} <- Collected]),
    Part = min(1.0, ratio(Seen / (Ms * 1.0e6), Cores)),
    mixed([{Part, fewer(Made, weighed([{Ns, {Kind, Size}} || #{kind := Kind, size := Size, ns := Ns} <- Collected]))},
           {1 - Part, any_collection()}]);
collecting_ratio(_, _, _) -> any_collection().

%% Of fewer collections each finds more that lives. So at best they cost less in proportion, at worst as much as all, and in between the
%% root of that, which is near to what programs do.
fewer(Made, {Best, Mean, Worst}) -> {Made * Best, math:sqrt(Made) * Mean, Worst}.

any_collection() ->
    All = [Figure || {{Kind, _}, Figure} <- figures(), Kind =/= sending],
    Of = fun(Key) -> [maps:get(Key, Figure) || Figure <- All] end,
    #{value := Fewest} = fewest(),
    {Fewest * lists:min(Of(best)), lists:sum(Of(mean)) / length(All), lists:max(Of(worst))}.

weighed(Weights) -> mixed([{Weight, triple(Name)} || {Weight, Name} <- Weights]).

triple(Name) ->
    {Name, #{best := Best, mean := Mean, worst := Worst}} = lists:keyfind(Name, 1, figures()),
    {Best, Mean, Worst}.

mixed(Weights) ->
    All = lists:sum([Weight || {Weight, _} <- Weights]),
    Of = fun(Nth) -> ratio(lists:sum([Weight * element(Nth, Triple) || {Weight, Triple} <- Weights]), All) end,
    {Of(1), Of(2), Of(3)}.

%% At least what was traced sends, by the time of all slices. At most as much as in the mean slice, and for each reduction of all others,
%% too.
sends(#{sends := #{ms := Ms, slices := Slices, classes := Classes, beside := Beside}, work := Work}, Cores, Untold) ->
    case [{Count * Ns, {sending, by_size(Most)}} || #{most := Most, count := Count, ns := Ns} <- Classes, is_float(Ns), Count > 0] of
        [] -> unknown;
        Times ->
            Seen = ratio(lists:sum([Ns || {Ns, _} <- Times]) / (Ms * 1.0e6), Cores),
            Bursts = max(1.0, Slices * Ms / 1000 / (Beside + lists:sum([Count || #{count := Count} <- Classes]))),
            Traced = case Work of unknown -> 1.0; _ -> max(Work, 0.05) end,
            part({Seen / (1 + Untold), min(1.0, Seen * Bursts / Traced)}, weighed(Times))
    end;
sends({no, _}, _, _) -> unknown.

by_size(Most) -> case lists:member(Most, ?SMALL_CLASSES) of true -> small; false -> large end.
