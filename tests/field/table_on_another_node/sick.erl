%% The start of an application waits for a table of mnesia: another node stopped last, and has its newest copy. That node does not run.
-module(sick).
-export([start/0, start/2, stop/1]).

start() ->
    ok = application:set_env(mnesia, dir, "mnesia_here"),
    {ok, Peer, Other} = peer:start(#{name => elsewhere, host => "127.0.0.1", longnames => true,
                                     args => ["-setcookie", atom_to_list(erlang:get_cookie()), "-start_epmd", "false",
                                              "-mnesia", "dir", "\"mnesia_elsewhere\""]}),
    Nodes = [node(), Other],
    ok = mnesia:create_schema(Nodes),
    _ = [ok = erpc:call(Node, mnesia, start, []) || Node <- Nodes],
    {atomic, ok} = mnesia:create_table(roster, [{disc_copies, Nodes}]),
    {atomic, ok} = mnesia:create_table(passwd, [{disc_copies, [node()]}]),
    stopped = mnesia:stop(),
    ok = erpc:call(Other, mnesia, dirty_write, [{roster, 1, 2}]),
    stopped = erpc:call(Other, mnesia, stop, []),
    ok = peer:stop(Peer),
    ok = mnesia:start(),
    ok = application:load({application, chat, [{applications, [kernel, stdlib, mnesia]}, {mod, {?MODULE, []}}]}),
    _ = spawn(fun() -> {ok, _} = application:ensure_all_started(chat) end),
    timer:sleep(500),
    ok.

start(normal, []) ->
    ok = mnesia:wait_for_tables([roster, passwd], infinity),
    {ok, self()}.

stop(_) -> ok.
