%% @doc The commands `compare', `sweep' and `time': each is a call that is made at the places which its options name.
-module(ertslab_places).

-export([measure/1]).

%% Options that say where the call measures.
-define(WHERE, [host, host_dir, fleet, slurm, nodes, out]).

%% @doc Makes the call of a command. At one place, it ends as it ends there. At several places, it ends by `beyond' if it
%% did at any of them, else by `usage' if all of them refused it, else by `failure' if it failed at any of them.
-spec measure(map()) -> ok.
measure(Options) ->
    ok = ertslab_plan:check(Options),
    ok = agree(Options),
    Kind = kind(Options),
    Places = Kind:places(Options),
    Call = (maps:without(?WHERE, named(Options)))#{words => words(maps:without(?WHERE, Options))},
    case Places of
        #{} = Place -> Kind:run(Call, Place);
        {How, Several} -> each(Kind, Call, How, Several, maps:get(out, Options))
    end.

agree(#{json := true} = Options) when is_map_key(fleet, Options); is_map_key(slurm, Options) ->
    ertslab_error:usage("--json is of one machine; with --fleet or --slurm, each has its summary.json below --out", []);
agree(#{host_dir := _} = Options) when not is_map_key(host, Options) ->
    ertslab_error:usage("--host-dir needs --host; a fleet's file names the folder behind its machine", []);
agree(#{slurm := _} = Options) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage("--slurm does not go with --host or --fleet", []);
agree(#{slurm := _} = Options) when not is_map_key(out, Options) ->
    ertslab_error:usage("--slurm needs --out, a folder that the nodes share", []);
agree(#{nodes := _} = Options) when not is_map_key(slurm, Options) -> ertslab_error:usage("--nodes needs --slurm", []);
agree(#{fleet := _, host := _}) -> ertslab_error:usage("give --fleet or --host, not both", []);
agree(#{builds := _} = Options) when is_map_key(host, Options); is_map_key(fleet, Options) ->
    ertslab_error:usage("--builds is for this machine, and does not go with --host or --fleet", []);
agree(#{fleet := _} = Options) when not is_map_key(out, Options) ->
    ertslab_error:usage("--fleet needs --out, for a folder with one for each machine", []);
agree(#{}) -> ok.

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
    side_by_side(Dir, [Out || {End, #{options := #{out := Out}}} <- Ended, End =:= ok orelse End =:= beyond]),
    Failed = [Name || {End, #{name := Name}} <- Ended, End =:= failure orelse End =:= usage],
    Sentences = [io_lib:format("~b of the machines failed (~ts); the others' results are in ~ts.",
                               [length(Failed), lists:join(", ", Failed), Dir]) || Failed =/= []],
    case lists:usort([End || {End, _} <- Ended]) of
        [usage] -> ertslab_error:usage("~ts", [Sentences]);
        _ -> ertslab_fail_if:ended([Name || {beyond, #{name := Name}} <- Ended], Sentences)
    end.

all(one_by_one, Fun, Places) -> [Fun(Place) || Place <- Places];
all(together, Fun, Places) -> ertslab_parallel:map(Fun, Places, length(Places), ertslab_progress:counted("node")).

%% How the call ended at a place, and why on standard error. A place that holds finished results of this call does not
%% measure again.
ended(Kind, Call, How, #{name := Name, options := #{out := Out} = Own} = Place) ->
    _ = [io:format(standard_error, "== ~ts~n", [Name]) || How =:= one_by_one],
    try ertslab_finished:or_else(Out, Call, fun() -> ertslab_plan:of_call(maps:merge(Call, Own)) end, fun() -> Kind:run(Call, Place) end) of
        Ended when Ended =:= ok; Ended =:= before -> ok
    catch
        throw:{End, Sentence} when End =:= failure; End =:= usage; End =:= beyond ->
            io:format(standard_error, "ertslab: ~ts~ts~n", [[[Name, ": "] || How =:= together], Sentence]),
            End
    end.

side_by_side(_Dir, []) -> ok;
side_by_side(Dir, Folders) -> ertslab_report:run(#{dirs => Folders, out => filename:join(Dir, "report.html")}).
