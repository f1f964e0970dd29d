%% A server gives each request to a process of its call, which replies. One that has ended replies to nobody, and the server does not know
%% it. 130 callers wait for ever; the server works on, and has lent nothing.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, session/1, hangs_up/1, call/0]).

start() ->
    {ok, _} = gen_server:start({local, sip_router}, ?MODULE, [], []),
    _ = [spawn(?MODULE, session, [N]) || N <- lists:seq(1, 50)],
    _ = [spawn(?MODULE, hangs_up, [N]) || N <- lists:seq(1001, 1130)],
    timer:sleep(300),
    ok.

session(Call) ->
    ok = gen_server:call(sip_router, {work, Call, info}, infinity),
    timer:sleep(300),
    session(Call).

hangs_up(Call) ->
    ok = gen_server:call(sip_router, {work, Call, bye}, infinity),
    ok = gen_server:call(sip_router, {work, Call, ack}, infinity).

init([]) -> {ok, #{}}.

handle_call({work, Call, What}, From, Calls) ->
    Known = #{Call := Pid} = case Calls of #{Call := _} -> Calls; #{} -> Calls#{Call => spawn(?MODULE, call, [])} end,
    Pid ! {What, From},
    {noreply, Known}.

handle_cast(_, Calls) -> {noreply, Calls}.

call() ->
    receive
        {bye, From} -> gen_server:reply(From, ok);
        {_, From} -> gen_server:reply(From, ok), call()
    end.
