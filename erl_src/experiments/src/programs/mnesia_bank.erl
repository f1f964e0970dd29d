%% @doc A bank on mnesia, on the VM that is measured, with its clients in that VM.
%%
%% Accounts are a table that is also on disc, with an index. Of ten transactions eight move an amount from one account to another and
%% note it; one reads all accounts of an owner by the index; one reads a single account. A round's result counts the transactions that
%% were committed, as messages. The books say how much all accounts have together.
-module(mnesia_bank).

-export([start/1, round/3, books/1, whole/1, balanced/1]).
%% Called in the program's VM.
-export([open/0, run_round/1, read_books/0]).
-export_type([books/0]).

-type books() :: #{balance := integer(), movements := non_neg_integer()}.

-record(account, {id :: non_neg_integer(), owner :: non_neg_integer(), balance :: integer()}).
-record(movement, {id :: {non_neg_integer(), non_neg_integer()}, from :: non_neg_integer(), to :: non_neg_integer(),
                   amount :: pos_integer()}).

-define(ACCOUNTS, 10_000).
-define(OWNERS, 500).
-define(BALANCE, 1000).
-define(CLIENTS, 8).
%% A client has so many slots for its movements, which later ones write over: so the tables have one size in all rounds.
-define(KEPT, 500).

%% @doc Starts it. The tables lie in the place's folder.
-spec start(program_place:place()) -> program_node:program().
start(Place) ->
    Folder = io_lib:format("~0p", [filename:join(program_place:folder(Place), "mnesia")]),
    Words = ["-boot", "no_dot_erlang", "-mnesia", "dir", lists:flatten(Folder)],
    Program = program_node:start(Place, #{emulator => measured, words => Words}),
    ok = program_node:call(Program, ?MODULE, open, []),
    Program.

%% @doc Commits so many transactions. Returns the counts, the total time, and the 99th percentile of a transaction's time, in
%% nanoseconds.
-spec round(program_node:program(), Transactions :: pos_integer(), timeout()) ->
          {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(Program, Transactions, Timeout) -> program_node:call(Program, ?MODULE, run_round, [Transactions], Timeout).

%% @doc The sum of all accounts, and the number of movements that are kept.
-spec books(program_node:program()) -> books().
books(Program) -> program_node:call(Program, ?MODULE, read_books, []).

%% @doc What a round results in if no transaction is lost.
-spec whole(Transactions :: pos_integer()) -> program_messages:counts().
whole(Transactions) -> #{messages => Transactions, twice => 0}.

%% @doc The books after such a round if no transaction was lost or done in part.
-spec balanced(Transactions :: pos_integer()) -> books().
balanced(Transactions) ->
    Slots = [lists:usort([slot(Number) || Number <- Numbers, kind(Number) =:= move]) || Numbers <- shares(Transactions)],
    #{balance => ?ACCOUNTS * ?BALANCE, movements => length(lists:append(Slots))}.

%% @doc Makes the tables.
-spec open() -> ok.
open() ->
    ok = called(create_schema, [[node()]]),
    {ok, _} = application:ensure_all_started(mnesia),
    {atomic, ok} = called(create_table, [account, [{disc_copies, [node()]}, {attributes, record_info(fields, account)},
                                                   {index, [#account.owner]}]]),
    {atomic, ok} = called(create_table, [movement, [{disc_copies, [node()]}, {attributes, record_info(fields, movement)}]]),
    lists:foreach(fun(Id) -> ok = called(dirty_write, [#account{id = Id, owner = Id rem ?OWNERS, balance = ?BALANCE}]) end,
                  lists:seq(0, ?ACCOUNTS - 1)).

%% @doc See `round/3'.
-spec run_round(pos_integer()) -> {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
run_round(Transactions) ->
    program_messages:round(Transactions, fun(_) -> ok end, fun() -> by_clients(lists:enumerate(shares(Transactions))) end).

%% @doc See `books/1'.
-spec read_books() -> books().
read_books() ->
    Balance = called(async_dirty, [fun() -> called(foldl, [fun(#account{balance = One}, Sum) -> One + Sum end, 0, account]) end]),
    #{balance => Balance, movements => called(table_info, [movement, size])}.

%% The numbers of each client's transactions.
shares(Transactions) -> [lists:seq(Client, Transactions, ?CLIENTS) || Client <- lists:seq(1, ?CLIENTS)].

%% A client that fails takes the caller with it.
by_clients(Shares) ->
    Caller = self(),
    Clients = [spawn_link(fun() -> Caller ! {self(), [{Number, took(Client, Number)} || Number <- Numbers]} end)
               || {Client, Numbers} <- Shares],
    lists:append([receive {Client, Took} -> Took end || Client <- Clients]).

took(Client, Number) ->
    Before = erlang:monotonic_time(),
    {atomic, _} = called(transaction, [fun() -> work(kind(Number), Client, Number) end]),
    erlang:monotonic_time() - Before.

slot(Number) -> Number div ?CLIENTS rem ?KEPT.

kind(Number) ->
    case slot(Number) rem 10 of
        0 -> owner;
        1 -> account;
        _ -> move
    end.

work(owner, _, Number) ->
    lists:sum([Balance || #account{balance = Balance} <- called(index_read, [account, Number rem ?OWNERS, #account.owner])]);
work(account, _, Number) ->
    [#account{balance = Balance}] = called(read, [account, account(Number)]),
    Balance;
work(move, Client, Number) ->
    From = account(Number),
    To = account(Number + 1),
    Amount = 1 + Number rem 9,
    ok = change(From, -Amount),
    ok = change(To, Amount),
    called(write, [#movement{id = {Client, slot(Number)}, from = From, to = To, amount = Amount}]).

%% Numbers that follow each other are far apart.
account(Number) -> erlang:phash2(Number, ?ACCOUNTS).

change(Id, Amount) ->
    [#account{balance = Balance} = Account] = called(read, [account, Id, write]),
    called(write, [Account#account{balance = Balance + Amount}]).

called(Function, Args) -> program_library:call(mnesia, Function, Args).
