%% The orders of a shop are divided among 16 servers by a hash of the customer, and nearly all orders are of one customer, a marketplace:
%% its server does not keep up, and the others are idle.
-module(sick).
-behaviour(gen_server).
-export([start/0, start_link/1, init/1, handle_call/3, handle_cast/2, orders/1]).

start() ->
    Self = self(),
    _ = spawn(fun() ->
                      {ok, _} = supervisor:start_link({local, shop_shards}, ?MODULE, supervisor),
                      Self ! started,
                      timer:sleep(infinity)
              end),
    receive started -> ok end,
    spawn(?MODULE, orders, [1]),
    until_behind(),
    ok.

until_behind() ->
    case process_info(whereis(shard_of(marketplace)), message_queue_len) of
        {_, Depth} when Depth > 3000 -> ok;
        _ -> timer:sleep(100), until_behind()
    end.

shard_of(Customer) -> list_to_atom("shop_shard_" ++ integer_to_list(erlang:phash2(Customer, 16))).

%% One of twenty orders is of another customer. No more than 30,000 wait, so that the node lives long enough to be looked at.
orders(N) ->
    _ = [gen_server:cast(shard_of(case Nth rem 20 of 0 -> {customer, Nth}; _ -> marketplace end), {order, Nth})
         || Nth <- lists:seq(N, N + 99)],
    case process_info(whereis(shard_of(marketplace)), message_queue_len) of
        {_, Depth} when Depth > 30_000 -> timer:sleep(200);
        _ -> timer:sleep(20)
    end,
    orders(N + 100).

start_link(Nth) -> gen_server:start_link({local, list_to_atom("shop_shard_" ++ integer_to_list(Nth))}, ?MODULE, shard, []).

init(supervisor) -> {ok, {#{}, [#{id => Nth, start => {?MODULE, start_link, [Nth]}} || Nth <- lists:seq(0, 15)]}};
init(shard) -> {ok, none}.

handle_call(_, _, State) -> {noreply, State}.
handle_cast({order, N}, State) ->
    true = lists:sum([length(lists:seq(1, 100)) || _ <- lists:seq(1, 3000)]) > N - N,
    {noreply, State}.
