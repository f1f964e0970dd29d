%% A server looks through a tree of files in each call, several functions deep, so that its callback is not among the frames that the VM
%% tells of. Each of its callers waits for a short time only, and always some wait.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, request/0, is_stale/1]).

start() ->
    _ = [ok = file:write_file("module" ++ integer_to_list(N), "x") || N <- lists:seq(1, 1000)],
    {ok, _} = gen_server:start({local, code_reloader}, ?MODULE, [], []),
    _ = [spawn(?MODULE, request, []) || _ <- lists:seq(1, 40)],
    timer:sleep(1000),
    ok.

request() ->
    ok = gen_server:call(code_reloader, reload, infinity),
    request().

init([]) -> {ok, []}.
handle_call(reload, _, State) ->
    ok = reloaded(State),
    {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.

reloaded(State) ->
    Stale = compiled(State),
    case Stale of [] -> ok end.

compiled(State) ->
    Found = lists:filter(fun ?MODULE:is_stale/1, lists:seq(1, 1000)),
    Found ++ State.

is_stale(N) ->
    Size = size_of("module" ++ integer_to_list(N)),
    Size > 1.

size_of(Name) ->
    Info = information(Name),
    element(2, Info).

information(Name) ->
    {ok, Info} = file:read_file_info(Name),
    Info.
