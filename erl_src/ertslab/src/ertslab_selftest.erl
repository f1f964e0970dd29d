%% @doc `ertslab selftest': whether this program is honest. It draws comparisons
%% on machines of known noise and counts what the whole way from raw samples to
%% verdicts makes of them; with `--machine' it makes real comparisons of stock
%% with itself.
-module(ertslab_selftest).

-export([run/1, report/4]).
-export_type([report/0]).

-type report() :: #{comparisons := pos_integer(), seed := integer(), ok := boolean(),
                    identical := [ertslab_honesty:result()], power := [ertslab_honesty:result()]}.

-define(COMPARISONS, 1000).
-define(SEED, 1).
%% Comparisons that a worker draws at a time.
-define(BATCH, 25).

-spec run(map()) -> ok.
run(#{machine := _} = Options) -> ertslab_selftest_machine:run(Options);
run(Options) ->
    Report = report(maps:get(comparisons, Options, ?COMPARISONS), maps:get(seed, Options, ?SEED),
                    erlang:system_info(schedulers_online),
                    ertslab_progress:counted("simulated batch")),
    case Options of
        #{json := true} -> io:put_chars(unicode:characters_to_list(json:format(Report)));
        #{} -> io:put_chars(ertslab_selftest_table:render(Report))
    end,
    maps:get(ok, Report) orelse
        ertslab_error:failure("not honest: see what is 'not ok' above.", []),
    ok.

%% @doc The trials with their counts and what is made of them: the same for the
%% same number of comparisons and seed, whatever the number of workers.
-spec report(pos_integer(), integer(), Workers :: pos_integer(),
             fun((pos_integer(), pos_integer()) -> _)) -> report().
report(Comparisons, Seed, Workers, Progress) ->
    Trials = lists:enumerate(ertslab_trial:all()),
    Batches = [{Stream, Trial, Range} || {Stream, Trial} <- Trials, Range <- ranges(Comparisons)],
    Counted = ertslab_parallel:map(
                fun({Stream, Trial, Range}) -> {Stream, ertslab_trial:counts(Trial, Seed, Stream, Range)} end,
                Batches, Workers, Progress),
    Results = [ertslab_honesty:judged(Trial, ertslab_trial:merged([C || {S, C} <- Counted, S =:= Stream]))
               || {Stream, Trial} <- Trials],
    Of = fun(Kind) -> [Result || #{kind := K} = Result <- Results, K =:= Kind] end,
    #{comparisons => Comparisons, seed => Seed, identical => Of(identical), power => Of(power),
      ok => lists:all(fun(#{ok := Ok}) -> Ok end, Results)}.

ranges(Comparisons) ->
    [{From, min(From + ?BATCH - 1, Comparisons)} || From <- lists:seq(1, Comparisons, ?BATCH)].
