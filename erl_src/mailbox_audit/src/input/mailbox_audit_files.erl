%% @doc The files of folders, whatever characters are in the names of these: `filelib:wildcard' takes some of them for its own.
-module(mailbox_audit_files).

-include_lib("kernel/include/file.hrl").

-export([below/2, tree/2, read/1, identity/1, absolute/1, shown/1, in_scratch/1]).
-export_type([step/0, found/0, why/0]).

%% Names that are looked at below a folder of sources: some hundred times as many as the largest of OTP has.
-define(MOST_NAMES, 100_000).

-type step() :: string() | any | {ending, string()}.
-type why() :: file:posix() | badarg | terminated | system_limit | special_file.
%% special_file: a pipe, a device or a socket, whose reading may never end.
-type found() :: {ok, file:filename_all()} | {unread, file:filename_all(), why()}.
%% A path that is bytes has a name that is no UTF-8.

%% @doc What lies below a folder by these steps, in the order of their names: a name, any folder, or each name that ends so, in small
%% letters or capitals. What cannot be looked into is among it, and so is a link that leads nowhere.
-spec below(file:filename_all(), [step()]) -> [found()].
below(Path, []) -> [{ok, Path}];
below(Path, [any | Steps]) ->
    each(Path, fun(Name) ->
                       Next = filename:join(Path, Name),
                       case kind(Next) of
                           directory -> below(Next, Steps);
                           {error, Why} -> [{unread, Next, Why}];
                           _ -> []
                       end
               end);
below(Path, [{ending, Ending} | Steps]) ->
    each(Path, fun(Name) ->
                       case lists:suffix(Ending, string:lowercase(shown(Name))) of
                           true -> below(filename:join(Path, Name), Steps);
                           false -> []
                       end
               end);
below(Path, [Name | Steps]) ->
    Next = filename:join(Path, Name),
    case kind(Next) of
        nothing -> [];
        {error, Why} -> [{unread, Next, Why}];
        _ -> below(Next, Steps)
    end.

%% What a function makes of each name in a folder.
each(Dir, Fun) ->
    case file:list_dir_all(Dir) of
        {ok, Names} -> lists:flatmap(Fun, lists:sort(Names));
        {error, Why} -> [{unread, Dir, Why}]
    end.

%% @doc The files at any depth below a folder, in the order of their paths. Of its folders those are looked into whose names the function
%% accepts. A link is a file here, wherever it leads: it may lead back. The number of names has a limit.
-spec tree(file:filename_all(), fun((Name :: string()) -> boolean())) -> [file:filename_all()].
tree(Dir, Accepts) -> lists:sort(tree([Dir], Accepts, ?MOST_NAMES, [])).

tree([Dir | Dirs], Accepts, Left, Files) when Left > 0 ->
    Found = lists:sublist([filename:join(Dir, Name) || Name <- names(Dir)], Left),
    {Folders, Others} = lists:partition(fun is_folder/1, Found),
    tree([Folder || Folder <- Folders, Accepts(shown(filename:basename(Folder)))] ++ Dirs, Accepts, Left - length(Found), Others ++ Files);
tree(_Dirs, _Accepts, _Left, Files) -> Files.

names(Dir) ->
    case file:list_dir_all(Dir) of
        {ok, Names} -> Names;
        {error, _} -> []
    end.

is_folder(Path) ->
    case file:read_link_info(Path, [raw]) of
        {ok, #file_info{type = Type}} -> Type =:= directory;
        {error, _} -> false
    end.

%% The type of what is there, whatever links lead to it; nothing, where there is not even a link.
kind(Path) ->
    case file:read_file_info(Path, [raw]) of
        {ok, #file_info{type = Type}} -> Type;
        {error, Why} when Why =:= enoent; Why =:= enotdir -> dead_link(file:read_link_info(Path, [raw]), Why);
        {error, Why} -> {error, Why}
    end.

dead_link({ok, _}, Why) -> {error, Why};
dead_link({error, _}, _Why) -> nothing.

%% @doc The bytes of a file.
-spec read(file:filename_all()) -> {ok, binary()} | {error, why()}.
read(Path) ->
    case kind(Path) of
        Special when Special =:= device; Special =:= other -> {error, special_file};
        _ -> file:read_file(Path)
    end.

%% @doc The same for each way that leads to a file in its folder; the path where nothing is.
-spec identity(file:filename_all()) -> term().
identity(Path) ->
    case [{Device, Inode} || Each <- [Path, filename:dirname(Path)],
                             {ok, #file_info{major_device = Device, inode = Inode}} <- [file:read_file_info(Each, [raw])]] of
        [_, _] = Both -> Both;
        _ -> Path
    end.

%% @doc The whole path, without `.' and `..'.
-spec absolute(file:filename_all()) -> file:filename_all().
absolute(Path) -> filename:join(lists:reverse(lists:foldl(fun step/2, [], filename:split(filename:absname(Path))))).

step(".", Above) -> Above;
step("..", [_, _ | _] = Above) -> tl(Above);
step("..", Root) -> Root;
step(Part, Above) -> [Part | Above].

%% @doc A name in characters, also one that has none: each byte that is no UTF-8 as the character of that number.
-spec shown(file:name_all()) -> string().
shown(Name) ->
    case unicode:characters_to_list(Name) of
        {_, Good, <<Byte, Rest/binary>>} -> Good ++ [Byte | shown(Rest)];
        {error, _, _} -> lists:flatten(io_lib:format("~0tp", [Name]));
        Chars -> Chars
    end.

%% @doc What the function makes with a folder that is gone afterwards. It was not there before, so that nobody else has put a link into it.
-spec in_scratch(fun((file:filename()) -> Result)) -> Result | {error, string()}.
in_scratch(Fun) ->
    Name = io_lib:format("mailbox_audit-~ts-~.36b", [os:getpid(), erlang:unique_integer([positive])]),
    Scratch = filename:join(os:getenv("TMPDIR", "/tmp"), lists:flatten(Name)),
    case file:make_dir(Scratch) of
        ok ->
            try Fun(Scratch)
            after file:del_dir_r(Scratch)
            end;
        {error, Reason} -> {error, lists:flatten(io_lib:format("cannot make ~ts: ~ts", [Scratch, file:format_error(Reason)]))}
    end.
