%% @doc This machine as a place that measures: from the plan to its results.
-module(ertslab_place_here).
-behaviour(ertslab_place).

-export([places/1, run/2, measure/2, must_fit/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {unfit, Findings :: [binary(), ...]} | {impossible, Finding :: binary()}.

%% @doc This machine.
-spec places(map()) -> ertslab_place:place().
places(Options) -> #{name => "this machine", options => maps:with([out], Options)}.

%% @doc Makes the call, and prints its results. Its VMs are on another machine if the place has an option `host'.
-spec run(ertslab_place:call(), ertslab_place:place()) -> ok.
run(Call, #{options := Own}) ->
    Options = maps:merge(Call, Own),
    measure(Options, ertslab_plan:of_call(Options)).

%% @doc Measures the plan of these options on this machine.
-spec measure(map(), ertslab_session:plan()) -> ok.
measure(Options, #{experiment := Experiment} = Plan0) ->
    ok = must_fit(Options, Plan0),
    Dir = ertslab_results:dir(Experiment, Options),
    Was = filelib:is_dir(Dir),
    ok = ertslab_results:make(Dir),
    ertslab_folder_lock:in(Dir, fun() ->
                                    try measure_into(Dir, Options, Plan0)
                                    after Was orelse file:del_dir(Dir) % only if it is empty, as after a refusal
                                    end
                                end).

%% @doc Refuses a budget that is too small on any machine.
-spec must_fit(map(), ertslab_session:plan()) -> ok.
must_fit(#{budget := Ms}, Plan) -> ertslab_pilot:must_fit(Plan, Ms);
must_fit(#{}, _) -> ok.

measure_into(Dir, Options, Plan0) ->
    Found = ertslab_session:prepare(Dir, maps:get(force, Options, false)),
    {Ready, PairMs} = case Found of
                          new -> checked(Options, Plan0);
                          {unfinished, Begun} -> as_begun(Plan0, Begun)
                      end,
    Session = ertslab_session:start(Found, Dir, Ready),
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
preflight(Options, #{quick := Quick, arms := [#{vm := VM} | _] = Arms}) ->
    Findings = ertslab_vm:on_its_machine(VM, ertslab_preflight, check, []),
    ok = must_be_possible(Findings ++ [Finding || #{vm := #{emulated_by := By}} <- Arms, Finding <- ertslab_preflight:emulated(By)]),
    Accepted = Quick orelse maps:get(accept_host, Options, false),
    case ertslab_preflight:refusals(Findings) of
        [_ | _] = Reasons when not Accepted -> ertslab_error:failure(?MODULE, {unfit, Reasons});
        _ -> Findings
    end.

must_be_possible(Findings) ->
    case ertslab_preflight:impossible(Findings) of
        [] -> ok;
        [Reason | _] -> ertslab_error:failure(?MODULE, {impossible, Reason})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({impossible, Reason}) -> ["nothing is timed here: ", Reason, "."];
format_error({unfit, Findings}) ->
    ["this machine is not fit to measure on now: ", lists:join("; ", Findings), " (--accept-host measures all the same)."].

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
as_begun(Plan0, #{plan := Stored, runs := Runs}) ->
    Plan = Plan0#{preflight => [], notes => [Note || #{<<"notes">> := [_ | _] = Notes} <- [Stored], Note <- Notes, is_binary(Note)]},
    {with_pairs_of(Plan, Stored), pair_ms(Plan, Runs)}.

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
    Runs = Pairs * ertslab_plan:runs_of_pair(Plan),
    Made = length([Run || Run <- maps:keys(Done), Run =< Runs]),
    io:format(standard_error, "Runs of fresh VMs: ~b (pairs ~b, arms ~b, cases ~b), seed ~b~ts.~n"
              "They take about ~ts. Results go to ~ts~n",
              [Runs, Pairs, length(Arms), length(Cases), Seed, already(Made),
               ertslab_text:clock(Pairs * PairMs * (Runs - Made) div (1000 * max(1, Runs))), Dir]).

already(0) -> "";
already(Done) -> io_lib:format("; ~b of them are done already", [Done]).

report(Options, #{dir := Dir, plan := Plan}) ->
    Summary = ertslab_summary_file:make(Dir, Plan),
    IsDrawn = draw(Dir, Summary, Options),
    Json = ertslab_result:encode(Summary),
    Table = ertslab_text:foreign(ertslab_text:binary(ertslab_table:render(Summary))),
    Failures = ertslab_error:put_off(fun() ->
                                             ok = ertslab_session:finish(Dir, [{"table.txt", Table}, {"summary.json", Json}]),
                                             ertslab_report:page(Dir, Summary)
                                     end),
    case Options of
        #{silent := true} -> ok;
        #{json := true} -> io:put_chars(unicode:characters_to_list(Json));
        #{} when Failures =:= [] ->
            io:format("~ts~nReport (report.html), ~tsraw samples and summary: ~ts~n", [Table, ["picture, " || IsDrawn], Dir]);
        #{} -> io:put_chars(unicode:characters_to_list(Table))
    end,
    ertslab_error:at_last(Failures, fun() -> ertslab_fail_if:check(Options, Summary) end).

draw(Dir, Summary, Options) ->
    case ertslab_plot:draw(ertslab_session:file(Dir, "plot.svg"), Summary) of
        ok -> true;
        {error, Error} ->
            io:format(standard_error, "No picture: ~ts~n", [ertslab_error:sentence(Error, Options)]),
            false
    end.
