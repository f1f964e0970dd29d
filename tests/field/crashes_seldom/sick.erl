%% A server fails at every second request it gets; its supervisor starts it again, and callers find it gone meanwhile.
-module(sick).
-behaviour(gen_server).
-behaviour(supervisor).
-export([start/0, start_link/0, writes/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    Starter = self(),
    spawn(fun() -> {ok, _} = supervisor:start_link({local, ledger_sup}, ?MODULE, supervisor), Starter ! begun, receive never -> ok end end),
    receive begun -> ok end,
    spawn(?MODULE, writes, []),
    ok.

start_link() -> gen_server:start_link({local, ledger}, ?MODULE, server, []).

init(supervisor) -> {ok, {#{intensity => 1000, period => 1}, [#{id => ledger, start => {?MODULE, start_link, []}}]}};
init(server) -> {ok, #{}}.

writes() ->
    timer:sleep(1100),
    gen_server:cast(ledger, {write, none}),
    writes().

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast({write, Amount}, State) -> {noreply, State#{sum => Amount + 1}}.
