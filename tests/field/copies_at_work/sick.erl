%% A server with 11 kB of rules, whose parts are shared, sends them to its 25 workers time and again. Each has a copy in which nothing
%% is shared, and garbage of several such copies.
-module(sick).
-export([start/0, rules/2, works/1]).

start() ->
    Rule = [{rule, N, allow, [N, N + 1]} || N <- lists:seq(1, 120)],
    Rules = lists:duplicate(18, lists:duplicate(18, Rule)),
    _ = spawn(?MODULE, rules, [[spawn(?MODULE, works, [none]) || _ <- lists:seq(1, 25)], Rules]),
    timer:sleep(3000),
    ok.

rules(Workers, Rules) ->
    _ = [Worker ! {rules, Rules} || Worker <- Workers],
    timer:sleep(150),
    rules(Workers, Rules).

works(Rules) ->
    receive
        {rules, New} -> works(New);
        {are, From} -> From ! Rules, works(Rules)
    end.
