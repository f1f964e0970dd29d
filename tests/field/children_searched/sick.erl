%% Jobs that come and go are started under a supervisor that also has 20,000 long ones, each by an identifier of its own. To find the one
%% that has ended, it goes through all of them.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, job/1, submits/1]).

start() ->
    {ok, Supervisor} = supervisor:start_link({local, job_sup}, ?MODULE, []),
    unlink(Supervisor),
    [{ok, _} = supervisor:start_child(job_sup, spec({long, N}, infinity)) || N <- lists:seq(1, 20_000)],
    _ = [spawn(?MODULE, submits, [N]) || N <- lists:seq(1, 30)],
    timer:sleep(500),
    ok.

init([]) -> {ok, {#{strategy => one_for_one}, []}}.

spec(Id, Ms) -> #{id => Id, start => {?MODULE, job, [Ms]}, restart => temporary}.

job(Ms) -> {ok, spawn_link(fun() -> receive stop -> ok after Ms -> ok end end)}.

submits(N) ->
    {ok, _} = supervisor:start_child(job_sup, spec({short, N, make_ref()}, 50)),
    timer:sleep(10),
    submits(N).
