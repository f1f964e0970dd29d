%% A release waits for the end of old code, which one process never leaves, and asks again a hundred times a second.
-module(sick).
-export([start/0, session/0, rolls_out/0]).

start() ->
    load(),
    register(tariff_keeper, spawn(tariff, keeps, [])),
    _ = [spawn(?MODULE, session, []) || _ <- lists:seq(1, 20_000)],
    load(),
    register(rollout, spawn(?MODULE, rolls_out, [])),
    timer:sleep(1000).

%% The loop calls itself by its name alone, so it stays in the version in which it began.
load() ->
    Forms = [{attribute, 1, module, tariff}, {attribute, 1, export, [{keeps, 0}]},
             {function, 1, keeps, 0,
              [{clause, 1, [], [], [{'receive', 1, [{clause, 1, [{var, 1, '_'}], [], [{call, 1, {atom, 1, keeps}, []}]}]}]}]}],
    {ok, tariff, Beam} = compile:forms(Forms),
    {module, tariff} = code:load_binary(tariff, "tariff.beam", Beam).

session() -> receive bump -> session() end.

rolls_out() ->
    case code:soft_purge(tariff) of
        true -> load();
        false ->
            timer:sleep(10),
            rolls_out()
    end.
