%% Each query is compiled to a module with a new name, which is never purged: 2,000 so far, ten more a second.
-module(sick).
-export([start/0]).

start() ->
    [load(N) || N <- lists:seq(1, 2000)],
    spawn(fun() -> more(2001) end),
    ok.

more(N) ->
    load(N),
    timer:sleep(50),
    more(N + 1).

load(N) ->
    Name = list_to_atom("query_" ++ integer_to_list(N)),
    {ok, Name, Beam} = compile:forms([{attribute, 1, module, Name}, {attribute, 1, export, [{run, 1}]},
                                      {function, 1, run, 1, [{clause, 1, [{var, 1, 'X'}], [], [{tuple, 1, [{var, 1, 'X'}, {integer, 1, N}]}]}]}],
                                     [no_copt, no_bsm_opt, no_type_opt, no_ssa_opt]),
    {module, Name} = code:load_binary(Name, "none", Beam).
