%% A handler of logger has a process send each error to a service. Whatever fails there is logged as an error, too.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, log/2]).

start() ->
    {ok, _} = gen_server:start({local, reporter}, ?MODULE, [], []),
    ok = logger:add_handler(reports, ?MODULE, #{level => error}),
    ok = logger:remove_handler(default),
    logger:error("order ~b failed", [17]).

log(#{msg := Message}, _) -> gen_server:cast(reporter, {send, Message}).

init([]) -> {ok, 0}.
handle_call(failed, _, Failed) -> {reply, Failed, Failed}.

handle_cast({send, Message}, Failed) ->
    case sent(zlib:compress(term_to_binary({os:timestamp(), Message}))) of
        ok -> {noreply, Failed};
        {error, Reason} ->
            ok = logger:error("not sent: ~p (~b so far)", [Reason, Failed]),
            {noreply, Failed + 1}
    end.

%% The service has no address.
sent(_Bytes) -> inet:getaddr("", inet).
