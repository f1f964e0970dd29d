%% @doc `ertslab selftest': checks that the statistics keep their promises. It simulates comparisons in known noise
%% and in noise recorded on real machines, and counts the verdicts at the end of the whole path from raw samples. With
%% `--machine' it makes real comparisons of stock with itself, with `--record' it records noise, and with `--bisect'
%% it simulates histories and searches them for the commit.
-module(ertslab_selftest).

-export([run/1, report/4, report/5, format_error/1]).
-export_type([reason/0]).

-type reason() :: {not_for, Option :: atom(), Kind :: iodata()} | not_honest.

-define(COMPARISONS, 1000).
-define(HISTORIES, 200).
-define(SEED, 1).
%% The number of comparisons that a worker draws at once.
-define(BATCH, 25).

%% The kinds of test, each with the options that it accepts.
-define(KINDS, [{machine, [seed, out, accept_host, otp, json]},
                {record, [pairs, out, accept_host, otp]},
                {bisect, [comparisons, seed, json]},
                {replay, [comparisons, seed, json]}]).

-spec run(map()) -> ok.
run(Options) ->
    ok = meant(Options),
    tested(Options).

meant(Options) ->
    {Kind, Own} = case [Found || {Name, _} = Found <- ?KINDS, is_map_key(Name, Options)] of
                      [] -> {"what it simulates", [comparisons, seed, json]};
                      [{Name, Names} | _] -> {["--", atom_to_list(Name)], [Name | Names]}
                  end,
    _ = [ertslab_error:usage(?MODULE, {not_for, Name, Kind})
         || Name <- maps:keys(Options), not lists:member(Name, [command, rest, says | Own])],
    ok.

tested(#{machine := _} = Options) -> ertslab_selftest_machine:run(Options);
tested(#{record := true} = Options) -> ertslab_selftest_record:run(Options);
tested(#{bisect := true} = Options) ->
    Report = ertslab_bisect_trial:report(maps:get(comparisons, Options, ?HISTORIES), maps:get(seed, Options, ?SEED),
                                         erlang:system_info(schedulers_online), ertslab_progress:counted("history")),
    said(Options, Report, fun ertslab_bisect_trial:render/1);
tested(Options) ->
    Report = report(maps:get(comparisons, Options, ?COMPARISONS), maps:get(seed, Options, ?SEED),
                    erlang:system_info(schedulers_online), ertslab_progress:counted("simulated batch"),
                    recordings(Options)),
    said(Options, Report, fun ertslab_selftest_table:render/1).

said(Options, Report, Render) ->
    case Options of
        #{json := true} -> io:put_chars(unicode:characters_to_list(json:format(Report)));
        #{} -> io:put_chars(Render(Report))
    end,
    maps:get(ok, Report) orelse ertslab_error:failure(?MODULE, not_honest),
    ok.

-spec format_error(reason()) -> unicode:chardata().
format_error({not_for, Option, Kind}) -> ["--", string:replace(atom_to_list(Option), "_", "-", all), " is not for ", Kind];
format_error(not_honest) -> "verdicts are wrong too often: see the lines with 'not ok' above.".

recordings(#{replay := File}) -> [ertslab_recording:read(File)];
recordings(#{}) -> ertslab_recording:all().

%% @doc The same as {@link report/5} with the recordings included in ertslab.
-spec report(pos_integer(), integer(), Workers :: pos_integer(),
             fun((pos_integer(), pos_integer()) -> _)) -> ertslab_selftest_table:report().
report(Comparisons, Seed, Workers, Progress) -> report(Comparisons, Seed, Workers, Progress, ertslab_recording:all()).

%% @doc The trials with their counts and conclusions. The result depends only on the number of comparisons and the
%% seed, not on the number of workers.
-spec report(pos_integer(), integer(), Workers :: pos_integer(),
             fun((pos_integer(), pos_integer()) -> _), [ertslab_recording:recording()]) -> ertslab_selftest_table:report().
report(Comparisons, Seed, Workers, Progress, Recordings) ->
    Trials = lists:enumerate([{ertslab_trial, Trial} || Trial <- ertslab_trial:all()]
                             ++ [{ertslab_replay, Trial} || Trial <- ertslab_replay:all(Recordings)]),
    Batches = [{Stream, Kind, Trial, Range} || {Stream, {Kind, Trial}} <- Trials, Range <- ranges(wanted(Kind, Trial, Comparisons))],
    Counted = ertslab_parallel:map(
                fun({Stream, Kind, Trial, Range}) -> {Stream, Kind:counts(Trial, Seed, Stream, Range)} end,
                Batches, Workers, Progress),
    Counts = maps:map(fun(_, Own) -> ertslab_trial:merged(Own) end,
                      maps:groups_from_list(fun({Stream, _}) -> Stream end, fun({_, Own}) -> Own end, Counted)),
    Results = [ertslab_selftest_rates:judged(Trial, maps:get(Stream, Counts)) || {Stream, {ertslab_trial, Trial}} <- Trials],
    Replayed = [ertslab_replay:judged(Trial, maps:get(Stream, Counts)) || {Stream, {ertslab_replay, Trial}} <- Trials],
    Of = fun(Kind) -> [Result || #{kind := K} = Result <- Results, K =:= Kind] end,
    #{comparisons => Comparisons, seed => Seed, identical => Of(identical), power => Of(power), replayed => Replayed,
      ok => lists:all(fun(#{ok := Ok}) -> Ok end, Results ++ Replayed)}.

wanted(ertslab_trial, _Trial, Comparisons) -> Comparisons;
wanted(ertslab_replay, Trial, Comparisons) -> ertslab_replay:comparisons(Trial, Comparisons).

ranges(Comparisons) ->
    [{From, min(From + ?BATCH - 1, Comparisons)} || From <- lists:seq(1, Comparisons, ?BATCH)].
