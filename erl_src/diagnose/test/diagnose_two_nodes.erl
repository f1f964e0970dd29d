%% @doc For suites whose cases look from one node at another one, which may be of an older release.
-module(diagnose_two_nodes).

-include_lib("stdlib/include/assert.hrl").

-export([started/4, both/3, stopped/1, there/4, here/4, until/1, assert_removed/2]).

%% @doc The configuration with both nodes, and with code on `there', which runs that Erlang: these modules, compiled there, since none of
%% this release is loaded by an older one. Each case has its own copies, which no other one writes while they are compiled.
started(Erlang, #{planted := Planted} = Nodes, Case, Config) ->
    All = both(Erlang, Nodes, Config),
    Dir = filename:join(proplists:get_value(priv_dir, Config), Case),
    ok = filelib:ensure_path(Dir),
    ok = lists:foreach(fun(Module) -> planted(Module, Dir, All) end, Planted),
    All.

%% @doc The configuration with both nodes: `there' runs that Erlang, with these words on its command line. `here' has the code that
%% looks, and that of the suite.
both(Erlang, #{there := There, here := Here, looks := Looking} = Nodes, Config) ->
    Port = integer_to_list(20_000 + rand:uniform(10_000)),
    Libraries = [filename:dirname(code:which(Module)) || Module <- Looking],
    Old = vm(Erlang, There, Port, maps:get(words, Nodes, [])),
    Own = vm(filename:join([code:root_dir(), "bin", "erl"]), Here, Port,
             ["-dist_listen", "false" | lists:append([["-pa", Dir] || Dir <- Libraries])]),
    [{there, Old}, {here, Own} | Config].

%% Six of them can start at once, and beside other work they have taken longer than the quarter of a minute that a peer has.
vm(Erlang, Name, Port, More) ->
    {ok, Peer, _} = peer:start(#{connection => standard_io, exec => Erlang, wait_boot => 60_000,
                                 args => ["-name", Name, "-setcookie", "diagnose", "-start_epmd", "false", "-erl_epmd_port", Port | More]}),
    Peer.

planted(Module, Dir, Config) ->
    {ok, Source} = file:read_file(proplists:get_value(source, Module:module_info(compile))),
    File = filename:join(Dir, atom_to_list(Module) ++ ".erl"),
    ok = file:write_file(File, Source),
    {ok, Module, Beam} = there(Config, compile, file, [File, [binary]]),
    {module, _} = there(Config, code, load_binary, [Module, File, Beam]),
    ok.

stopped(Config) -> [try peer:stop(proplists:get_value(Key, Config)) catch _:_ -> ok end || Key <- [here, there]].

there(Config, Module, Function, Args) -> peer:call(proplists:get_value(there, Config), Module, Function, Args, 60_000).

here(Config, Module, Function, Args) -> peer:call(proplists:get_value(here, Config), Module, Function, Args, 60_000).

%% @doc Until it is: it may take a moment, but no more than half a minute.
until(Is) -> until(Is, 600).

until(_, 0) -> error(never);
until(Is, Left) ->
    case Is() of
        true -> ok;
        false ->
            timer:sleep(50),
            until(Is, Left - 1)
    end.

%% @doc Nothing of a probe is left there.
assert_removed(Probe, Config) ->
    until(fun() -> not there(Config, erlang, module_loaded, [Probe]) andalso not there(Config, erlang, check_old_code, [Probe]) end),
    ?assertEqual(undefined, there(Config, ets, whereis, [Probe])).
