%% @doc Allows one program at a time in a folder, or at a file.
%%
%% The program holds a socket in Linux's abstract namespace that is named after
%% the folder's device and inode. The kernel gives that name to one program only
%% and takes it back when the program ends, however it ends: no stale lock file can
%% remain. The lock does not reach over machines, nor into other containers.
-module(ertslab_folder_lock).

-include_lib("kernel/include/file.hrl").

-export([in/2, on/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {measuring_into, file:filename()} | {writing_into, file:filename()}.

%% As many links as Linux follows.
-define(MOST_LINKS, 40).

%% @doc Calls the function while holding the lock of an existing folder, and returns its
%% result. Fails if another program holds the lock.
-spec in(file:filename(), fun(() -> Result)) -> Result.
in(Dir, Fun) -> held(name(Dir, ""), Fun, {measuring_into, Dir}).

%% @doc The same for a file. It need not exist, and may be replaced meanwhile, so its name in its folder is what is locked. A
%% link counts as the file that it leads to.
-spec on(file:filename(), fun(() -> Result)) -> Result.
on(File, Fun) ->
    Target = followed(filename:absname(File), ?MOST_LINKS),
    case filelib:is_dir(filename:dirname(Target)) of
        true ->
            Name = name(filename:dirname(Target), [" ", binary:encode_hex(erlang:md5(ertslab_text:binary(filename:basename(Target))))]),
            held(Name, Fun, {writing_into, File});
        false -> Fun() % which says that it cannot write there
    end.

followed(File, Left) ->
    case file:read_link_all(File) of
        {ok, Target} when Left > 0 -> followed(filename:absname(Target, filename:dirname(File)), Left - 1);
        _ -> File
    end.

name(Dir, More) ->
    {ok, #file_info{major_device = Device, inode = Inode}} = file:read_file_info(Dir),
    iolist_to_binary(["\0ertslab ", integer_to_list(Device), $\s, integer_to_list(Inode), More]).

held(Name, Fun, Refusal) ->
    {ok, Socket} = socket:open(local, dgram),
    try
        case socket:bind(Socket, #{family => local, path => Name}) of
            ok -> Fun();
            {error, eaddrinuse} -> ertslab_error:failure(?MODULE, Refusal)
        end
    after socket:close(Socket)
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({measuring_into, Dir}) -> ["another ertslab is measuring into ", Dir, "; wait for its end, or choose another --out."];
format_error({writing_into, File}) -> ["another ertslab writes into ", File, "; wait for its end, or choose another file."].
