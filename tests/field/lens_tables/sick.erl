%% A language server makes two tables for each question of an editor and deletes neither: 1,500 of them, and 40 more a second.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, lens}, ?MODULE, [], []),
    [ok = gen_server:call(lens, suggest) || _ <- lists:seq(1, 750)],
    spawn(fun edit/0),
    timer:sleep(200),
    ok.

edit() ->
    timer:sleep(49),
    ok = gen_server:call(lens, suggest),
    edit().

init([]) -> {ok, none}.

handle_call(suggest, _From, State) ->
    Types = ets:new(plt_types, [set, public]),
    Contracts = ets:new(plt_contracts, [set, public]),
    true = ets:insert(Types, [{N, any} || N <- lists:seq(1, 20)]),
    true = ets:insert(Contracts, {1, any}),
    {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.
