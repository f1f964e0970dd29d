%% A server starts a process for each request with a fun that uses the whole state, so that all of it is copied each time.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start() ->
    {ok, Server} = gen_server:start({local, page_server}, ?MODULE, [], []),
    Server ! go,
    timer:sleep(500),
    ok.

init([]) -> {ok, #{title => "page", pages => [{N, integer_to_list(N)} || N <- lists:seq(1, 40_000)]}}.

handle_call(_, _, State) -> {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info(go, State) ->
    _ = erlang:send_after(40, self(), go),
    _ = spawn(fun() -> timer:sleep(50), length(maps:get(title, State)) end),
    {noreply, State}.
