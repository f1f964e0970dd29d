%% @doc The available experiments, and the cases that the options of a command line select.
-module(ertslab_parameters).

-export([names/0, module/1, info/1, cases/3, one_case/3, assignments/1, sizes/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_experiment, string(), Known :: [string()]} | {given_twice, Name :: string()} | several_cases
                | {no_parameter, string(), Known :: [atom()]} | {not_one_of, Name :: atom(), Word :: string(), [atom()]}
                | {not_within, Name :: atom(), Word :: string(), Min :: integer(), Max :: integer()}.

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
    lists:member(Name, names()) orelse ertslab_error:usage(?MODULE, {no_experiment, Name, names()}),
    list_to_atom("exp_" ++ Name).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_experiment, Name, Known}) -> ["there is no experiment '", Name, "'; choose from: ", lists:join(" ", Known)];
format_error({given_twice, Name}) -> ["--param ", Name, " is given twice; write ", Name, "=VALUE,VALUE"];
format_error(several_cases) -> "a profile has one case; give each parameter one value";
format_error({no_parameter, Name, Known}) -> ["there is no parameter '", Name, "'; choose from: ", joined(Known)];
format_error({not_one_of, Name, Word, Values}) -> io_lib:format("~ts=~ts: choose from ~ts", [Name, Word, joined(Values)]);
format_error({not_within, Name, Word, Min, Max}) ->
    io_lib:format("~ts=~ts: give a whole number from ~b to ~b", [Name, Word, Min, Max]).

joined(Names) -> lists:join(" ", [atom_to_list(Name) || Name <- Names]).

%% @doc The description that an experiment gives of itself.
-spec info(module()) -> ertslab_experiment:info().
info(Module) -> Module:info().

%% @doc The cases to measure: every combination of the parameters' values.
%% Given values replace the experiment's own.
-spec cases(ertslab_experiment:info(), quick | full, [ertslab_option_types:assignment()]) -> [ertslab_experiment:params(), ...].
cases(#{parameters := Parameters}, Size, Given) ->
    _ = [ertslab_error:usage(?MODULE, {given_twice, Name})
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
        _ -> ertslab_error:usage(?MODULE, several_cases)
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
        [] -> ertslab_error:usage(?MODULE, {no_parameter, Name, [N || #{name := N} <- Parameters]})
    end.

value(#{name := Name, 'of' := Names}, Word) ->
    case [N || N <- Names, atom_to_list(N) =:= Word] of
        [Value] -> Value;
        [] -> ertslab_error:usage(?MODULE, {not_one_of, Name, Word, Names})
    end;
value(#{name := Name, min := Min, max := Max}, Word) ->
    case string:to_integer(Word) of
        {Value, []} when is_integer(Value), Value >= Min, Value =< Max -> Value;
        _ -> ertslab_error:usage(?MODULE, {not_within, Name, Word, Min, Max})
    end.

%% @doc For each parameter its name, its description and its default values: quick and full.
-spec sizes(ertslab_experiment:info()) -> [{atom(), string(), [integer() | atom()], [integer() | atom()]}].
sizes(#{parameters := Parameters}) ->
    [{Name, Doc, Quick, Full}
     || #{name := Name, doc := Doc, quick := Quick, full := Full} <- Parameters].
