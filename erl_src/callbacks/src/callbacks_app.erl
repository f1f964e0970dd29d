%% @doc Starts the workers, and makes their names known.
%%
%% Environment: `workers' (1 to 1023, by default one for each scheduler) and `hold_ms' (1 to 60000).
%% A callback that has not returned after `hold_ms' is left alone in its worker.
-module(callbacks_app).
-behaviour(application).

-export([start/2, stop/1]).

-define(HOLD_MS_MAX, 60_000).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_Type, _Arguments) ->
    Workers = application:get_env(callbacks, workers, erlang:system_info(schedulers_online)),
    HoldMs = application:get_env(callbacks, hold_ms, undefined),
    case {number(Workers, callbacks_route:workers_max()), number(HoldMs, ?HOLD_MS_MAX)} of
        {true, true} -> start_workers(Workers, HoldMs);
        {false, _} -> {error, {bad_environment, {workers, Workers, "must be a number from 1 to 1023"}}};
        {_, false} -> {error, {bad_environment, {hold_ms, HoldMs, "must be a number from 1 to 60000"}}}
    end.

number(Value, Max) -> is_integer(Value) andalso Value >= 1 andalso Value =< Max.

start_workers(Workers, HoldMs) ->
    case callbacks_sup:start_link(Workers, HoldMs) of
        {ok, Supervisor} ->
            ok = callbacks_route:open(Workers),
            {ok, Supervisor};
        Error -> Error
    end.

-spec stop(term()) -> ok.
stop(_State) -> callbacks_route:close().
