%% Three exports build a page of 20,000 rows from its end: each row is put before all that there is, so all of it is copied for each row.
-module(sick).
-export([start/0, exports/0]).

start() ->
    _ = [spawn(?MODULE, exports, []) || _ <- lists:seq(1, 3)],
    ok.

exports() ->
    _ = byte_size(page(20_000, <<>>)),
    exports().

page(0, Page) -> Page;
page(N, Page) -> page(N - 1, <<"<tr><td>row number ", (integer_to_binary(N))/binary, " of the yearly report</td></tr>\n", Page/binary>>).
