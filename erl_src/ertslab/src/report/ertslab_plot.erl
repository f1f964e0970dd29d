%% @doc The picture of a result: which kind of picture suits it.
-module(ertslab_plot).

-export([draw/2]).

%% @doc Draws a result into an SVG file, or returns why there is none.
-spec draw(file:filename(), ertslab_result:summary()) -> ok | {error, ertslab_error:error()}.
draw(File, Summary) -> ertslab_gnuplot:draw(File, script(Summary)).

%% A curve needs an integer parameter, lines need more than one value.
script(#{plan := #{plot_over := Parameter, cases := Cases}} = Summary) when Parameter =/= null ->
    case lists:usort([maps:get(Parameter, Case) || Case <- Cases]) of
        [_, _ | _] -> ertslab_plot_lines:values(Summary);
        [_] -> bars(Summary)
    end;
script(#{plan := #{swept := Parameter, metrics := Metrics}, arms := [#{params := Params} | _]} = Summary) ->
    case Params of
        #{Parameter := Value} when is_integer(Value) ->
            ertslab_plot_lines:curve(Summary, [Name || #{name := Name} <- Metrics]);
        #{} -> unswept(Summary)
    end.

unswept(#{cases := Cases} = Summary) ->
    case [Row || #{rows := Rows} <- Cases, #{points := _} = Row <- Rows] of
        [] -> bars(Summary);
        _ -> ertslab_plot_lines:growth(Summary)
    end.

%% Metrics with different units are drawn as ratios: on one axis the larger values would hide the smaller.
bars(#{plan := #{metrics := Metrics}} = Summary) ->
    case lists:uniq([Unit || #{unit := Unit} <- Metrics]) of
        [_] -> ertslab_plot_bars:values(Summary);
        [_, _ | _] -> ertslab_plot_bars:ratios(Summary)
    end.
