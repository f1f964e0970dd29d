%% @doc The folder of one comparison: its plan, its raw samples, its results.
%%
%%   session.json   the plan, written before the first run
%%   manifest.json  what the emulators were made from
%%   samples.jsonl  the raw samples (ertslab_samples), appended run by run
%%   summary.json   written when all runs are done
%%
%% Only complete runs count, so a comparison that was killed continues where it
%% stopped. The other files are complete or missing, even if the disk is
%% full.
-module(ertslab_session).

-export([format/0, prepare/2, open/3, start/3, append/2, close/1, finish/2, read/1, stored/1, is_finished/1, is_of/2, same_builds/3,
         file/2, format_error/1]).
-export_type([session/0, begun/0, sample/0, run_line/0, plan/0, arm/0, metric/0, reason/0]).

%% One side of a comparison; its parameters replace those of a case. `made' is present if the arms are not of one root.
-type arm() :: #{label := binary(), variant := binary(), params := ertslab_experiment:params(),
                 vm := ertslab_inventory:vm() | #{build_id := binary()},
                 made => ertslab_emulator_facts:facts()}.
-type metric() :: #{name := atom(), unit := atom(), doc => binary()}.
%% The plan of a comparison. `baseline' is the index of the first arm, `control' the label of the arm that is the same.
%% `swept' is the parameter of a sweep, whose values are the arms. `labelled': what the arms are called.
%% `code': a digest of the experiment and of the code that measures it. `budget': what the user gave, and later what the
%% pilot found. `outputs' is present if the outputs of the arms may differ; `notes' then say how they do.
%% Bounds are relative, times in milliseconds.
-type plan() :: #{experiment := binary(), title := binary(), otp := binary(), module := module(), code => binary(),
                  arms := [arm(), ...], baseline := non_neg_integer(), baseline_label := binary(),
                  control := binary() | null, labelled := binary(), swept := atom(),
                  cases := [ertslab_experiment:params(), ...], metrics := [metric(), ...],
                  contrasts := [#{name := atom(), over := atom(), under := atom(), says := binary()}],
                  estimator := ertslab_experiment:estimator(), rounds := ertslab_experiment:rounds(),
                  run_ms := non_neg_integer(), quick := boolean(), exact := boolean(),
                  same_within := float(), replace_disturbed := boolean(), seed := integer(),
                  machine := ertslab_host:machine(),
                  format => pos_integer(), pairs => non_neg_integer(), builds => pos_integer(),
                  programs => [binary()], overall => boolean(), plot_over => atom(), budget => null | #{given := binary(), _ => _},
                  preflight => [term()], outputs => noted, notes => [binary()], seed_given => boolean(), timeout_ms => pos_integer(),
                  host => binary() | null, manifest => iodata(), command => [binary()] | null}.
-type sample() :: ertslab_samples:sample().
-type run_line() :: ertslab_samples:run_line().
%% `runs' are the lines of the runs that were done before, `done' how they ended.
-type session() :: #{dir := file:filename(), plan := plan(), done := #{pos_integer() => binary()}, runs := [run_line()],
                     device := file:io_device()}.
%% A comparison that was begun: its plan as it was written, its complete runs, and how many bytes of samples.jsonl they fill.
-type begun() :: #{plan := #{binary() => term()}, runs := [run_line()], bytes := non_neg_integer()}.
-type reason() :: {finished, Dir :: file:filename()} | {another, Dir :: file:filename()} | {newer, Dir :: file:filename()}
                | {older, Dir :: file:filename()} | {other_emulator, Samples :: file:filename(), Run :: pos_integer()}
                | {damaged, file:filename()}.

%% The format of the plan and the samples. It is 2 since a run holds all cases.
-define(FORMAT, 2).
%% The keys that must be equal for two plans to measure the same.
-define(MEASURED, [<<"command">>, <<"code">>, <<"arms">>]).
%% The plan is removed last: without it, the remaining files would look foreign.
-define(FILES, ["summary.json", "table.txt", "plot.svg", "report.html", "samples.jsonl", "manifest.json", "session.json"]).
%% Files that may exist before the plan does. They are not yet a comparison.
-define(BEGUN, ["session.json.part"]).

%% @doc The number of the format that this ertslab writes.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc Makes `Dir' if it is missing, and says whether a new comparison can begin
%% in it, or an unfinished one goes on. With force, a comparison in it can be replaced. Of the samples of
%% an unfinished comparison only the runs are kept, since they might fill the memory of the machine that measures.
-spec prepare(file:filename(), Force :: boolean()) -> new | {unfinished, begun()}.
prepare(Dir, Force) ->
    ok = ertslab_results:make(Dir),
    case state(Dir) of
        empty -> new;
        State when Force, State =/= foreign -> new;
        unfinished -> {unfinished, begun(Dir)};
        finished -> ertslab_error:failure(?MODULE, {finished, Dir});
        foreign -> ertslab_results:other_files(Dir)
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({finished, Dir}) -> [Dir, " holds a finished comparison; choose another --out, or --force to replace it."];
format_error({another, Dir}) ->
    [Dir, " holds another comparison that is not finished; choose another --out, or --force to replace it."];
format_error({newer, Dir}) -> [Dir, " was written by a newer ertslab; go on with that one."];
format_error({older, Dir}) ->
    [Dir, " was begun by an older ertslab, which measured in another way; go on with that one, or begin anew there with --force."];
format_error({other_emulator, Samples, Run}) ->
    io_lib:format("~ts: run ~b was made by another emulator than the plan's; its"
                  " builds are mixed, so begin anew (--force or another --out).", [Samples, Run]);
format_error({damaged, File}) -> [File, " is damaged; choose another --out, or --force to begin anew there."].

%% @doc Opens `Dir' for `Plan': a new folder, or one that holds the same plan
%% unfinished. An unfinished comparison keeps its seed, and with it its schedule.
%% With force, the files of another comparison in it are removed.
-spec open(file:filename(), plan(), Force :: boolean()) -> session().
open(Dir, Plan, Force) -> start(prepare(Dir, Force), Dir, Plan).

%% @doc The same in a folder that was prepared.
-spec start(new | {unfinished, begun()}, file:filename(), plan()) -> session().
start(new, Dir, Plan) ->
    lists:foreach(fun(Name) -> file:delete(file(Dir, Name)) end, ?FILES),
    new(Dir, Plan);
start({unfinished, Begun}, Dir, Plan) -> resume(Dir, Plan, Begun).

begun(Dir) ->
    Stored = stored(Dir),
    (ertslab_samples:begun(file(Dir, "samples.jsonl")))#{plan => Stored}.

state(Dir) ->
    {ok, Files} = list_dir(Dir),
    Has = fun(Name) -> lists:member(Name, Files) end,
    case {Files -- ?BEGUN, Has("session.json"), Has("summary.json")} of
        {[], _, _} -> empty;
        {_, true, true} -> finished;
        {_, true, false} -> unfinished;
        {_, false, _} -> foreign
    end.

list_dir(Dir) ->
    case file:list_dir(Dir) of
        {ok, Files} -> {ok, Files};
        {error, Reason} -> cannot_write(Dir, Reason)
    end.

new(Dir, Plan) ->
    write(file(Dir, "session.json"), ertslab_json:format(recorded(Plan))),
    ok = with_manifest(Dir, Plan),
    opened(Dir, Plan, []).

with_manifest(Dir, Plan) ->
    File = file(Dir, "manifest.json"),
    case filelib:is_regular(File) of
        true -> ok;
        false -> write(File, maps:get(manifest, Plan, "{}"))
    end.

resume(Dir, Plan, #{plan := Stored, runs := Runs, bytes := Bytes}) ->
    Kept = Plan#{seed := kept_seed(Plan, Stored), command := maps:get(<<"command">>, Stored, null)},
    supported(Dir, Stored),
    comparable(Stored, Stored) =:= comparable(as_json(recorded(Kept)), Stored) orelse
        ertslab_error:failure(?MODULE, {another, Dir}),
    ok = same_builds(Dir, Kept, Runs),
    ok = cut(file(Dir, "samples.jsonl"), Bytes),
    ok = with_manifest(Dir, Kept),
    opened(Dir, Kept, Runs).

kept_seed(#{seed_given := true, seed := Seed}, _) -> Seed;
kept_seed(_, #{<<"seed">> := Seed}) -> Seed.

%% @doc Refuses runs that were made by emulators other than those of the plan.
-spec same_builds(file:filename(), plan(), [run_line()]) -> ok.
same_builds(Dir, #{arms := Arms}, Runs) ->
    Builds = maps:from_list([{Label, ertslab_builds:ids(VM)} || #{label := Label, vm := VM} <- Arms]),
    case [Run || #{<<"run">> := Run, <<"label">> := Label, <<"build_id">> := BuildId} <- Runs,
                 not lists:member(BuildId, maps:get(Label, Builds, []))] of
        [] -> ok;
        [Run | _] -> ertslab_error:failure(?MODULE, {other_emulator, file(Dir, "samples.jsonl"), Run})
    end.

supported(Dir, #{<<"format">> := Format}) when Format > ?FORMAT ->
    ertslab_error:failure(?MODULE, {newer, Dir});
supported(Dir, #{<<"format">> := Format}) when Format < ?FORMAT ->
    ertslab_error:failure(?MODULE, {older, Dir});
supported(_Dir, _) -> ok.

%% Leaves out where the emulators are on this machine, since that is not compared.
recorded(#{arms := Arms} = Plan0) ->
    Plan = maps:remove(manifest, Plan0),
    Plan#{arms := [Arm#{vm := recorded_vm(VM)} || #{vm := VM} = Arm <- Arms]}.

recorded_vm(#{builds := _} = VM) -> (recorded_vm(maps:remove(builds, VM)))#{builds => ertslab_builds:ids(VM)};
recorded_vm(#{code := #{digest := Digest}} = VM) -> (recorded_vm(maps:remove(code, VM)))#{code => Digest};
recorded_vm(#{flags := Flags} = VM) ->
    (recorded_vm(maps:remove(flags, VM)))#{flags => [ertslab_text:binary(Flag) || Flag <- Flags]};
recorded_vm(VM) -> maps:without([executable, interpreter, root, program, host], VM).

%% Leaves out the findings about the machine and the outputs, which belong to the first call. Plans of an
%% earlier ertslab had one build only, no ratio over all cases, no lines in plots, and no digest of the code.
comparable(Plan, Stored) ->
    maps:without([<<"code">> || not is_map_key(<<"code">>, Stored)]
                 ++ [<<"command">>, <<"seed_given">>, <<"preflight">>, <<"outputs">>, <<"notes">>],
                 maps:merge(#{<<"builds">> => 1, <<"overall">> => false, <<"plot_over">> => null}, Plan)).

as_json(Plan) -> ertslab_json_reader:decode(iolist_to_binary(ertslab_json:line(Plan))).

opened(Dir, Plan, Runs) ->
    Done = maps:from_list([{N, Outcome} || #{<<"run">> := N, <<"outcome">> := Outcome} <- Runs]),
    File = file(Dir, "samples.jsonl"),
    case file:open(File, [append, raw, binary]) of
        {ok, Device} -> #{dir => Dir, plan => Plan, done => Done, runs => Runs, device => Device};
        {error, Reason} -> cannot_write(File, Reason)
    end.

%% Only complete runs are kept. The file is cut in place, since a full disk
%% has no room for a second one.
cut(File, Bytes) ->
    case ertslab_samples:cut(File, Bytes) of
        ok -> ok;
        {error, Reason} -> cannot_write(File, Reason)
    end.

%% @doc Appends the lines of one run in one write.
-spec append(session(), [map()]) -> ok.
append(#{device := Device, dir := Dir}, Lines) ->
    case file:write(Device, ertslab_samples:text(Lines)) of
        ok -> ok;
        {error, Reason} -> cannot_write(file(Dir, "samples.jsonl"), Reason)
    end.

-spec close(session()) -> ok.
close(#{device := Device}) ->
    _ = file:close(Device),
    ok.

%% @doc Writes the results, the summary last: its presence means that the session is finished.
-spec finish(file:filename(), [{Name :: string(), iodata()}]) -> ok.
finish(Dir, Files) ->
    lists:foreach(fun({Name, Text}) -> write(file(Dir, Name), Text) end, Files).

%% @doc The complete runs of a folder and their samples.
-spec read(file:filename()) -> ertslab_samples:samples().
read(Dir) -> ertslab_samples:read(file(Dir, "samples.jsonl")).

%% @doc The plan of a folder, as it was written.
-spec stored(file:filename()) -> #{binary() => term()}.
stored(Dir) ->
    File = file(Dir, "session.json"),
    case decoded(File) of
        #{<<"seed">> := Seed} = Plan when is_integer(Seed) -> Plan;
        _ -> damaged(File)
    end.

%% @doc Whether the folder holds a finished comparison.
-spec is_finished(file:filename()) -> boolean().
is_finished(Dir) -> filelib:is_regular(file(Dir, "summary.json")).

%% @doc Whether the comparison in the folder has the same command, code and emulators as the plan. The machine and the seed may
%% differ.
-spec is_of(file:filename(), plan()) -> boolean().
is_of(Dir, Plan) -> maps:with(?MEASURED, stored(Dir)) =:= maps:with(?MEASURED, as_json(recorded(Plan))).

decoded(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            try ertslab_json_reader:decode(Text)
            catch error:_ -> damaged(File)
            end;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

-spec damaged(file:filename()) -> no_return().
damaged(File) -> ertslab_error:failure(?MODULE, {damaged, File}).

%% @doc The path of a file in the folder.
-spec file(file:filename(), string()) -> file:filename().
file(Dir, Name) -> filename:join(Dir, Name).

write(File, Text) -> ertslab_results:write(File, Text, resumes).

-spec cannot_write(file:filename(), file:posix() | badarg | terminated | system_limit) -> no_return().
cannot_write(File, Reason) -> ertslab_results:cannot_write(File, Reason, resumes).
