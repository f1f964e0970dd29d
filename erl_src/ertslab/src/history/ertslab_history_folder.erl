%% @doc The folder of a call that measures many commits: history.json says what for, and which do not build; each
%% reading has a folder of its own.
-module(ertslab_history_folder).

-export([prepare/2, recorded/1, unbuildable/1, unbuildable/2, reading/3, readings/2]).

-define(FILE_NAME, "history.json").
%% What of the words of a call shapes what is measured.
-define(SHAPING, [experiment, metric, param, pairs, budget, quick, otp, every]).

%% @doc Makes the folder; one that was begun for another question is refused.
-spec prepare(file:filename(), #{atom() => term()}) -> ok.
prepare(Dir, Question) ->
    ok = ertslab_results:make(Dir),
    Wanted = json:decode(iolist_to_binary(json:encode(Question))),
    case {read(Dir), file:list_dir(Dir)} of
        {none, {ok, []}} -> write(Dir, #{~"question" => Wanted, ~"unbuildable" => []});
        {#{~"question" := Wanted}, _} -> ok;
        {none, _} -> ertslab_error:failure("~ts holds other files; choose an empty folder as --out.", [Dir]);
        {_, _} -> ertslab_error:failure("~ts was begun with other words; choose another --out.", [Dir])
    end.

%% @doc What of the options belongs to the question, as JSON has it.
-spec recorded(map()) -> #{atom() => term()}.
recorded(Options) ->
    maps:map(fun(_, Value) -> ertslab_error:text(io_lib:format("~0tp", [Value])) end, maps:with(?SHAPING, Options)).

%% @doc The commits, by their number, that do not build.
-spec unbuildable(file:filename()) -> [pos_integer()].
unbuildable(Dir) ->
    #{~"unbuildable" := Numbers} = read(Dir),
    Numbers.

%% @doc Keeps that one does not build.
-spec unbuildable(file:filename(), pos_integer()) -> ok.
unbuildable(Dir, Number) ->
    #{~"unbuildable" := Numbers} = Kept = read(Dir),
    write(Dir, Kept#{~"unbuildable" := lists:usort([Number | Numbers])}).

%% @doc Where a commit's reading goes; it has so many before.
-spec reading(file:filename(), Id :: string(), non_neg_integer()) -> file:filename().
reading(Dir, Id, Before) -> filename:join(Dir, lists:concat([ertslab_history:short(Id), "-", Before + 1])).

%% @doc Where the finished readings of a commit are.
-spec readings(file:filename(), Id :: string()) -> [file:filename()].
readings(Dir, Id) ->
    lists:sort([filename:dirname(File)
                || File <- filelib:wildcard(filename:join([Dir, ertslab_history:short(Id) ++ "-*", "summary.json"]))]).

read(Dir) ->
    File = filename:join(Dir, ?FILE_NAME),
    case file:read_file(File) of
        {error, _} -> none;
        {ok, Text} ->
            try #{~"question" := _, ~"unbuildable" := _} = json:decode(Text)
            catch error:_ -> ertslab_error:failure("~ts is damaged; choose another --out.", [File])
            end
    end.

write(Dir, Kept) -> ertslab_results:write(filename:join(Dir, ?FILE_NAME), json:format(Kept)).
