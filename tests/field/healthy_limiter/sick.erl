%% 200 jobs of a night, of which a limiter lets 10 at a time call a partner, for half a second each. All others wait for their turn in a call
%% without a time limit, for 10 s, and get it.
-module(sick).
-behaviour(gen_server).
-export([start/0, job/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, limiter}, ?MODULE, 10, []),
    _ = [spawn(?MODULE, job, []) || _ <- lists:seq(1, 200)],
    timer:sleep(1000),
    ok.

job() ->
    ok = gen_server:call(limiter, take, infinity),
    timer:sleep(300 + rand:uniform(400)),
    gen_server:cast(limiter, give),
    job().

init(Most) -> {ok, {Most, queue:new()}}.

handle_call(take, _, {Free, Waiting}) when Free > 0 -> {reply, ok, {Free - 1, Waiting}};
handle_call(take, From, {0, Waiting}) -> {noreply, {0, queue:in(From, Waiting)}}.

handle_cast(give, {Free, Waiting}) ->
    case queue:out(Waiting) of
        {empty, _} -> {noreply, {Free + 1, Waiting}};
        {{value, From}, Others} ->
            gen_server:reply(From, ok),
            {noreply, {Free, Others}}
    end.
