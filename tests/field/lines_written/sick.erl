%% A server writes each line that ten others give it by io:format/3 to a file that was not opened raw, and does not keep up.
-module(sick).
-behaviour(gen_server).
-export([start/0, gives/1, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, router_log}, ?MODULE, [], []),
    _ = [proc_lib:spawn(?MODULE, gives, [N]) || N <- lists:seq(1, 10)],
    timer:sleep(1500).

gives(N) ->
    _ = [gen_server:cast(router_log, {line, N, "decoded", Line}) || Line <- lists:seq(1, 20)],
    timer:sleep(4),
    gives(N).

init([]) -> file:open("router.log", [write]).
handle_call(_, _, File) -> {reply, ok, File}.
handle_cast({line, N, What, Line}, File) ->
    ok = io:format(File, "~w,~s,~w,~s~n", [N, What, Line, lists:duplicate(400, $x)]),
    {noreply, File}.
