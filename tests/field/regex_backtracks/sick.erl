%% A server checks addresses with a regular expression in which one repetition is inside of another.
-module(sick).
-behaviour(gen_server).
-export([start/0, init/1, handle_call/3, handle_cast/2, asks/1]).

start() ->
    {ok, _} = gen_server:start({local, validator}, ?MODULE, [], []),
    _ = [spawn(?MODULE, asks, [N]) || N <- lists:seq(1, 15)],
    ok.

asks(N) ->
    _ = gen_server:call(validator, {check, [lists:duplicate(28 + N rem 3, $a), "!"]}, infinity),
    asks(N).

init([]) -> re:compile("^(a+)+$").

handle_call({check, Text}, _, Pattern) -> {reply, is_valid(Text, Pattern), Pattern}.
handle_cast(_, Pattern) -> {noreply, Pattern}.

is_valid(Text, Pattern) -> re:run(Text, Pattern, [{capture, none}, {match_limit, 200_000_000}]) =:= match.
