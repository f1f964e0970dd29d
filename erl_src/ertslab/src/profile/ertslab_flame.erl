%% @doc Draws flame graphs of folded stacks with an installed program: inferno, or the flamegraph.pl of Perl's
%% profiler NYTProf in Debian.
-module(ertslab_flame).

-export([tool/0, draw/4, format_error/1]).
-export_type([reason/0]).

-type reason() :: no_tool | {tool_failed, Log :: file:filename()}.

-define(NYTPROF, "/usr/share/perl5/Devel/NYTProf/flamegraph.pl").

%% @doc The program that draws, if there is one.
-spec tool() -> file:filename() | none.
tool() ->
    Found = [File || Name <- ["inferno-flamegraph", "flamegraph.pl"],
                     File <- [os:find_executable(Name)], File =/= false],
    case Found ++ [File || File <- [?NYTPROF], filelib:is_regular(File)] of
        [File | _] -> File;
        [] -> none
    end.

%% @doc Draws folded stacks as SVG. Stacks with two counts become a differential graph: the widths are those of the
%% second count, red is more than the first, blue is less.
-spec draw(Folded :: file:filename(), Svg :: file:filename(), Title :: unicode:chardata(),
           Log :: file:filename()) -> ok | {error, reason()}.
draw(Folded, Svg, Title, Log) ->
    case tool() of
        none -> {error, no_tool};
        Tool ->
            Words = [Tool, "--hash", "--title", unicode:characters_to_list(Title), Folded],
            drawn(ertslab_os_command:run(Words, Log, #{}), Svg, Log)
    end.

drawn({ok, Picture}, Svg, _Log) -> ertslab_results:write(Svg, Picture);
drawn({error, _}, _Svg, Log) -> {error, {tool_failed, Log}}.

-spec format_error(reason()) -> unicode:chardata().
format_error(no_tool) -> "no flame graph, only folded stacks";
format_error({tool_failed, Log}) -> ["no flame graph: its tool failed, see ", Log].
