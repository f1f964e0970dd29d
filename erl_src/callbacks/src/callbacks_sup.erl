%% @doc Supervises the keepers. Each is restarted on its own.
-module(callbacks_sup).
-behaviour(supervisor).

-export([start_link/2, init/1]).

%% A keeper only ends if something kills its worker. This many such restarts are tolerated.
-define(RESTARTS, 100).
-define(SECONDS, 10).

-spec start_link(pos_integer(), pos_integer()) -> supervisor:startlink_ret().
start_link(Workers, HoldMs) ->
    supervisor:start_link({local, ?MODULE}, ?MODULE, {Workers, HoldMs}).

-spec init({pos_integer(), pos_integer()}) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init({Workers, HoldMs}) ->
    ok = callbacks_processes:new(),
    {ok, {#{strategy => one_for_one, intensity => ?RESTARTS, period => ?SECONDS},
          [#{id => Worker, start => {callbacks_keeper, start_link, [Worker, HoldMs]}}
           || Worker <- lists:seq(1, Workers)]}}.
