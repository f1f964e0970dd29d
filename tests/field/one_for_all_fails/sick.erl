%% One of 40 children of a supervisor with the strategy one_for_all fails half a second after its start: all are ended and started again.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, start_sensor/1, sensor/1]).

start() ->
    ok = logger:set_primary_config(level, none),
    {ok, Sup} = supervisor:start_link({local, sensors_sup}, ?MODULE, []),
    true = unlink(Sup),
    ok.

init([]) ->
    {ok, {#{strategy => one_for_all, intensity => 1000, period => 1},
          [#{id => N, start => {?MODULE, start_sensor, [N]}} || N <- lists:seq(1, 40)]}}.

start_sensor(N) -> {ok, proc_lib:spawn_link(?MODULE, sensor, [N])}.

sensor(13) ->
    timer:sleep(500),
    _ = calibrated(none);
sensor(N) -> receive never -> N end.

calibrated(Value) when is_number(Value) -> Value.
