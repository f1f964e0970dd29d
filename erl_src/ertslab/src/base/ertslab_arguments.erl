%% @doc Parses the arguments of a call by the tree of commands, and finds what is wrong with them.
%% (stdlib's argparse exists from OTP 26 on only. It also takes each argument that begins with a dash for an option, but here
%% values may be flags of an emulator (`-env X 1') or expressions (`-X').)
%%
%% All functions are pure.
-module(ertslab_arguments).

-export([parse/2, words/2, format_error/1]).
-export_type([command/0, argument/0, options/0, custom/1, reason/0]).

%% examples: calls that the help shows first, without the program's name. lab: it needs VMs that were built. measures: it starts
%% VMs. handler: does the work of the command.
-type command() :: #{help => string(), examples => [string()], lab => boolean(), measures => boolean(), arguments => [argument()],
                     commands => #{string() => command()}, handler => fun((options()) -> term())}.
%% A custom type: parses a text to a value or an error, and writes a value as text. Parsing what it wrote gives the same value.
-type custom(Value) :: {custom, Parse :: fun((string()) -> {ok, Value} | {error, ertslab_error:error()}),
                        Write :: fun((Value) -> string())}.
%% An argument with `long' is an option (`-out' for `--out'), the others go by position. Values are text if there is no type.
-type argument() :: #{name := atom(), help := string(), long => string(), required => boolean(), nargs => list | nonempty_list,
                      action => append, type => boolean | {integer, [{min | max, integer()}]} | {atom, [atom()]} | custom(term())}.
-type options() :: #{atom() => term()}.
-type reason() :: {unknown, Word :: string()} | {wrong, Command :: string(), problem()}.
%% `Called': an argument, as the user knows it.
-type problem() :: nothing_behind | {missing, Called :: iodata()} | {unknown, Word :: string()} | {no_value, Called :: iodata()}
                 | {value, Called :: iodata()} | {no_integer, Called :: iodata(), Text :: string()}
                 | {not_one_of, Called :: iodata(), Text :: string(), [atom()]} | {below, Called :: iodata(), Min :: integer()}
                 | {above, Called :: iodata(), Max :: integer()}
                 | {text, Called :: iodata(), Text :: string(), ertslab_error:error()}.

%% @doc The options that the arguments give, and the command that they name; or what is wrong with them.
-spec parse([string()], command()) -> {ok, options(), command()} | {error, {?MODULE, reason()}}.
parse([], Command) -> {ok, #{}, Command};
parse([Name | Words], #{commands := Commands}) ->
    case Commands of
        #{Name := Command} ->
            try {ok, arguments(Words, maps:get(arguments, Command, [])), Command}
            catch throw:{?MODULE, Problem} -> {error, {?MODULE, {wrong, Name, Problem}}}
            end;
        #{} -> {error, {?MODULE, {unknown, Name}}}
    end.

-spec wrong(problem()) -> no_return().
wrong(Problem) -> throw({?MODULE, Problem}).

-spec format_error(reason()) -> unicode:chardata().
format_error({unknown, Word}) -> says({unknown, Word});
format_error({wrong, Command, Problem}) -> [Command, ": ", says(Problem)].

says(nothing_behind) -> "this command takes no arguments after --";
says({missing, Called}) -> [Called, " is missing"];
says({unknown, Word}) -> ["unknown argument: ", Word];
says({no_value, Called}) -> [Called, " takes no value"];
says({value, Called}) -> [Called, " needs a value"];
says({no_integer, Called, Text}) -> [Called, $\s, Text, " is not an integer"];
says({not_one_of, Called, Text, Choices}) ->
    [Called, $\s, Text, " is not one of ", lists:join(", ", [atom_to_list(Choice) || Choice <- Choices])];
says({below, Called, Min}) -> io_lib:format("~ts must be at least ~b", [Called, Min]);
says({above, Called, Max}) -> io_lib:format("~ts must be at most ~b", [Called, Max]);
says({text, Called, Text, Error}) -> [Called, $\s, Text, ": ", ertslab_error:sentence(Error)].

arguments(Words, Arguments) ->
    {Placed, Options} = sorted(Words, Arguments, [], #{}),
    Missing = [called(Argument) || #{long := _, required := true, name := Name} = Argument <- Arguments, not is_map_key(Name, Options)],
    _ = [wrong({missing, Called}) || Called <- Missing],
    placed(Placed, [Argument || Argument <- Arguments, not is_map_key(long, Argument)], Options).

%% The positional arguments in their order, and the options by name. The last one counts if an option is given twice. After `--' all
%% words are positional, where the command takes any.
sorted(["--" | Words], Arguments, Placed, Options) ->
    _ = Words =/= [] andalso lists:all(fun(Argument) -> is_map_key(long, Argument) end, Arguments) andalso wrong(nothing_behind),
    {lists:reverse(Placed, Words), Options};
sorted([Word | Words], Arguments, Placed, Options) ->
    case option(Word, Arguments) of
        [Argument] ->
            [_ | Given] = string:split(Word, "="),
            {Value, Rest} = value(Argument, Given, Words, Arguments),
            sorted(Rest, Arguments, Placed, with(Argument, Value, Options));
        [] ->
            _ = looks_like_an_option(Word) andalso wrong({unknown, Word}),
            sorted(Words, Arguments, [Word | Placed], Options)
    end;
sorted([], _, Placed, Options) -> {lists:reverse(Placed), Options}.

value(#{type := boolean}, [], Words, _) -> {true, Words};
value(#{type := boolean} = Argument, [_], _, _) -> wrong({no_value, called(Argument)});
value(Argument, [Text], Words, _) -> {typed(Text, Argument), Words};
value(Argument, [], [Text | Words], Arguments) ->
    %% Another option is not taken as a value: the value of this option is missing.
    _ = (Text =:= "--" orelse option(Text, Arguments) =/= []) andalso wrong({value, called(Argument)}),
    {typed(Text, Argument), Words};
value(Argument, [], [], _) -> wrong({value, called(Argument)}).

%% The option that a word names, if it names one.
option(Word, Arguments) ->
    [Name | _] = string:split(Word, "="),
    [Argument || #{long := Long} = Argument <- Arguments, [$- | Long] =:= Name].

%% It is a misspelt option then.
looks_like_an_option(Word) -> re:run(Word, "^--?[a-z][a-z_-]*(=|$)", [unicode, {capture, none}]) =:= match.

with(#{name := Name, action := append}, Value, Options) -> maps:update_with(Name, fun(Others) -> Others ++ [Value] end, [Value], Options);
with(#{name := Name}, Value, Options) -> Options#{Name => Value}.

placed([], [#{nargs := list} | _], Options) -> Options;
placed([], [#{required := false} | _], Options) -> Options;
placed([], [Argument | _], _) -> wrong({missing, called(Argument)});
placed(Words, [#{name := Name, nargs := _} = Argument], Options) -> Options#{Name => [typed(Word, Argument) || Word <- Words]};
placed([Word | Words], [#{name := Name} = Argument | Arguments], Options) ->
    placed(Words, Arguments, Options#{Name => typed(Word, Argument)});
placed([Word | _], [], _) -> wrong({unknown, Word});
placed([], [], Options) -> Options.

typed(Text, #{type := {integer, Bounds}} = Argument) ->
    case string:to_integer(Text) of
        {Integer, []} when is_integer(Integer) -> bounded(Integer, Bounds, Argument);
        _ -> wrong({no_integer, called(Argument), Text})
    end;
typed(Text, #{type := {atom, Choices}} = Argument) ->
    case [Choice || Choice <- Choices, atom_to_list(Choice) =:= Text] of
        [Choice] -> Choice;
        [] -> wrong({not_one_of, called(Argument), Text, Choices})
    end;
typed(Text, #{type := {custom, Parse, _}} = Argument) ->
    case Parse(Text) of
        {ok, Value} -> Value;
        {error, Error} -> wrong({text, called(Argument), Text, Error})
    end;
typed(Text, #{}) -> Text.

bounded(Integer, Bounds, Argument) ->
    _ = [wrong({below, called(Argument), Min}) || {min, Min} <- Bounds, Integer < Min],
    _ = [wrong({above, called(Argument), Max}) || {max, Max} <- Bounds, Integer > Max],
    Integer.

%% @doc The command-line arguments that give these options: `parse/2' turns them into the same options again. Options that
%% are not among the arguments are left out.
-spec words(options(), [argument()]) -> [string()].
words(Options, Arguments) ->
    {Named, Placed} = lists:partition(fun(Argument) -> is_map_key(long, Argument) end, Arguments),
    [WrittenNamed, WrittenPlaced] = [written_all(Some, Options) || Some <- [Named, Placed]],
    case lists:any(fun(Word) -> looks_like_an_option(Word) orelse Word =:= "--" orelse option(Word, Arguments) =/= [] end, WrittenPlaced) of
        true -> WrittenNamed ++ ["--" | WrittenPlaced];
        false -> WrittenPlaced ++ WrittenNamed
    end.

written_all(Arguments, Options) ->
    lists:append([written(Argument, maps:get(Name, Options)) || #{name := Name} = Argument <- Arguments, is_map_key(Name, Options)]).

written(#{long := Long, type := boolean}, Set) -> [[$- | Long] || Set];
written(#{action := append} = Argument, Values) ->
    lists:append([written(maps:remove(action, Argument), Value) || Value <- Values]);
written(#{long := Long} = Argument, Value) ->
    case text(Value, Argument) of
        [$- | _] = Text -> [[$- | Long] ++ [$= | Text]];
        Text -> [[$- | Long], Text]
    end;
written(#{nargs := _} = Argument, Values) -> [text(Value, Argument) || Value <- Values];
written(#{} = Argument, Value) -> [text(Value, Argument)].

text(Value, #{type := {custom, _, Write}}) -> Write(Value);
text(Value, #{}) when is_integer(Value) -> integer_to_list(Value);
text(Value, #{}) when is_atom(Value) -> atom_to_list(Value);
text(Value, #{}) -> Value.

called(#{long := Long}) -> [$- | Long];
called(#{name := Name}) -> ["the argument ", atom_to_list(Name)].
