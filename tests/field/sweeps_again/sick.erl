%% The janitor of a cache with 500,000 entries looks at each of them for what has expired, rests for 10 ms, and begins again.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, _} = gen_server:start({local, cache_janitor}, ?MODULE, [], []),
    ok.

init([]) ->
    Cache = ets:new(cache, [named_table, public, {read_concurrency, true}]),
    true = ets:insert(Cache, [{N, erlang:monotonic_time(second) + 3600, <<N:64>>} || N <- lists:seq(1, 500_000)]),
    self() ! sweep,
    {ok, Cache}.

handle_info(sweep, Cache) ->
    ok = expires(Cache, ets:first(Cache), erlang:monotonic_time(second)),
    _ = erlang:send_after(10, self(), sweep),
    {noreply, Cache}.

handle_call(_, _, Cache) -> {reply, ok, Cache}.
handle_cast(_, Cache) -> {noreply, Cache}.

expires(_, '$end_of_table', _) -> ok;
expires(Cache, Key, Now) ->
    Next = ets:next(Cache, Key),
    case ets:lookup(Cache, Key) of
        [{_, Until, _}] when Until < Now -> ets:delete(Cache, Key);
        _ -> ok
    end,
    expires(Cache, Next, Now).
