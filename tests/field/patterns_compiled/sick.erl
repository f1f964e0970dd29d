%% Two filters of requests give re:run/3 their pattern as text, so it is compiled for each request: 0.1 ms of native code that counts next to
%% no reductions. A turn of 4,000 of these takes a good part of a second, and all else waits that long for a scheduler.
-module(sick).
-export([start/0, filters/1]).

start() ->
    Pattern = iolist_to_binary(lists:join("|", [["(?:crawler", integer_to_list(N), "[a-z]*/[0-9.]+)"] || N <- lists:seq(1, 70)])),
    _ = [spawn(?MODULE, filters, [Pattern]) || _ <- lists:seq(1, erlang:system_info(schedulers_online))],
    ok.

filters(Pattern) ->
    nomatch = re:run(<<"Mozilla/5.0 (X11; Linux x86_64)">>, Pattern, [caseless]),
    filters(Pattern).
