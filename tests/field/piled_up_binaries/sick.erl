%% A consumer has 500 messages of 40 kB that were not acknowledged yet. It was given much room for binaries, so that it is collected by
%% its small
%% heap, which copies the binaries to the old generation before they are acknowledged: 60 MB of them lie there, most of them acknowledged
%% long ago.
-module(sick).
-export([start/0, consumes/1, delivers/2, lives/1]).

start() ->
    Consumer = spawn_opt(?MODULE, consumes, [queue:from_list(lists:duplicate(500, none))], [{min_bin_vheap_size, 32_000_000},
        {min_heap_size, 233}]),
    register(consumer, Consumer),
    spawn_opt(?MODULE, delivers, [Consumer, 1], [{fullsweep_after, 0}]),
    [spawn(?MODULE, lives, [N]) || N <- lists:seq(1, 20)],
    timer:sleep(1000),
    ok.

consumes(Unacknowledged) ->
    receive
        {deliver, Message} ->
            {_, Rest} = queue:out(Unacknowledged),
            consumes(queue:in(Message, Rest));
        {more, From} ->
            From ! more,
            consumes(Unacknowledged)
    end.

delivers(Consumer, N) when N rem 20 =:= 0 ->
    Consumer ! {more, self()},
    receive more -> delivers(Consumer, N + 1) end;
delivers(Consumer, N) ->
    Consumer ! {deliver, binary:copy(<<N:32>>, 10_000)},
    delivers(Consumer, N + 1).

lives(N) -> timer:sleep(20 + N), lives(length(lists:seq(1, N)) + N rem 7).
