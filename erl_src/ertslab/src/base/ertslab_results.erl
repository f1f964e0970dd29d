%% @doc The folders for results, one for each call of a command.
-module(ertslab_results).

-include_lib("kernel/include/file.hrl").

-export([dir/2, new/1, make/1, write/2, write/3, told/4, cannot_write/3]).

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
        {ok, _} -> ertslab_error:failure("~ts holds other files; choose an empty folder as --out.", [Dir]);
        {error, Reason} -> cannot_write(Dir, Reason)
    end.

%% @doc Writes a file of results, whole or not at all: a half-written file never has the final name.
-spec write(file:filename(), iodata()) -> ok.
write(File, Text) -> write(File, Text, "").

%% @doc The same, with advice for the user if it fails.
-spec write(file:filename(), iodata(), Advice :: string()) -> ok.
write(File, Text, Advice) ->
    case written(is_replaceable(File), File, Text) of
        ok -> ok;
        {error, Reason} -> cannot_write(File, Reason, Advice)
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

-spec cannot_write(file:filename(), file:posix() | badarg | terminated | system_limit) -> no_return().
cannot_write(File, Reason) -> cannot_write(File, Reason, "").

%% @doc Fails because a file cannot be written.
-spec cannot_write(file:filename(), file:posix() | badarg | terminated | system_limit, Advice :: string()) -> no_return().
cannot_write(File, Reason, Advice) ->
    ertslab_error:failure("cannot write ~ts: ~ts~ts.", [File, file:format_error(Reason), Advice]).
