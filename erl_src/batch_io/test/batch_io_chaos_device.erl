%% A device for batch_io_chaos_SUITE: looks at each line that it is given and keeps of it no more
%% than the next one of the same client must be compared with, where it outlives the device.
-module(batch_io_chaos_device).

-export([name/0, start/1, text/2]).

-define(FAILS_ONE_IN, 50).
-define(SLOW_ONE_IN, 20).
-define(SLOW_MS, 5).

name() -> ?MODULE.

start(Ledger) ->
    true = register(?MODULE, self()),
    loop(Ledger).

loop(Ledger) ->
    receive
        {io_request, From, ReplyAs, Request} ->
            From ! {io_reply, ReplyAs, reply(Request, Ledger)},
            loop(Ledger)
    end.

%% @doc What a client writes as its Nth message, in one line.
text(Client, N) -> binary:copy(<<(Client rem 7 + $a), "\x{e9}"/utf8>>, N rem 50).

reply(getopts, _) -> [{encoding, unicode}];
reply({get_line, _, _}, _) -> "typed\n";
reply(Request, Ledger) ->
    _ = [timer:sleep(rand:uniform(?SLOW_MS)) || endurance_chaos:chance(?SLOW_ONE_IN)],
    case endurance_chaos:chance(?FAILS_ONE_IN) of
        true -> {error, enospc};
        false -> lists:foreach(fun(Line) -> line(Line, Ledger) end, lines(iolist_to_binary(written(Request))))
    end.

written({put_chars, unicode, Text}) -> Text;
written({put_chars, unicode, io_lib, format, [Format, Arguments]}) ->
    unicode:characters_to_binary(io_lib:format(Format, Arguments));
written({requests, Requests}) -> [written(Request) || Request <- Requests].

%% What is no whole line shows as one that is wrong.
lines(Text) ->
    lists:droplast(binary:split(<<Text/binary, "|">>, ~"\n", [global])) ++ rest(binary:last(<<"\n", Text/binary>>)).

rest($\n) -> [];
rest(_) -> [~"no newline"].

line(<<"batch_io: ", _/binary>>, _) -> ok;
line(Line, Ledger) ->
    case binary:split(Line, ~" ", [global]) of
        [Client, N, Text] -> note({written, binary_to_integer(Client)}, binary_to_integer(N), Text, Ledger);
        _ -> endurance_chaos:fault({not_whole, Line}, Ledger)
    end.

%% What only ever grows has come in order, and each once.
note({written, Client} = Key, N, Text, Ledger) ->
    {Last, Count} = case ets:lookup(Ledger, Key) of
                        [{_, Known, So}] -> {Known, So};
                        [] -> {0, 0}
                    end,
    N > Last orelse endurance_chaos:fault({order, Client, Last, N}, Ledger),
    Text =:= text(Client, N) orelse endurance_chaos:fault({not_whole, Client, N, Text}, Ledger),
    ets:insert(Ledger, {Key, N, Count + 1}).
