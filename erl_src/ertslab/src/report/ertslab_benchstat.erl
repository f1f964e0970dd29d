%% @doc Writes the runs of a comparison in Go's benchmark format, for benchstat: one line per run, below the name of
%% its arm. Pure.
%%
%% `benchstat -col variant FILE' compares the arms of a comparison. For a sweep, give the name of the parameter
%% instead of `variant'.
%% The format: https://go.dev/design/14313-benchmark-format
-module(ertslab_benchstat).

-export([page/1]).

%% @doc The text for one or more folders. It leaves out pairs that were measured again, as the results do.
-spec page([ertslab_report_data:data(), ...]) -> iodata().
page(Folders) ->
    [exact_units(Folders) | [folder(Data) || Data <- ertslab_report_series:by_date(Folders)]].

%% Counts are the same in every run; benchstat reports those that are not.
exact_units(Folders) ->
    [["Unit ", Unit, " assume=exact\n"]
     || Unit <- lists:uniq([unit(Unit) || #{plan := #{exact := true}, cases := Cases} <- Folders,
                                          #{rows := Rows} <- Cases, #{unit := Unit} <- Rows])].

folder(#{plan := #{experiment := Experiment, otp := Version, machine := Machine} = Plan, arms := Arms,
         name := Name} = Data) ->
    [config(<<"folder">>, Name), config(<<"experiment">>, Experiment), config(<<"otp">>, Version),
     config(<<"cpu">>, ertslab_report_value:value(maps:get(cpu, Machine, null))),
     [[arm_config(maps:get(swept, Plan, null), Arm), lines(Data, Label)]
      || #{label := Label} = Arm <- Arms]].

%% A line break would end the value.
config(Key, Value) -> [Key, ": ", re:replace(Value, "\\s+", " ", [global, unicode, {return, binary}]), $\n].

arm_config(null, #{label := Label}) -> config(<<"variant">>, Label);
arm_config(Parameter, #{variant := Variant} = Arm) ->
    [config(<<"variant">>, Variant), config(Parameter, swept_value(Parameter, Arm))].

%% The control of a sweep runs with the baseline's value. Only its label tells them apart.
swept_value(Parameter, #{label := Label, params := Params}) ->
    case string:prefix(Label, [Parameter, "="]) of
        nomatch -> ertslab_report_value:value(maps:get(Parameter, Params, null));
        Value -> Value
    end.

lines(Data, Label) ->
    [[name(Data, Case, Metric), " 1 ", number(Value), $\s, unit(Unit), $\n]
     || #{rows := Rows} = Case <- ertslab_report_data:cases(Data),
        #{metric := Metric, label := L, unit := Unit, numbers := Numbers} <- Rows, L =:= Label,
        #{value := Value, aside := false} <- Numbers].

%% By convention a name ends with the number of cores.
name(#{plan := #{experiment := Experiment, machine := Machine}}, #{title := Params}, Metric) ->
    ["Benchmark", string:titlecase(word(Experiment)), [[$/, word(Param)] || Param <- string:lexemes(Params, " ")],
     "/metric=", word(Metric), cores(Machine)].

cores(#{cores := Cores}) when is_integer(Cores) -> [$-, integer_to_binary(Cores)];
cores(#{}) -> [].

%% A name must not contain blanks, and a slash would begin its next part.
word(Text) -> re:replace(Text, "[\\s/]+", "_", [global, unicode, {return, binary}]).

unit(<<"ns">>) -> <<"ns/op">>;
unit(Unit) -> word(Unit).

number(Value) when Value == trunc(Value) -> integer_to_binary(trunc(Value));
number(Value) -> float_to_binary(Value, [{decimals, 9}, compact]).
