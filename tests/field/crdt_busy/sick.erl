%% A replicated registry compares all of its entries for each message of its neighbours, which come faster than it does that.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, Crdt} = gen_server:start({local, registry_crdt}, ?MODULE, [], []),
    spawn(fun Neighbours() ->
                  {_, Depth} = process_info(Crdt, message_queue_len),
                  _ = [gen_server:cast(Crdt, {diff, N}) || Depth < 20_000, N <- lists:seq(1, 500)],
                  timer:sleep(20),
                  Neighbours()
          end),
    timer:sleep(1500),
    ok.

init([]) -> {ok, maps:from_list([{{name, N}, N} || N <- lists:seq(1, 20_000)])}.
handle_call(_, _, Entries) -> {reply, ok, Entries}.
handle_cast({diff, N}, Entries) ->
    _ = lists:foldl(fun({K, V}, Sum) -> erlang:phash2({K, V, N}) + Sum end, 0, maps:to_list(Entries)),
    {noreply, Entries}.
