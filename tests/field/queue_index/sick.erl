%% A queue keeps an index of 240,000 messages that are on disk, and passes on new ones of 64 kB, of which four are on their way at a
%% time. They are
%% acknowledged in any order, so that some get old. The VM counts their bytes, and has a few of them sweep all of the index.
-module(sick).
-export([start/0, queue/0, echo/0, asks/1]).

start() ->
    true = register(queue_index, spawn(?MODULE, queue, [])),
    Echo = spawn(?MODULE, echo, []),
    spawn(?MODULE, asks, [Echo]),
    ok.

queue() -> passes_on(list_to_tuple(lists:duplicate(4, none)), maps:from_list([{N, {on_disk, N, [N]}} || N <- lists:seq(1, 240_000)])).

%% It makes them itself, so that it is never without work.
passes_on(OnTheirWay, Index) ->
    Message = binary:copy(<<1>>, 65_536),
    Acknowledged = rand:uniform(4),
    #{1 := {on_disk, 1, _}} = Index,
    passes_on(setelement(Acknowledged, OnTheirWay, Message), Index).

echo() -> receive {From, What} -> From ! {self(), What}, echo() end.

asks(Echo) ->
    Echo ! {self(), make_ref()},
    receive {Echo, _} -> timer:sleep(5), asks(Echo) end.
