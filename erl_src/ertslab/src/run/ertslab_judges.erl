%% @doc `ertslab judges': programs that others wrote, each as a comparison of the same VMs, and one page over all.
-module(ertslab_judges).

-export([run/1, names/0]).

%% What is measured of each, and what of that is judged: processor time for fixed work.
-define(JUDGES, [{"rabbitmq", [~"classic_cpu", ~"quorum_cpu"]},
                 {"rabbitmq_backlog", [~"get", ~"get_hibernated"]},
                 {"ejabberd", [~"cpu"]},
                 {"web", [~"cpu"]},
                 {"dialyzer", [~"cpu"]},
                 {"elixir", [~"cpu"]},
                 {"compile_stdlib", [~"compile"]}]).
-define(BUDGET, "15m").

%% @doc The experiments that judge.
-spec names() -> [string()].
names() -> [Name || {Name, _} <- ?JUDGES].

%% @doc Measures each into a folder of its own. One that fails is named on the page, costs only itself, and fails the command.
-spec run(map()) -> ok.
run(Options) ->
    Judges = wanted(Options),
    Dir = ertslab_results:dir("judges", Options),
    ok = ertslab_results:make(Dir),
    Ended = [{Judge, measured(Judge, filename:join(Dir, Name), Options)} || {Name, _} = Judge <- Judges],
    Judged = [{Data, Metrics} || {{_, Metrics}, {ok, Data}} <- Ended],
    Sentences = lists:append([complaints(Name, Outcome) || {{Name, _}, Outcome} <- Ended]),
    ok = report(Dir, Judged, Sentences),
    failed(Sentences).

wanted(#{only := Text}) ->
    Names = string:lexemes(Text, ","),
    _ = [ertslab_error:usage("there is no judge '~ts'; there are: ~ts", [Name, lists:join(", ", names())])
         || Name <- Names, not lists:keymember(Name, 1, ?JUDGES)],
    [Judge || {Name, _} = Judge <- ?JUDGES, lists:member(Name, Names)];
wanted(#{}) -> ?JUDGES.

%% What a call before has measured to its end is taken as it is.
measured({Name, _}, Dir, Options) ->
    Done = filelib:is_regular(filename:join(Dir, "summary.json")),
    io:format(standard_error, "~ts~ts~n", [Name, [" was measured before" || Done]]),
    try
        _ = [ok = ertslab_compare:compare(one(Name, Dir, Options)) || not Done],
        ertslab_report_data:read(Dir)
    catch throw:{Kind, Sentence} when Kind =:= failure; Kind =:= usage -> {error, Sentence}
    end.

one(Name, Dir, #{words := [_ | Words]} = Options) ->
    Timed = case Options of
                #{pairs := _} -> Options;
                #{quick := true} -> Options;
                #{} -> maps:merge(#{budget => ?BUDGET}, Options)
            end,
    Timed#{experiment => Name, out => Dir, silent => true, words => ["compare", Name | Words], param => small(Name)}.

%% Six modules would leave time for ten pairs, of 13 that the statistics want.
small("compile_stdlib") -> ["module=gb_sets,lists"];
small(_) -> [].

complaints(Name, {error, Sentence}) -> [ertslab_report_value:format("~ts: ~ts", [Name, Sentence])];
complaints(Name, {ok, #{crashed := Crashed}}) ->
    [ertslab_report_value:format("~ts: ~ts of ~ts ended badly: ~ts", [Name, ertslab_report_wording:count(length(Same), "run"), Label, Reason])
     || {{Label, Reason}, Same} <- by_reason(Crashed)].

by_reason(Crashed) ->
    maps:to_list(maps:groups_from_list(fun(#{~"label" := Label, ~"reason" := Reason}) -> {Label, Reason} end, Crashed)).

report(_, [], _) -> ok;
report(Dir, Judged, Sentences) ->
    Judgements = ertslab_judges_page:judgements(Judged),
    Page = filename:join(Dir, "judges.html"),
    Front = ertslab_judges_page:front(Judgements),
    ok = ertslab_results:write(Page, ertslab_report_html:page([Data || {Data, _} <- Judged], Sentences, Front)),
    ok = ertslab_results:write(filename:join(Dir, "judges.json"), json:format(#{judgements => Judgements, failed => Sentences})),
    io:format("~ts~n~ts~n", [ertslab_judges_page:table(Judgements), Page]).

failed([]) -> ok;
failed(Sentences) -> ertslab_error:failure("~ts", [lists:join("\nertslab: ", Sentences)]).
