%% @doc The supervisor. It owns the buffer, so the messages in it outlive the writer, and the next
%% writer continues with them.
-module(batch_io_sup).
-behaviour(supervisor).

-export([start_link/1, start_link/2]).
-export([init/1]).

%% A writer that stops gives up on a hanging device before this.
-define(SHUTDOWN_MS, 10_000).

-type child() :: {module(), Arguments :: [term()]}.

-spec start_link(batch_io_options:options()) -> {ok, pid()} | {error, term()}.
start_link(Options) ->
    started(supervisor:start_link({local, ?MODULE}, ?MODULE, {Options, [{batch_io_writer, []}, {batch_io_server, []}]}), batch_io_writer).

%% @doc Starts a supervisor whose writer has another name, with devices of its own. These are given
%% as modules and the arguments of their start_link.
-spec start_link(batch_io_options:options(), [child()]) -> {ok, pid()} | {error, term()}.
start_link(#{writer := Writer} = Options, Devices) ->
    started(supervisor:start_link(?MODULE, {Options, Devices ++ [{batch_io_writer, [Writer]}]}), Writer).

%% If a child cannot start, the buffer is gone with the supervisor.
started({error, {already_started, _}} = Error, _Writer) -> Error;
started({error, _} = Error, Writer) ->
    _ = batch_io_buffer:forget(Writer),
    Error;
started(Started, _Writer) -> Started.

%% The last child is stopped first: the server, then the writer, which writes everything held, then
%% its device.
-spec init({batch_io_options:options(), [child()]}) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init({Options, Modules}) ->
    ok = batch_io_buffer:publish(batch_io_buffer:new(Options)),
    Children = [#{id => Module, start => {Module, start_link, Arguments}, shutdown => ?SHUTDOWN_MS}
                || {Module, Arguments} <- Modules],
    {ok, {#{strategy => one_for_one, intensity => 10, period => 10}, Children}}.
