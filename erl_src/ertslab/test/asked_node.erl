%% A node that has a process with a deep mailbox, and a VM in which commands look at it, since they begin distribution there. Neither
%% wants epmd: the node listens where the other looks for it.
-module(asked_node).

-export([start/0, stop/1, name/0, asked/4, called/2, ends/4, refused/4]).
-export([sick/0]).

%% In Config.
-spec start() -> [{sick | asking, pid()}].
start() ->
    {ok, Socket} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Socket),
    ok = gen_tcp:close(Socket),
    Flags = ["-start_epmd", "false", "-erl_epmd_port", integer_to_list(Port), "-pa" | code:get_path()],
    {ok, Sick, _} = peer:start(#{connection => standard_io, args => ["-name", name(), "-setcookie", "live" | Flags]}),
    ok = peer:call(Sick, ?MODULE, sick, []),
    {ok, Asking, _} = peer:start(#{connection => standard_io, args => Flags}),
    [{sick, Sick}, {asking, Asking}].

-spec stop([{atom(), term()}]) -> ok.
stop(Config) -> lists:foreach(fun(Peer) -> ok = peer:stop(proplists:get_value(Peer, Config)) end, [asking, sick]).

-spec name() -> string().
name() -> "sick@127.0.0.1".

%% A process `deep' with 2,000 messages that it does not take.
-spec sick() -> ok.
sick() ->
    Deep = spawn(timer, sleep, [infinity]),
    true = register(deep, Deep),
    lists:foreach(fun(N) -> Deep ! N end, lists:seq(1, 2000)).

%% A call in the VM that asks. A command begins distribution, which its own VM would end with it.
-spec asked([{atom(), term()}], module(), atom(), [term()]) -> term().
asked(Config, Module, Function, Args) ->
    Asking = proplists:get_value(asking, Config),
    try peer:call(Asking, Module, Function, Args, 180_000)
    after peer:call(Asking, net_kernel, stop, [])
    end.

%% As the functions of command_line.
called(Config, Words) -> asked(Config, command_line, called, [Words]).

ends(Config, Status, Text, Words) -> asked(Config, command_line, ends, [Status, Text, Words]).

refused(Config, Status, Text, Words) -> asked(Config, command_line, refused, [Status, Text, Words]).
