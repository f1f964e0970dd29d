%% @doc One commit measured beside another: a comparison as all others, in a folder of its own. One that is there and
%% finished is read, one that is there unfinished goes on.
-module(ertslab_revision_reading).

-export([read/4, ratio/2]).
-export_type([reading/0]).

%% `error': the standard error of the log ratio. `void': the control differed from the first commit.
-type reading() :: #{log_ratio := float(), error := float(), estimate := float(), low := float(), high := float(),
                     metric := binary(), verdict := atom() | binary(), void := boolean()}.

%% A reading is short, since there are many of them; a doubtful one is made again.
-define(PAIRS, 20).
%% What of the call is for the comparison.
-define(PASSED, [experiment, param, pairs, budget, quick, accept_host, words, otp]).
%% A normal interval of 95 % reaches so many standard errors to each side.
-define(REACH, 1.96).
%% Less than this no reading is trusted.
-define(LEAST_ERROR, 0.0005).

%% @doc The commit `Id' beside the commit `Anchor', of the repository that the options name.
-spec read(map(), Anchor :: string(), Id :: string(), file:filename()) -> {ok, reading()} | {error, no_ratio}.
read(#{git := Repository} = Options, Anchor, Id, Dir) ->
    File = filename:join(Dir, "summary.json"),
    filelib:is_regular(File) orelse
        ertslab_compare:compare((with_time(maps:with(?PASSED, Options)))#{vm => words(Repository, [Anchor, Id]),
                                                                         out => Dir, silent => true}),
    {ok, Text} = file:read_file(File),
    ratio(json:decode(Text), maps:get(metric, Options, undefined)).

with_time(Options) when is_map_key(pairs, Options); is_map_key(budget, Options); is_map_key(quick, Options) -> Options;
with_time(Options) -> Options#{pairs => ?PAIRS}.

words(Repository, Ids) -> lists:flatten(lists:join($,, [["git:", Repository, "@", ertslab_history:short(Id)] || Id <- Ids])).

%% @doc The ratio of the last arm of a comparison, over all cases where there are several: of that metric, else of the
%% first one. `Summary' is decoded JSON.
-spec ratio(map(), undefined | string()) -> {ok, reading()} | {error, no_ratio}.
ratio(#{~"plan" := #{~"metrics" := Metrics} = Plan, ~"arms" := Arms} = Summary, Wanted) ->
    Metric = metric([Name || #{~"name" := Name} <- Metrics], Wanted),
    #{~"label" := Label} = lists:last(Arms),
    case [Row || #{~"metric" := M, ~"label" := L} = Row <- rows(Summary), M =:= Metric, L =:= Label] of
        [#{~"ratio" := #{~"estimate" := Estimate, ~"low" := Low, ~"high" := High}, ~"verdict" := Verdict}]
          when is_number(Low), is_number(High), Low > 0 ->
            Width = (math:log(High) - math:log(Low)) / (2 * ?REACH),
            Off = control_off(Summary, Metric, maps:get(~"control", Plan, null)),
            {ok, #{log_ratio => math:log(Estimate), error => max(?LEAST_ERROR, math:sqrt(Width * Width + Off * Off)),
                   estimate => Estimate, low => Low, high => High, metric => Metric, verdict => Verdict,
                   void => maps:get(~"void", Summary) =/= []}};
        _ -> {error, no_ratio}
    end.

%% Where the control differed, what it differed by is in doubt of the other arm too.
control_off(#{~"void" := []}, _, _) -> 0.0;
control_off(Summary, Metric, Control) ->
    case [Estimate || #{~"metric" := M, ~"label" := L, ~"ratio" := #{~"estimate" := Estimate}} <- rows(Summary),
                      M =:= Metric, L =:= Control] of
        [Estimate] -> math:log(Estimate);
        _ -> 0.0
    end.

metric([First | _], undefined) -> First;
metric(Names, Wanted) ->
    Name = ertslab_error:text(Wanted),
    lists:member(Name, Names) orelse
        ertslab_error:usage("--metric ~ts: there is no such metric; choose from: ~ts", [Wanted, lists:join(" ", Names)]),
    Name.

rows(#{~"overall" := [_ | _] = Rows}) -> Rows;
rows(#{~"cases" := [#{~"rows" := Rows}]}) -> Rows;
rows(#{~"cases" := Cases}) ->
    ertslab_error:usage("these are ~b cases; choose one with --param, so that there is one ratio for each commit",
                        [length(Cases)]).
