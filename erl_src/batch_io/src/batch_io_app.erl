%% @doc The application: one buffer with one device, as its environment says, and
%% the options that it was started with (`given').
-module(batch_io_app).
-behaviour(application).

-export([start/2, stop/1]).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_Type, _Arguments) ->
    Environment = maps:from_list(application:get_all_env(batch_io)),
    {Given, Configured} = maps:take(given, maps:merge(#{given => #{}}, Environment)),
    batch_io:start_link(maps:merge(maps:remove(included_applications, Configured), Given)).

%% The writer has withdrawn the buffer, unless the supervisor has given up on it.
-spec stop(term()) -> ok.
stop(_State) -> batch_io_buffer:withdraw(batch_io_writer).
