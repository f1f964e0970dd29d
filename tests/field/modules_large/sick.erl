%% Modules are generated that each have the whole data of a country as a constant.
-module(sick).
-export([start/0]).

start() ->
    Folder = filename:dirname(code:which(?MODULE)),
    _ = code:add_patha(Folder),
    ok = lists:foreach(fun(N) -> country(N, Folder) end, lists:seq(1, 15)).

country(N, Folder) ->
    Module = list_to_atom("country_" ++ integer_to_list(N)),
    Data = [$a + erlang:phash2({N, I}, 26) || I <- lists:seq(1, 500_000)],
    {ok, Module, Beam} = compile:forms([{attribute, 1, module, Module}, {attribute, 1, export, [{data, 0}]},
                                        {function, 1, data, 0, [{clause, 1, [], [], [{string, 1, Data}]}]}]),
    ok = file:write_file(filename:join(Folder, atom_to_list(Module) ++ ".beam"), Beam),
    {module, Module} = code:load_file(Module).
