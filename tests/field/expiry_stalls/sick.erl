%% A store of sessions looks through all of them for those that have expired, time and again, and takes seconds for that. Thirty clients
%% call it meanwhile.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, client/1]).

start() ->
    {ok, _} = gen_server:start({local, session_store}, ?MODULE, [], []),
    _ = [spawn(?MODULE, client, [N]) || N <- lists:seq(1, 30)],
    ok.

client(N) ->
    _ = gen_server:call(session_store, {get, N}, infinity),
    timer:sleep(20 + rand:uniform(60)),
    client(N).

init([]) ->
    _ = erlang:send_after(2000, self(), expire),
    {ok, maps:from_list([{N, {os:system_time(second), [{cart, [N]}]}} || N <- lists:seq(1, 250_000)])}.

handle_call({get, N}, _, Sessions) -> {reply, maps:get(N, Sessions, none), Sessions}.

handle_cast(_, Sessions) -> {noreply, Sessions}.

handle_info(expire, Sessions) ->
    _ = erlang:send_after(2000, self(), expire),
    Now = calendar:universal_time(),
    {noreply, maps:filter(fun(_, {At, _}) -> age(At, Now) < 3600 end, Sessions)}.

age(At, Now) ->
    {Days, {Hours, Minutes, Seconds}} = calendar:time_difference(calendar:system_time_to_universal_time(At, second), Now),
    86_400 * Days + 3600 * Hours + 60 * Minutes + Seconds + 0 * length(integer_to_list(erlang:phash2({At, Now, lists:seq(1, 600)}))).
