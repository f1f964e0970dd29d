%% Eight checks are children of a supervisor, and permanent, as children are by default. Each has done its work after half a second and ends
%% normally, so the supervisor has it done again. Beside it a supervisor has a process for each request.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, start_check/1, check/1, start_request/0, request/0, requests/0]).

start() ->
    {ok, Checks} = supervisor:start_link({local, checks_sup}, ?MODULE, checks),
    {ok, Requests} = supervisor:start_link({local, requests_sup}, ?MODULE, requests),
    true = unlink(Checks),
    true = unlink(Requests),
    _ = spawn(?MODULE, requests, []),
    ok.

init(checks) ->
    {ok, {#{intensity => 100, period => 1}, [#{id => N, start => {?MODULE, start_check, [N]}} || N <- lists:seq(1, 8)]}};
init(requests) ->
    {ok, {#{strategy => simple_one_for_one}, [#{id => request, start => {?MODULE, start_request, []}, restart => temporary}]}}.

start_check(N) -> proc_lib:start_link(?MODULE, check, [N]).

check(N) ->
    ok = proc_lib:init_ack({ok, self()}),
    timer:sleep(400 + 20 * N).

start_request() -> proc_lib:start_link(?MODULE, request, []).

request() ->
    ok = proc_lib:init_ack({ok, self()}),
    timer:sleep(100).

requests() ->
    {ok, _} = supervisor:start_child(requests_sup, []),
    timer:sleep(50),
    requests().
