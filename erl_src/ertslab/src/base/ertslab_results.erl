%% @doc The folders that results go to, each made for one call of a command.
-module(ertslab_results).

-export([dir/2, new/1, make/1, write/2]).

%% @doc The folder that `--out' names, else one below results/ that is named
%% after what was done and when.
-spec dir(unicode:chardata(), map()) -> file:filename().
dir(_What, #{out := Dir}) -> filename:absname(Dir);
dir(What, #{}) ->
    {{Y, Mo, D}, {H, Mi, S}} = calendar:local_time(),
    filename:absname(
      filename:join([os:getenv("ERTSLAB_TOP", "."), "results",
                     io_lib:format("~ts-~4..0b~2..0b~2..0b-~2..0b~2..0b~2..0b",
                                   [What, Y, Mo, D, H, Mi, S])])).

%% @doc Makes the folder, which must not hold anything yet.
-spec new(file:filename()) -> ok.
new(Dir) ->
    ok = make(Dir),
    empty(Dir).

%% @doc Makes the folder and those above it where they are not there yet.
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

%% @doc Writes a file of results.
-spec write(file:filename(), iodata()) -> ok.
write(File, Text) ->
    case file:write_file(File, Text) of
        ok -> ok;
        {error, Reason} -> cannot_write(File, Reason)
    end.

-spec cannot_write(file:filename(), file:posix() | badarg | terminated | system_limit) -> no_return().
cannot_write(File, Reason) ->
    ertslab_error:failure("cannot write ~ts: ~ts.", [File, file:format_error(Reason)]).
