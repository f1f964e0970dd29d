%% The program that memcheck watches. It takes each path of the drivers once. Owners are killed and ports
%% are closed while jobs run, and one tag is invalid.
-module(port_drivers_memcheck).

-export([start/0]).

-define(PIPE_BYTES, 65_536).

start() ->
    _ = process_flag(trap_exit, true),
    _ = [each(Driver) || Driver <- port_drivers:drivers()],
    _ = [in_mid_job(Driver, How) || Driver <- [async, tagged], How <- [kill, close]],
    _ = [nonsense(Bytes) || Bytes <- [~"", ~"x", <<100:16, "short">>, <<3:16, "nonsense">>]],
    io:format("memcheck: done~n"),
    halt().

each(Driver) ->
    {error, enoent} = port_drivers:open(Driver, "/none/file", #{}),
    {ok, Full} = port_drivers:open(Driver, "/dev/full", #{append => true}),
    {error, enospc} = port_drivers:write(Full, ~"data"),
    ok = port_drivers:close(Full),
    {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
    [ok = port_drivers:write(Handle, Data)
     || Data <- ["", ~"a line\n", binary:copy(~"x", 100_000), [[$a, binary:copy(~"b", 70)] || _ <- lists:seq(1, 2000)]]],
    {error, badarg} = port_drivers:write(Handle, [none]),
    #{writes := 4} = port_drivers:counters(Handle),
    ok = port_drivers:close(Handle).

%% The job is blocked by a full pipe until this process empties the pipe.
in_mid_job(Driver, How) ->
    Pipe = string:trim(os:cmd("mktemp -u")),
    "" = os:cmd("mkfifo " ++ Pipe),
    {ok, Reader} = file:open(Pipe, [read, write, raw, binary]),
    Self = self(),
    Owner = spawn(fun() ->
                          {ok, Handle} = port_drivers:open(Driver, Pipe, #{}),
                          Self ! Handle,
                          port_drivers:write(Handle, binary:copy(~"x", 2 * ?PIPE_BYTES))
                  end),
    Handle = receive H -> H end,
    ok = await_job(Handle),
    true = case How of
               kill -> exit(Owner, kill);
               close -> port_close(port_drivers:port(Handle))
           end,
    ok = drain(Reader, 2 * ?PIPE_BYTES),
    ok = file:close(Reader),
    file:delete(Pipe).

await_job(Handle) ->
    case port_drivers:counters(Handle) of
        #{jobs := 1} -> ok;
        #{jobs := 0} -> await_job(Handle)
    end.

drain(_, 0) -> ok;
drain(Reader, Bytes) ->
    {ok, Part} = file:read(Reader, Bytes),
    drain(Reader, Bytes - byte_size(Part)).

nonsense(Bytes) ->
    {ok, Handle} = port_drivers:open(tagged, "/dev/null", #{}),
    Port = port_drivers:port(Handle),
    true = port_command(Port, Bytes),
    receive {'EXIT', Port, bad_tag} -> ok end,
    port_drivers:close(Handle).
