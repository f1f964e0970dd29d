%% A flooded log server loses nothing, whatever ends the flood, and says what it did.
-module(log_flood_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([suite/0, all/0, end_per_testcase/2]).
-export([everything_is_written/1, order_of_each_sender_is_kept/1, what_waits_is_counted/1,
         dam_holds_what_waits/1, sink_that_cannot_be_opened/1, full_disk_ends_the_server/1,
         file_without_a_name/1, nothing_runs/1]).

suite() -> [{timetrap, {seconds, 30}}].

all() ->
    [everything_is_written, order_of_each_sender_is_kept, what_waits_is_counted, dam_holds_what_waits,
     sink_that_cannot_be_opened, full_disk_ends_the_server, file_without_a_name, nothing_runs].

end_per_testcase(_, _) ->
    case whereis(log_flood) of
        undefined -> ok;
        Pid -> exit(Pid, kill)
    end.

everything_is_written(Config) ->
    [begin
         File = file(Config, [Way, Driver]),
         #{writes := 1003, dam_queue := 0, server_queue := Queue} = flooded(Way, Driver, File),
         ?assert(Queue =< case Way of direct -> 0; dam -> 1 end), % a probe of the dam
         ?assertMatch({ok, #{written := 1003, waiting := 0, lost := 0, lines := 1003}}, log_flood:finish()),
         ?assertEqual(1003, length(lines(File)))
     end || Way <- [direct, dam], Driver <- port_drivers:drivers()].

order_of_each_sender_is_kept(Config) ->
    [begin
         File = file(Config, [Way]),
         flooded(Way, async, File),
         {ok, _} = log_flood:finish(),
         Read = [{list_to_integer(Sender), list_to_integer(Left)}
                 || Line <- lines(File), ["sender", Sender, "still", "has", Left | _] <- [string:lexemes(Line, " ")]],
         [?assertEqual(lists:seq((1003 + Nth - 1) div 10, 1, -1), [Left || {Sender, Left} <- Read, Sender =:= Nth])
          || Nth <- lists:seq(1, 10)]
     end || Way <- [direct, dam]].

%% So many that they cannot be written before they are counted.
what_waits_is_counted(Config) ->
    File = file(Config, []),
    ok = log_flood:start(#{way => direct, driver => async, messages => 100_000, sink => File}),
    _ = await(fun is_writing/1),
    {ok, #{written := Written, waiting := Waiting, lost := 0, lines := Written}} = log_flood:finish(),
    ?assertEqual(100_000, Written + Waiting),
    ?assert(Waiting > 0),
    ?assertEqual(Written, length(lines(File))).

dam_holds_what_waits(Config) ->
    ok = log_flood:start(#{way => dam, driver => async, messages => 100_000, sink => file(Config, [])}),
    #{server_queue := Server} = await(fun is_writing/1),
    ?assert(Server =< 101), % a probe among them
    {ok, #{written := Written, waiting := Waiting, lost := 0}} = log_flood:finish(),
    ?assertEqual(100_000, Written + Waiting),
    ?assert(Waiting > 0).

sink_that_cannot_be_opened(Config) ->
    Options = #{way => direct, driver => async, messages => 10, sink => proplists:get_value(priv_dir, Config)},
    ?assertEqual({error, eisdir}, log_flood:start(Options)),
    ?assertEqual({error, enospc}, log_flood:start(Options#{sink := "/dev/full"})).

%% The disk that is full from the beginning is noticed at once, see above.
full_disk_ends_the_server(Config) ->
    process_flag(trap_exit, true),
    {ok, Server, Handle, Alone} = log_server:start(async, file(Config, []), 10),
    ?assert(Alone > 0),
    true = port_close(port_drivers:port(Handle)),
    #{pid := Pid} = Server,
    Pid ! {log, ~"a line\n"},
    receive {'EXIT', Pid, Reason} -> ?assertEqual({cannot_write, closed}, Reason) end,
    process_flag(trap_exit, false).

file_without_a_name(_) ->
    flooded(direct, control, none),
    ?assertEqual([], filelib:wildcard("/tmp/ertslab_flood." ++ os:getpid())),
    ?assertMatch({ok, #{lines := 1003, lost := 0}}, log_flood:finish()).

nothing_runs(_) ->
    ?assertMatch({error, _}, log_flood:look()),
    ?assertMatch({error, _}, log_flood:finish()).

flooded(Way, Driver, Sink) ->
    ok = log_flood:start(#{way => Way, driver => Driver, messages => 1003, sink => Sink}),
    await(fun(#{phase := Phase}) -> Phase =:= empty end).

is_writing(#{phase := Phase, writes := Writes}) -> Phase =:= writing andalso Writes > 0.

await(Condition) ->
    {ok, Look} = log_flood:look(),
    case Condition(Look) of
        true -> Look;
        false -> timer:sleep(10), await(Condition)
    end.

file(Config, Parts) ->
    Number = integer_to_list(erlang:unique_integer([positive])),
    Name = lists:append(lists:join("_", ["flood", Number | [atom_to_list(Part) || Part <- Parts]])),
    filename:join(proplists:get_value(priv_dir, Config), Name).

lines(File) ->
    {ok, Text} = file:read_file(File),
    string:lexemes(unicode:characters_to_list(Text), "\n").
