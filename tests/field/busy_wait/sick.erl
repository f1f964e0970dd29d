%% A node with little to do, whose schedulers turn while they wait: it uses the processors that the other containers pay for.
%% How long a scheduler turns before it sleeps depends on the processor, from 0.3 to 2 ms. So each is woken at each millisecond.
-module(sick).
-export([start/0]).

start() ->
    _ = [spawn_opt(fun Ticks() -> timer:sleep(1), Ticks() end, [{scheduler, Scheduler}])
         || Scheduler <- lists:seq(1, erlang:system_info(schedulers_online))],
    ok.
