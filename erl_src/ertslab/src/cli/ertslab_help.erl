%% @doc The text of `--help': all commands, or one of them with its arguments. Pure.
-module(ertslab_help).

-export([commands/1, commands/2, command/2]).

-define(COLUMNS, 80).

%% Nobody types a larger number, so a larger bound is not shown.
-define(TYPED, 1_000_000).

%% @doc All commands, each with its purpose, and the names of those that only a checkout has.
-spec commands(ertslab_arguments:command(), Elsewhere :: [string()]) -> iodata().
commands(Tree, []) -> commands(Tree);
commands(Tree, Elsewhere) -> [commands(Tree), $\n, paragraph(["Only in a clone of ertslab: ", lists:join(", ", Elsewhere), "."], 0)].

%% @doc All commands, each with its purpose.
-spec commands(ertslab_arguments:command()) -> iodata().
commands(#{help := Help, examples := Examples, commands := Commands}) ->
    [shown(Examples), "Usage:\n  ertslab <command>\n\n", paragraph(Help, 0), "\nCommands:\n",
     table([{Name, About} || {Name, #{help := About}} <- lists:sort(maps:to_list(Commands))])].

%% @doc One command: examples, its usage and its arguments.
-spec command(string(), ertslab_arguments:command()) -> iodata().
command(Name, #{help := Help, examples := Examples} = Command) ->
    {Options, Placed} = lists:partition(fun(Argument) -> is_map_key(long, Argument) end, maps:get(arguments, Command, [])),
    [shown(Examples), "Usage:\n  ", filled([["ertslab ", Name] | [shape(Argument) || Argument <- Options ++ Placed]], 2, 10),
     $\n, paragraph([string:titlecase(Help), $.], 0),
     section("Arguments", [{atom_to_list(Placement), About} || #{name := Placement, help := About} <- Placed]),
     section("Options", [{[$- | Long], about(Option)} || #{long := Long} = Option <- Options])].

%% Examples come first, because they answer most questions.
shown([_] = Example) -> ["Example:\n", lines(Example), $\n];
shown(Examples) -> ["Examples:\n", lines(Examples), $\n].

lines(Examples) -> [["  ertslab ", Example, $\n] || Example <- Examples].

section(_, []) -> [];
section(Title, Rows) -> [$\n, Title, ":\n", table(Rows)].

shape(#{long := Long, type := boolean}) -> ["[-", Long, "]"];
shape(#{long := Long, name := Name, required := true}) -> ["-", Long, " <", atom_to_list(Name), ">"];
shape(#{long := Long, name := Name}) -> ["[-", Long, " <", atom_to_list(Name), ">]"];
shape(#{name := Name, nargs := list}) -> ["[<", atom_to_list(Name), ">...]"];
shape(#{name := Name, nargs := nonempty_list}) -> ["<", atom_to_list(Name), ">..."];
shape(#{name := Name}) -> ["<", atom_to_list(Name), ">"].

%% Bounds that the help does not name stand with its default: (12 by default, 6 to 1000).
about(#{help := About, type := {integer, Bounds}}) ->
    case [Max || {max, Max} <- Bounds, Max =< ?TYPED] of
        [Max] -> with_range(About, io_lib:format("~b to ~b", [proplists:get_value(min, Bounds), Max]));
        [] -> About
    end;
about(#{help := About}) -> About.

with_range(About, Range) ->
    case {string:find(About, Range), string:split(About, " by default)")} of
        {nomatch, [Before, After]} -> [Before, " by default, ", Range, ")", After];
        {nomatch, [About]} -> [About, " (", Range, ")"];
        _ -> About
    end.

table(Rows) ->
    Width = lists:max([string:length(Name) || {Name, _} <- Rows]),
    [["  ", string:pad(Name, Width), $\s, paragraph(Text, Width + 3)] || {Name, Text} <- Rows].

paragraph(Text, Column) -> filled(string:lexemes(unicode:characters_to_list(Text), " "), Column, Column).

%% Breaks words into lines. The first line begins in the given column, the others are indented.
filled([First | Words], Column, Indent) ->
    Add = fun(Word, {At, Line, Lines}) ->
                  case At + 1 + string:length(Word) of
                      End when End =< ?COLUMNS -> {End, [Line, $\s, Word], Lines};
                      _ -> {Indent + string:length(Word), [Word], [Line | Lines]}
                  end
          end,
    {_, Last, Lines} = lists:foldl(Add, {Column + string:length(First), [First], []}, Words),
    [lists:join([$\n, lists:duplicate(Indent, $\s)], lists:reverse(Lines, [Last])), $\n].
