%% @doc Makes the runs of a plan: each in a fresh VM, its samples written as
%% soon as it ends. A VM that crashes or hangs costs its own run only.
-module(ertslab_runner).

-export([run_all/2, reason_text/1]).

-type progress() :: fun((Done :: non_neg_integer(), Total :: pos_integer(),
                         ertslab_schedule:run() | finished, Label :: binary()) -> ok).

%% @doc Makes those runs of the session's schedule that are not done yet.
-spec run_all(ertslab_session:session(), progress()) -> ok.
run_all(#{plan := Plan, done := Done} = Session, Progress) ->
    #{seed := Seed, pairs := Pairs, cases := Cases, arms := Arms} = Plan,
    Schedule = ertslab_schedule:runs(Seed, Pairs, length(Cases), length(Arms)),
    Left = [Run || #{run := Number} = Run <- Schedule, not is_map_key(Number, Done)],
    Total = length(Left),
    lists:foreach(
      fun({Index, #{arm := Arm} = Run}) ->
              #{label := Label} = lists:nth(Arm + 1, Arms),
              Progress(Index - 1, Total, Run, Label),
              ertslab_session:append(Session, one_run(Plan, Run))
      end, lists:enumerate(Left)),
    Progress(Total, max(Total, 1), finished, ~"").

%% The lines of one run: its samples, and the line that closes it.
one_run(#{cases := Cases, arms := Arms} = Plan, #{'case' := Case, arm := ArmIndex} = Run) ->
    #{params := Overrides} = Arm = lists:nth(ArmIndex + 1, Arms),
    Params = maps:merge(lists:nth(Case + 1, Cases), Overrides),
    HostBefore = ertslab_host:readings(),
    Started = erlang:monotonic_time(millisecond),
    Outcome = in_fresh_vm(Plan, Arm, Params),
    Common = common(Plan, Arm, Params, Run),
    Closing = #{type => run,
                duration_ms => erlang:monotonic_time(millisecond) - Started,
                host => ertslab_host:during(HostBefore, ertslab_host:readings())},
    case Outcome of
        {ok, #{samples := Samples, facts := Facts}} ->
            samples(Common, units(Plan), Samples)
                ++ [maps:merge(Common, Closing#{outcome => ok, facts => Facts})];
        {error, Reason} ->
            [maps:merge(Common, Closing#{outcome => crashed, reason => reason_text(Reason)})]
    end.

common(#{experiment := Experiment}, #{label := Label, variant := Variant, vm := VM}, Params, Run) ->
    Run#{experiment => Experiment, label => Label, variant => Variant,
         build_id => maps:get(build_id, VM), params => Params}.

units(#{metrics := Metrics}) -> #{Name => Unit || #{name := Name, unit := Unit} <- Metrics}.

samples(Common, Units, Samples) ->
    [Common#{type => sample, metric => Metric, iteration => Iteration,
             value => Value, unit => maps:get(Metric, Units)}
     || {Metric, Values} <- Samples, {Iteration, Value} <- lists:enumerate(Values)].

in_fresh_vm(#{module := Module, timeout_ms := Timeout}, #{vm := VM}, Params) ->
    case ertslab_vm:start(VM) of
        {ok, Running} ->
            try ertslab_vm:call(Running, ertslab_measure, run, [Module, Params], Timeout)
            after ertslab_vm:stop(Running)
            end;
        {error, Reason} -> {error, Reason}
    end.

%% @doc A line's worth of the reason: an exception of the experiment without its stack.
-spec reason_text(term()) -> binary().
reason_text({exception, Reason, _Stack}) -> reason_text(Reason);
reason_text({Reason, [{_, _, _, _} | _]}) -> reason_text(Reason);
reason_text({Reason, {gen_server, call, _}}) -> reason_text(Reason);
reason_text(timeout) -> ~"no answer in time";
reason_text(Gone) when Gone =:= normal; Gone =:= noproc; Gone =:= noconnection -> ~"the VM ended";
reason_text(Reason) -> ertslab_error:text(io_lib:format("~0tP", [Reason, 12])).
