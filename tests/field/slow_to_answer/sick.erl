%% Three processes make calls of native code that hold a scheduler for half a second, and there are two: whoever wants
%% something of the node waits for each of its turns.
-module(sick).
-export([start/0, derives/0]).

start() ->
    {ok, _} = application:ensure_all_started(crypto),
    _ = [spawn(?MODULE, derives, []) || _ <- [1, 2, 3]],
    ok.

derives() ->
    _ = crypto:pbkdf2_hmac(sha256, <<"password">>, <<"salt">>, 400_000, 32),
    true = erlang:bump_reductions(4000),
    derives().
