%% @doc A file as an IO device that survives changes of the file. A file that was moved or removed
%% is created again. If a page cannot be written, the answer is the error, and the next page is
%% tried again. A pipe or a socket is no such file: whoever opens a pipe that nobody reads waits, and may never be ended.
-module(batch_io_file).
-behaviour(gen_server).

-include_lib("kernel/include/file.hrl").

-export([start_link/2, try_open/1, sync/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).
-export_type([reason/0]).

%% is_pipe: it is a pipe or a socket.
-type reason() :: file:posix() | badarg | system_limit | is_pipe.

%% How often the file's name is compared with the open file.
-define(LOOK_MS, 1000).
-define(SYNC_MS, 5000).

%% torn: the last page may have been written in part, so the next page starts a new line.
-record(file, {name :: file:filename_all(), open = none :: none | {file:fd(), Inode :: term()},
               looked = 0 :: integer(), torn = false :: boolean()}).

%% @doc Starts the device under a name. If the file cannot be opened, each page tries again.
-spec start_link(atom(), file:filename_all()) -> gen_server:start_ret().
start_link(Name, File) -> gen_server:start_link({local, Name}, ?MODULE, File, []).

%% @doc Checks whether the file can be written. Creates the file and its folder if they are missing.
-spec try_open(file:filename_all()) -> ok | {error, reason()}.
try_open(File) ->
    case open(File) of
        {ok, {Fd, _}} -> file:close(Fd);
        {error, Reason} -> {error, Reason}
    end.

%% @doc Makes the system write the file's data to the disk.
-spec sync(atom()) -> ok | {error, term()}.
sync(Name) ->
    try gen_server:call(Name, sync, ?SYNC_MS)
    catch exit:_ -> {error, terminated}
    end.

-spec init(file:filename_all()) -> {ok, #file{}}.
init(File) -> {ok, #file{name = File}}.

-spec handle_call(term(), gen_server:from(), #file{}) -> {reply, term(), #file{}}.
handle_call(sync, _From, #file{open = {Fd, _}} = State) -> {reply, file:datasync(Fd), State};
handle_call(sync, _From, State) -> {reply, ok, State};
handle_call(_, _From, State) -> {reply, {error, request}, State}.

-spec handle_cast(term(), #file{}) -> {noreply, #file{}}.
handle_cast(_, State) -> {noreply, State}.

-spec handle_info(term(), #file{}) -> {noreply, #file{}}.
handle_info({io_request, From, ReplyAs, Request}, State) when is_pid(From) ->
    {Reply, Next} = request(Request, State),
    From ! {io_reply, ReplyAs, Reply},
    {noreply, Next};
handle_info(_, State) -> {noreply, State}.

request(getopts, State) -> {[{encoding, unicode}], State};
request({put_chars, unicode, Text}, State) when is_binary(Text) -> write(Text, looked(State));
request(_, State) -> {{error, request}, State}.

write(Text, #file{open = none, name = Name} = State) ->
    case open(Name) of
        {ok, Open} -> write(Text, State#file{open = Open, looked = now_ms()});
        {error, Reason} -> {{error, Reason}, State}
    end;
write(Text, #file{open = {Fd, _}, torn = Torn} = State) ->
    case file:write(Fd, [[$\n || Torn], Text]) of
        ok -> {ok, State#file{torn = false}};
        {error, Reason} -> {{error, Reason}, State#file{torn = true}}
    end.

looked(#file{open = {Fd, Inode}, name = Name, looked = Looked} = State) ->
    case now_ms() - Looked < ?LOOK_MS of
        true -> State;
        false ->
            case inode(Name) of
                Inode -> State#file{looked = now_ms()};
                _ ->
                    _ = file:close(Fd),
                    State#file{open = none, torn = false}
            end
    end;
looked(State) -> State.

open(File) ->
    case file:read_file_info(File, [raw]) of
        {ok, #file_info{type = other} = Info} ->
            case is_own(inode_of(Info)) of
                true -> open_or_create(File);
                false -> {error, is_pipe}
            end;
        _ -> open_or_create(File)
    end.

%% What the VM was started with has a reader, as the standard output of a container. A shell redirects the first ten files. The name
%% may be any, such as that of a link.
is_own(Inode) -> lists:any(fun(Nth) -> inode("/dev/fd/" ++ [Nth]) =:= Inode end, "0123456789").

%% If the folder cannot be created, opening the file fails with the reason.
open_or_create(File) ->
    _ = filelib:ensure_dir(File),
    case file:open(File, [raw, binary, append]) of
        {ok, Fd} -> {ok, {Fd, inode(Fd)}}; % not that of the name, which may be another file's by now, or none's
        {error, Reason} -> {error, Reason}
    end.

inode(FileOrName) ->
    case file:read_file_info(FileOrName, [raw]) of
        {ok, Info} -> inode_of(Info);
        {error, Reason} -> Reason
    end.

inode_of(#file_info{major_device = Device, inode = Inode}) -> {Device, Inode}.

now_ms() -> erlang:monotonic_time(millisecond).
