%% The sites of a crawler cannot be reached, and their supervisor, whose intensity has no bound, starts each again at once. The workers of
%% a pool are started for each job, and end since the file of their settings is not there.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, site/0, site_of/0, worker/1, worker_of/1, jobs/0]).

start() ->
    %% Processes were started before: since the 32,768th one their numbers on OTP 25 begin again, with a serial.
    _ = [spawn(fun() -> ok end) || _ <- lists:seq(1, 40_000)],
    ok = logger:set_primary_config(level, none),
    {ok, Sites} = supervisor:start_link({local, sites_sup}, ?MODULE, sites),
    {ok, Workers} = supervisor:start_link({local, workers_sup}, ?MODULE, workers),
    _ = [unlink(Sup) || Sup <- [Sites, Workers]],
    _ = spawn(?MODULE, jobs, []),
    timer:sleep(200),
    ok.

init(sites) -> {ok, {#{strategy => one_for_one, intensity => 1_000_000, period => 1}, [#{id => N, start => {?MODULE, site, []}} || N <- [a, b]]}};
init(workers) -> {ok, {#{strategy => simple_one_for_one, intensity => 1_000_000, period => 1}, [#{id => worker, start => {?MODULE, worker, []}, restart => temporary}]}}.

site() -> {ok, proc_lib:spawn_link(?MODULE, site_of, [])}.
site_of() ->
    _ = lists:seq(1, 5000),
    timer:sleep(40),
    exit(econnrefused).

worker(Job) -> {ok, spawn_link(?MODULE, worker_of, [Job])}.
worker_of(Job) ->
    timer:sleep(30),
    {ok, _} = file:read_file("no_such_settings_" ++ integer_to_list(Job), [raw]).

jobs() ->
    {ok, _} = supervisor:start_child(workers_sup, [erlang:unique_integer([positive])]),
    timer:sleep(50),
    jobs().
