%% The system monitor reports each heap of 2,000 words and each collection of a millisecond, and its process stores each event.
-module(sick).
-export([start/0, works/0, stores/1]).

start() ->
    Watch = spawn(?MODULE, stores, [[]]),
    true = register(vm_watch, Watch),
    _ = erlang:system_monitor(Watch, [{large_heap, 2000}, {long_gc, 1}, busy_dist_port]),
    _ = [spawn(?MODULE, works, []) || _ <- lists:seq(1, 20)],
    filled(Watch).

filled(Watch) ->
    case process_info(Watch, message_queue_len) of
        {_, Events} when Events > 4000 -> ok;
        _ ->
            timer:sleep(100),
            filled(Watch)
    end.

stores(Events) ->
    receive
        {monitor, Pid, Event, Info} ->
            timer:sleep(1),
            stores(lists:sublist([{Pid, Event, io_lib:format("~p", [Info])} | Events], 500))
    end.

works() ->
    _ = lists:reverse([{N, N} || N <- lists:seq(1, 4000)]),
    timer:sleep(5),
    works().
