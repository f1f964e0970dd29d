%% A supervisor ends one session after the other, each of which says farewell for two seconds. All who start sessions wait meanwhile.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, start_link/0, session/1, says_farewell/1, ends/0, starts/0]).

start() ->
    Started = self(),
    spawn(fun() ->
                  {ok, _} = supervisor:start_link({local, sessions}, ?MODULE, []),
                  Started ! started,
                  receive never -> ok end
          end),
    receive started -> ok end,
    _ = [{ok, _} = supervisor:start_child(sessions, []) || _ <- lists:seq(1, 50)],
    _ = spawn(?MODULE, ends, []),
    timer:sleep(100),
    _ = [spawn(?MODULE, starts, []) || _ <- lists:seq(1, 20)],
    timer:sleep(100),
    ok.

init([]) ->
    {ok, {#{strategy => simple_one_for_one},
          [#{id => session, start => {?MODULE, start_link, []}, shutdown => 10_000, restart => temporary}]}}.

start_link() -> proc_lib:start_link(?MODULE, session, [self()]).

session(Parent) ->
    process_flag(trap_exit, true),
    proc_lib:init_ack({ok, self()}),
    receive {'EXIT', Parent, shutdown} -> says_farewell(20) end.

says_farewell(0) -> ok;
says_farewell(Left) ->
    timer:sleep(100),
    says_farewell(Left - 1).

ends() ->
    [{_, Session, _, _} | _] = supervisor:which_children(sessions),
    ok = supervisor:terminate_child(sessions, Session),
    ends().

starts() ->
    {ok, _} = supervisor:start_child(sessions, []),
    timer:sleep(rand:uniform(200)),
    starts().
