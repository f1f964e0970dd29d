%% 60,000 servers under one supervisor, of which each has little to do: none of them is too many, and their supervisor has to have their links.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, server/1, device/1]).

start() ->
    {ok, Sup} = supervisor:start_link({local, device_sup}, ?MODULE, []),
    true = unlink(Sup),
    _ = [{ok, _} = supervisor:start_child(Sup, [N]) || N <- lists:seq(1, 60_000)],
    ok.

init([]) ->
    {ok, {#{strategy => simple_one_for_one}, [#{id => device, start => {?MODULE, server, []}, restart => temporary}]}}.

server(N) -> {ok, proc_lib:spawn_link(?MODULE, device, [N])}.

device(N) ->
    receive {From, Ref, get} -> From ! {Ref, N}, device(N)
    after 30_000 + N -> device(N)
    end.
