%% The drivers while those who write, and the ports, are killed at random moments, and while the
%% code of each is loaded and unloaded: every file holds whole records, in order, all that were
%% answered among them, and nothing is left afterwards.
-module(port_drivers_chaos_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, init_per_suite/1, end_per_suite/1, laws_hold_among_kills/1]).

-define(CLIENTS, 8).
-define(RECORDS, 40).
-define(LARGE_BYTES, 100_000).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [laws_hold_among_kills].

init_per_suite(Config) -> endurance_chaos:silence(Config).

end_per_suite(Config) -> endurance_chaos:end_silence(Config).

laws_hold_among_kills(Config) ->
    %% The process that this starts stays.
    {ok, _} = erl_ddll:loaded_drivers(),
    Snapshot = endurance_chaos:snapshot(),
    Binaries = binary_bytes(),
    Ledger = ets:new(port_drivers_chaos, [public, {write_concurrency, true}]),
    true = ets:insert(Ledger, [{writes, 0}, {files, 0}, {unloads, 0}, {nonsense, 0}]),
    Folder = proplists:get_value(priv_dir, Config),
    Clients = endurance_chaos:supervise(clients(Folder, Ledger)),
    Sampler = endurance_soak:start(fun() -> {count(writes, Ledger), endurance_soak:resident()} end, endurance_chaos:seconds()),
    Kills = endurance_chaos:run([{client, 1, infinity, fun() -> endurance_chaos:alive(Clients) end}]),
    Growth = endurance_soak:stop(Sampler),
    ?assertEqual(true, endurance_chaos:all_finished(Clients, Ledger)),
    ?assert(endurance_chaos:until(fun() -> driver_ports() =:= [] andalso loaded() =:= [] end), {driver_ports(), loaded()}),
    ?assertEqual([], endurance_chaos:faults(Ledger)),
    ok = check_files(Folder, Ledger),
    ?assertEqual([], [{Row, held(file(N, Folder))} || {{file, N}, _, _, _} = Row <- ets:tab2list(Ledger)]),
    Comment = comment(Kills, Ledger, Growth),
    ok = gen_server:stop(Clients),
    true = ets:delete(Ledger),
    ?assertEqual([], endurance_chaos:left(Snapshot)),
    ?assert(endurance_chaos:until(fun() -> binary_bytes() =< Binaries end), {binary_bytes(), Binaries}),
    {comment, Comment}.

comment(#{client := Killed}, Ledger, Growth) ->
    lists:flatten(io_lib:format("~b s; ~b clients killed, ~b files left in the middle; ~b writes, ~b of nonsense, ~b unloads; ~ts",
                                [endurance_chaos:seconds(), Killed, count(files, Ledger), count(writes, Ledger),
                                 count(nonsense, Ledger), count(unloads, Ledger), endurance_soak:text(Growth)])).

count(What, Ledger) -> ets:lookup_element(Ledger, What, 2).

%% A VM without allocators of its own, as under a sanitizer, does not count them.
binary_bytes() ->
    _ = [garbage_collect(Pid) || Pid <- processes()],
    try erlang:memory(binary)
    catch error:notsup -> 0
    end.

%% Of the drivers' ports, not of the VM's own.
driver_ports() ->
    [Port || Port <- erlang:ports(), {name, Name} <- [erlang:port_info(Port, name)], lists:member(Name, names())].

loaded() ->
    {ok, Loaded} = erl_ddll:loaded_drivers(),
    [Name || Name <- names(), lists:member(Name, Loaded)].

names() -> [atom_to_list(Driver) ++ "_drv" || Driver <- port_drivers:drivers()].

%% Who is there

clients(Folder, Ledger) ->
    [endurance_chaos:client(port_killer, Ledger, fun() -> kill_ports(Ledger) end),
     endurance_chaos:client(checker, Ledger, fun() -> keep_checking(Folder, Ledger) end),
     endurance_chaos:client(loader, Ledger, fun() -> count_unloads(Ledger) end),
     endurance_chaos:client(nonsense, Ledger, fun() -> nonsense(Folder, Ledger) end)
     | [endurance_chaos:client(Nth, Ledger, fun() -> client(Folder, Ledger) end) || Nth <- lists:seq(1, ?CLIENTS)]].

%% Writes one file after another; one that is closed in good order holds all, and goes.
client(Folder, Ledger) ->
    endurance_chaos:is_over(Ledger) orelse
        begin
            N = erlang:unique_integer([positive]),
            true = ets:insert(Ledger, {{file, N}, 0, 0, self()}),
            _ = session(endurance_chaos:one_of(port_drivers:drivers()), N, file(N, Folder), Ledger),
            client(Folder, Ledger)
        end.

file(N, Folder) -> filename:join(Folder, integer_to_list(N)).

session(Driver, N, File, Ledger) ->
    {ok, Handle} = port_drivers:open(Driver, File, #{}),
    Written = records(rand:uniform(?RECORDS), Handle, Driver, N, Ledger),
    Written =:= ok andalso
        begin
            [{_, Records, Records, _}] = ets:lookup(Ledger, {file, N}),
            Records = held(File),
            true = ets:delete(Ledger, {file, N}),
            ok = file:delete(File)
        end,
    port_drivers:close(Handle).

records(0, _, _, _, _) -> ok;
records(Left, Handle, Driver, N, Ledger) ->
    case write(Driver, Handle, record(ets:update_counter(Ledger, {file, N}, {2, 1}))) of
        ok ->
            _ = ets:update_counter(Ledger, {file, N}, {3, 1}),
            _ = ets:update_counter(Ledger, writes, 1),
            records(Left - 1, Handle, Driver, N, Ledger);
        {error, closed} = Closed -> Closed
    end.

%% Through these any process writes.
write(Driver, Handle, Record) when Driver =:= tagged; Driver =:= control ->
    case endurance_chaos:chance(4) of
        true -> elsewhere(fun() -> port_drivers:write(Handle, Record) end);
        false -> port_drivers:write(Handle, Record)
    end;
write(_, Handle, Record) -> port_drivers:write(Handle, Record).

%% The other one is linked to nobody, and the port's end may be that of its writer.
elsewhere(Fun) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({answer, Fun()}) end),
    receive {'DOWN', Monitor, process, Pid, {answer, Answer}} -> Answer end.

%% A record tells its own number and size. Small binaries lie on the heap, large ones are counted.
record(N) ->
    Size = size_of(rand:uniform(50)),
    [<<N:32, Size:32>> | parts(Size, N)].

size_of(1) -> rand:uniform(?LARGE_BYTES);
size_of(_) -> rand:uniform(200) - 1.

parts(0, _) -> [];
parts(Size, N) ->
    Part = rand:uniform(Size),
    [binary:copy(<<N>>, Part) | parts(Size - Part, N)].

%% How many records there are, or where the file stops to be of records.
held(File) ->
    case file:read_file(File) of
        {ok, Text} -> held(Text, 0);
        {error, enoent} -> 0
    end.

held(<<>>, N) -> N;
held(<<Number:32, Size:32, Data:Size/binary, Rest/binary>>, N) when Number =:= N + 1 ->
    case binary:copy(<<Number>>, Size) of
        Data -> held(Rest, Number);
        _ -> {damaged, Number}
    end;
held(_, N) -> {torn, N}.

%% The files of those that are gone, one record of which may still be on its way to it: such a
%% one is looked at again.
keep_checking(Folder, Ledger) ->
    ok = timer:sleep(50),
    ok = check_files(Folder, Ledger),
    endurance_chaos:is_over(Ledger) orelse keep_checking(Folder, Ledger).

check_files(Folder, Ledger) ->
    Left = [Row || {{file, _}, _, _, Writer} = Row <- ets:tab2list(Ledger), not is_process_alive(Writer)],
    lists:foreach(fun({{file, N}, Attempted, Answered, _}) ->
                          is_lawful(held(file(N, Folder)), Attempted, Answered) andalso gone(N, Folder, Ledger)
                  end, Left).

gone(N, Folder, Ledger) ->
    true = ets:delete(Ledger, {file, N}),
    _ = ets:update_counter(Ledger, files, 1),
    file:delete(file(N, Folder)).

%% What was on its way when its writer was killed may have come or not.
is_lawful(Held, Attempted, Answered) -> is_integer(Held) andalso Held >= Answered andalso Held =< Attempted.

%% Its owner is linked to it and goes too, unless it only writes through it.
kill_ports(Ledger) ->
    ok = timer:sleep(rand:uniform(20)),
    _ = [exit(endurance_chaos:one_of(Ports), kill) || [_ | _] = Ports <- [driver_ports()]],
    endurance_chaos:is_over(Ledger) orelse kill_ports(Ledger).

%% A driver goes whenever nobody has it open for a moment.
count_unloads(Ledger) ->
    Name = endurance_chaos:one_of(names()),
    Monitor = erl_ddll:monitor(driver, {Name, unloaded}),
    receive
        {'DOWN', Monitor, driver, Name, unloaded} -> ets:update_counter(Ledger, unloads, 1);
        {'DOWN', Monitor, driver, Name, _NotLoaded} -> timer:sleep(1)
    after 20 -> true = erl_ddll:demonitor(Monitor)
    end,
    _ = [receive {'DOWN', _, driver, _, _} -> late after 0 -> none end],
    endurance_chaos:is_over(Ledger) orelse count_unloads(Ledger).

%% What is no tag, no operation and no name, from a process that may end with its port.
nonsense(Folder, Ledger) ->
    {Pid, Monitor} = spawn_monitor(fun() -> one_nonsense(rand:uniform(3), Folder) end),
    receive {'DOWN', Monitor, process, Pid, _} -> ets:update_counter(Ledger, nonsense, 1) end,
    endurance_chaos:is_over(Ledger) orelse nonsense(Folder, Ledger).

one_nonsense(1, _) ->
    with_port(tagged, fun(Port) -> port_command(Port, [<<(rand:uniform(80)):16>> | damaged_term()]) end);
one_nonsense(2, _) ->
    with_port(endurance_chaos:one_of(port_drivers:drivers()),
              fun(Port) -> port_control(Port, rand:uniform(8) - 1, rand:bytes(rand:uniform(300))) end);
one_nonsense(3, Folder) ->
    Name = [filename:join(Folder, "none"), $/ | rand:bytes(rand:uniform(300))],
    {error, _} = port_drivers:open(endurance_chaos:one_of(port_drivers:drivers()), iolist_to_binary(Name), #{}).

with_port(Driver, Fun) ->
    {ok, Handle} = port_drivers:open(Driver, "/dev/null", #{}),
    _ = try Fun(port_drivers:port(Handle)) catch error:badarg -> refused end,
    receive _ -> ok after rand:uniform(3) -> ok end,
    port_drivers:close(Handle).

%% A term in the external format, one byte of which is another one.
damaged_term() ->
    Encoded = term_to_binary({make_ref(), self(), [1.5, "text", <<1:3>>, #{a => 1 bsl 80}], fun lists:sort/1}),
    Skip = rand:uniform(byte_size(Encoded)) - 1,
    <<Before:Skip/binary, _, After/binary>> = Encoded,
    [Before, rand:uniform(256) - 1, After].
