%% 400 processes wait in a library with a protocol of its own for a producer, whose buffer is full and which answers none.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, handle_info/2, works/0]).

start() ->
    {ok, _} = gen_server:start({local, producer_0}, ?MODULE, [], []),
    _ = [spawn(?MODULE, works, []) || _ <- lists:seq(1, 400)],
    timer:sleep(200),
    ok.

works() ->
    ok = kafka_lib:produce(whereis(producer_0), <<"event">>),
    works().

init([]) -> {ok, []}.
handle_call(_, _, Buffer) -> {reply, ok, Buffer}.
handle_cast(_, Buffer) -> {noreply, Buffer}.
handle_info({produce, From, Ref, Event}, Buffer) -> {noreply, [{From, Ref, Event} | Buffer]}.
