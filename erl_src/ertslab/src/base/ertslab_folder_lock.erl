%% @doc One program at a time in a folder.
%%
%% Who is there is known by a socket in Linux's abstract namespace, named after
%% the folder's device and inode. The kernel gives that name to one program only
%% and takes it back when that ends, however it ends: no file is left that could
%% be out of date. It does not reach over machines, nor into other containers.
-module(ertslab_folder_lock).

-include_lib("kernel/include/file.hrl").

-export([in/2]).

%% @doc The result of the function, which nobody else calls meanwhile for a folder
%% that is there. Fails where somebody does.
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
        {error, eaddrinuse} ->
            ertslab_error:failure("another ertslab is measuring into ~ts; wait for its end, or choose another"
                                  " --out.", [Dir])
    end.
