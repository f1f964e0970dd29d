%% @doc The order in which the values of one run are measured, inside the VM that is
%% measured.
%%
%% A machine may have two speeds, each lasting from a tenth of a second to seconds. A metric
%% that is measured in one go gets the speed of that moment. If an experiment allows
%% it, a run therefore goes in rounds: each round visits every metric of every case, and
%% rounds are repeated until the time of the run is over. Then each metric has values
%% from all over the run, and meets the fast speed if the run does.
%%
%% If one metric changes what the next one finds (`rounds => none'), the metrics are
%% measured one after another, each for its share of the time.
%%
%% If the runs of several VMs take turns (`rounds => arms'), each round is requested from outside the VM.
-module(ertslab_rounds).

-export([measured/4, going/4, once_more/1, values/1, verified/3]).
-export_type([work/0, counts/0, values/0, going/0]).

%% `run_ms': how long the rounds go on after everything is set up; 0 for the least number of rounds. `most': the largest
%% number of rounds. `visit_us': how long a visit lasts at least. `warm_up' and `iterations' replace the experiment's own.
-type counts() :: #{run_ms => non_neg_integer(), most => pos_integer(), visit_us => non_neg_integer(),
                    warm_up => non_neg_integer(), iterations => pos_integer()}.
%% A case by its number in the plan, and its state after `setup'.
-type work() :: {Case :: non_neg_integer(), State :: term()}.
%% In the order in which they were measured.
-type values() :: {Case :: non_neg_integer(), Metric :: atom(), [ertslab_experiment:value()]}.

%% Rounds that are asked for one by one. `made' are those made so far, the last one first.
-opaque going() :: #{module := module(), works := [work(), ...], visits := [{non_neg_integer(), atom(), term()}, ...],
                     info := map(), between := fun(() -> ok), made := [[[ertslab_experiment:value()]]]}.

%% A visit lasts at least this long, in microseconds. A cheap metric is repeated within it and gets more values,
%% of which only the first finds other data in the caches.
-define(VISIT_US, 250).
%% The least number of rounds for which a low quantile makes sense.
-define(LEAST_ROUNDS, 5).
%% A run of a second of a metric that takes microseconds needs no more than this.
-define(MOST_ROUNDS, 2000).
%% Sums and ratios of values must be floats, too.
-define(TOO_LARGE, 1.0e300).

%% @doc All values of these cases, without those of the warm-up, and the states for
%% `teardown', each once. `Between' is called before each visit. A wrong result is an error,
%% however fast it came.
-spec measured(module(), [work(), ...], counts(), fun(() -> ok)) -> {[values()], [work()]}.
measured(Module, Works, Counts, Between) ->
    #{rounds := Rounds} = Info = info(Module, Counts),
    measured(Rounds, Module, Works, Info, Between).

info(Module, Counts) ->
    maps:merge(#{most => ?MOST_ROUNDS, run_ms => 0, visit_us => ?VISIT_US}, maps:merge(Module:info(), Counts)).

measured(none, Module, Works, #{run_ms := Ms, iterations := Iterations, most := Most} = Info, Between) ->
    Names = names(Info),
    Phase = Info#{iterations := 1, visit_us := 0, least => Iterations, most := max(Iterations, Most),
                  ms => Ms div (length(Works) * length(Names))},
    {Values, Done} = lists:unzip([phases(Module, Work, Names, Phase, Between) || Work <- Works]),
    {lists:append(Values), Done};
measured(_Together, Module, Works, #{run_ms := Ms} = Info, Between) ->
    Visits = visits(Module, Works, Info),
    {rounds(Module, Visits, Info#{least => least(Info), ms => Ms, visit_us := visit_us(Info)}, Between), done(Works, Visits)}.

names(#{metrics := Metrics}) -> [Name || #{name := Name} <- Metrics].

visits(Module, Works, Info) -> [{Case, Name, Module:prepare(Name, State)} || {Case, State} <- Works, Name <- names(Info)].

done(Works, Visits) -> lists:uniq(Works ++ [{Case, State} || {Case, _, State} <- Visits]).

%% @doc Does the same up to the first round that counts. {@link once_more/1} makes each round after that.
-spec going(module(), [work(), ...], counts(), fun(() -> ok)) -> going().
going(Module, Works, Counts, Between) ->
    Info = (info(Module, Counts))#{visit_us := 0}, % value k of each arm must come from the same turn
    Visits = visits(Module, Works, Info),
    ok = warmed_up(Module, Visits, Info, Between),
    #{module => Module, works => Works, visits => Visits, info => Info, between => Between, made => []}.

%% @doc Makes one more round.
-spec once_more(going()) -> going().
once_more(#{module := Module, visits := Visits, info := Info, between := Between, made := Made} = Going) ->
    Going#{made := [round(Module, Visits, Info, Between) | Made]}.

%% @doc The result of {@link measured/4} for the rounds that were made. At least one must have been made.
-spec values(going()) -> {[values()], [work()]}.
values(#{works := Works, visits := Visits, made := Made}) -> {collected(Visits, Made), done(Works, Visits)}.

least(#{run_ms := 0}) -> 1;
least(#{}) -> ?LEAST_ROUNDS.

visit_us(#{run_ms := 0}) -> 0;
visit_us(#{visit_us := Us}) -> Us.

phases(Module, {Case, State0}, Names, Phase, Between) ->
    {Values, State} = lists:mapfoldl(fun(Name, S) -> phase(Module, Case, Name, S, Phase, Between) end, State0, Names),
    {Values, {Case, State}}.

phase(Module, Case, Name, State0, Info, Between) ->
    State = Module:prepare(Name, State0),
    [Values] = rounds(Module, [{Case, Name, State}], Info, Between),
    {Values, State}.

%% Rounds until the time is over and there are enough of them. The warm-up rounds do not count.
rounds(Module, Visits, #{ms := Ms, least := Least, most := Most} = Info, Between) ->
    ok = warmed_up(Module, Visits, Info, Between),
    collected(Visits, repeated(fun() -> round(Module, Visits, Info, Between) end, from_now(Ms, millisecond), Least, Most, [])).

warmed_up(Module, Visits, #{warm_up := WarmUp} = Info, Between) ->
    _ = [round(Module, Visits, Info, Between) || _ <- lists:seq(1, WarmUp)],
    ok.

collected(Visits, Rounds) ->
    [{Case, Name, lists:append(Values)} || {{Case, Name, _}, Values} <- lists:zip(Visits, transposed(Rounds))].

%% The rounds, the last one first.
repeated(_, _, _, 0, Rounds) -> Rounds;
repeated(Round, Until, Least, Most, Rounds) ->
    case Least =< 0 andalso erlang:monotonic_time() >= Until of
        true -> Rounds;
        false -> repeated(Round, Until, Least - 1, Most - 1, [Round() | Rounds])
    end.

from_now(Time, Unit) -> erlang:monotonic_time() + erlang:convert_time_unit(Time, Unit, native).

round(Module, Visits, #{iterations := Iterations, visit_us := VisitUs}, Between) ->
    [begin
         ok = Between(),
         visit(Module, Name, State, Iterations, from_now(VisitUs, microsecond))
     end || {_Case, Name, State} <- Visits].

%% Values until the visit's time is over and there are enough of them.
visit(Module, Name, State, Least, Until) ->
    {Value, _} = verified(Module, Name, State),
    case Least =< 1 andalso erlang:monotonic_time() >= Until of
        true -> [Value];
        false -> [Value | visit(Module, Name, State, Least - 1, Until)]
    end.

%% @doc One value and its verified result. A wrong result is the error
%% `{wrong_result, Metric, Why}', what is no value is `{no_value, Metric, Value}', and what is no pair `{no_pair, Metric, Returned}'.
-spec verified(module(), Metric :: atom(), State :: term()) -> {ertslab_experiment:value(), Result :: term()}.
verified(Module, Metric, State) ->
    {Value, Result} = Measured = pair(Metric, Module:run(Metric, State)),
    case Module:verify(Metric, Result, State) of
        ok -> ok;
        {wrong, Why} -> error({wrong_result, Metric, Why})
    end,
    is_value(Value) orelse error({no_value, Metric, Value}),
    Measured.

pair(_, {_, _} = Pair) -> Pair;
pair(Metric, Returned) -> error({no_pair, Metric, Returned}).

%% Two points of the same N have no slope.
is_value(Points) when length(Points) > 1 ->
    lists:all(fun is_point/1, Points) andalso length(lists:usort([N || [N, _] <- Points])) =:= length(Points);
is_value(Value) -> is_amount(Value).

is_point([N, Value]) -> is_number(N) andalso abs(N) < ?TOO_LARGE andalso is_amount(Value);
is_point(_) -> false.

is_amount(Value) -> is_number(Value) andalso Value >= 0 andalso Value < ?TOO_LARGE.

%% From rounds, the last one first, to a list of values for each visit, in the order of time.
transposed(Rounds) ->
    lists:foldl(fun(Round, Columns) -> lists:zipwith(fun(Values, Column) -> [Values | Column] end, Round, Columns) end,
                [[] || _ <- hd(Rounds)], Rounds).
