%% Rules that users write are kept as text, and evaluated anew for each event.
-module(sick).
-export([start/0, worker/1]).

start() ->
    {ok, Tokens, _} = erl_scan:string("lists:sum([X * Rate || X <- Prices, X > Limit, X rem 3 =/= 0])."),
    {ok, Rule} = erl_parse:parse_exprs(Tokens),
    _ = [spawn(?MODULE, worker, [Rule]) || _ <- lists:seq(1, 4)],
    timer:sleep(200),
    ok.

worker(Rule) ->
    Bindings = [{'Limit', 10}, {'Prices', lists:seq(1, 800)}, {'Rate', 3}],
    {value, _, _} = erl_eval:exprs(Rule, Bindings),
    timer:sleep(1),
    worker(Rule).
