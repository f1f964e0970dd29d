%% @doc Draws flame graphs of folded stacks with an installed program: inferno, or the flamegraph.pl of Perl's
%% profiler NYTProf in Debian.
-module(ertslab_flame).

-export([remedy/0, tool/0, draw/4]).

-define(NYTPROF, "/usr/share/perl5/Devel/NYTProf/flamegraph.pl").

%% @doc Advice for a machine on which no flame graph can be drawn.
-spec remedy() -> string().
remedy() -> "./build.sh deps (Debian package libdevel-nytprof-perl), or inferno-flamegraph in PATH".

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
           Log :: file:filename()) -> ok | {error, unicode:chardata()}.
draw(Folded, Svg, Title, Log) ->
    case tool() of
        none -> {error, ["no flame graph, only folded stacks: ", remedy()]};
        Tool ->
            Words = [Tool, "--hash", "--title", unicode:characters_to_list(Title), Folded],
            drawn(ertslab_os_command:run(Words, Log, #{}), Svg, Log)
    end.

drawn({ok, Picture}, Svg, _Log) -> ertslab_results:write(Svg, Picture);
drawn({error, _}, _Svg, Log) -> {error, ["no flame graph: its tool failed, see ", Log]}.
