%% A queue keeps an index of 60,000 messages that are on disk, and passes on new ones of 64 kB, of which a dozen are on their way at a time. The
%% VM counts their bytes, and each dozen of them has it sweep all of the index.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, publishes/0, echo/0, asks/1]).

start() ->
    {ok, _} = gen_server:start({local, queue_index}, ?MODULE, [], []),
    spawn(?MODULE, publishes, []),
    Echo = spawn(?MODULE, echo, []),
    spawn(?MODULE, asks, [Echo]),
    ok.

publishes() ->
    ok = gen_server:call(queue_index, {publish, binary:copy(<<1>>, 65_536)}, infinity),
    publishes().

init([]) -> {ok, {queue:from_list(lists:duplicate(12, none)), maps:from_list([{N, {on_disk, N, [N]}} || N <- lists:seq(1, 60_000)])}}.

handle_call({publish, Message}, _, {OnTheirWay, Index}) ->
    {_, Rest} = queue:out(OnTheirWay),
    {reply, ok, {queue:in(Message, Rest), Index}}.
handle_cast(_, State) -> {noreply, State}.

echo() -> receive {From, What} -> From ! {self(), What}, echo() end.

asks(Echo) ->
    Echo ! {self(), make_ref()},
    receive {Echo, _} -> timer:sleep(5), asks(Echo) end.
