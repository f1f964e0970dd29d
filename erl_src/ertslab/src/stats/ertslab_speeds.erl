%% @doc Does the machine have one speed or two? The answer comes from the times of one piece
%% of work that is repeated. Pure.
%%
%% A core whose other hardware thread is busy does less, and a virtual machine
%% cannot see why: the same work takes, say, 28 us or 44 us, for 0.1 to 6 s
%% each. The times then form two clusters, and not one wide one.
%%
%% Neighbours are joined first: the points within 5 ms become one look, their
%% median, so that a repetition that was interrupted does not count. Then the extremes at both
%% ends, as many as a class must hold at least, are cut to the innermost of them (winsorised),
%% since otherwise a few outliers could form a class of their own. Then the logs of the
%% looks are split where the variance between the two classes is largest (Otsu
%% 1979). They are two speeds if all of this holds:
%%
%% - The medians of the classes differ by a factor of 1.15 or more.
%%
%% - Each class holds 2 % of the looks, and more than spikes in 1 % of them would
%%   make by chance: four standard deviations more.
%%
%% - The split explains at least 0.83 of the variance. The best split of a normal
%%   distribution explains 2/pi, which is 0.64, of an exponential one 0.65, of a
%%   straight drift 0.75, of a drift to and fro like a sine 0.81. The split of two speeds
%%   1.5 apart with 3 % of noise explains 0.90 if one look in twenty is slow, and 0.98 if
%%   half are.
%%
%% - Or it explains at least 0.65, and the looks switch between the classes. That means: they
%%   change class at most 0.6 times as often as independent looks would, and in jumps, whose
%%   median is at least 0.45 of the classes' distance. This rule is for cores that are slowed
%%   by neighbours of many kinds, whose slow speed is wide: on one machine it was
%%   1.2 to 2.1 times the fast one, and the split explained 0.65 to 0.97 in 3 s. When
%%   it explained less than 0.83, the looks switched 0.2 to 0.6 times as often as by
%%   chance, in jumps of 0.56 or more. Noise switches 1.0 times as often; drifts jump by up to 0.2.
%%
%% In 1,000 simulated sessions of 200 looks each, this found two speeds in none with normal
%% noise of 1 to 20 %, a flat or an exponential distribution, drifts, or spikes in 1 %;
%% with 100 looks, which is the least, in up to 15.
-module(ertslab_speeds).

-export([found/1, is_wide/1, says/1, of_runs/1]).
-export_type([speeds/0, point/0]).

%% When the work began, in milliseconds from any start, and how long it took.
-type point() :: {AtMs :: number(), Ns :: number()}.
%% `fast_ns' and `slow_ns': the medians of the two classes. With one speed, both are the median of
%% all points; without points they are 0.0. `apart': slow_ns divided by fast_ns.
%% `slow_share': of the looks, from 0 to 1. `mean_stay_ms': how long a speed lasts,
%% `null' if it was not seen to end. `changing_ms': the time from one change to
%% the next, `null' if there was none. `within': the middle 90 % of the points lie
%% between a time and 1 + `within' times it. `points': their number.
-type speeds() :: #{speeds := 1 | 2 | unknown, fast_ns := float(), slow_ns := float(),
                    apart := float(), slow_share := float(),
                    mean_stay_ms := #{fast := float() | null, slow := float() | null},
                    changing_ms := float() | null, within := float(), points := non_neg_integer()}.
%% The points within a few milliseconds: the time of the first one, and the log of their median.
-type look() :: {AtMs :: number(), Log :: float()}.

-define(LOOK_MS, 5).
-define(LEAST_LOOKS, 100).
-define(LEAST_APART, 1.15).
-define(LEAST_SHARE, 0.02).
-define(SPIKES, 0.01).
-define(SPIKES_DEVIATIONS, 4).
-define(LEAST_EXPLAINED, 0.83).
-define(LEAST_WITH_SWITCHES, 0.65).
-define(MOST_SWITCHES, 0.6).
-define(LEAST_STEP, 0.45).
%% In a pause this long, and this many times longer than the usual
%% distance of two looks, the speed may have changed any number of times.
-define(PAUSE_MS, 20).
-define(PAUSE_TIMES, 5).

%% @doc The points that the runs of a comparison recorded beside their values, in the order of time.
%% Runs of an older ertslab have none.
-spec of_runs([#{binary() => term()}]) -> [point()].
of_runs(Runs) -> lists:sort([{At, Ns} || #{<<"speed">> := Points} <- Runs, [At, Ns] <- Points]).

%% @doc The speeds that the points show. The points are in the order of time; a time of work
%% that is not above zero is a `function_clause' error. With fewer than 100 looks of
%% 5 ms `speeds' is `unknown'.
-spec found([point()]) -> speeds().
found(Points) ->
    Logs = [log(Ns) || {_, Ns} <- Points],
    Looks = looks(Points),
    One = one_speed(Logs),
    case length(Looks) >= ?LEAST_LOOKS andalso split(Looks) of
        false -> One#{speeds := unknown};
        none -> One;
        Split -> maps:merge(One, two_speeds(Looks, Split))
    end.

log(Ns) when Ns > 0 -> math:log(Ns).

one_speed([]) ->
    #{speeds => unknown, fast_ns => 0.0, slow_ns => 0.0, apart => 1.0, slow_share => 0.0,
      mean_stay_ms => #{fast => null, slow => null}, changing_ms => null, within => 0.0, points => 0};
one_speed(Logs) ->
    Median = math:exp(ertslab_stats:median(Logs)),
    Within = math:exp(ertslab_stats:quantile(Logs, 0.95) - ertslab_stats:quantile(Logs, 0.05)) - 1,
    (one_speed([]))#{speeds := 1, fast_ns := Median, slow_ns := Median, within := Within,
                     points := length(Logs)}.

%% Points that are at least as far apart as looks are looks of their own.
-spec looks([point()]) -> [look()].
looks([]) -> [];
looks([{From, _} | _] = Points) ->
    {Near, Rest} = lists:splitwith(fun({At, _}) -> At < From + ?LOOK_MS end, Points),
    [{From, ertslab_stats:median([log(Ns) || {_, Ns} <- Near])} | looks(Rest)].

%% The log that separates the two speeds, or `none'.
split(Looks) ->
    Sorted = lists:sort([Log || {_, Log} <- Looks]),
    Least = least(length(Sorted)),
    {Below, Explained} = otsu(winsorised(Sorted, Least)),
    case lists:split(Below, Sorted) of
        {Fast, Slow} when length(Fast) >= Least, length(Slow) >= Least ->
            Split = (lists:last(Fast) + hd(Slow)) / 2,
            Apart = ertslab_stats:median(Slow) - ertslab_stats:median(Fast),
            case Apart >= math:log(?LEAST_APART) andalso are_two(Explained, Looks, Split, Apart) of
                true -> Split;
                false -> none
            end;
        _ -> none
    end.

are_two(Explained, _, _, _) when Explained >= ?LEAST_EXPLAINED -> true;
are_two(Explained, Looks, Split, Apart) -> Explained >= ?LEAST_WITH_SWITCHES andalso switches(Looks, Split, Apart).

switches(Looks, Split, Apart) ->
    Number = length(Looks),
    Slow = length([Log || {_, Log} <- Looks, Log > Split]),
    ByChance = 2 * Slow * (Number - Slow) / Number,
    Steps = [abs(Next - Log) || {{_, Log}, {_, Next}} <- neighbours(Looks), speed(Log, Split) =/= speed(Next, Split)],
    length(Steps) =< ?MOST_SWITCHES * ByChance andalso ertslab_stats:median(Steps) >= ?LEAST_STEP * Apart.

neighbours(Looks) -> lists:zip(lists:droplast(Looks), tl(Looks)).

%% The least number of looks in a class.
least(Number) ->
    ceil(max(?LEAST_SHARE * Number,
             ?SPIKES * Number + ?SPIKES_DEVIATIONS * math:sqrt(?SPIKES * (1 - ?SPIKES) * Number))).

%% The `Least' values at each end are replaced by the innermost of them.
winsorised(Sorted, Least) ->
    {Low, High} = {lists:nth(Least, Sorted), lists:nth(length(Sorted) + 1 - Least, Sorted)},
    [min(High, max(Low, Log)) || Log <- Sorted].

%% The split with the largest variance between the classes: how many of the ascending logs are
%% in the lower class, and the share of all the variance.
otsu(Sorted) ->
    Number = length(Sorted),
    Mean = lists:sum(Sorted) / Number,
    Centred = [Log - Mean || Log <- Sorted],
    Total = lists:sum([Log * Log || Log <- Centred]),
    {_, _, {Between, Below}} =
        lists:foldl(fun(Log, State) -> above(Log, Number, State) end, {0, 0.0, {0.0, 0}}, Centred),
    {Below, Between / max(Total, 1.0e-300)}.

%% The mean is zero. If n1 values below have the sum S, and n2 above the sum -S, the sum of
%% squares between them is S^2 / n1 + S^2 / n2.
above(Log, Number, {Count, Sum, Best}) ->
    Between = case Count of
                  0 -> 0.0;
                  _ -> Sum * Sum * Number / (Count * (Number - Count))
              end,
    {Count + 1, Sum + Log, max(Best, {Between, Count})}.

%% Stays

two_speeds(Looks, Split) ->
    {Slow, Fast} = lists:partition(fun(Log) -> Log > Split end, [Log || {_, Log} <- Looks]),
    {FastNs, SlowNs} = {math:exp(ertslab_stats:median(Fast)), math:exp(ertslab_stats:median(Slow))},
    Stays = stays(Looks, Split),
    Changes = lists:sum([Ends || {_, _, Ends} <- Stays]),
    #{speeds => 2, fast_ns => FastNs, slow_ns => SlowNs, apart => SlowNs / FastNs,
      slow_share => length(Slow) / length(Looks),
      mean_stay_ms => maps:from_list([{Speed, mean(Ms, Ends)} || {Speed, Ms, Ends} <- Stays]),
      changing_ms => mean(lists:sum([Ms || {_, Ms, _} <- Stays]), Changes)}.

mean(_, 0) -> null;
mean(Ms, Ends) -> Ms / Ends.

%% The time that was spent at each speed, and how often that speed was seen to end. Their ratio is the
%% maximum likelihood estimate of a stay, as the last stay, and each before a pause, is cut off.
stays(Looks, Split) ->
    Pairs = [{speed(Log, Split), speed(Next, Split), NextAt - At}
             || {{At, Log}, {NextAt, Next}} <- neighbours(Looks)],
    Usual = ertslab_stats:median([Ms || {_, _, Ms} <- Pairs]),
    Pause = max(?PAUSE_MS, ?PAUSE_TIMES * Usual),
    [{Speed,
      float(lists:sum([seen(Ms, Pause, Usual) || {From, _, Ms} <- Pairs, From =:= Speed])),
      length([To || {From, To, Ms} <- Pairs, From =:= Speed, To =/= Speed, Ms =< Pause])}
     || Speed <- [fast, slow]].

seen(Ms, Pause, Usual) when Ms > Pause -> Usual;
seen(Ms, _, _) -> Ms.

speed(Log, Split) when Log > Split -> slow;
speed(_, _) -> fast.

%% @doc Whether there is one speed, but with times that differ by as much as two speeds would.
-spec is_wide(#{speeds := 1 | 2 | unknown, within := float(), _ => _}) -> boolean().
is_wide(#{speeds := Speeds, within := Within}) -> Speeds =:= 1 andalso Within >= ?LEAST_APART - 1.

%% Words

%% @doc The same as part of a sentence, without a full stop.
-spec says(#{speeds := 1 | 2 | unknown, _ => _}) -> binary().
says(#{speeds := unknown}) -> <<"too few repetitions to tell">>;
says(#{speeds := 2, apart := Apart, slow_share := Share, changing_ms := Changing}) ->
    text("two speeds, ~.*f apart, slow ~ts % of the time~ts",
         [decimals(Apart), Apart, percent(Share), changing(Changing)]);
says(#{speeds := 1, within := Within} = Speeds) ->
    Wide = case is_wide(Speeds) of true -> ", but a wide one"; false -> "" end,
    text("one speed~ts: 90 % of the repetitions are within ~ts % of each other", [Wide, percent(Within)]).

text(Format, Args) -> ertslab_text:binary(io_lib:format(Format, Args)).

%% One decimal is enough for 1.5, but not for 1.2, since 1.15 is the least.
decimals(Apart) when Apart < 1.3 -> 2;
decimals(_) -> 1.

changing(null) -> "";
changing(Ms) when Ms < 100 -> io_lib:format(", changing every ~b ms", [max(1, round(Ms))]);
changing(Ms) -> io_lib:format(", changing every ~.1f s", [Ms / 1000]).

percent(Share) when Share < 0.01 -> io_lib:format("~.1f", [100.0 * Share]);
percent(Share) -> integer_to_list(round(100 * Share)).
