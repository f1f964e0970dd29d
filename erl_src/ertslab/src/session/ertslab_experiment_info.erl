%% @doc Whether what an experiment says of itself can be used. A user's own experiment may lack anything, and that must be
%% found before anything is measured. Pure.
-module(ertslab_experiment_info).

-export([problem/1]).

%% @doc What is wrong with the result of `info/0', as the end of a sentence about it; `none' if nothing is.
-spec problem(term()) -> none | unicode:chardata().
problem(Info) when is_map(Info) ->
    case [Key || {Key, _, _} <- needed(Info), not is_map_key(Key, Info)] of
        [] ->
            first([wrong(Key, Says) || {Key, IsGood, Says} <- needed(Info) ++ optional(Info), is_map_key(Key, Info),
                                       not IsGood(maps:get(Key, Info))]);
        [Key | _] -> io_lib:format("has no ~ts", [Key])
    end;
problem(_) -> "gives no map".

first([]) -> none;
first([Problem | _]) -> Problem.

wrong(Key, Says) -> io_lib:format("gives a bad ~ts: ~ts", [Key, Says]).

needed(Info) ->
    [{title, fun is_text/1, "give a text"}, {shows, fun is_text/1, "give a text"}, {origin, fun is_text/1, "give a text"},
     {vms, fun(VMs) -> are(fun is_binary/1, VMs) end, "give a list of binaries"},
     {parameters, fun(Parameters) -> are(fun is_parameter/1, Parameters) end,
      "each needs the keys name, doc, quick and full, and min and max or of"},
     {metrics, fun(Metrics) -> Metrics =/= [] andalso are(fun is_metric/1, Metrics) end,
      "give one or more, each with the keys name and doc"},
     {contrasts, fun(Contrasts) -> are(fun(Contrast) -> is_contrast(Contrast, metrics(Info)) end, Contrasts) end,
      "each needs the keys name, says (a text), over and under (two of the metrics)"},
     {estimator, fun(Name) -> lists:member(Name, ertslab_estimate:names()) end, ["choose from ", words(ertslab_estimate:names())]},
     {rounds, fun(Rounds) -> lists:member(Rounds, rounds()) end, ["choose from ", words(rounds())]},
     {warm_up, fun(Number) -> is_at_least(0, Number) end, "give a number of at least 0"}
     | [{Key, fun(Number) -> is_at_least(1, Number) end, "give a number of at least 1"} || Key <- [iterations, timeout_ms]]].

optional(Info) ->
    [{run_ms, fun(Number) -> is_at_least(0, Number) end, "give a number of at least 0"},
     {plot_over, fun(Name) -> lists:member(Name, names(maps:get(parameters, Info))) end, "it is none of the parameters"}].

rounds() -> [arms, cases, metrics, none].

words(Names) -> lists:join(", ", [atom_to_list(Name) || Name <- Names]).

metrics(#{metrics := Metrics}) -> names(Metrics).

names(List) when is_list(List) -> [Name || #{name := Name} <- List];
names(_) -> [].

are(IsGood, List) -> is_list(List) andalso lists:all(IsGood, List).

is_text(Text) ->
    try is_binary(unicode:characters_to_binary(Text))
    catch error:badarg -> false
    end.

is_at_least(Least, Number) -> is_integer(Number) andalso Number >= Least.

is_metric(#{name := Name, doc := Doc} = Metric) -> is_atom(Name) andalso is_text(Doc) andalso is_atom(maps:get(unit, Metric, ns));
is_metric(_) -> false.

is_contrast(#{name := Name, over := Over, under := Under, says := Says}, Metrics) ->
    is_atom(Name) andalso is_text(Says) andalso [Over, Under] -- Metrics =:= [];
is_contrast(_, _) -> false.

is_parameter(#{name := Name, doc := Doc, quick := [_ | _] = Quick, full := [_ | _] = Full} = Parameter) ->
    is_atom(Name) andalso is_text(Doc) andalso are(fun(Value) -> is_value(Value, Parameter) end, Quick ++ Full);
is_parameter(_) -> false.

is_value(Value, #{'of' := Names}) -> is_atom(Value) andalso is_list(Names) andalso lists:member(Value, Names);
is_value(Value, #{min := Min, max := Max}) ->
    lists:all(fun is_integer/1, [Value, Min, Max]) andalso Value >= Min andalso Value =< Max;
is_value(_, _) -> false.
