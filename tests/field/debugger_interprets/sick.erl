%% Somebody looked for a fault with the debugger, and left a module of the server interpreted.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, shopper/0]).

start() ->
    {module, tax} = int:i("tax.erl"),
    {ok, _} = gen_server:start({local, invoices}, ?MODULE, [], []),
    _ = [spawn(?MODULE, shopper, []) || _ <- lists:seq(1, 25)],
    timer:sleep(200),
    ok.

init(Rates) -> {ok, Rates}.

handle_call({total, Amounts}, _, Rates) -> {reply, tax:total(Amounts, 0), Rates}.

handle_cast(_, Rates) -> {noreply, Rates}.

shopper() ->
    _ = gen_server:call(invoices, {total, lists:seq(1, 3000)}, infinity),
    timer:sleep(20),
    shopper().
