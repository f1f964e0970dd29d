%% @doc The commands that measure. A comparison measures several arms under the same conditions. For `compare' the
%% arms are variants, for `sweep' they are values of one parameter on one variant.
-module(ertslab_compare).

-export([compare/1, sweep/1, time/1, must_fit/2]).

%% @doc `ertslab compare EXPERIMENT'.
-spec compare(map()) -> ok.
compare(Options) -> checked_on_each_machine(Options, fun(One) -> measure(One, ertslab_plan:compare(One)) end).

%% @doc `ertslab sweep EXPERIMENT --over NAME=V1,V2,...': the first value is the baseline.
-spec sweep(map()) -> ok.
sweep(Options) -> checked_on_each_machine(Options, fun(One) -> measure(One, ertslab_plan:sweep(One)) end).

%% @doc `ertslab time EXPR EXPR...': the first is the baseline.
-spec time(map()) -> ok.
time(Options) ->
    ok = ertslab_plan:check(Options),
    Plan = #{experiment := Name} = ertslab_plan:time(Options),
    measure(Options#{experiment => binary_to_list(Name)}, Plan).

checked_on_each_machine(Options, Fun) ->
    ok = ertslab_plan:check(Options),
    on_each_machine(Options, Fun).

on_each_machine(#{json := true} = Options, _) when is_map_key(fleet, Options); is_map_key(slurm, Options) ->
    ertslab_error:usage("--json is of one machine; with --fleet or --slurm, each has its summary.json below --out", []);
on_each_machine(#{host_dir := _} = Options, _) when not is_map_key(host, Options) ->
    ertslab_error:usage("--host-dir wants --host; a fleet's file names the folder behind its machine", []);
on_each_machine(#{slurm := _} = Options, _) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage("--slurm does not go with --host or --fleet", []);
on_each_machine(#{slurm := _} = Options, _) -> ertslab_slurm:each(Options);
on_each_machine(#{nodes := _}, _) -> ertslab_error:usage("--nodes wants --slurm", []);
on_each_machine(#{fleet := _, host := _}, _) -> ertslab_error:usage("give --fleet or --host, not both", []);
on_each_machine(#{builds := _} = Options, _) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage("--builds is for this machine, and does not go with --host or --fleet", []);
on_each_machine(#{fleet := File} = Options, Fun) -> ertslab_fleet:each(File, Options, Fun);
on_each_machine(Options, Fun) -> Fun(ertslab_experiment_source:named(Options)).

measure(#{experiment := Experiment} = Options, Plan0) ->
    ok = must_fit(Options, Plan0),
    Dir = ertslab_results:dir(Experiment, Options),
    ok = ertslab_results:make(Dir),
    ertslab_folder_lock:in(Dir, fun() -> measure_into(Dir, Options, Plan0) end).

%% @doc Refuses a budget that is too small on any machine.
-spec must_fit(map(), ertslab_session:plan()) -> ok.
must_fit(#{budget := Ms}, Plan) -> ertslab_pilot:must_fit(Plan, Ms);
must_fit(#{}, _) -> ok.

measure_into(Dir, Options, Plan0) ->
    Force = maps:get(force, Options, false),
    {Ready, PairMs} = case ertslab_session:prepare(Dir, Force) of
                          new -> checked(Options, Plan0);
                          unfinished -> as_begun(Dir, Plan0, ertslab_session:stored(Dir))
                      end,
    Session = ertslab_session:open(Dir, Ready, Force),
    announce(Session, PairMs),
    ok = ertslab_runner:run_all(Session, ertslab_progress:new()),
    ok = ertslab_session:close(Session),
    report(Options, Session).

%% The checks before the first run that counts: the machine, the outputs, and with a budget the number of pairs that
%% it allows. Returns the plan and the approximate duration of a pair.
checked(Options, Plan0) ->
    Plan = Plan0#{preflight => preflight(Options, Plan0)},
    Started = erlang:monotonic_time(millisecond),
    Notes = ertslab_output_check:check(Plan, ertslab_progress:gate()),
    with_budget(Options, Plan#{notes => Notes}, erlang:monotonic_time(millisecond) - Started).

%% Exact counts do not depend on what else the machine does, so the machine is not checked.
preflight(_Options, #{exact := true}) -> [];
preflight(Options, #{quick := Quick, arms := [#{vm := VM} | _]}) ->
    Findings = ertslab_vm:on_its_machine(VM, ertslab_preflight, check, []),
    Accepted = Quick orelse maps:get(accept_host, Options, false),
    case ertslab_preflight:refusals(Findings) of
        [_ | _] = Reasons when not Accepted ->
            ertslab_error:failure("this machine is not fit to measure on now: ~ts"
                                  " (--accept-host measures all the same).",
                                  [lists:join("; ", Reasons)]);
        _ -> Findings
    end.

%% Checking the outputs starts as many VMs as a pair, each of which does everything once that it will measure. A pair
%% is assumed to take at least half of that time, because the check also reads the files of the first Erlang to start
%% and digests outputs.
with_budget(#{budget := Ms}, #{budget := #{given := Given}} = Plan, Spent) ->
    Left = Ms - Spent,
    ok = ertslab_pilot:must_fit(Plan, Left, max(1, Spent div 2)),
    #{pair_ms := PairMs} = Budget = ertslab_pilot:plan(Plan, Left, ertslab_progress:new()),
    io:format(standard_error, "~ts", [ertslab_pilot:render(Given, Budget)]),
    {ertslab_plan:with_pairs(Plan#{budget := Budget#{given => Given},
                                   run_ms := maps:get(run_ms, Budget)}, maps:get(pairs, Budget)), PairMs};
with_budget(#{}, Plan, Spent) -> {Plan, Spent + ertslab_plan:measuring_ms(Plan)}.

%% A call that continues a session keeps the findings of the first call.
as_begun(Dir, Plan0, Stored) ->
    Plan = Plan0#{preflight => [], notes => [Note || #{<<"notes">> := [_ | _] = Notes} <- [Stored], Note <- Notes, is_binary(Note)]},
    {with_pairs_of(Plan, Stored), pair_ms(Plan, ertslab_session:runs(Dir))}.

with_pairs_of(#{budget := #{given := Given}} = Plan, #{<<"budget">> := #{<<"given">> := Given} = Budget,
                                                       <<"pairs">> := Pairs, <<"run_ms">> := RunMs}) ->
    Plan#{budget := Budget, pairs := Pairs, run_ms := RunMs};
with_pairs_of(Plan, _Stored) -> Plan.

%% The duration is estimated from the runs already made. If arms take turns, each run's duration is that of its whole
%% block.
pair_ms(#{rounds := arms, cases := Cases} = Plan, Runs) -> mean_ms(Plan, Runs, length(Cases));
pair_ms(Plan, Runs) -> mean_ms(Plan, Runs, ertslab_plan:runs_of_pair(Plan)).

mean_ms(Plan, Runs, Together) ->
    case [Ms || #{<<"duration_ms">> := Ms} <- Runs] of
        [] -> ertslab_plan:measuring_ms(Plan);
        Durations -> round(Together * ertslab_stats:median(Durations))
    end.

%% Written to standard error, because with --json standard output is for machines. Runs beyond the planned ones repeat
%% disturbed ones.
announce(#{dir := Dir, done := Done, plan := #{seed := Seed, pairs := Pairs, cases := Cases,
                                               arms := Arms} = Plan}, PairMs) ->
    Runs = length(ertslab_schedule:of_plan(Plan)),
    Made = length([Run || Run <- maps:keys(Done), Run =< Runs]),
    io:format(standard_error, "Runs of fresh VMs: ~b (pairs ~b, arms ~b, cases ~b), seed ~b~ts.~n"
              "They take about ~ts. Results go to ~ts~n",
              [Runs, Pairs, length(Arms), length(Cases), Seed, already(Made),
               ertslab_text:clock(Pairs * PairMs * (Runs - Made) div (1000 * max(1, Runs))), Dir]).

already(0) -> "";
already(Done) -> io_lib:format("; ~b of them are done already", [Done]).

report(Options, #{dir := Dir, plan := Plan}) ->
    Summary = with_paths(Dir, ertslab_summary:make(Plan, ertslab_session:read(Dir))),
    draw(Dir, Plan, Summary),
    Json = iolist_to_binary(json:format(Summary)),
    Decoded = json:decode(Json),
    Table = ertslab_error:text(ertslab_table:render(ertslab_report_data:of_summary(Decoded))),
    ertslab_session:finish(Dir, [{"table.txt", Table}, {"summary.json", Json}]),
    Paged = ertslab_report:page(Dir),
    case Options of
        #{silent := true} -> ok;
        #{json := true} -> io:put_chars(unicode:characters_to_list(Json));
        #{} -> io:format("~ts~nReport (report.html), picture, raw samples and summary: ~ts~n", [Table, Dir])
    end,
    _ = [io:format(standard_error, "No report: ~ts~n", [Why]) || {error, Why} <- [Paged]],
    ok = ertslab_fail_if:check(Options, Decoded),
    Paged =:= ok orelse
        ertslab_error:failure("the results are in ~ts, but no page; write it with: ~ts",
                              [Dir, ertslab_report_value:command([<<"report">>, ertslab_error:text(Dir)], [])]),
    ok.

with_paths(Dir, Summary) ->
    Summary#{paths => #{samples => ertslab_error:text(ertslab_session:file(Dir, "samples.jsonl")),
                        plan => ertslab_error:text(ertslab_session:file(Dir, "session.json")),
                        plot => ertslab_error:text(ertslab_session:file(Dir, "plot.svg"))}}.

draw(Dir, Plan, Summary) ->
    File = ertslab_session:file(Dir, "plot.svg"),
    case ertslab_gnuplot:available() andalso ertslab_gnuplot:draw(File, script(Plan, Summary)) of
        ok -> ok;
        false -> io:format(standard_error, "No picture: gnuplot is missing; './build.sh deps' installs it.~n", []);
        {error, Why} -> io:format(standard_error, "No picture: ~ts~n", [Why])
    end.

%% A curve needs an integer parameter, lines need more than one value.
script(#{plot_over := Parameter, cases := Cases}, Summary) when Parameter =/= null ->
    case lists:usort([maps:get(Parameter, Case) || Case <- Cases]) of
        [_, _ | _] -> ertslab_plot_lines:values(Summary);
        [_] -> bars(Summary)
    end;
script(#{swept := Parameter, arms := [#{params := Params} | _], metrics := Metrics}, Summary) ->
    case Params of
        #{Parameter := Value} when is_integer(Value) ->
            ertslab_plot_lines:curve(Summary, [Name || #{name := Name} <- Metrics]);
        #{} -> unswept(Summary)
    end.

unswept(#{cases := Cases} = Summary) ->
    case [Row || #{rows := Rows} <- Cases, #{points := _} = Row <- Rows] of
        [] -> bars(Summary);
        _ -> ertslab_plot_lines:growth(Summary)
    end.

%% Metrics with different units are drawn as ratios: on one axis the larger values would hide the smaller.
bars(#{plan := #{metrics := Metrics}} = Summary) ->
    case lists:uniq([Unit || #{unit := Unit} <- Metrics]) of
        [_] -> ertslab_plot_bars:values(Summary);
        [_, _ | _] -> ertslab_plot_bars:ratios(Summary)
    end.
