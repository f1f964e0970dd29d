%% @doc The supervisor, which owns the buffer: what callers have put there outlives
%% the writer, and the next writer goes on with it.
-module(batch_io_sup).
-behaviour(supervisor).

-export([start_link/1]).
-export([init/1]).

%% The writer gives up on a device that hangs before this.
-define(SHUTDOWN_MS, 10_000).

-spec start_link(batch_io_options:options()) -> {ok, pid()} | {error, term()}.
start_link(Options) -> supervisor:start_link({local, ?MODULE}, ?MODULE, Options).

%% The server is stopped before the writer, which then writes all there is.
-spec init(batch_io_options:options()) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init(Options) ->
    ok = batch_io_buffer:publish(batch_io_buffer:new(Options)),
    Children = [#{id => Module, start => {Module, start_link, []}, shutdown => ?SHUTDOWN_MS}
                || Module <- [batch_io_writer, batch_io_server]],
    {ok, {#{strategy => one_for_one, intensity => 10, period => 10}, Children}}.
