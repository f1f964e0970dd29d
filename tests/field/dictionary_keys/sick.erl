%% A reader of a feed, which lives long, notes a context for each item in its process dictionary, by a key of its own, and erases none:
%% 30,000 keys, which need 3 MB.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2]).

start() ->
    {ok, _} = gen_server:start({local, feed_reader}, ?MODULE, [], []),
    _ = [gen_server:call(feed_reader, {item, N}) || N <- lists:seq(1, 30_000)],
    ok.

init([]) -> {ok, none}.

handle_call({item, N}, _, State) -> _ = put({context, N}, N), {reply, ok, State}.
handle_cast(_, State) -> {noreply, State}.
