%% @doc Allows one program at a time in a folder.
%%
%% The program holds a socket in Linux's abstract namespace that is named after
%% the folder's device and inode. The kernel gives that name to one program only
%% and takes it back when the program ends, however it ends: no stale lock file can
%% remain. The lock does not reach over machines, nor into other containers.
-module(ertslab_folder_lock).

-include_lib("kernel/include/file.hrl").

-export([in/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {locked, file:filename()}.

%% @doc Calls the function while holding the lock of an existing folder, and returns its
%% result. Fails if another program holds the lock.
-spec in(file:filename(), fun(() -> Result)) -> Result.
in(Dir, Fun) ->
    Socket = taken(Dir, name(Dir)),
    try Fun()
    after socket:close(Socket)
    end.

name(Dir) ->
    {ok, #file_info{major_device = Device, inode = Inode}} = file:read_file_info(Dir),
    iolist_to_binary(io_lib:format("\0ertslab ~b ~b", [Device, Inode])).

taken(Dir, Name) ->
    {ok, Socket} = socket:open(local, dgram),
    case socket:bind(Socket, #{family => local, path => Name}) of
        ok -> Socket;
        {error, eaddrinuse} -> ertslab_error:failure(?MODULE, {locked, Dir})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({locked, Dir}) ->
    ["another ertslab is measuring into ", Dir, "; wait for its end, or choose another --out."].
