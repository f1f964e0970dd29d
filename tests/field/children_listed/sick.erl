%% A page lists the 30,000 children of a supervisor five times a second: each time the supervisor copies all of them.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, start_child/0, child/0]).

start() ->
    spawn(fun() -> {ok, _} = supervisor:start_link({local, session_sup}, ?MODULE, []), receive stop -> ok end end),
    timer:sleep(100),
    [{ok, _} = supervisor:start_child(session_sup, []) || _ <- lists:seq(1, 30_000)],
    [spawn(fun page/0) || _ <- lists:seq(1, 2)],
    ok.

page() -> _ = length(supervisor:which_children(session_sup)), timer:sleep(100), page().

init([]) -> {ok, {#{strategy => simple_one_for_one}, [#{id => session, start => {?MODULE, start_child, []}, restart => temporary}]}}.
start_child() -> {ok, spawn_link(?MODULE, child, [])}.
child() -> receive stop -> ok end.
