%% @doc Calls that are timed: files, logs, code, and the operating system.
-module(mailbox_audit_catalogue_files).

-export([entries/0]).

%% A module that nobody needs while it is loaded anew.
-define(OTHER, mailbox_audit_baseline).

%% @doc The entries, each with its cause where it scans.
-spec entries() -> [mailbox_audit_timed:entry()].
entries() -> file() ++ opened_file() ++ io() ++ disk_log() ++ tables() ++ logger() ++ os() ++ code().

file() ->
    [#{name => "file:read_file_info/1", call => fun(_) -> {ok, _} = file:read_file_info(".") end},
     #{name => "file:list_dir/1", call => fun(_) -> {ok, _} = file:list_dir(".") end},
     #{name => "file:get_cwd/0", call => fun(_) -> {ok, _} = file:get_cwd() end},
     #{name => "file:write_file/2", call => fun(_) -> ok = file:write_file("/dev/null", "text") end},
     #{name => "file:read_file/1", setup => fun consultable/0, cleanup => fun file:delete/1,
       call => fun(File) -> {ok, _} = file:read_file(File) end},
     #{name => "file:open/2", setup => fun scratch/0, cleanup => fun file:delete/1,
       call => fun(File) -> {ok, Device} = file:open(File, [write]), Device end,
       finish => fun(_, Device) -> ok = file:close(Device) end},
     #{name => "file:open/2, close/1 (raw)", setup => fun scratch/0, cleanup => fun file:delete/1,
       call => fun(File) -> {ok, Device} = file:open(File, [write, raw]), ok = file:close(Device) end},
     #{name => "file:open/2 (ram)", call => fun(_) -> {ok, Device} = file:open("text", [ram, read]), Device end,
       finish => fun(_, Device) -> ok = file:close(Device) end,
       cause => "ram_file:get_response/1 waits for {Port, {data, _}} from its driver, which carries no reference"},
     #{name => "file:consult/1", setup => fun consultable/0, cleanup => fun file:delete/1,
       call => fun(File) -> {ok, [term]} = file:consult(File) end},
     #{name => "file:sendfile/5", setup => fun file_and_sockets/0, cleanup => fun close_file_and_sockets/1,
       call => fun({_, File, Sender, _}) -> {ok, 4} = file:sendfile(File, Sender, 0, 4, []) end,
       finish => fun({_, _, _, Receiver}, _) -> {ok, _} = gen_tcp:recv(Receiver, 4) end,
       cause => "prim_inet:sendfile_1/4 waits for {sendfile, Socket, _} from the driver, which carries no reference"}].

opened_file() ->
    [with_file("file:write/2", fun(Device) -> ok = file:write(Device, "text") end),
     #{name => "file:write/2 (raw)", setup => fun opened_raw/0, cleanup => fun close/1,
       call => fun({_, Device}) -> ok = file:write(Device, "text") end},
     with_file("file:pread/3", fun(Device) -> eof = file:pread(Device, 1_000_000, 4) end),
     with_file("file:position/2", fun(Device) -> {ok, 0} = file:position(Device, bof) end),
     with_file("file:datasync/1", fun(Device) -> ok = file:datasync(Device) end),
     #{name => "file:close/1", setup => fun scratch/0, cleanup => fun file:delete/1,
       prepare => fun(File) -> {ok, Device} = file:open(File, [write]), Device end,
       call => fun(Device) -> ok = file:close(Device) end}].

io() ->
    [with_file("io:format/3", fun(Device) -> ok = io:format(Device, "~p~n", [term]) end),
     with_file("io:put_chars/2", fun(Device) -> ok = io:put_chars(Device, "text") end),
     with_file("io:get_line/2", fun(Device) -> eof = io:get_line(Device, "") end),
     with_file("io:getopts/1", fun(Device) -> [_ | _] = io:getopts(Device) end)].

with_file(Name, Call) ->
    #{name => Name, setup => fun opened/0, cleanup => fun close/1, call => fun({_, Device}) -> Call(Device) end}.

disk_log() ->
    [#{name => "disk_log:open/1, close/1", setup => fun scratch/0, cleanup => fun file:delete/1,
       call => fun(File) -> {Log, _} = open_log(File), ok = disk_log:close(Log) end, cause => log_cause()},
     with_log("disk_log:log/2", log_cause(), fun(Log) -> ok = disk_log:log(Log, term) end),
     with_log("disk_log:alog/2", "", fun(Log) -> ok = disk_log:alog(Log, term) end),
     with_log("disk_log:sync/1", log_cause(), fun(Log) -> ok = disk_log:sync(Log) end),
     with_log("disk_log:info/1", log_cause(), fun(Log) -> [_ | _] = disk_log:info(Log) end),
     with_log("disk_log:chunk/2", log_cause(), fun(Log) -> eof = disk_log:chunk(Log, start) end)].

with_log(Name, Cause, Call) ->
    #{name => Name, setup => fun opened_log/0, cleanup => fun close_log/1,
      call => fun({Log, _}) -> Call(Log) end, cause => Cause}.

log_cause() -> "disk_log:monitor_request/2 monitors the log, but waits for {disk_log, Pid, _}, which"
                   " carries no reference".

open_log(File) ->
    {ok, Log} = disk_log:open([{name, File}, {file, File}]),
    {Log, File}.

opened_log() -> open_log(scratch()).

close_log({Log, File}) ->
    ok = disk_log:close(Log),
    file:delete(File).

tables() ->
    [#{name => "ets:new/2, insert/2, delete/1",
       call => fun(_) -> Table = ets:new(junk, []), ets:insert(Table, {1}), ets:delete(Table) end},
     #{name => "ets:all/0", call => fun(_) -> [_ | _] = ets:all() end,
       cause => "ets:receive_all/3 waits for {Ref, _} from each scheduler. A BIF made the reference in this message, and only"
                " references made by make_ref, monitor, alias, spawn_monitor and spawn_request get a marker"},
     #{name => "ets:tab2file/2", setup => fun scratch/0, cleanup => fun file:delete/1,
       prepare => fun(File) -> {ets:new(junk, []), File} end,
       call => fun({Table, File}) -> ok = ets:tab2file(Table, File) end,
       finish => fun({Table, _}, _) -> ets:delete(Table) end, cause => log_cause()},
     #{name => "dets:lookup/2", setup => fun opened_dets/0, cleanup => fun close_dets/1,
       call => fun({Table, _}) -> [] = dets:lookup(Table, 1) end}].

opened_dets() ->
    File = scratch(),
    {ok, Table} = dets:open_file(File, [{file, File}]),
    {Table, File}.

close_dets({Table, File}) ->
    ok = dets:close(Table),
    file:delete(File).

logger() ->
    [#{name => "logger:get_primary_config/0", call => fun(_) -> #{} = logger:get_primary_config() end},
     #{name => "logger:log/2", call => fun(_) -> logger:log(debug, "text") end},
     #{name => "logger:add_handler/3, remove_handler/1", setup => fun scratch/0, cleanup => fun file:delete/1,
       call => fun(File) -> ok = add_handler(File), ok = logger:remove_handler(?MODULE) end},
     #{name => "logger_std_h:filesync/1", setup => fun handling/0, cleanup => fun handled/1,
       call => fun(_) -> ok = logger_std_h:filesync(?MODULE) end},
     #{name => "error_logger:logfile/1",
       call => fun(_) -> {error, no_log_file} = error_logger:logfile(filename) end}].

handling() ->
    File = scratch(),
    ok = add_handler(File),
    File.

handled(File) ->
    ok = logger:remove_handler(?MODULE),
    file:delete(File).

add_handler(File) -> logger:add_handler(?MODULE, logger_std_h, #{config => #{file => File}}).

os() ->
    [#{name => "os:cmd/1", call => fun(_) -> [] = os:cmd(":") end,
       cause => "os:get_data/6 and os:flush_until_down/2 wait for {Port, _} or the port's 'DOWN', but a marker needs the reference of the"
                " monitor in all clauses; os:flush_exit/1 searches with 'after 0'"},
     #{name => "os:putenv/2, getenv/1",
       call => fun(_) -> true = os:putenv("MAILBOX_AUDIT", "1"), "1" = os:getenv("MAILBOX_AUDIT") end},
     #{name => "os:timestamp/0", call => fun(_) -> {_, _, _} = os:timestamp() end}].

code() ->
    [#{name => "code:get_path/0", call => fun(_) -> [_ | _] = code:get_path() end, cause => code_cause()},
     #{name => "code:is_loaded/1", call => fun(_) -> {file, _} = code:is_loaded(lists) end},
     #{name => "code:ensure_loaded/1", call => fun(_) -> {module, lists} = code:ensure_loaded(lists) end},
     #{name => "code:which/1", call => fun(_) -> [_ | _] = code:which(lists) end},
     #{name => "code:lib_dir/1", call => fun(_) -> [_ | _] = code:lib_dir(kernel) end, cause => code_cause()},
     #{name => "code:all_loaded/0", call => fun(_) -> [_ | _] = code:all_loaded() end, cause => code_cause()},
     #{name => "code:load_file/1, purge/1",
       call => fun(_) -> {module, ?OTHER} = code:load_file(?OTHER), code:purge(?OTHER) end,
       cause => code_cause() ++ "; erl_prim_loader:request/1 waits for {Loader, _}, which carries no reference either"}].

code_cause() -> "code_server:call/1 waits for {code_server, _}, which carries no reference".

%% A name for a file that is not there yet.
scratch() ->
    Name = io_lib:format("mailbox_audit-~s-~b", [os:getpid(), erlang:unique_integer([positive])]),
    filename:join(os:getenv("TMPDIR", "/tmp"), lists:flatten(Name)).

opened() -> opened([read, write]).

opened_raw() -> opened([read, write, raw]).

opened(Modes) ->
    File = scratch(),
    {ok, Device} = file:open(File, Modes),
    {File, Device}.

close({File, Device}) ->
    _ = file:close(Device),
    file:delete(File).

consultable() ->
    File = scratch(),
    ok = file:write_file(File, "term."),
    File.

file_and_sockets() ->
    File = scratch(),
    ok = file:write_file(File, "text"),
    {ok, Device} = file:open(File, [read, raw, binary]),
    {Sender, Receiver} = mailbox_audit_catalogue_sockets:connected([]),
    {File, Device, Sender, Receiver}.

close_file_and_sockets({File, Device, Sender, Receiver}) ->
    _ = file:close(Device),
    mailbox_audit_catalogue_sockets:close({Sender, Receiver}),
    file:delete(File).
