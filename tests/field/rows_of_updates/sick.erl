%% A tracker of presences: an update inserts a new row and leaves the old one, and when a process ends, only its last row is deleted.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, views/1, visitors/0]).

start() ->
    {ok, _} = gen_server:start({local, presence_tracker}, ?MODULE, [], []),
    spawn(?MODULE, visitors, []),
    timer:sleep(4000),
    ok.

init([]) ->
    ets:new(presence_rows, [named_table, ordered_set, protected]),
    Gone = list_to_tuple([spawn(fun() -> ok end) || _ <- lists:seq(1, 10_000)]),
    [insert(element(1 + N rem 10_000, Gone), N) || N <- lists:seq(1, 150_000)],
    {ok, #{clock => 150_000}}.

insert(Pid, Clock) -> ets:insert(presence_rows, {{<<"room:lobby">>, Pid, Clock}, #{status => online, device => <<"web">>}}).

handle_call({present, Pid}, _From, #{clock := Clock} = State) ->
    is_map_key(Pid, State) orelse monitor(process, Pid),
    insert(Pid, Clock + 1),
    {reply, ok, State#{clock := Clock + 1, Pid => Clock + 1}}.

handle_cast(_, State) -> {noreply, State}.

handle_info({'DOWN', _, process, Pid, _}, State) ->
    {Clock, Others} = maps:take(Pid, State),
    ets:delete(presence_rows, {<<"room:lobby">>, Pid, Clock}),
    {noreply, Others}.

visitors() ->
    spawn(?MODULE, views, [6]),
    timer:sleep(5),
    visitors().

views(0) -> ok;
views(N) ->
    gen_server:call(presence_tracker, {present, self()}),
    timer:sleep(200),
    views(N - 1).
