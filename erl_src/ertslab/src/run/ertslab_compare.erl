%% @doc The commands that measure. A comparison sets arms side by side: for
%% `compare' the arms are variants, for `sweep' they are values of one
%% parameter on one variant; all the rest is the same.
-module(ertslab_compare).

-export([compare/1, sweep/1, time/1]).

%% @doc `ertslab compare EXPERIMENT'.
-spec compare(map()) -> ok.
compare(Options) -> on_each_machine(Options, fun(One) -> measure(One, ertslab_plan:compare(One)) end).

%% @doc `ertslab sweep EXPERIMENT --over NAME=V1,V2,...': the first value is the baseline.
-spec sweep(map()) -> ok.
sweep(Options) -> on_each_machine(Options, fun(One) -> measure(One, ertslab_plan:sweep(One)) end).

%% @doc `ertslab time EXPR EXPR...': the first is the baseline.
-spec time(map()) -> ok.
time(Options) ->
    Plan = #{experiment := Name} = ertslab_plan:time(Options),
    measure(Options#{experiment => binary_to_list(Name)}, Plan).

on_each_machine(#{slurm := _} = Options, _) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage("--slurm does not go with --host or --fleet", []);
on_each_machine(#{slurm := _, words := Words} = Options, _) -> ertslab_slurm:each(Options, on_a_node(Words));
on_each_machine(#{nodes := _}, _) -> ertslab_error:usage("--nodes wants --slurm", []);
on_each_machine(#{fleet := _, host := _}, _) -> ertslab_error:usage("give --fleet or --host, not both", []);
on_each_machine(#{builds := _} = Options, _) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage("--builds is for this machine, and does not go with --host or --fleet", []);
on_each_machine(#{fleet := File} = Options, Fun) -> ertslab_fleet:each(File, Options, Fun);
on_each_machine(Options, Fun) -> Fun(ertslab_experiment_source:named(Options)).

%% The words of the call, without those that say where.
on_a_node([Word, _ | Words]) when Word =:= "--slurm"; Word =:= "--nodes"; Word =:= "--out" -> on_a_node(Words);
on_a_node([Word | Words]) -> [Word | on_a_node(Words)];
on_a_node([]) -> [].

measure(#{experiment := Experiment} = Options, Plan0) ->
    _ = [ertslab_fail_if:parsed(Text) || #{fail_if := Text} <- [Options]],
    Dir = ertslab_results:dir(Experiment, Options),
    ok = ertslab_results:make(Dir),
    ertslab_folder_lock:in(Dir, fun() -> measure_into(Dir, Options, Plan0) end).

measure_into(Dir, Options, Plan0) ->
    Force = maps:get(force, Options, false),
    Ready = case ertslab_session:prepare(Dir, Force) of
                new -> checked(Options, Plan0);
                unfinished -> as_begun(Plan0, ertslab_session:stored(Dir))
            end,
    Session = ertslab_session:open(Dir, Ready, Force),
    announce(Session),
    ok = ertslab_runner:run_all(Session, ertslab_progress:new()),
    ok = ertslab_session:close(Session),
    report(Options, Session).

%% What is looked at before the first run that counts: the machine, the
%% outputs, and with a budget how many pairs it will buy.
checked(Options, Plan0) ->
    Plan = Plan0#{preflight => preflight(Options, Plan0)},
    Started = erlang:monotonic_time(millisecond),
    ok = ertslab_output_check:check(Plan, ertslab_progress:gate()),
    with_budget(Options, Plan, erlang:monotonic_time(millisecond) - Started).

%% Counts do not depend on what else the machine does.
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

with_budget(#{budget := Text}, Plan, Spent) ->
    Budget = ertslab_pilot:plan(Plan, ertslab_plan:duration(Text) - Spent, ertslab_progress:new()),
    io:format(standard_error, "~ts", [ertslab_pilot:render(Text, Budget)]),
    ertslab_plan:with_pairs(Plan#{budget := Budget#{given => ertslab_error:text(Text)},
                                  run_ms := maps:get(run_ms, Budget)}, maps:get(pairs, Budget));
with_budget(#{}, Plan, _Spent) -> Plan.

%% What the first call found is kept by the one that goes on.
as_begun(#{budget := #{given := Given}} = Plan, #{~"budget" := #{~"given" := Given} = Budget,
                                                  ~"pairs" := Pairs, ~"run_ms" := RunMs}) ->
    Plan#{budget := Budget, pairs := Pairs, run_ms := RunMs, preflight => []};
as_begun(Plan, _Stored) -> Plan#{preflight => []}.

%% On standard error, since with --json standard output is for machines. Runs beyond those that
%% were planned are disturbed ones made again.
announce(#{dir := Dir, done := Done, plan := #{seed := Seed, pairs := Pairs, cases := Cases,
                                               arms := Arms} = Plan}) ->
    Runs = length(ertslab_schedule:of_plan(Plan)),
    io:format(standard_error, "Runs of fresh VMs: ~b (pairs ~b, arms ~b, cases ~b), seed ~b~ts.~n"
              "Results go to ~ts~n",
              [Runs, Pairs, length(Arms), length(Cases), Seed,
               already(length([Run || Run <- maps:keys(Done), Run =< Runs])), Dir]).

already(0) -> "";
already(Done) -> io_lib:format("; ~b of them are done already", [Done]).

report(Options, #{dir := Dir, plan := Plan}) ->
    Summary = with_paths(Dir, ertslab_summary:make(Plan, ertslab_session:read(Dir))),
    draw(Dir, Plan, Summary),
    Json = iolist_to_binary(json:format(Summary)),
    Table = ertslab_error:text(ertslab_table:render(ertslab_report_data:of_summary(json:decode(Json)))),
    ertslab_session:finish(Dir, [{"table.txt", Table}, {"summary.json", Json}]),
    ok = ertslab_report:page(Dir),
    case Options of
        #{silent := true} -> ok;
        #{json := true} -> io:put_chars(unicode:characters_to_list(Json));
        #{} -> io:format("~ts~nReport (report.html), picture, raw samples and summary: ~ts~n", [Table, Dir])
    end,
    ertslab_fail_if:check(Options, Summary).

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

%% A curve wants numbers below it, lines more than one.
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

%% Of nanoseconds and bytes one would hide the other.
bars(#{plan := #{metrics := Metrics}} = Summary) ->
    case lists:uniq([Unit || #{unit := Unit} <- Metrics]) of
        [_] -> ertslab_plot_bars:values(Summary);
        [_, _ | _] -> ertslab_plot_bars:ratios(Summary)
    end.
