%% @doc `ertslab judges': compares VMs by programs that others wrote, with a comparison for each program and one page
%% for all.
-module(ertslab_judges).

-export([run/1, names/0, one/3]).

%% An experiment, the metrics that decide, and the parameters of its cases.
-type judge() :: {Experiment :: string(), Metrics :: [atom(), ...], [ertslab_option_types:assignment()]}.

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
    Sentences = lists:append([complaints(Name, Outcome) || {{Name, _, _}, Outcome} <- Ended]),
    Judgements = ertslab_judges_page:judgements(Judged),
    Unwritten = report(Dir, Judged, Judgements, Sentences),
    ended(ertslab_fail_if:judged(Options, Judgements), Sentences ++ Unwritten).

wanted(#{only := Names}) ->
    _ = [ertslab_error:usage("there is no judge '~ts'; there are: ~ts", [Name, lists:join(", ", names())])
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
    catch throw:{failure, Sentence} -> {error, Sentence}
    end.

measured({Name, _, _}, Dir, Planned) ->
    io:format(standard_error, "~ts~n", [Name]),
    try in_folder(Dir, Planned)
    catch throw:{Kind, Sentence} when Kind =:= failure; Kind =:= usage -> {error, Sentence}
    end.

in_folder(_, {error, Sentence}) -> {error, Sentence};
in_folder(Dir, {One, Plan}) ->
    _ = ertslab_finished:or_else(Dir, One, fun() -> Plan end, fun() -> ertslab_place_here:measure(One, Plan) end),
    ertslab_report_data:read(Dir).

%% The options of `compare' for that program. The bound applies to the result over all programs, so it is removed.
-spec one(judge(), file:filename(), map()) -> map().
one({Name, _Metrics, Params}, Dir, Options) ->
    (with_time(maps:without([fail_if, only], Options)))#{command => compare, experiment => Name, out => Dir, silent => true,
                                                         param => Params}.

with_time(Options) when is_map_key(pairs, Options); is_map_key(budget, Options); is_map_key(quick, Options) -> Options;
with_time(Options) -> Options#{budget => ?BUDGET_MS}.

complaints(Name, {error, Sentence}) -> [ertslab_report_value:format("~ts: ~ts", [Name, Sentence])];
complaints(Name, {ok, #{crashed := Crashed}}) ->
    [ertslab_report_value:format("~ts: ~ts of ~ts ended badly: ~ts", [Name, ertslab_report_wording:count(length(Same), "run"), Label, Reason])
     || {{Label, Reason}, Same} <- by_reason(Crashed)].

by_reason(Crashed) ->
    maps:to_list(maps:groups_from_list(fun(#{label := Label, reason := Reason}) -> {Label, Reason} end, Crashed)).

report(_, [], _, _) -> [];
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
ended([], Failed) -> ertslab_error:failure("~ts", [lists:join("\nertslab: ", Failed)]);
ended(Beyond, Failed) -> ertslab_error:beyond("~ts", [lists:join("\nertslab: ", Failed ++ Beyond)]).
