%% @doc The available experiments, and the cases that the options of a command line select.
-module(ertslab_parameters).

-export([names/0, module/1, info/1, cases/3, one_case/3, assignments/1, sizes/1]).

%% @doc The names of all experiments on the code path. They have no capitals, as the suites that test experiments do.
-spec names() -> [string()].
names() ->
    Files = [File || Dir <- code:get_path(),
                     File <- ertslab_paths:matching(Dir, "exp_*.beam")],
    lists:usort([Name || File <- Files, Name <- [experiment_name(File)], Name =:= string:lowercase(Name)]).

experiment_name(File) ->
    "exp_" ++ Name = filename:basename(File, ".beam"),
    Name.

%% @doc The module of an experiment.
-spec module(string()) -> module().
module(Name) ->
    lists:member(Name, names()) orelse
        ertslab_error:usage("there is no experiment '~ts'; choose from: ~ts",
                            [Name, lists:join(" ", names())]),
    list_to_atom("exp_" ++ Name).

%% @doc The description that an experiment gives of itself.
-spec info(module()) -> ertslab_experiment:info().
info(Module) -> Module:info().

%% @doc The cases to measure: every combination of the parameters' values.
%% Given values replace the experiment's own.
-spec cases(ertslab_experiment:info(), quick | full, [ertslab_option_types:assignment()]) -> [ertslab_experiment:params(), ...].
cases(#{parameters := Parameters}, Size, Given) ->
    _ = [ertslab_error:usage("--param ~ts is given twice; write ~ts=VALUE,VALUE", [Name, Name])
         || Name <- [Name || {Name, _} <- Given] -- lists:uniq([Name || {Name, _} <- Given])],
    Chosen = maps:from_list([chosen(Parameters, One) || One <- Given]),
    Values = [{Name, maps:get(Name, Chosen, maps:get(Size, Parameter))}
              || #{name := Name} = Parameter <- Parameters],
    [maps:from_list(Case) || Case <- combinations(Values)].

%% @doc The one case for a profile: the values of that size, or the given ones.
-spec one_case(ertslab_experiment:info(), quick | counted, [ertslab_option_types:assignment()]) -> ertslab_experiment:params().
one_case(#{parameters := Parameters} = Info, Size, Given) ->
    Single = Info#{parameters := [P#{quick := [single(P, Size)]} || P <- Parameters]},
    case cases(Single, quick, Given) of
        [Case] -> Case;
        _ -> ertslab_error:usage("a profile has one case; give each parameter one value", [])
    end.

%% @doc The assignments from which `one_case/3' and `cases/3' make this case.
-spec assignments(ertslab_experiment:params()) -> [ertslab_option_types:assignment()].
assignments(Params) -> [{atom_to_list(Name), [lists:concat([Value])]} || {Name, Value} <- lists:sort(maps:to_list(Params))].

single(#{counted := Value}, counted) -> Value;
single(#{quick := [Value | _]}, _Size) -> Value.

combinations([]) -> [[]];
combinations([{Name, Values} | Rest]) ->
    [[{Name, Value} | Others] || Value <- Values, Others <- combinations(Rest)].

chosen(Parameters, {Name, Words}) ->
    Parameter = parameter(Parameters, Name),
    %% 10 and 010 are one value.
    {maps:get(name, Parameter), lists:uniq([value(Parameter, Word) || Word <- Words])}.

parameter(Parameters, Name) ->
    case [P || #{name := N} = P <- Parameters, atom_to_list(N) =:= Name] of
        [Parameter] -> Parameter;
        [] ->
            Names = [atom_to_list(N) || #{name := N} <- Parameters],
            ertslab_error:usage("there is no parameter '~ts'; choose from: ~ts",
                                [Name, lists:join(" ", Names)])
    end.

value(#{name := Name, 'of' := Names}, Word) ->
    case [N || N <- Names, atom_to_list(N) =:= Word] of
        [Value] -> Value;
        [] ->
            ertslab_error:usage("~ts=~ts: choose from ~ts",
                                [Name, Word, lists:join(" ", [atom_to_list(N) || N <- Names])])
    end;
value(#{name := Name, min := Min, max := Max}, Word) ->
    case string:to_integer(Word) of
        {Value, []} when is_integer(Value), Value >= Min, Value =< Max -> Value;
        _ ->
            ertslab_error:usage("~ts=~ts: give a whole number from ~b to ~b",
                                [Name, Word, Min, Max])
    end.

%% @doc For each parameter its name, its description and its default values: quick and full.
-spec sizes(ertslab_experiment:info()) -> [{atom(), string(), [integer() | atom()], [integer() | atom()]}].
sizes(#{parameters := Parameters}) ->
    [{Name, Doc, Quick, Full}
     || #{name := Name, doc := Doc, quick := Quick, full := Full} <- Parameters].
