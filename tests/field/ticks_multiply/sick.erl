%% A server polls every two seconds, and at each event it polls, too, and starts one more timer. It cancels the old one by the wrong module.
%% Beside it a limiter counts the requests of the last second, by a timer for each: as many at a time, of which none starts the next.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, Poller} = gen_server:start({local, poller}, ?MODULE, poller, []),
    {ok, Limiter} = gen_server:start({local, limiter}, ?MODULE, limiter, []),
    spawn(fun() -> events(Poller, 2500) end),
    _ = [spawn(fun() -> requests(Limiter) end) || _ <- lists:seq(1, 5)],
    timer:sleep(2500).

init(poller) -> {ok, schedule(#{timer => none, seen => []})};
init(limiter) -> {ok, 0}.

handle_call(request, _, Count) when Count < 1000 -> {reply, ok, taken(Count)};
handle_call(request, _, Count) -> {reply, wait, Count}.
handle_cast(_, State) -> {noreply, State}.

handle_info({event, _}, #{timer := Timer} = State) ->
    _ = timer:cancel(Timer),
    {noreply, schedule(polled(State))};
handle_info(poll, #{} = State) -> {noreply, schedule(polled(State))};
handle_info(release, Count) ->
    _ = lists:sum(lists:seq(1, 500)),
    {noreply, Count - 1}.

schedule(State) -> State#{timer := erlang:send_after(2000, self(), poll)}.

polled(State) -> State#{seen := lists:reverse(lists:seq(1, 500))}.

taken(Count) ->
    _ = erlang:send_after(1000, self(), release),
    Count + 1.

events(Poller, 0) ->
    Poller ! {event, 0},
    timer:sleep(200),
    events(Poller, 0);
events(Poller, Left) ->
    Poller ! {event, Left},
    Left rem 3 =:= 0 andalso timer:sleep(1),
    events(Poller, Left - 1).

requests(Limiter) ->
    _ = gen_server:call(Limiter, request),
    timer:sleep(rand:uniform(24)),
    requests(Limiter).
