%% A buffer with a limit counts its 400,000 entries by queue:len/1 for each metric that comes, so it gets slower than its producers.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, sends/0]).

start() ->
    {ok, _} = gen_server:start({local, metric_buffer}, ?MODULE, [], []),
    _ = [gen_server:cast(metric_buffer, {metric, N}) || N <- lists:seq(1, 10_000)],
    _ = [spawn(?MODULE, sends, []) || _ <- lists:seq(1, 4)],
    ok.

init([]) -> {ok, queue:from_list(lists:seq(1, 400_000))}.

handle_call(_, _, Queue) -> {reply, ok, Queue}.

handle_cast({metric, Metric}, Queue) ->
    case queue:len(Queue) < 400_000 of
        true -> {noreply, queue:in(Metric, Queue)};
        false -> {noreply, queue:in(Metric, queue:drop(Queue))}
    end.

sends() ->
    gen_server:cast(metric_buffer, {metric, rand:uniform()}),
    timer:sleep(1),
    sends().
