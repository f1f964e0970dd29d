%% 400 MB of messages of 10 kB were queued, and every fortieth is held still: the carriers of all of them are kept.
-module(sick).
-export([start/0, holds/1]).

start() ->
    Self = self(),
    register(offline_queue, spawn(fun() -> filled(Self) end)),
    receive filled -> ok end,
    ok.

filled(Parent) ->
    Kept = keeps([binary:copy(<<N:32>>, 2500) || N <- lists:seq(1, 40_000)], 0),
    Parent ! filled,
    proc_lib:hibernate(?MODULE, holds, [Kept]).

keeps([], _) -> [];
keeps([Binary | Rest], 0) -> [Binary | keeps(Rest, 39)];
keeps([_ | Rest], N) -> keeps(Rest, N - 1).

holds(Kept) -> receive stop -> Kept end.
