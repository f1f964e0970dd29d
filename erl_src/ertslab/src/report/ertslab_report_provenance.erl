%% @doc The part of a report that says how the results were produced: warm-up, memory, the machine and its state, what
%% the VMs were built from, and the command. Pure.
-module(ertslab_report_provenance).

-export([sections/1, machine/1, build/1]).

-import(ertslab_report_value, [format/2, value/1]).

%% The readings of the machine that a run line may have, and their names for the reader.
-define(READINGS,
        [{<<"load">>, <<"load average">>}, {<<"cpu_pressure">>, <<"time some task waited for a core, %">>},
         {<<"steal_ticks">>, <<"ticks that the hypervisor took">>}, {<<"steal_ms">>, <<"time that the hypervisor took, ms">>},
         {<<"swapped_in">>, <<"pages read back from swap">>}, {<<"frequency_khz">>, <<"clock of the core, kHz">>},
         {<<"others_ms">>, <<"CPU time of other processes, ms">>},
         {<<"voluntary_switches">>, <<"voluntary context switches">>},
         {<<"involuntary_switches">>, <<"involuntary context switches">>},
         {<<"minor_faults">>, <<"minor page faults">>}, {<<"major_faults">>, <<"major page faults">>},
         {<<"padding">>, <<"padding, bytes">>}]).

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

case_params(#{cases := Cases}, Index) ->
    case [Params || #{index := I, params := Params} <- Cases, I =:= Index] of
        [Params] -> Params;
        [] -> <<"">>
    end.

steady(#{steady := []}) -> [];
steady(#{steady := Steady} = Data) ->
    [hint(<<"Whether a run's iterations had settled after warm-up, by a test and not by assumption.">>),
     table(<<"Steady state">>, [<<"metric">>, <<"state">>, <<"what was seen">>, <<"parameters">>],
           [{"", [{head, value(Metric)}, settled(IsSteady), {"long", change(Line)}, case_params(Data, Case)]}
            || #{<<"case">> := Case, <<"metric">> := Metric, <<"steady">> := IsSteady} = Line <- Steady])].

change(#{<<"says">> := Says}) -> value(Says);
change(#{<<"from">> := From, <<"ratio">> := Ratio} = Line) when is_number(Ratio) ->
    format("from iteration ~ts on the values are ~ts times those before~ts",
           [value(From), ertslab_report_wording:ratio(Ratio), by_arm(Line)]);
change(#{}) -> <<"no change from iteration to iteration">>.

by_arm(#{<<"arms">> := [_, _ | _] = Arms, <<"alike">> := Alike}) when is_boolean(Alike) ->
    [case Alike of true -> ", in all arms alike"; false -> ", and not in all arms alike" end,
     [[", ", value(Label), " ", ertslab_report_wording:ratio(Ratio)] || #{<<"label">> := Label, <<"ratio">> := Ratio} <- Arms, is_number(Ratio)]];
by_arm(#{}) -> "".

settled(true) -> <<"steady">>;
settled(_) -> {"unsure", <<"not steady">>}.

memory(#{memory := []}) -> [];
memory(#{memory := Memory} = Data) ->
    table(<<"Memory of a run, median">>, [<<"what">>, <<"arm">>, {number, <<"median">>}, <<"parameters">>],
          [{"", [{head, value(What)}, value(Label),
                 {number, size(Median, maps:get(<<"unit">>, Line, <<"bytes">>))},
                 case_params(Data, Case)]}
           || #{<<"case">> := Case, <<"label">> := Label, <<"what">> := What, <<"median">> := Median} = Line <- Memory]).

size(Bytes, <<"bytes">>) when is_number(Bytes), Bytes >= 1 bsl 20 -> format("~.1f MiB", [Bytes / (1 bsl 20)]);
size(Number, Unit) -> format("~ts ~ts", [value(Number), value(Unit)]).

%% @doc The machine in one sentence.
-spec machine(ertslab_report_data:data()) -> binary().
machine(#{plan := #{<<"machine">> := Machine}}) ->
    Known = fun(Key) -> value(maps:get(Key, Machine, null)) end,
    format("~ts, ~ts cores~ts, Linux ~ts",
           [Known(<<"cpu">>), Known(<<"cores">>), virtual(Machine), Known(<<"kernel">>)]).

virtual(#{<<"virtual">> := true}) -> ", a virtual machine";
virtual(#{}) -> "".

host(#{runs := Runs, disturbed := Disturbed, crashed := Crashed} = Data) ->
    [{p, [], [machine(Data), <<".">>]},
     facts(Data),
     preflight(Data),
     readings(Runs),
     [disturbed(Data, Disturbed) || Disturbed =/= []],
     [crashed(Crashed) || Crashed =/= []],
     [every_run(Runs) || Runs =/= []]].

facts(#{plan := #{<<"machine">> := Machine, <<"pairs">> := Pairs, <<"seed">> := Seed} = Plan, runs := Runs}) ->
    {dl, [],
     [fact(Term, Text)
      || {Term, Text} <- [{<<"memory">>, memory_size(maps:get(<<"memory_kib">>, Machine, null))},
                          {<<"frequency governor">>, value(maps:get(<<"governor">>, Machine, null))},
                          {<<"pairs">>, value(Pairs)}, {<<"runs">>, value(length(Runs))}, {<<"seed">>, value(Seed)}]
             ++ [{<<"gate">>, Gate} || #{<<"gate">> := Gate} <- [Plan], is_binary(Gate), Gate =/= <<"">>]
             ++ [{<<"budget">>, Budget} || #{<<"budget">> := Given} <- [Plan], Budget <- [budget(Given)], is_binary(Budget)]]}.

budget(#{<<"given">> := Given}) -> Given;
budget(Budget) -> Budget.

fact(Term, Text) -> [{dt, [], [Term]}, {dd, [], [Text]}].

memory_size(Kib) when is_integer(Kib) -> format("~.1f GiB", [Kib / (1024 * 1024)]);
memory_size(_) -> <<"unknown">>.

preflight(#{plan := #{<<"preflight">> := [_ | _] = Checks}}) ->
    table(<<"Checks before the first run">>, [<<"what">>, <<"state">>, <<"finding">>],
          [{"", [{head, value(What)}, {binary_to_list(value(State)), value(State)},
                 {"long", value(maps:get(<<"says">>, Check, null))}]}
           || #{<<"what">> := What, <<"state">> := State} = Check <- Checks]);
preflight(#{}) -> [].

readings(Runs) ->
    Known = [{Name, [Value || Run <- Runs, Value <- [reading(Run, Key)], is_number(Value)]}
             || {Key, Name} <- ?READINGS],
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
          [{"", [{number, value(maps:get(<<"pair">>, Pair, null))}, {"long", reasons(maps:get(<<"why">>, Pair, null))},
                 value(maps:get(<<"replaced_by">>, Pair, null)),
                 case_params(Data, maps:get(<<"case">>, Pair, null))]} || Pair <- Disturbed]).

reasons(Reasons) when is_list(Reasons) -> format("~ts", [lists:join(", ", [value(Reason) || Reason <- Reasons])]);
reasons(Reason) -> value(Reason).

crashed(Crashed) ->
    table(<<"Runs that did not end well and are left out">>, [{number, <<"run">>}, <<"arm">>, <<"reason">>],
          [{"", [{number, value(maps:get(<<"run">>, Run, null))}, value(maps:get(<<"label">>, Run, null)),
                 {"long", value(maps:get(<<"reason">>, Run, null))}]} || Run <- Crashed]).

every_run(Runs) ->
    Keys = [Reading || {Key, _} = Reading <- ?READINGS,
                       lists:any(fun(Run) -> is_number(reading(Run, Key)) end, Runs)],
    {details, [],
     [{summary, [], [<<"The readings of every run">>]},
      table(<<"Every run">>,
            [{number, <<"run">>}, <<"arm">>, <<"ended">>, {number, <<"took, ms">>} | [{number, Name} || {_, Name} <- Keys]],
            [{"", [{number, value(maps:get(<<"run">>, Run))}, value(maps:get(<<"label">>, Run, null)), ended(Run),
                   {number, value(maps:get(<<"duration_ms">>, Run, null))}
                   | [{number, value(reading(Run, Key))} || {Key, _} <- Keys]]} || Run <- Runs])]}.

ended(#{<<"disturbed">> := [_ | _] = Reasons}) ->
    {"long", format("disturbed: ~ts", [reasons(Reasons)])};
ended(#{<<"outcome">> := Outcome}) -> value(Outcome);
ended(#{}) -> <<"">>.

%% The padding was given to the run; the other readings are of the machine.
reading(#{<<"padding">> := Padding}, <<"padding">>) -> Padding;
reading(#{<<"host">> := #{} = Host}, Key) -> maps:get(Key, Host, null);
reading(#{}, _) -> null.

%% What was measured

manifest(#{arms := Arms, manifest := Manifest} = Data) ->
    [{dl, [], [fact(Term, Text) || {Term, Text} <- build(Data)]},
     table(<<"Arms">>, [<<"arm">>, <<"variant">>, <<"what it is">>, <<"build id">>, <<"patches">>],
           [arm(Arm, built(Arm, Manifest)) || Arm <- Arms])].

%% @doc What the VMs were built from, as pairs of a term and its text.
-spec build(ertslab_report_data:data()) -> [{binary(), binary()}].
build(#{plan := Plan} = Data) ->
    of_vms(Data) ++ [{<<"programs">>, format("~ts", [lists:join(", ", Programs)])} || #{<<"programs">> := [_ | _] = Programs} <- [Plan]].

of_vms(#{plan := #{<<"otp">> := Version}, manifest := none}) -> [{<<"Erlang/OTP">>, value(Version)}];
of_vms(#{plan := #{<<"otp">> := Version}, manifest := Manifest}) ->
    Source = maps:get(<<"source">>, Manifest, #{}),
    [{<<"Erlang/OTP">>, value(maps:get(<<"version">>, Source, Version))}]
        ++ [{<<"SHA-256 of its sources">>, value(Sum)} || #{<<"sha256">> := Sum} <- [Source]]
        ++ [{<<"compiler">>, value(Compiler)} || #{<<"compiler">> := Compiler} <- [Manifest]]
        ++ [{<<"configured by">>, value(Call)} || #{<<"configure">> := Call} <- [Manifest]].

%% Arms of different roots are listed in the manifest by their labels.
built(#{<<"label">> := Label, <<"variant">> := Variant}, #{<<"variants">> := #{} = Variants}) ->
    maps:get(Label, Variants, maps:get(Variant, Variants, #{}));
built(#{}, _) -> #{}.

arm(#{<<"label">> := Label, <<"variant">> := Variant, <<"vm">> := VM} = Arm, Built) ->
    Known = maps:merge(VM, Built),
    {"", [{head, value(Label)}, value(Variant),
          {"long", format("~ts~ts~ts", [value(maps:get(<<"description">>, Known, <<"">>)), options(Known), made(Known)])},
          {"long", value(maps:get(<<"build_id">>, Arm, null))}, {"long", patches(Known)}]}.

%% What the emulator itself reports about its build.
made(#{<<"compiler">> := Compiler, <<"flavour">> := Flavour, <<"version">> := Version}) ->
    format("; OTP ~ts, compiled by ~ts, ~ts", [value(Version), value(Compiler), value(Flavour)]);
made(#{}) -> "".

options(#{<<"options">> := Options}) when is_binary(Options), Options =/= <<"">> -> [" (", Options, ")"];
options(#{}) -> "".

patches(#{<<"patches">> := Patches}) when is_list(Patches) ->
    case [[Name, " ", Sum] || #{<<"name">> := Name, <<"sha256">> := Sum} <- Patches, is_binary(Name), is_binary(Sum)] of
        [] -> <<"none">>;
        Named -> format("~ts", [lists:join(", ", Named)])
    end;
patches(#{}) -> <<"unknown">>.

reproduce(Data) ->
    [{p, [], [format("In a clone of ertslab, with that release built, this ~ts:", [repeats(Data)])]},
     {pre, [], [{code, [], [ertslab_report_wording:reproduce(Data)]}]},
     hint(<<"The raw values are in samples.jsonl, the plan in session.json, every number of this page in summary.json.">>)].

%% What fits into a time is found anew.
repeats(#{plan := #{<<"budget">> := #{}}}) -> "measures it again for as long, with as many runs as fit in then";
repeats(#{}) -> "makes the same runs in the same order".
