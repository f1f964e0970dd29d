%% A mailer tries each failed mail again in an hour, and the timer's message is the mail.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, fails/0]).

start() ->
    {ok, _} = gen_server:start({local, mail_queue}, ?MODULE, [], []),
    spawn(?MODULE, fails, []),
    ok.

init([]) ->
    _ = [later(N) || N <- lists:seq(1, 5000)],
    {ok, 5000, hibernate}.

later(N) -> erlang:send_after(3_600_000, self(), {try_again, N, lists:duplicate(3000, $a + N rem 20)}).

handle_call(_, _, Failed) -> {reply, ok, Failed}.

handle_cast(failed, Failed) ->
    _ = later(Failed),
    {noreply, Failed + 1, hibernate}.

fails() ->
    gen_server:cast(mail_queue, failed),
    timer:sleep(50),
    fails().
