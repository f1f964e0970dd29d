%% @doc The application: one buffer with one device. Its options come from the environment and from
%% the call that started it (`given').
-module(batch_io_app).
-behaviour(application).

-export([start/2, stop/1]).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_Type, _Arguments) ->
    Environment = maps:from_list(application:get_all_env(batch_io)),
    {Given, Configured} = maps:take(given, maps:merge(#{given => #{}}, Environment)),
    batch_io:start_link(maps:merge(maps:remove(included_applications, Configured), Given)).

%% The writer has only withdrawn the buffer, or not even that if it was killed.
-spec stop(term()) -> ok.
stop(_State) ->
    _ = batch_io_buffer:forget(batch_io_writer),
    ok.
