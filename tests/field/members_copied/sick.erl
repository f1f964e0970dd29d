%% A server of presences keeps all 30,000 members of a room in one row of a table. It reads the row and puts it anew for each visitor of
%% whom one of 9 gateways tells that he comes or goes.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, reports/0]).

start() ->
    {ok, _} = gen_server:start({local, room_presence}, ?MODULE, [], []),
    _ = [spawn(?MODULE, reports, []) || _ <- lists:seq(1, 9)],
    timer:sleep(500),
    ok.

init([]) ->
    Table = ets:new(room_members, []),
    true = ets:insert(Table, {lobby, [{self(), N, joined} || N <- lists:seq(1, 30_000)]}),
    {ok, Table}.

handle_call(Request, {Visitor, _}, Table) ->
    [{lobby, Members}] = ets:lookup(Table, lobby),
    true = ets:insert(Table, {lobby, changed(Request, Visitor, Members)}),
    {reply, ok, Table}.

changed(enter, Visitor, Members) -> [{Visitor, 0, joined} | Members];
changed(leave, Visitor, Members) -> lists:keydelete(Visitor, 1, Members).

handle_cast(_, Table) -> {noreply, Table}.

reports() ->
    ok = gen_server:call(room_presence, enter, infinity),
    ok = gen_server:call(room_presence, leave, infinity),
    reports().
