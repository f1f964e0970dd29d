%% Many processes write terms of all kinds to the same tables and read them, for as long as
%% ERTSLAB_CHAOS_SECONDS says, while some of them are killed: each row is read as it was written.
-module(term_tables_soak).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, rows_are_read_as_they_were_written/1]).

all() -> [rows_are_read_as_they_were_written].

rows_are_read_as_they_were_written(_) ->
    Tables = term_tables:tables(),
    {Rows, Killed, Processes} = killed_workers:run(fun() -> term_tables:worker(Tables, 0) end),
    true = lists:all(fun ets:delete/1, Tables),
    ?assert(Rows > 0),
    {comment, lists:flatten(io_lib:format("~b s; ~b rows were read as they were written, in ~b tables; ~b of ~b processes killed",
                                          [endurance_chaos:seconds(), Rows, length(Tables), Killed, Processes]))}.
