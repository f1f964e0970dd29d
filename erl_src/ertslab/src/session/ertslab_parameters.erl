%% @doc The experiments that there are, and the cases that the words of a command line ask for.
-module(ertslab_parameters).

-export([names/0, module/1, info/1, cases/3, one_case/3, words/1, sizes/1]).

%% @doc The names of all experiments on the code path.
-spec names() -> [string()].
names() ->
    Files = [File || Dir <- code:get_path(),
                     File <- filelib:wildcard(filename:join(Dir, "exp_*.beam"))],
    lists:usort([experiment_name(File) || File <- Files]).

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

%% @doc What an experiment says of itself.
-spec info(module()) -> ertslab_experiment:info().
info(Module) -> Module:info().

%% @doc The cases to measure: every combination of the parameters' values,
%% those given as "NAME=V1,V2" in place of the experiment's own.
-spec cases(ertslab_experiment:info(), quick | full, [string()]) -> [ertslab_experiment:params(), ...].
cases(#{parameters := Parameters}, Size, Given) ->
    Chosen = maps:from_list([chosen(Parameters, Text) || Text <- Given]),
    Values = [{Name, maps:get(Name, Chosen, maps:get(Size, Parameter))}
              || #{name := Name} = Parameter <- Parameters],
    [maps:from_list(Case) || Case <- combinations(Values)].

%% @doc The one case that a profile is of: the values of that size, or those given.
-spec one_case(ertslab_experiment:info(), quick | counted, [string()]) -> ertslab_experiment:params().
one_case(#{parameters := Parameters} = Info, Size, Given) ->
    Single = Info#{parameters := [P#{quick := [single(P, Size)]} || P <- Parameters]},
    case cases(Single, quick, Given) of
        [Case] -> Case;
        _ -> ertslab_error:usage("a profile is of one case: give each parameter one value", [])
    end.

%% @doc The words from which `one_case/3' and `cases/3' read this case again.
-spec words(ertslab_experiment:params()) -> [string()].
words(Params) ->
    [lists:concat([Name, "=", Value]) || {Name, Value} <- maps:to_list(maps:iterator(Params, ordered))].

single(#{counted := Value}, counted) -> Value;
single(#{quick := [Value | _]}, _Size) -> Value.

combinations([]) -> [[]];
combinations([{Name, Values} | Rest]) ->
    [[{Name, Value} | Others] || Value <- Values, Others <- combinations(Rest)].

chosen(Parameters, Text) ->
    case string:split(Text, "=") of
        [Name, Values] ->
            Parameter = parameter(Parameters, Name),
            {maps:get(name, Parameter), values(Parameter, Values)};
        _ -> ertslab_error:usage("'~ts' is no parameter; write NAME=VALUE[,VALUE...]", [Text])
    end.

parameter(Parameters, Name) ->
    case [P || #{name := N} = P <- Parameters, atom_to_list(N) =:= Name] of
        [Parameter] -> Parameter;
        [] ->
            Names = [atom_to_list(N) || #{name := N} <- Parameters],
            ertslab_error:usage("there is no parameter '~ts'; choose from: ~ts",
                                [Name, lists:join(" ", Names)])
    end.

values(Parameter, Text) ->
    [value(Parameter, Word) || Word <- lists:uniq(string:split(Text, ",", all))].

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
            ertslab_error:usage("~ts=~ts: a whole number from ~b to ~b is wanted",
                                [Name, Word, Min, Max])
    end.

%% @doc A line for each parameter and the values that it takes unasked.
-spec sizes(ertslab_experiment:info()) -> [{atom(), string(), [integer() | atom()], [integer() | atom()]}].
sizes(#{parameters := Parameters}) ->
    [{Name, Doc, Quick, Full}
     || #{name := Name, doc := Doc, quick := Quick, full := Full} <- Parameters].
