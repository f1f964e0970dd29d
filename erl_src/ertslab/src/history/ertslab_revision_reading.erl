%% @doc Measures one commit against another: an ordinary comparison, in a folder of its own. A finished comparison is
%% read, an unfinished one is continued.
-module(ertslab_revision_reading).

-export([read/4, check_pairs/3, ratio/2, metric/2, one_case/1, told/1, format_error/1]).
-export_type([reading/0, no_reading/0, reason/0]).

%% `error': the standard error of the log ratio. `void': the control differed from the first commit. The interval of an exact
%% count is its ratio.
-type reading() :: #{log_ratio := float(), error := float(), estimate := float(), low := float(), high := float(),
                     metric := binary(), verdict := ertslab_result:verdict(), void := boolean()}.
%% Why a commit has no reading. `fails': it ends the experiment, or computes other results than the first commit.
-type no_reading() :: no_ratio | {fails, ertslab_error:error()}.
-type reason() :: {no_metric, string(), Known :: [binary()]} | {several_cases, pos_integer()}.

%% A reading of times is short because many are needed; a doubtful one is repeated. Counts keep the pairs of a comparison of counts.
-define(PAIRS, 20).
%% Both commits, and the control.
-define(ARMS, 3).
%% The options that are passed on to the comparison.
-define(PASSED, [experiment, source, param, pairs, budget, quick, accept_host, otp]).
%% Half the width of a normal 95 % interval, in standard errors.
-define(REACH, 1.96).
%% A lower bound for the standard error of a reading.
-define(LEAST_ERROR, 0.0005).

%% @doc The commit `Id' against the commit `Anchor', from the repository that the options name.
-spec read(map(), Anchor :: string(), Id :: string(), file:filename()) -> {ok, reading()} | {error, no_reading()}.
read(Options, Anchor, Id, Dir) ->
    case filelib:is_regular(filename:join(Dir, "summary.json")) orelse measured(Options, Anchor, Id, Dir) of
        true -> ratio(ertslab_summary_file:read(Dir), maps:get(metric, Options, undefined));
        {fails, _} = Fails -> {error, Fails}
    end.

%% A fault of one commit is no fault of the others.
measured(#{git := Repository} = Options, Anchor, Id, Dir) ->
    try
        ok = ertslab_places:measure((with_time(maps:with(?PASSED, Options)))#{command => compare,
                                                                              vm => [revision(Repository, Each) || Each <- [Anchor, Id]],
                                                                              out => Dir, silent => true}),
        true
    catch throw:{failure, {ertslab_output_check, Reason} = Error} ->
            case ertslab_output_check:at_fault(Reason) =:= ertslab_text:binary(ertslab_history:short(Id)) of
                true -> {fails, Error};
                false -> ertslab_error:several(failure, [Error])
            end
    end.

%% @doc Refuses too few pairs for the comparison of a reading.
-spec check_pairs(map(), Info :: map(), Cases :: [ertslab_experiment:params()]) -> ok.
check_pairs(Options, Info, Cases) -> ertslab_plan:check_pairs(with_time(Options), Info, Cases, ?ARMS).

with_time(Options) when is_map_key(pairs, Options); is_map_key(budget, Options); is_map_key(quick, Options) -> Options;
with_time(#{experiment := Name} = Options) ->
    case ertslab_parameters:info(ertslab_parameters:module(Name)) of
        #{exact := true} -> Options;
        #{} -> Options#{pairs => ?PAIRS}
    end.

revision(Repository, Id) -> lists:append(["git:", Repository, "@", ertslab_history:short(Id)]).

%% @doc The ratio of the last arm of a comparison, over all cases if there are several, for the given metric or else
%% the first one.
-spec ratio(ertslab_result:summary(), undefined | string()) -> {ok, reading()} | {error, no_reading()}.
ratio(#{plan := #{metrics := Metrics} = Plan, arms := Arms} = Summary, Wanted) ->
    Metric = metric([Name || #{name := Name} <- Metrics], Wanted),
    #{label := Label} = lists:last(Arms),
    case [Row || #{metric := M, label := L} = Row <- rows(Summary), M =:= Metric, L =:= Label] of
        [#{ratio := #{estimate := Estimate, low := Low, high := High}, verdict := Verdict}]
          when is_number(Low), is_number(High), Low > 0 ->
            Width = (math:log(High) - math:log(Low)) / (2 * ?REACH),
            Off = control_off(Summary, Metric, maps:get(control, Plan)),
            {ok, #{log_ratio => math:log(Estimate), error => max(?LEAST_ERROR, math:sqrt(Width * Width + Off * Off)),
                   estimate => Estimate, low => Low, high => High, metric => Metric, verdict => Verdict,
                   void => maps:get(void, Summary) =/= []}};
        [#{ratio := #{estimate := Estimate, exact := true}, verdict := Verdict}] when Estimate > 0 ->
            {ok, #{log_ratio => math:log(Estimate), error => ?LEAST_ERROR, estimate => Estimate, low => Estimate, high => Estimate,
                   metric => Metric, verdict => Verdict, void => false}};
        _ -> {error, no_ratio}
    end.

%% If the control differed, the other arm may be wrong by the same amount.
control_off(#{void := []}, _, _) -> 0.0;
control_off(Summary, Metric, Control) ->
    case [Estimate || #{metric := M, label := L, ratio := #{estimate := Estimate}} <- rows(Summary),
                      M =:= Metric, L =:= Control] of
        [Estimate] -> math:log(Estimate);
        _ -> 0.0
    end.

%% @doc A ratio with its interval, or alone if it is exact.
-spec told(reading()) -> iodata().
told(#{estimate := Same, low := Same, high := Same}) -> io_lib:format("~.3f", [Same]);
told(#{estimate := Ratio, low := Low, high := High}) -> io_lib:format("~.3f (~.3f to ~.3f)", [Ratio, Low, High]).

%% @doc The given metric, if it is one of these; without one, the first of these.
-spec metric([binary(), ...], undefined | string()) -> binary().
metric([First | _], undefined) -> First;
metric(Names, Wanted) ->
    Name = ertslab_text:binary(Wanted),
    lists:member(Name, Names) orelse
        ertslab_error:usage(?MODULE, {no_metric, Wanted, Names}),
    Name.

rows(#{overall := [_ | _] = Rows}) -> Rows;
rows(#{cases := [#{rows := Rows}]}) -> Rows;
rows(#{cases := Cases}) -> several_cases(length(Cases)).

%% @doc Refuses more than one case.
-spec one_case(pos_integer()) -> ok.
one_case(1) -> ok;
one_case(Cases) -> several_cases(Cases).

-spec several_cases(pos_integer()) -> no_return().
several_cases(Cases) -> ertslab_error:usage(?MODULE, {several_cases, Cases}).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_metric, Name, Known}) -> ["--metric ", Name, ": there is no such metric; choose from: ", lists:join(" ", Known)];
format_error({several_cases, Cases}) ->
    io_lib:format("these are ~b cases; choose one with --param, so that there is one ratio for each commit", [Cases]).
