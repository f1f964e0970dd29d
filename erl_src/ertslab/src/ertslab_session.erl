%% @doc The folder of one comparison: its plan, its raw samples, its results.
%%
%%   session.json   the plan, written before the first run
%%   samples.jsonl  one JSON object a line, appended run by run: the samples of
%%                  a run, then one line of type `run' that closes it
%%   summary.json   written when all runs are done
%%
%% A run counts only when its closing line is there, so a comparison that was
%% killed goes on where it stopped.
-module(ertslab_session).

-export([open/3, append/2, close/1, finish/2, read/1, file/2]).
-export_type([session/0, sample/0, run_line/0, plan/0]).

-type plan() :: #{atom() => term()}.
-type sample() :: #{binary() => term()}.
-type run_line() :: #{binary() => term()}.
-type session() :: #{dir := file:filename(), plan := plan(), done := #{pos_integer() => binary()},
                     device := file:io_device()}.

-define(FILES, ["session.json", "samples.jsonl", "summary.json", "table.txt", "plot.svg", "report.html"]).

%% @doc Opens `Dir' for `Plan': a new folder, or one that holds the same plan
%% unfinished. The seed of an unfinished one is kept, so that its schedule is.
-spec open(file:filename(), plan(), Force :: boolean()) -> session().
open(Dir, Plan, Force) ->
    ok = make_dir(Dir),
    case state(Dir) of
        empty -> new(Dir, Plan);
        State when Force, State =/= foreign ->
            lists:foreach(fun(Name) -> file:delete(file(Dir, Name)) end, ?FILES),
            new(Dir, Plan);
        unfinished -> resume(Dir, Plan);
        finished ->
            ertslab_error:failure("~ts holds a finished comparison; choose another --out,"
                                  " or --force to replace it.", [Dir]);
        foreign ->
            ertslab_error:failure("~ts holds other files; choose an empty folder as --out.", [Dir])
    end.

make_dir(Dir) ->
    case filelib:ensure_path(Dir) of
        ok -> ok;
        {error, Reason} -> cannot_write(Dir, Reason)
    end.

state(Dir) ->
    {ok, Files} = list_dir(Dir),
    Has = fun(Name) -> lists:member(Name, Files) end,
    case {Files, Has("session.json"), Has("summary.json")} of
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
    opened(Dir, Plan, #{}).

resume(Dir, Plan) ->
    Stored = decode_file(file(Dir, "session.json")),
    Kept = Plan#{seed := kept_seed(Plan, Stored), command := maps:get(~"command", Stored, null)},
    comparable(Stored) =:= comparable(as_json(recorded(Kept))) orelse
        ertslab_error:failure("~ts holds another comparison that is not finished; choose another"
                              " --out, or --force to replace it.", [Dir]),
    #{runs := Runs} = Samples = read(Dir),
    rewrite(file(Dir, "samples.jsonl"), Samples),
    opened(Dir, Kept, maps:from_list([{N, Outcome} || #{~"run" := N, ~"outcome" := Outcome} <- Runs])).

kept_seed(#{seed_given := true, seed := Seed}, _) -> Seed;
kept_seed(_, #{~"seed" := Seed}) -> Seed.

%% Where the emulators lie on this machine is no part of what is compared.
recorded(#{arms := Arms} = Plan) ->
    Plan#{arms := [Arm#{vm := maps:without([executable, interpreter, root], VM)} || #{vm := VM} = Arm <- Arms]}.

comparable(Plan) -> maps:without([~"command", ~"seed_given"], Plan).

as_json(Plan) -> json:decode(iolist_to_binary(json:encode(Plan))).

opened(Dir, Plan, Done) ->
    File = file(Dir, "samples.jsonl"),
    case file:open(File, [append, raw, binary]) of
        {ok, Device} -> #{dir => Dir, plan => Plan, done => Done, device => Device};
        {error, Reason} -> cannot_write(File, Reason)
    end.

%% Only the lines of complete runs are kept.
rewrite(File, #{samples := Samples, runs := Runs}) ->
    Part = File ++ ".part",
    write(Part, [[json:encode(Line), $\n] || Line <- Samples ++ Runs]),
    ok = file:rename(Part, File).

%% @doc Appends the lines of one run in one write.
-spec append(session(), [map()]) -> ok.
append(#{device := Device, dir := Dir}, Lines) ->
    case file:write(Device, [[json:encode(Line), $\n] || Line <- Lines]) of
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
-spec read(file:filename()) -> #{samples := [sample()], runs := [run_line()]}.
read(Dir) ->
    File = file(Dir, "samples.jsonl"),
    Lines = decode_lines(File, read_lines(File)),
    {Runs, Samples} = lists:partition(fun(#{~"type" := Type}) -> Type =:= ~"run" end, Lines),
    Complete = #{N => true || #{~"run" := N} <- Runs},
    #{runs => Runs,
      samples => [S || #{~"run" := N} = S <- Samples, is_map_key(N, Complete)]}.

read_lines(File) ->
    case file:read_file(File) of
        {ok, Text} -> binary:split(Text, ~"\n", [global]);
        {error, enoent} -> [];
        {error, Reason} ->
            ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)])
    end.

%% What follows the last line end is a line that was cut off in writing.
decode_lines(_File, []) -> [];
decode_lines(File, Lines) ->
    [decode_line(File, Number, Line)
     || {Number, Line} <- lists:enumerate(lists:droplast(Lines))].

decode_line(File, Number, Line) ->
    try json:decode(Line) of
        #{~"type" := _, ~"run" := _} = Object -> Object;
        _ -> bad_line(File, Number)
    catch error:_ -> bad_line(File, Number)
    end.

-spec bad_line(file:filename(), pos_integer()) -> no_return().
bad_line(File, Number) ->
    ertslab_error:failure("~ts, line ~b is no sample; mend or remove that line.", [File, Number]).

decode_file(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            try json:decode(Text)
            catch error:_ -> ertslab_error:failure("~ts is damaged.", [File])
            end;
        {error, Reason} ->
            ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)])
    end.

%% @doc The path of a file in the folder.
-spec file(file:filename(), string()) -> file:filename().
file(Dir, Name) -> filename:join(Dir, Name).

write(File, Text) ->
    case file:write_file(File, Text) of
        ok -> ok;
        {error, Reason} -> cannot_write(File, Reason)
    end.

-spec cannot_write(file:filename(), file:posix() | badarg | terminated) -> no_return().
cannot_write(File, Reason) ->
    ertslab_error:failure("cannot write ~ts: ~ts; what was measured before is kept.",
                          [File, file:format_error(Reason)]).
