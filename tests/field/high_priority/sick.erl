%% A server that works all the time has priority high, so that nothing else runs on its scheduler. (With as many as there are schedulers the node
%% would not answer.)
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, caller/0]).

start() ->
    {ok, Server} = gen_server:start({local, metadata}, ?MODULE, [], []),
    Server ! go,
    _ = [spawn(?MODULE, caller, []) || _ <- lists:seq(1, 20)],
    timer:sleep(300),
    ok.

caller() ->
    _ = lists:sum(lists:seq(1, 100)),
    timer:sleep(50),
    caller().

init([]) ->
    normal = process_flag(priority, high),
    {ok, 0}.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(go, State) ->
    erlang:send_after(8, self(), go),
    {noreply, State + work(erlang:monotonic_time(millisecond) + 20, 0)}.

work(Until, Sum) ->
    case erlang:monotonic_time(millisecond) < Until of
        true -> work(Until, Sum + adds(100, 0));
        false -> Sum
    end.

adds(0, Sum) -> Sum;
adds(N, Sum) -> adds(N - 1, Sum + N).
