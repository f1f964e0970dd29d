%% @doc `ertslab selftest --machine N': real comparisons of stock with its copy, which is the same emulator under
%% another name. So every change that is reported is wrong. A folder that holds some of the comparisons is continued.
-module(ertslab_selftest_machine).

-export([run/1, counted/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: too_often.

-define(PAIRS, 20).

-spec run(map()) -> ok.
run(#{machine := Comparisons} = Options) ->
    Dir = ertslab_results:dir("selftest", Options),
    Summaries = [summary(Options, Dir, Number) || Number <- lists:seq(1, Comparisons)],
    Report = (counted(Summaries))#{dir => ertslab_text:binary(Dir), pairs => ?PAIRS},
    case Options of
        #{json := true} -> io:put_chars(unicode:characters_to_list(json:format(Report)));
        #{} -> io:put_chars(ertslab_selftest_table:machine(Report))
    end,
    maps:get(ok, Report) orelse ertslab_error:failure(?MODULE, too_often),
    ok.

-spec format_error(reason()) -> unicode:chardata().
format_error(too_often) -> "stock and its copy are called different too often.".

%% The summary of one comparison, which is measured first if it does not exist.
summary(Options, Dir, Number) ->
    Own = filename:join(Dir, io_lib:format("~3..0b", [Number])),
    File = ertslab_session:file(Own, "summary.json"),
    filelib:is_regular(File) orelse compare(Options, Own, Number),
    ertslab_summary_file:read(Own).

compare(#{machine := Comparisons} = Options, Dir, Number) ->
    io:format(standard_error, "Comparison ~b of ~b~n", [Number, Comparisons]),
    {Experiment, Params} = ertslab_declared:one(selftest_machine),
    ertslab_places:measure(
      maps:merge(maps:with([otp, accept_host], Options),
                 #{command => compare, experiment => Experiment, vm => ["stock", "stock_copy"], param => Params,
                   pairs => ?PAIRS, seed => maps:get(seed, Options, 0) + Number,
                   out => Dir, silent => true})).

%% @doc Counts the verdicts on the copy in results, by metric. A row that was called changed makes its
%% comparison void, and the sentence about it names the metric. The other rows of that comparison are counted by their
%% intervals.
-spec counted([ertslab_result:summary(), ...]) -> ertslab_selftest_table:machine_report().
counted(Summaries) ->
    Void = length([Void || #{void := [_ | _] = Void} <- Summaries]),
    Verdicts = lists:append([verdicts(Summary) || Summary <- Summaries]),
    #{comparisons => length(Summaries), void => Void,
      metrics => [counts(Metric, Verdicts) || Metric <- lists:uniq([M || {M, _} <- Verdicts])],
      ok => ertslab_selftest_rates:rate(Void, length(Summaries))}.

counts(Metric, Verdicts) ->
    Of = fun(Verdict) -> length([V || {M, V} <- Verdicts, M =:= Metric, V =:= Verdict]) end,
    #{metric => Metric, changed => Of(changed), same => Of(same), unsure => Of(unsure)}.

%% The row of a void comparison has lost its verdict, but still has its ratio.
verdicts(#{cases := Cases, plan := #{same_within := Bound}}) ->
    [{Metric, verdict(Ratio, Bound)}
     || #{rows := Rows} <- Cases, #{metric := Metric, ratio := #{} = Ratio} <- Rows].

verdict(Ratio, Bound) ->
    #{verdict := Verdict} = ertslab_verdict:verdict(Ratio, #{bound => Bound}),
    Verdict.
