%% @doc The folders for results, one for each call of a command.
-module(ertslab_results).

-include_lib("kernel/include/file.hrl").

-export([dir/2, new/1, make/1, write/2, write/3, told/4, other_files/1, cannot_read/2, cannot_write/2, cannot_write/3]).
-export([format_error/1]).
-export_type([reason/0, resumes/0]).

-type posix() :: file:posix() | badarg | terminated | system_limit.
%% Whether the same call goes on with what is in the folder, or it is one of temporary files.
-type resumes() :: resumes | anew | scratch.
-type reason() :: {other_files, file:filename()} | {cannot_read, file:filename(), posix()}
                | {cannot_write, file:filename(), posix(), resumes()}.

%% @doc The folder that `--out' names, else one below results/ that is named
%% after the command and the time.
-spec dir(unicode:chardata(), map()) -> file:filename().
dir(_What, #{out := Dir}) -> Dir;
dir(What, #{}) ->
    {{Y, Mo, D}, {H, Mi, S}} = calendar:local_time(),
    ertslab_paths:results(io_lib:format("~ts-~4..0b~2..0b~2..0b-~2..0b~2..0b~2..0b", [What, Y, Mo, D, H, Mi, S])).

%% @doc Makes the folder, which must be empty if it exists.
-spec new(file:filename()) -> ok.
new(Dir) ->
    ok = make(Dir),
    empty(Dir).

%% @doc Makes the folder and its parents as far as they are missing.
-spec make(file:filename()) -> ok.
make(Dir) ->
    case filelib:ensure_path(Dir) of
        ok -> ok;
        {error, Reason} -> cannot_write(Dir, Reason)
    end.

empty(Dir) ->
    case file:list_dir(Dir) of
        {ok, []} -> ok;
        {ok, _} -> other_files(Dir);
        {error, Reason} -> cannot_write(Dir, Reason)
    end.

%% @doc Writes a file of results, whole or not at all: a half-written file never has the final name.
-spec write(file:filename(), iodata()) -> ok.
write(File, Text) -> write(File, Text, anew).

%% @doc The same in a folder with which the same call may go on.
-spec write(file:filename(), iodata(), resumes()) -> ok.
write(File, Text, Resumes) ->
    case written(is_replaceable(File), File, Text) of
        ok -> ok;
        {error, Reason} -> cannot_write(File, Reason, Resumes)
    end.

%% @doc Tells a result as text, or as JSON where the options ask for that, whether or not `Write' could write its files. It fails
%% afterwards if that could not.
-spec told(fun(() -> _), map(), Json :: iodata(), unicode:chardata()) -> ok.
told(Write, Options, Json, Text) ->
    Failures = ertslab_error:put_off(Write),
    io:put_chars(case Options of
                     #{json := true} -> unicode:characters_to_list(iolist_to_binary(Json));
                     #{} -> unicode:characters_to_list(Text)
                 end),
    ertslab_error:at_last(Failures, fun() -> ok end).

%% A terminal, a pipe or a link cannot be replaced by renaming: it is written to directly.
is_replaceable(File) ->
    case file:read_link_info(File) of
        {ok, #file_info{type = Type}} -> Type =:= regular;
        {error, _} -> true
    end.

written(false, File, Text) -> file:write_file(File, Text);
written(true, File, Text) ->
    Part = unicode:characters_to_list([File, ".part"]),
    Result = case file:write_file(Part, Text) of
                 ok -> file:rename(Part, File);
                 {error, Reason} -> {error, Reason}
             end,
    Result =:= ok orelse file:delete(Part),
    Result.

%% @doc Fails because a folder is not empty.
-spec other_files(file:filename()) -> no_return().
other_files(Dir) -> ertslab_error:failure(?MODULE, {other_files, Dir}).

%% @doc Fails because a file cannot be read.
-spec cannot_read(file:filename(), posix()) -> no_return().
cannot_read(File, Reason) -> ertslab_error:failure(?MODULE, {cannot_read, File, Reason}).

%% @doc Fails because a file cannot be written.
-spec cannot_write(file:filename(), posix()) -> no_return().
cannot_write(File, Reason) -> cannot_write(File, Reason, anew).

%% @doc The same in a folder with which the same call may go on.
-spec cannot_write(file:filename(), posix(), resumes()) -> no_return().
cannot_write(File, Reason, Resumes) -> ertslab_error:failure(?MODULE, {cannot_write, File, Reason, Resumes}).

-spec format_error(reason()) -> unicode:chardata().
format_error({other_files, Dir}) -> [Dir, " holds other files; choose an empty folder as --out."];
format_error({cannot_read, File, Reason}) -> ["cannot read ", File, ": ", file:format_error(Reason), "."];
format_error({cannot_write, File, Reason, Resumes}) ->
    ["cannot write ", File, ": ", file:format_error(Reason), kept(Resumes), "."].

kept(resumes) -> "; what was measured before is kept, and the same command with the same --out, without --force, continues";
kept(scratch) -> "; TMPDIR names another place";
kept(anew) -> "".
