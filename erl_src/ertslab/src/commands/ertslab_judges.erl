%% @doc `ertslab judges': compares VMs by programs that others wrote, with a comparison for each program and one page
%% for all.
-module(ertslab_judges).

-export([run/1, names/0, one/3, format_error/1]).
-export_type([reason/0]).

%% An experiment, the metrics that decide, and the parameters of its cases.
-type judge() :: {Experiment :: string(), Metrics :: [atom(), ...], [ertslab_option_types:assignment()]}.

-type reason() :: {no_judge, string(), Known :: [string()]} | {failed, Name :: string(), ertslab_error:error()}
                | {no_judgement, Name :: string()}
                | {ended_badly, Name :: string(), Runs :: pos_integer(), Label :: binary(), Why :: binary()}.

-define(BUDGET_MS, 15 * 60_000).

%% @doc The names of these experiments.
-spec names() -> [string()].
names() -> [Name || {Name, _, _} <- all()].

-spec all() -> [judge()].
all() -> lists:append(ertslab_declared:all(judges)).

%% @doc Runs each comparison in a folder of its own. A program that fails is named on the page and does not stop the
%% others, but the command then fails.
-spec run(map()) -> ok.
run(Options) ->
    Judges = wanted(Options),
    ok = ertslab_plan:check(Options),
    Dir = ertslab_results:dir("judges", Options),
    Planned = [{Judge, planned(one(Judge, filename:join(Dir, Name), Options))} || {Name, _, _} = Judge <- Judges],
    ok = ertslab_results:make(Dir),
    Ended = [{Judge, measured(Judge, filename:join(Dir, Name), Plan)} || {{Name, _, _} = Judge, Plan} <- Planned],
    Judged = [{Data, [atom_to_binary(Metric) || Metric <- Metrics]} || {{_, Metrics, _}, {ok, Data}} <- Ended],
    Errors = lists:append([errors(Name, Outcome) || {{Name, _, _}, Outcome} <- Ended]),
    Judgements = ertslab_judges_page:judgements(Judged),
    Unwritten = report(Dir, Judged, Judgements, [ertslab_error:sentence(Error, Options) || Error <- Errors]),
    ended(ertslab_fail_if:judged(Options, Judgements), Errors ++ unjudged(Options, Ended, Judgements) ++ Unwritten).

%% A bound that was tried on nothing is no success.
unjudged(#{fail_if := _}, Ended, Judgements) ->
    [{?MODULE, {no_judgement, Name}} || {{Name, _, _}, {ok, _}} <- Ended,
                                        not lists:any(fun(#{name := N, role := Role}) ->
                                                              Role =:= compared andalso N =:= ertslab_text:binary(Name)
                                                      end, Judgements)];
unjudged(#{}, _, _) -> [].

wanted(#{only := Names}) ->
    _ = [ertslab_error:usage(?MODULE, {no_judge, Name, names()})
         || Name <- Names, not lists:member(Name, names())],
    [Judge || {Name, _, _} = Judge <- all(), lists:member(Name, Names)];
wanted(#{}) -> all().

%% Options that are wrong for one program are refused before anything is created. Other failures stop only that
%% program, when its turn comes.
planned(One) ->
    try
        Plan = ertslab_plan:compare(One),
        ok = ertslab_place_here:must_fit(One, Plan),
        {One, Plan}
    catch throw:{failure, Thrown} -> {errors, ertslab_error:each(Thrown)}
    end.

measured({Name, _, _}, Dir, Planned) ->
    io:format(standard_error, "~ts~n", [Name]),
    in_folder(Dir, Planned).

in_folder(_, {errors, Errors}) -> {errors, Errors};
in_folder(Dir, {One, Plan}) ->
    try
        _ = ertslab_finished:or_else(Dir, One, fun() -> Plan end, fun() -> ertslab_place_here:measure(One, Plan) end),
        ertslab_report_data:read(Dir)
    catch throw:{Kind, Thrown} when Kind =:= failure; Kind =:= usage -> {errors, ertslab_error:each(Thrown)}
    end.

%% The options of `compare' for that program. The bound applies to the result over all programs, so it is removed.
-spec one(judge(), file:filename(), map()) -> map().
one({Name, _Metrics, Params}, Dir, Options) ->
    (with_time(maps:without([fail_if, only], Options)))#{command => compare, experiment => Name, out => Dir, silent => true,
                                                         param => Params}.

with_time(Options) when is_map_key(pairs, Options); is_map_key(budget, Options); is_map_key(quick, Options) -> Options;
with_time(Options) -> Options#{budget => ?BUDGET_MS}.

errors(Name, {errors, Errors}) -> [{?MODULE, {failed, Name, Error}} || Error <- Errors];
errors(Name, {error, Error}) -> errors(Name, {errors, [Error]});
errors(Name, {ok, #{crashed := Crashed}}) ->
    [{?MODULE, {ended_badly, Name, length(Same), Label, Why}} || {{Label, Why}, Same} <- by_reason(Crashed)].

-spec format_error(reason()) -> unicode:chardata().
format_error({no_judge, Name, Known}) -> ["there is no judge '", Name, "'; there are: ", lists:join(", ", Known)];
format_error({no_judgement, Name}) -> [Name, ": no run gave a ratio, so --fail-if cannot be judged."];
format_error({failed, Name, Error}) -> [Name, ": ", ertslab_error:sentence(Error)];
format_error({ended_badly, Name, Runs, Label, Why}) ->
    [Name, ": ", ertslab_report_wording:count(Runs, "run"), " of ", Label, " ended badly: ", Why].

by_reason(Crashed) ->
    maps:to_list(maps:groups_from_list(fun(#{label := Label, reason := Reason}) -> {Label, Reason} end, Crashed)).

%% Without a result, the page of an earlier call is not taken for one of this call.
report(Dir, [], _, _) ->
    _ = [file:delete(filename:join(Dir, Name)) || Name <- ["judges.html", "judges.json"]],
    [];
report(Dir, Judged, Judgements, Sentences) ->
    Page = filename:join(Dir, "judges.html"),
    Front = ertslab_judges_page:front(Judgements),
    io:put_chars(ertslab_judges_page:table(Judgements)),
    Written = fun() ->
                      ok = ertslab_results:write(Page, ertslab_report_html:page([Data || {Data, _} <- Judged], Sentences, Front)),
                      ok = ertslab_results:write(filename:join(Dir, "judges.json"),
                                                 json:format(#{judgements => Judgements, failed => Sentences})),
                      io:format("~n~ts~n", [Page])
              end,
    ertslab_error:put_off(Written).

%% A failed program does not hide the results of the others.
ended([], []) -> ok;
ended([], Failed) -> ertslab_error:several(failure, Failed);
ended(Beyond, Failed) -> ertslab_error:several(beyond, Failed ++ Beyond).
