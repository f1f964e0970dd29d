%% Two importers read a file of 500,000 lines again and again with the module io: each line is a message to the process of the file.
-module(sick).
-export([start/0, imports/1]).

start() ->
    ok = file:write_file("prices.csv", [[integer_to_list(N), ";article;", integer_to_list(7 * N), ";EUR\n"] || N <- lists:seq(1, 500_000)]),
    _ = [spawn(?MODULE, imports, ["prices.csv"]) || _ <- [1, 2]],
    ok.

imports(File) ->
    {ok, Device} = file:open(File, [read]),
    ok = lines(Device),
    ok = file:close(Device),
    imports(File).

lines(Device) ->
    case io:get_line(Device, "") of
        eof -> ok;
        Line ->
            [_, _, Price, _] = string:lexemes(Line, ";"),
            true = list_to_integer(Price) > 0,
            lines(Device)
    end.
