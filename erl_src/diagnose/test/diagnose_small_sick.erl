%% A process that scans, in a module which is judged in little memory: what the node itself judges has a limit of 12 MB, and diagnose_sick,
%% which grows with each problem, comes near it.
-module(diagnose_small_sick).

-export([scanning/0]).

%% Waits for a message that never comes, time and again, behind 20,000 others.
-spec scanning() -> ok.
scanning() ->
    Starter = self(),
    Pid = spawn_opt(fun() ->
                            true = register(sick_scanning, self()),
                            _ = [self() ! {waits, N} || N <- lists:seq(1, 20_000)],
                            Starter ! {self(), ready},
                            scans(Starter)
                    end, [{min_heap_size, 2_000_000}]),
    receive {Pid, ready} -> ok end.

scans(From) ->
    receive {From, answer} -> ok after 0 -> ok end,
    scans(From).
