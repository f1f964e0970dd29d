%% A migration holds the only connection of a pool, since that is its lock, and waits for a process that needs a connection.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, repo_pool}, ?MODULE, [], []),
    Migrator = spawn(fun migrate/0),
    true = register(migrator, Migrator),
    timer:sleep(500),
    ok.

migrate() ->
    {ok, Connection} = gen_server:call(repo_pool, checkout, infinity),
    {ok, Migration} = gen_server:start(?MODULE, migration, []),
    ok = gen_server:call(Migration, {run, 1}, infinity),
    gen_server:cast(repo_pool, {checkin, Connection}).

init(migration) -> {ok, migration};
init([]) -> {ok, {[connection], queue:new()}}.

handle_call({run, _}, _, migration) ->
    {ok, Connection} = gen_server:call(repo_pool, checkout, infinity),
    ok = gen_server:cast(repo_pool, {checkin, Connection}),
    {reply, ok, migration};
handle_call(checkout, _, {[Connection | Others], Waiting}) -> {reply, {ok, Connection}, {Others, Waiting}};
handle_call(checkout, From, {[], Waiting}) -> {noreply, {[], queue:in(From, Waiting)}}.

handle_cast({checkin, Connection}, {Connections, Waiting}) ->
    case queue:out(Waiting) of
        {{value, From}, Others} ->
            gen_server:reply(From, {ok, Connection}),
            {noreply, {Connections, Others}};
        {empty, _} -> {noreply, {[Connection | Connections], Waiting}}
    end.
