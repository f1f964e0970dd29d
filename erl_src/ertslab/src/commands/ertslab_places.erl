%% @doc The commands `compare', `sweep' and `time': each is a call that is made at the places which its options name.
-module(ertslab_places).

-export([measure/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: json_of_several | host_dir_without_host | slurm_elsewhere | slurm_without_out | nodes_without_slurm
                | fleet_and_host | builds_elsewhere | fleet_without_out
                | {failed, Names :: [string(), ...], Dir :: file:filename()} | {all_failed, Names :: [string(), ...]}.

%% @doc Makes the call of a command. At one place, it ends as it ends there. At several places, it ends by `beyond' if it
%% did at any of them, else by `usage' if all of them refused it, else by `failure' if it failed at any of them.
-spec measure(map()) -> ok.
measure(Options) ->
    ok = ertslab_plan:check(Options),
    ok = agree(Options),
    Kind = kind(Options),
    Places = Kind:places(Options),
    Where = [out | ertslab_call:of_machines()],
    Call = (maps:without(Where, named(Options)))#{words => words(maps:without(Where, Options))},
    case Places of
        #{} = Place -> Kind:run(Call, Place);
        {How, Several} -> each(Kind, Call, How, Several, maps:get(out, Options))
    end.

agree(#{json := true} = Options) when is_map_key(fleet, Options); is_map_key(slurm, Options) ->
    ertslab_error:usage(?MODULE, json_of_several);
agree(#{host_dir := _} = Options) when not is_map_key(host, Options) ->
    ertslab_error:usage(?MODULE, host_dir_without_host);
agree(#{slurm := _} = Options) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage(?MODULE, slurm_elsewhere);
agree(#{slurm := _} = Options) when not is_map_key(out, Options) ->
    ertslab_error:usage(?MODULE, slurm_without_out);
agree(#{nodes := _} = Options) when not is_map_key(slurm, Options) -> ertslab_error:usage(?MODULE, nodes_without_slurm);
agree(#{fleet := _, host := _}) -> ertslab_error:usage(?MODULE, fleet_and_host);
agree(#{builds := _} = Options) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage(?MODULE, builds_elsewhere);
agree(#{fleet := _} = Options) when not is_map_key(out, Options) ->
    ertslab_error:usage(?MODULE, fleet_without_out);
agree(#{}) -> ok.

-spec format_error(reason()) -> unicode:chardata().
format_error(json_of_several) -> "--json is of one machine; with --fleet or --slurm, each has its summary.json below --out";
format_error(host_dir_without_host) -> "--host-dir needs --host; a fleet's file names the folder behind its machine";
format_error(slurm_elsewhere) -> "--slurm does not go with --host or --fleet";
format_error(slurm_without_out) -> "--slurm needs --out, a folder that the nodes share";
format_error(nodes_without_slurm) -> "--nodes needs --slurm";
format_error(fleet_and_host) -> "give --fleet or --host, not both";
format_error(builds_elsewhere) -> "--builds is for this machine, and does not go with --host or --fleet";
format_error(fleet_without_out) -> "--fleet needs --out, for a folder with one for each machine";
format_error({failed, Names, Dir}) ->
    io_lib:format("~b of the machines failed (~ts); the others' results are in ~ts.", [length(Names), lists:join(", ", Names), Dir]);
format_error({all_failed, Names}) -> ["none of the machines measured (", lists:join(", ", Names), ")."].

%% The module with the behaviour {@link ertslab_place}.
kind(#{slurm := _}) -> ertslab_place_slurm;
kind(#{fleet := _}) -> ertslab_place_ssh;
kind(#{host := _}) -> ertslab_place_ssh;
kind(#{}) -> ertslab_place_here.

%% The experiment of `time' is made of its expressions.
named(#{experiment := _} = Options) -> ertslab_experiment_source:named(Options);
named(Options) -> Options.

%% They include options that only affect how the result is reported.
words(Options) ->
    ertslab_call:words(Options)
        ++ [Word || {Name, Word} <- [{force, "--force"}, {accept_host, "--accept-host"}], maps:get(Name, Options, false)]
        ++ [Word || #{fail_if := Bound} <- [Options],
                    Word <- ["--fail-if", ertslab_option_types:written(ertslab_option_types:bound(), Bound)]].

each(Kind, Call, How, Places, Dir) ->
    Ended = all(How, fun(Place) -> {ended(Kind, Call, How, Place), Place} end, Places),
    Measured = [Out || {End, #{options := #{out := Out}}} <- Ended, End =:= ok orelse End =:= beyond],
    %% A page that is missing hides neither what is beyond its bound nor which places failed.
    Unwritten = ertslab_error:put_off(fun() -> side_by_side(Dir, Measured) end),
    Failed = [Name || {End, #{name := Name}} <- Ended, End =:= failure orelse End =:= usage],
    case lists:usort([End || {End, _} <- Ended]) of
        [usage] -> ertslab_error:usage(?MODULE, {all_failed, Failed});
        _ -> ertslab_fail_if:ended([Name || {beyond, #{name := Name}} <- Ended],
                                   [{?MODULE, failed(Failed, Measured, Dir)} || Failed =/= []] ++ Unwritten)
    end.

failed(Failed, [], _) -> {all_failed, Failed};
failed(Failed, _, Dir) -> {failed, Failed, Dir}.

all(one_by_one, Fun, Places) -> [Fun(Place) || Place <- Places];
all(together, Fun, Places) -> ertslab_parallel:map(Fun, Places, length(Places), ertslab_progress:counted("node")).

%% How the call ended at a place, and why on standard error. A place that holds finished results of this call does not
%% measure again.
ended(Kind, Call, How, #{name := Name, options := #{out := Out} = Own} = Place) ->
    _ = [io:format(standard_error, "== ~ts~n", [Name]) || How =:= one_by_one],
    try ertslab_finished:or_else(Out, Call, fun() -> ertslab_plan:of_call(maps:merge(Call, Own)) end, fun() -> Kind:run(Call, Place) end) of
        Ended when Ended =:= ok; Ended =:= before -> ok
    catch
        throw:{End, Thrown} when End =:= failure; End =:= usage; End =:= beyond ->
            Whose = [[Name, ": "] || How =:= together],
            _ = [io:format(standard_error, "ertslab: ~ts~ts~n", [Whose, ertslab_error:sentence(Error, Call)])
                 || Error <- ertslab_error:each(Thrown)],
            End
    end.

side_by_side(_Dir, []) -> ok;
side_by_side(Dir, Folders) -> ertslab_report:run(#{dirs => Folders, out => filename:join(Dir, "report.html")}).
