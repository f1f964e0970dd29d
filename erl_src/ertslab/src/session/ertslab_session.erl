%% @doc The folder of one comparison: its plan, its raw samples, its results.
%%
%%   session.json   the plan, written before the first run
%%   manifest.json  what the emulators were made from
%%   samples.jsonl  the raw samples (ertslab_samples), appended run by run
%%   summary.json   written when all runs are done
%%
%% Only complete runs count, so a comparison that was killed goes on where it
%% stopped. Its other files are there whole or not at all, also where the disk is
%% full.
-module(ertslab_session).

-export([format/0, prepare/2, open/3, append/2, close/1, finish/2, read/1, runs/1, stored/1, same_builds/3, file/2]).
-export_type([session/0, sample/0, run_line/0, plan/0, arm/0, metric/0]).

%% One side of a comparison; its parameters are in place of those of a case. `made' where arms are not of one root.
-type arm() :: #{label := binary(), variant := binary(), params := ertslab_experiment:params(),
                 vm := ertslab_inventory:vm() | #{build_id := binary()},
                 made => ertslab_emulator_facts:facts()}.
-type metric() :: #{name := atom(), unit := atom(), doc => binary()}.
%% What is going to be measured. `baseline' is the place of the first arm, `control' the label of the one that
%% is the same. `swept' is the parameter of a sweep, whose values the arms are. `labelled': what the arms are called.
%% `budget': what the user gave, and then what the pilot found. Bounds are relative, times in milliseconds.
-type plan() :: #{experiment := binary(), title := binary(), otp := binary(), module := module(),
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
                  preflight => [term()], seed_given => boolean(), timeout_ms => pos_integer(),
                  host => binary() | null, manifest => iodata(), command => [binary()] | null}.
-type sample() :: ertslab_samples:sample().
-type run_line() :: ertslab_samples:run_line().
-type session() :: #{dir := file:filename(), plan := plan(), done := #{pos_integer() => binary()},
                     device := file:io_device()}.

%% Of the plan, the samples and the summary: 2 since a run holds all cases.
-define(FORMAT, 2).
-define(ADVICE, "; what was measured before is kept, and the same words with the same --out go on").
%% The plan is the last to be removed: without it the others would be somebody else's.
-define(FILES, ["summary.json", "table.txt", "plot.svg", "report.html", "samples.jsonl", "manifest.json", "session.json"]).
%% What may be there before the plan is, without which there is no comparison yet.
-define(BEGUN, ["session.json.part"]).

%% @doc The number of the format that this ertslab writes.
-spec format() -> pos_integer().
format() -> ?FORMAT.

%% @doc Makes `Dir' where it is not there yet, and says whether a comparison can begin
%% in it, with force also in place of one that it holds, or is to be finished.
-spec prepare(file:filename(), Force :: boolean()) -> new | unfinished.
prepare(Dir, Force) ->
    ok = ertslab_results:make(Dir),
    case state(Dir) of
        empty -> new;
        State when Force, State =/= foreign -> new;
        unfinished -> unfinished;
        finished ->
            ertslab_error:failure("~ts holds a finished comparison; choose another --out,"
                                  " or --force to replace it.", [Dir]);
        foreign ->
            ertslab_error:failure("~ts holds other files; choose an empty folder as --out.", [Dir])
    end.

%% @doc Opens `Dir' for `Plan': a new folder, or one that holds the same plan
%% unfinished. The seed of an unfinished one is kept, so that its schedule is.
%% With force, the files of another comparison in it are removed.
-spec open(file:filename(), plan(), Force :: boolean()) -> session().
open(Dir, Plan, Force) ->
    case prepare(Dir, Force) of
        new ->
            lists:foreach(fun(Name) -> file:delete(file(Dir, Name)) end, ?FILES),
            new(Dir, Plan);
        unfinished -> resume(Dir, Plan)
    end.

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
    write(file(Dir, "session.json"), json:format(recorded(Plan))),
    ok = with_manifest(Dir, Plan),
    opened(Dir, Plan, #{}).

with_manifest(Dir, Plan) ->
    File = file(Dir, "manifest.json"),
    case filelib:is_regular(File) of
        true -> ok;
        false -> write(File, maps:get(manifest, Plan, "{}"))
    end.

resume(Dir, Plan) ->
    Stored = stored(Dir),
    Kept = Plan#{seed := kept_seed(Plan, Stored), command := maps:get(~"command", Stored, null)},
    supported(Dir, Stored),
    comparable(Stored) =:= comparable(as_json(recorded(Kept))) orelse
        ertslab_error:failure("~ts holds another comparison that is not finished; choose another"
                              " --out, or --force to replace it.", [Dir]),
    Runs = runs(Dir),
    ok = same_builds(Dir, Kept, Runs),
    ok = cut(file(Dir, "samples.jsonl")),
    ok = with_manifest(Dir, Kept),
    opened(Dir, Kept, maps:from_list([{N, Outcome} || #{~"run" := N, ~"outcome" := Outcome} <- Runs])).

kept_seed(#{seed_given := true, seed := Seed}, _) -> Seed;
kept_seed(_, #{~"seed" := Seed}) -> Seed.

%% @doc Refuses runs that were made by other emulators than those of the plan.
-spec same_builds(file:filename(), plan(), [run_line()]) -> ok.
same_builds(Dir, #{arms := Arms}, Runs) ->
    Builds = #{Label => ertslab_builds:ids(VM) || #{label := Label, vm := VM} <- Arms},
    case [Run || #{~"run" := Run, ~"label" := Label, ~"build_id" := BuildId} <- Runs,
                 not lists:member(BuildId, maps:get(Label, Builds, []))] of
        [] -> ok;
        [Run | _] ->
            ertslab_error:failure("~ts: run ~b was made by another emulator than the plan's; its"
                                  " builds are mixed, so begin anew (--force or another --out).",
                                  [file(Dir, "samples.jsonl"), Run])
    end.

supported(Dir, #{~"format" := Format}) when Format > ?FORMAT ->
    ertslab_error:failure("~ts was written by a newer ertslab; go on with that one.", [Dir]);
supported(Dir, #{~"format" := Format}) when Format < ?FORMAT ->
    ertslab_error:failure("~ts was begun by an older ertslab, which measured in another way; go on with that one,"
                          " or begin anew there with --force.", [Dir]);
supported(_Dir, _) -> ok.

%% Where the emulators lie on this machine is no part of what is compared.
recorded(#{arms := Arms} = Plan0) ->
    Plan = maps:remove(manifest, Plan0),
    Plan#{arms := [Arm#{vm := recorded_vm(VM)} || #{vm := VM} = Arm <- Arms]}.

recorded_vm(#{builds := _} = VM) -> (recorded_vm(maps:remove(builds, VM)))#{builds => ertslab_builds:ids(VM)};
recorded_vm(#{code := #{digest := Digest}} = VM) -> (recorded_vm(maps:remove(code, VM)))#{code => Digest};
recorded_vm(#{flags := Flags} = VM) ->
    (recorded_vm(maps:remove(flags, VM)))#{flags => [ertslab_error:text(Flag) || Flag <- Flags]};
recorded_vm(VM) -> maps:without([executable, interpreter, root, program, host], VM).

%% Findings of a look at the machine differ from call to call. Plans of an
%% earlier ertslab knew of one build only, of no ratio over all cases, and of bars only.
comparable(Plan) ->
    maps:without([~"command", ~"seed_given", ~"preflight"], maps:merge(#{~"builds" => 1, ~"overall" => false, ~"plot_over" => null}, Plan)).

as_json(Plan) -> json:decode(iolist_to_binary(json:encode(Plan))).

opened(Dir, Plan, Done) ->
    File = file(Dir, "samples.jsonl"),
    case file:open(File, [append, raw, binary]) of
        {ok, Device} -> #{dir => Dir, plan => Plan, done => Done, device => Device};
        {error, Reason} -> cannot_write(File, Reason)
    end.

%% Only complete runs are kept. No second file is written for it, since a full disk
%% has no room for one.
cut(File) ->
    case ertslab_samples:cut(File) of
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

%% @doc Writes the results, the summary last: with it the session is finished.
-spec finish(file:filename(), [{Name :: string(), iodata()}]) -> ok.
finish(Dir, Files) ->
    lists:foreach(fun({Name, Text}) -> write(file(Dir, Name), Text) end, Files).

%% @doc The complete runs of a folder and their samples.
-spec read(file:filename()) -> ertslab_samples:samples().
read(Dir) -> ertslab_samples:read(file(Dir, "samples.jsonl")).

%% @doc The complete runs of a folder, without their samples.
-spec runs(file:filename()) -> [run_line()].
runs(Dir) -> ertslab_samples:runs(file(Dir, "samples.jsonl")).

%% @doc The plan of a folder, as it was written.
-spec stored(file:filename()) -> #{binary() => term()}.
stored(Dir) ->
    File = file(Dir, "session.json"),
    case file:read_file(File) of
        {ok, Text} -> plan(File, Text);
        {error, Reason} ->
            ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)])
    end.

plan(File, Text) ->
    try json:decode(Text) of
        #{~"seed" := Seed} = Plan when is_integer(Seed) -> Plan;
        _ -> damaged(File)
    catch error:_ -> damaged(File)
    end.

-spec damaged(file:filename()) -> no_return().
damaged(File) ->
    ertslab_error:failure("~ts is damaged; choose another --out, or --force to begin anew there.", [File]).

%% @doc The path of a file in the folder.
-spec file(file:filename(), string()) -> file:filename().
file(Dir, Name) -> filename:join(Dir, Name).

write(File, Text) -> ertslab_results:write(File, Text, ?ADVICE).

-spec cannot_write(file:filename(), file:posix() | badarg | terminated | system_limit) -> no_return().
cannot_write(File, Reason) -> ertslab_results:cannot_write(File, Reason, ?ADVICE).
