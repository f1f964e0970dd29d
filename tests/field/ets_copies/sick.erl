%% A page asks for all who are present, and each time the whole table is copied to the heap of the process that counts them.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, _} = gen_server:start({local, presence_tracker}, ?MODULE, [], []),
    ok.

init([]) ->
    presences = ets:new(presences, [named_table]),
    true = ets:insert(presences, [{{topic, N rem 100, N}, #{pid => self(), meta => [N, N + 1]}} || N <- lists:seq(1, 200_000)]),
    {ok, 0, 0}.

handle_call(_, _, Count) -> {reply, Count, Count}.
handle_cast(_, Count) -> {noreply, Count}.
handle_info(_, _) ->
    Count = length([Who || {Who, _} <- ets:tab2list(presences)]),
    {noreply, Count, 50}.
