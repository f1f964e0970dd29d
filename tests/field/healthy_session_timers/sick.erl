%% One process keeps 150,000 sessions. Each has a timer that ends it, which each use cancels and starts anew.
-module(sick).
-export([start/0, init/1, uses/1]).

-define(SESSIONS, 150_000).

start() ->
    {ok, Sessions} = proc_lib:start(?MODULE, init, [self()]),
    _ = [spawn(?MODULE, uses, [Sessions]) || _ <- lists:seq(1, 20)],
    ok.

init(Parent) ->
    true = register(sessions, self()),
    Timers = maps:from_list([{N, later(N)} || N <- lists:seq(1, ?SESSIONS)]),
    ok = proc_lib:init_ack(Parent, {ok, self()}),
    keeps(Timers).

later(N) -> erlang:send_after(600_000 + rand:uniform(600_000), self(), {ended, N}).

keeps(Timers) ->
    receive
        {used, N} ->
            _ = case Timers of #{N := Timer} -> erlang:cancel_timer(Timer); #{} -> new end,
            keeps(Timers#{N => later(N)});
        {ended, N} -> keeps(maps:remove(N, Timers))
    end.

uses(Sessions) ->
    timer:sleep(30),
    Sessions ! {used, rand:uniform(?SESSIONS)},
    uses(Sessions).
