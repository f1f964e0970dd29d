%% Jobs ask another service by HTTP without a time-out. It accepts their connections, and never answers.
-module(sick).
-export([start/0]).

start() ->
    {ok, _} = application:ensure_all_started(inets),
    Own = self(),
    _ = spawn(fun() ->
                      {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 1024}, {ip, {127, 0, 0, 1}}]),
                      {ok, Port} = inet:port(Listens),
                      Own ! {port, Port},
                      accept(Listens, [])
              end),
    Url = receive {port, Port} -> "http://127.0.0.1:" ++ integer_to_list(Port) ++ "/price" end,
    _ = [spawn(fun() -> job(Url) end) || _ <- lists:seq(1, 200)],
    timer:sleep(1000),
    ok.

accept(Listens, Sockets) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    accept(Listens, [Socket | Sockets]).

job(Url) -> {ok, _} = httpc:request(get, {Url, []}, [], []).
