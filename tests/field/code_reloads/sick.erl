%% A configuration is compiled to a module whenever it changes, which is thirty times a second. Each load goes over all processes.
-module(sick).
-export([start/0, compiled/1, keep/0]).

start() ->
    [spawn(?MODULE, keep, []) || _ <- lists:seq(1, 5000)],
    ok = compiled(0),
    spawn(fun() -> changes(1) end),
    timer:sleep(1000),
    ok.

keep() -> receive stop -> ok end.

changes(N) ->
    ok = compiled(N),
    timer:sleep(20),
    changes(N + 1).

compiled(N) ->
    Forms = [{attribute, 1, module, settings}, {attribute, 1, export, [{value, 0}]},
             {function, 1, value, 0, [{clause, 1, [], [], [{tuple, 1, [{integer, 1, N}, {string, 1, "value"}]}]}]}],
    {ok, settings, Beam} = compile:forms(Forms, []),
    _ = code:purge(settings),
    {module, settings} = code:load_binary(settings, "settings.erl", Beam),
    ok.
