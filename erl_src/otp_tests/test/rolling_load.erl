%% What runs on the nodes of rolling_upgrade_SUITE. On the three servers: a Mnesia table on the disk of each, and a global name that
%% one of them has. On the client, which stays: workers that send transactions to the servers, until they are answered.
-module(rolling_load).

-export([create/1, serve/0, leave/0, keep_errors/0, errors/0, transfer/3, row/1, missing/1, sum/0]).
-export([start_workers/2, answered/0, stop_workers/0, name_answers/0, is_patched/0]).
-export([keep_name/0, work/4]).
%% For logger.
-export([log/2]).

-define(ACCOUNTS, 20).
-define(NAME, rolling_upgrade).
-define(ERRORS, rolling_errors).

%% @doc On the first server, when Mnesia runs on none of them: the schema. Then `serve/0' on each, and `create/1' again.
create(Nodes) ->
    case mnesia:system_info(is_running) of
        no -> mnesia:create_schema(Nodes);
        yes ->
            {atomic, ok} = mnesia:create_table(account, [{disc_copies, Nodes}]),
            {atomic, ok} = mnesia:create_table(done, [{disc_copies, Nodes}]),
            {atomic, _} = mnesia:transaction(fun() -> [ok = mnesia:write({account, N, 1000}) || N <- lists:seq(1, ?ACCOUNTS)] end),
            ok
    end.

%% @doc Begins to serve.
serve() ->
    ok = keep_errors(),
    ok = mnesia:start(),
    ok = mnesia:wait_for_tables(mnesia:system_info(tables), 60_000),
    _ = spawn(?MODULE, keep_name, []),
    ok.

%% @doc Before the node is stopped: the kinds of errors that were logged here.
leave() ->
    stopped = mnesia:stop(),
    errors().

%% @doc Keeps what is logged as an error, for `errors/0'.
keep_errors() ->
    Owner = spawn(fun() -> timer:sleep(infinity) end),
    ?ERRORS = ets:new(?ERRORS, [named_table, public, bag, {heir, Owner, none}]),
    logger:add_handler(?MODULE, ?MODULE, #{level => error}).

%% @doc Whether this VM is `tuned'.
is_patched() -> erlang:function_exported(erts_internal, recv_marker_insert, 0).

%% @doc The kinds of errors that were logged here.
errors() -> lists:usort([Kind || {error, Kind} <- ets:tab2list(?ERRORS)]).

log(#{msg := {report, #{label := Label}}}, _) -> kept(Label);
log(#{msg := {report, _}}, _) -> kept(report);
log(#{msg := {Format, _}}, _) -> kept(Format).

kept(Kind) -> true = ets:insert(?ERRORS, {error, Kind}), ok.

%% Whoever finds the name free takes it, and answers with it until the node ends.
keep_name() ->
    case global:whereis_name(?NAME) of
        undefined ->
            case global:register_name(?NAME, self()) of
                yes -> answers();
                no -> keep_name()
            end;
        Pid ->
            Monitor = erlang:monitor(process, Pid),
            receive {'DOWN', Monitor, process, Pid, _} -> keep_name() end
    end.

answers() ->
    receive {From, Term} -> From ! {self(), Term} end,
    answers().

%% @doc Moves one from an account to another, once for each Id, and notes a row.
transfer(Id, From, To) ->
    mnesia:transaction(
      fun() ->
              case mnesia:read(done, Id, write) of
                  [] ->
                      [{account, From, Left}] = mnesia:read(account, From, write),
                      ok = mnesia:write({account, From, Left - 1}),
                      [{account, To, Has}] = mnesia:read(account, To, write),
                      ok = mnesia:write({account, To, Has + 1}),
                      mnesia:write(row(Id));
                  [_] -> ok
              end
      end).

%% @doc A row of small and shared terms, long lists, maps and binaries, which follow from its key.
row({_, N} = Id) ->
    Part = {Id, integer_to_binary(N), <<0:(N rem 200)/unit:8>>},
    {done, Id, #{parts => [Part, Part], list => lists:seq(1, N rem 300), N => {float(N), N bsl 70}}}.

%% @doc Those of the rows that are missing here, or other than they were.
missing(Ids) -> [Id || Id <- Ids, mnesia:dirty_read(done, Id) =/= [row(Id)]].

sum() -> lists:sum([Has || N <- lists:seq(1, ?ACCOUNTS), {account, _, Has} <- mnesia:dirty_read(account, N)]).

%% @doc On the client.
start_workers(Nodes, Count) ->
    Boot = self(),
    Owner = spawn(fun() ->
                          _ = ets:new(?MODULE, [named_table, public]),
                          Workers = [spawn_link(?MODULE, work, [N, 1, Nodes, self()]) || N <- lists:seq(1, Count)],
                          Boot ! {self(), started},
                          Asked = receive {stop, From} -> From end,
                          _ = [Worker ! stop || Worker <- Workers],
                          _ = [receive {Worker, stopped} -> ok end || Worker <- Workers],
                          Asked ! {self(), ets:tab2list(?MODULE)}
                  end),
    true = register(?MODULE, Owner),
    receive {Owner, started} -> ok end.

%% @doc How many transactions were answered.
answered() -> ets:info(?MODULE, size).

%% @doc The keys of all transactions that were answered, with how often each was tried.
stop_workers() ->
    Owner = whereis(?MODULE),
    Owner ! {stop, self()},
    receive {Owner, Answered} -> Answered end.

%% A server that leaves may have made the transaction whose answer is lost: another one is asked the same.
work(Worker, N, Nodes, Owner) ->
    true = ets:insert(?MODULE, {{Worker, N}, answered({Worker, N}, Nodes, 1)}),
    receive stop -> Owner ! {self(), stopped}
    after 0 -> work(Worker, N + 1, Nodes, Owner)
    end.

answered(Id, Nodes, Tries) ->
    Node = lists:nth(rand:uniform(length(Nodes)), Nodes),
    From = rand:uniform(?ACCOUNTS),
    %% And a term to there and back.
    Asked = fun() -> {erpc:call(Node, ?MODULE, transfer, [Id, From, From rem ?ACCOUNTS + 1], 30_000),
                      erpc:call(Node, ?MODULE, row, [Id], 30_000)}
            end,
    %% A server that leaves or comes answers in many ways.
    case catch Asked() of
        {{atomic, ok}, Row} ->
            Row = row(Id),
            Tries;
        _ -> again(Id, Nodes, Tries)
    end.

again(Id, Nodes, Tries) ->
    timer:sleep(20),
    answered(Id, Nodes, Tries + 1).

%% @doc Whether the global name is known here, and answers.
name_answers() ->
    case global:whereis_name(?NAME) of
        undefined -> false;
        Pid ->
            Pid ! {self(), hello},
            receive {Pid, hello} -> true after 1000 -> false end
    end.
