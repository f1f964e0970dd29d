%% @doc Where the result of a comparison is made from its folder, and where it is read again. No other module of the reports or
%% of the runs reads samples.jsonl for it.
-module(ertslab_summary_file).

-export([make/2, read/1, decoded/1, supported/3, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_summary, file:filename()} | {no_manifest, file:filename()} | {no_sample, file:filename()}
                | {no_json, file:filename(), Line :: pos_integer()} | {cut_off, file:filename(), Line :: pos_integer()}
                | {no_object, file:filename()} | {unknown_format, file:filename(), Format :: term(), Most :: pos_integer()}.

%% @doc The result of the finished runs of a plan in a folder.
-spec make(file:filename(), ertslab_session:plan()) -> ertslab_result:summary().
make(Dir, Plan) ->
    File = fun(Name) -> ertslab_text:binary(file(Dir, Name)) end,
    (ertslab_summary:make(Plan, ertslab_session:read(Dir)))#{
      paths => #{samples => File("samples.jsonl"), plan => File("session.json"), plot => File("plot.svg")}}.

%% @doc The result in a folder. What the summary of an older ertslab lacks is made from the other files of the folder.
-spec read(file:filename()) -> ertslab_result:summary().
read(Dir) ->
    File = file(Dir, "summary.json"),
    Current = ertslab_result:format(),
    case supported(decoded(File), File, Current) of
        #{<<"format">> := Current} = Object -> result(Object, File);
        Older -> older(Dir, Older, File)
    end.

result(Object, File) -> shaped(fun() -> ertslab_result:decode(Object) end, {no_summary, File}).

older(Dir, Object, File) ->
    Session = optional(file(Dir, "session.json")),
    Manifest = optional(file(Dir, "manifest.json")),
    Result = shaped(fun() -> ertslab_result:decode(with_origins(Object, Session, Manifest)) end, {no_summary, File}),
    Built = shaped(fun() -> ertslab_result:built(Manifest) end, {no_manifest, file(Dir, "manifest.json")}),
    Samples = ertslab_session:read(Dir),
    shaped(fun() -> ertslab_summary:completed(Result#{built := Built}, Samples) end, {no_sample, file(Dir, "samples.jsonl")}).

%% Only the plan says which VM an arm had.
with_origins(#{<<"arms">> := Arms} = Object, Session, Manifest) ->
    VMs = maps:from_list([{Label, VM} || #{<<"label">> := Label, <<"vm">> := #{} = VM} <- maps:get(<<"arms">>, Session, [])]),
    Object#{<<"arms">> := [ertslab_result:with_origin(Arm, maps:get(Label, VMs, #{}), Manifest) || #{<<"label">> := Label} = Arm <- Arms]}.

%% A mismatch means that ertslab did not write this file.
shaped(Read, Reason) ->
    try Read()
    catch error:_ -> ertslab_error:failure(?MODULE, Reason)
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_summary, File}) -> [File, " is not the summary of a comparison."];
format_error({no_manifest, File}) -> [File, " is not a manifest."];
format_error({no_sample, File}) -> [File, " contains a line that is not a sample of a run."];
format_error({no_json, File, Line}) -> io_lib:format("~ts, line ~b: this is not JSON.", [File, Line]);
format_error({cut_off, File, Line}) -> io_lib:format("~ts, line ~b: the file is cut off here.", [File, Line]);
format_error({no_object, File}) -> [File, " holds no JSON object."];
format_error({unknown_format, File, Format, Most}) ->
    io_lib:format("~ts has the format ~0tp, and this ertslab reads formats up to ~b;"
                  " read it with the version that wrote it, or a newer one.", [File, Format, Most]).

optional(File) ->
    case filelib:is_regular(File) of
        true -> object(decoded(File), File);
        false -> #{}
    end.

file(Dir, Name) -> ertslab_session:file(Dir, Name).

%% @doc The contents of a file of JSON; a failure that names the line if it is none.
-spec decoded(file:filename()) -> term().
decoded(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            try ertslab_json_reader:decode(Text)
            catch error:{not_json, Position} ->
                    ertslab_error:failure(?MODULE, {damage(Text, Position), File, line(Text, Position)})
            end;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

damage(Text, Position) when Position =:= byte_size(Text) -> cut_off;
damage(_, _) -> no_json.

line(Text, Position) when Position =:= byte_size(Text) ->
    length(binary:matches(string:trim(Text, trailing), <<"\n">>)) + 1;
line(Text, Position) -> length(binary:matches(binary:part(Text, 0, Position), <<"\n">>)) + 1.

object(Object, _File) when is_map(Object) -> Object;
object(_, File) -> ertslab_error:failure(?MODULE, {no_object, File}).

%% @doc The object of a file, if its format is not newer than the given one. A plan has a format of its own.
-spec supported(term(), file:filename(), pos_integer()) -> ertslab_result:object().
supported(Object0, File, Current) ->
    Object = object(Object0, File),
    Plans = case Object of
                #{<<"plan">> := #{<<"format">> := OfPlan}} -> [{OfPlan, ertslab_session:format()}];
                #{} -> []
            end,
    case [Other || {Format, Most} = Other <- [{Format, Current} || #{<<"format">> := Format} <- [Object]] ++ Plans,
                   not is_integer(Format) orelse Format < 1 orelse Format > Most] of
        [] -> Object;
        [{Other, Most} | _] -> ertslab_error:failure(?MODULE, {unknown_format, File, Other, Most})
    end.
