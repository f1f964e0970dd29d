%% The node is told to stop. A child of a supervisor, with the shutdown infinity, waits in its terminate function until there are no more
%% connections, and nobody tells these to end.
-module(sick).
-behaviour(application).
-export([start/0, start/2, stop/1, init/1, start_drainer/0, start_conns/0, start_conn/1, connection/1, handle_call/3, handle_cast/2, terminate/2]).

start() ->
    ok = application:load({application, shop, [{vsn, "1"}, {modules, [?MODULE]}, {registered, []}, {applications, [kernel, stdlib]},
                                               {mod, {?MODULE, top}}]}),
    ok = application:start(shop),
    _ = [{ok, _} = supervisor:start_child(conns_sup, [N]) || N <- lists:seq(1, 200)],
    _ = spawn(fun() -> timer:sleep(300), init:stop() end),
    timer:sleep(800),
    ok.

start(_, top) -> supervisor:start_link({local, shop_sup}, ?MODULE, top).

stop(_) -> ok.

start_drainer() -> gen_server:start_link({local, drainer}, ?MODULE, drainer, []).

start_conns() -> supervisor:start_link({local, conns_sup}, ?MODULE, conns).

start_conn(N) -> {ok, proc_lib:spawn_link(?MODULE, connection, [N])}.

connection(N) -> receive never -> N end.

init(top) ->
    {ok, {#{}, [#{id => conns, type => supervisor, start => {?MODULE, start_conns, []}},
                #{id => drainer, shutdown => infinity, start => {?MODULE, start_drainer, []}}]}};
init(conns) -> {ok, {#{strategy => simple_one_for_one}, [#{id => conn, start => {?MODULE, start_conn, []}, shutdown => 1000}]}};
init(drainer) ->
    process_flag(trap_exit, true),
    {ok, none}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

terminate(_, _) -> drains().

drains() ->
    case proplists:get_value(active, supervisor:count_children(conns_sup)) of
        0 -> ok;
        _ ->
            timer:sleep(200),
            drains()
    end.
