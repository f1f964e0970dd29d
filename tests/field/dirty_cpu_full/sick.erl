%% 60 logins at a time hash their passwords, each for a while on the two threads for long native work.
-module(sick).
-export([start/0, login/1]).

start() ->
    {ok, _} = application:ensure_all_started(crypto),
    [spawn(?MODULE, login, [N]) || N <- lists:seq(1, 60)],
    timer:sleep(500),
    ok.

login(N) ->
    _ = crypto:generate_key(rsa, {2048, 65537}),
    login(N).
