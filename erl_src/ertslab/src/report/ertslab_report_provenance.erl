%% @doc The part of a report that says how the results were produced: warm-up, memory, the machine and its state, what
%% the VMs were built from, and the command. Pure.
-module(ertslab_report_provenance).

-export([sections/1, machine/1, build/1]).

-import(ertslab_report_value, [format/2, value/1]).

%% The readings of the machine that a run line may have, and their names for the reader.
-define(READINGS,
        [{load, <<"load average">>}, {cpu_pressure, <<"time some task waited for a core, %">>},
         {steal_ticks, <<"ticks that the hypervisor took">>}, {steal_ms, <<"time that the hypervisor took, ms">>},
         {swapped_in, <<"pages read back from swap">>}, {frequency_khz, <<"clock of the core, kHz">>},
         {others_ms, <<"CPU time of other processes, ms">>},
         {voluntary_switches, <<"voluntary context switches">>},
         {involuntary_switches, <<"involuntary context switches">>},
         {minor_faults, <<"minor page faults">>}, {major_faults, <<"major page faults">>},
         {padding, <<"padding, bytes">>}]).

%% @doc The names, titles and contents of the sections. A section without content has an empty list.
-spec sections(ertslab_report_data:data()) -> [{string(), binary(), ertslab_xml:content()}].
sections(Data) ->
    [{"steady", <<"Warm-up">>, steady(Data)},
     {"memory", <<"Memory">>, memory(Data)},
     {"host", <<"The machine">>, host(Data)},
     {"manifest", <<"What was measured">>, manifest(Data)},
     {"again", <<"Reproduce it">>, reproduce(Data)}].

table(Caption, Heads, Rows) -> ertslab_report_table:render(Caption, Heads, Rows).

hint(Text) -> {p, [{class, "hint"}], [Text]}.

case_params(Data, Index) ->
    case [Title || #{index := I, title := Title} <- ertslab_report_data:cases(Data), I =:= Index] of
        [Title] -> Title;
        [] -> <<"">>
    end.

steady(#{steady := []}) -> [];
steady(#{steady := Steady} = Data) ->
    [hint(<<"Whether the values within a run had settled after warm-up. This is tested, not assumed.">>),
     table(<<"Steady state">>, [<<"metric">>, <<"state">>, <<"what was seen">>, <<"parameters">>],
           [{"", [{head, Metric}, settled(IsSteady), {"long", change(Line)}, case_params(Data, Case)]}
            || #{'case' := Case, metric := Metric, steady := IsSteady} = Line <- Steady])].

change(#{says := Says}) -> Says;
change(#{from := From, ratio := Ratio} = Line) ->
    format("from iteration ~ts on the values are ~ts times those before~ts",
           [value(From), ertslab_report_wording:ratio(Ratio), by_arm(Line)]);
change(#{}) -> <<"no change from iteration to iteration">>.

by_arm(#{arms := [_, _ | _] = Arms, alike := Alike}) ->
    [case Alike of true -> ", in all arms alike"; false -> ", and not in all arms alike" end,
     [[", ", Label, " ", ertslab_report_wording:ratio(Ratio)] || #{label := Label, ratio := Ratio} <- Arms]];
by_arm(#{}) -> "".

settled(true) -> <<"steady">>;
settled(false) -> {"unsure", <<"not steady">>}.

memory(#{memory := []}) -> [];
memory(#{memory := Memory} = Data) ->
    table(<<"Memory of a run, median">>, [<<"what">>, <<"arm">>, {number, <<"median">>}, <<"parameters">>],
          [{"", [{head, What}, Label, {number, size(Median, Unit)}, case_params(Data, Case)]}
           || #{'case' := Case, label := Label, what := What, median := Median, unit := Unit} <- Memory]).

size(Bytes, <<"bytes">>) when Bytes >= 1 bsl 20 -> format("~.1f MiB", [Bytes / (1 bsl 20)]);
size(Number, Unit) -> format("~ts ~ts", [value(Number), Unit]).

%% @doc The machine in one sentence.
-spec machine(ertslab_report_data:data()) -> binary().
machine(#{plan := #{machine := Machine}}) ->
    Known = fun(Key) -> value(maps:get(Key, Machine, null)) end,
    format("~ts, ~ts cores~ts, Linux ~ts",
           [Known(cpu), Known(cores), virtual(Machine), Known(kernel)]).

virtual(#{virtual := true}) -> ", a virtual machine";
virtual(#{}) -> "".

host(#{runs := Runs, disturbed := Disturbed, crashed := Crashed} = Data) ->
    [{p, [], [machine(Data), <<".">>]},
     facts(Data),
     preflight(Data),
     readings(Runs),
     [disturbed(Data, Disturbed) || Disturbed =/= []],
     [crashed(Crashed) || Crashed =/= []],
     [every_run(Runs) || Runs =/= []]].

facts(#{plan := #{machine := Machine, pairs := Pairs, seed := Seed} = Plan, runs := Runs}) ->
    {dl, [],
     [fact(Term, Text)
      || {Term, Text} <- [{<<"memory">>, memory_size(maps:get(memory_kib, Machine, null))},
                          {<<"frequency governor">>, value(maps:get(governor, Machine, null))},
                          {<<"pairs">>, value(Pairs)}, {<<"runs">>, value(length(Runs))}, {<<"seed">>, value(Seed)}]
             ++ [{<<"gate">>, Gate} || #{gate := Gate} <- [Plan], is_binary(Gate), Gate =/= <<"">>]
             ++ [{<<"budget">>, Given} || #{budget := #{given := Given}} <- [Plan]]]}.

fact(Term, Text) -> [{dt, [], [Term]}, {dd, [], [Text]}].

memory_size(Kib) when is_integer(Kib) -> format("~.1f GiB", [Kib / (1024 * 1024)]);
memory_size(_) -> <<"unknown">>.

preflight(#{plan := #{preflight := [_ | _] = Checks}}) ->
    table(<<"Checks before the first run">>, [<<"what">>, <<"state">>, <<"finding">>],
          [{"", [{head, What}, {binary_to_list(State), State}, {"long", Says}]}
           || #{what := What, state := State, says := Says} <- Checks]);
preflight(#{}) -> [].

readings(Runs) ->
    Known = [{Name, [Value || #{host := #{Key := Value}} <- Runs]} || {Key, Name} <- ?READINGS],
    case [{Name, Values} || {Name, [_ | _] = Values} <- Known] of
        [] -> hint(<<"The machine could not be read during the runs.">>);
        Found ->
            table(<<"During the runs">>, [<<"reading">>, {number, <<"lowest">>}, {number, <<"median">>}, {number, <<"highest">>}],
                  [{"", [{head, Name} | [{number, value(Value)}
                                         || Value <- [lists:min(Values), ertslab_stats:median(Values),
                                                      lists:max(Values)]]]}
                   || {Name, Values} <- Found])
    end.

disturbed(Data, Disturbed) ->
    table(<<"Pairs that were disturbed">>, [{number, <<"pair">>}, <<"why">>, <<"measured again as pair">>, <<"parameters">>],
          [{"", [{number, value(Pair)}, {"long", reasons(Why)}, value(By), case_params(Data, Case)]}
           || #{pair := Pair, why := Why, replaced_by := By, 'case' := Case} <- Disturbed]).

reasons(Reasons) -> format("~ts", [lists:join(", ", Reasons)]).

crashed(Crashed) ->
    table(<<"Runs that did not end well and are left out">>, [{number, <<"run">>}, <<"arm">>, <<"reason">>],
          [{"", [{number, value(Run)}, Label, {"long", Reason}]} || #{run := Run, label := Label, reason := Reason} <- Crashed]).

every_run(Runs) ->
    Keys = [Reading || {Key, _} = Reading <- ?READINGS,
                       lists:any(fun(#{host := Host}) -> is_map_key(Key, Host) end, Runs)],
    {details, [],
     [{summary, [], [<<"The readings of every run">>]},
      table(<<"Every run">>,
            [{number, <<"run">>}, <<"arm">>, <<"ended">>, {number, <<"took, ms">>} | [{number, Name} || {_, Name} <- Keys]],
            [{"", [{number, value(Number)}, Label, ended(Run), {number, value(maps:get(duration_ms, Run, null))}
                   | [{number, value(maps:get(Key, Host, null))} || {Key, _} <- Keys]]}
             || #{run := Number, label := Label, host := Host} = Run <- Runs])]}.

ended(#{disturbed := [_ | _] = Reasons}) ->
    {"long", format("disturbed: ~ts", [reasons(Reasons)])};
ended(#{outcome := Outcome}) -> Outcome.

%% What was measured

manifest(#{arms := Arms} = Data) ->
    [{dl, [], [fact(Term, Text) || {Term, Text} <- build(Data)]},
     table(<<"Arms">>, [<<"arm">>, <<"variant">>, <<"what it is">>, <<"build id">>, <<"patches">>],
           [arm(Arm) || Arm <- Arms])].

%% @doc What the VMs were built from, as pairs of a term and its text.
-spec build(ertslab_report_data:data()) -> [{binary(), binary()}].
build(#{plan := Plan} = Data) ->
    of_vms(Data) ++ [{<<"programs">>, format("~ts", [lists:join(", ", Programs)])} || #{programs := [_ | _] = Programs} <- [Plan]].

of_vms(#{plan := #{otp := Version}, built := Built}) ->
    [{<<"Erlang/OTP">>, maps:get(version, Built, Version)}]
        ++ [{<<"SHA-256 of its sources">>, Sum} || #{sha256 := Sum} <- [Built]]
        ++ [{<<"compiler">>, Compiler} || #{compiler := Compiler} <- [Built]]
        ++ [{<<"configured by">>, Call} || #{configure := Call} <- [Built]].

arm(#{label := Label, variant := Variant, vm := VM, build_id := Id}) ->
    {"", [{head, Label}, Variant,
          {"long", format("~ts~ts~ts", [maps:get(description, VM, <<"">>), options(VM), made(VM)])},
          {"long", Id}, {"long", patches(VM)}]}.

%% What the emulator itself reports about its build.
made(#{compiler := Compiler, flavour := Flavour, version := Version}) ->
    format("; OTP ~ts, compiled by ~ts, ~ts", [Version, Compiler, Flavour]);
made(#{}) -> "".

options(#{options := Options}) when Options =/= <<"">> -> [" (", Options, ")"];
options(#{}) -> "".

patches(#{patches := Patches}) ->
    case [[Name, " ", Sum] || #{name := Name, sha256 := Sum} <- Patches] of
        [] -> <<"none">>;
        Named -> format("~ts", [lists:join(", ", Named)])
    end;
patches(#{}) -> <<"unknown">>.

reproduce(Data) ->
    [{p, [], [<<"With ertslab and the same VMs, ">>, makes(Data)]},
     {pre, [], [{code, [], [ertslab_report_wording:reproduce(Data)]}]},
     hint(<<"The raw values are in samples.jsonl, the plan in session.json, every number of this page in summary.json.">>)].

%% How many pairs a budget allows depends on the machine.
makes(#{plan := #{budget := #{given := Given}, pairs := Pairs}}) ->
    format("this measures the same for ~ts again. Here that was ~ts; how many it is depends on the machine:",
           [Given, ertslab_report_wording:count(Pairs, "pair")]);
makes(#{}) -> <<"this makes the same runs in the same order:">>.
