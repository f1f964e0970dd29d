%% Mails are kept as strings, in a table: each character takes 16 bytes.
-module(sick).
-export([start/0, keeps/1]).

start() ->
    _ = spawn(?MODULE, keeps, [self()]),
    receive filled -> ok end.

keeps(Starter) ->
    true = register(mail_store, self()),
    Mails = ets:new(mails, [named_table, protected]),
    Body = lists:append(lists:duplicate(15, "Dear customer, your order has left our house today. ")),
    true = ets:insert(Mails, [{N, #{from => "shop@example.org", body => [integer_to_list(N), Body]}} || N <- lists:seq(1, 15_000)]),
    true = erlang:garbage_collect(),
    Starter ! filled,
    receive close -> ok end.
