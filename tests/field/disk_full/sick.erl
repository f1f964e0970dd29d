%% The log of a store is on a disk that is full. Each write fails, and the supervisor starts the log again.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, start_log/0, log/1, member/0]).

start() ->
    ok = logger:set_primary_config(level, none),
    {ok, Sup} = supervisor:start_link({local, store_sup}, ?MODULE, []),
    true = unlink(Sup),
    _ = [spawn(?MODULE, member, []) || _ <- lists:seq(1, 8)],
    timer:sleep(300),
    ok.

init([]) -> {ok, {#{intensity => 1000, period => 1}, [#{id => log, start => {?MODULE, start_log, []}}]}}.

start_log() -> proc_lib:start_link(?MODULE, log, [self()]).

log(Parent) ->
    true = register(store_log, self()),
    {ok, File} = file:open("/dev/full", [raw, write, binary]),
    proc_lib:init_ack(Parent, {ok, self()}),
    writes(File).

writes(File) ->
    receive
        {append, Entry} ->
            ok = file:write(File, term_to_binary(Entry)),
            writes(File)
    end.

member() ->
    timer:sleep(200 + rand:uniform(400)),
    catch store_log ! {append, {put, lists:seq(1, 20)}},
    member().
