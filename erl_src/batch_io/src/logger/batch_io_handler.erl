%% @doc A handler for OTP's logger, and so for Elixir's. The caller formats the line and puts it
%% into a buffer, and one process writes pages of lines to a file or another device. If the device
%% is slower than the callers, lines are dropped or callers wait, as the handler's option `drop'
%% says. A line reports how many were dropped.
%%
%% ```
%% logger:add_handler(file, batch_io_handler, #{config => #{type => {file, "log/shop.log"}}}).
%% '''
%%
%% Level, filters, formatter and metadata work as with every handler. {@link
%% batch_io_handler_config} describes `config'. The application batch_io need not be started.
-module(batch_io_handler).

-include_lib("kernel/include/logger.hrl").

-export([info/1, filesync/1]).
-export([adding_handler/1, changing_config/3, removing_handler/1, filter_config/1, log/2]).
-export([dropped/2]).

-define(FLUSH_MS, 5000).
%% Until the writer has changed the options. Its answer may take half a second more.
-define(CHANGE_MS, 4500).
%% How long logger_sup waits for the supervisor of a handler, which gives each of its two processes
%% 10 seconds; and how long the logger waits for logger_sup.
-define(SHUTDOWN_MS, 25_000).
-define(REMOVE_MS, 30_000).
-define(FORMATTER, {logger_formatter, #{}}).

%% @doc Counts of the lines of a handler, as batch_io:info/0 returns them.
-spec info(logger:handler_id()) -> batch_io:info() | not_started.
info(Id) when not is_atom(Id) -> not_started;
info(Id) ->
    case batch_io_buffer:current(writer(Id)) of
        undefined -> not_started;
        Buffer -> batch_io_info:of_buffer(Buffer)
    end.

%% @doc Waits until the device has everything logged before, and if it is a file until that is on
%% the disk.
-spec filesync(logger:handler_id()) -> ok | {error, term()}.
filesync(Id) ->
    case logger:get_handler_config(Id) of
        {ok, #{module := ?MODULE, config := Config}} -> filesync(writer(Id), Config);
        _ -> {error, not_started}
    end.

filesync(Writer, Config) ->
    case {batch_io_writer:flush(Writer, ?FLUSH_MS), batch_io_handler_config:device(Config#{writer => Writer})} of
        {ok, {File, _}} -> batch_io_file:sync(File);
        {Flushed, _} -> Flushed
    end.

writer(Id) -> batch_io_handler_config:writer(Id).

%% @private
-spec adding_handler(logger:handler_config()) -> {ok, logger:handler_config()} | {error, term()}.
adding_handler(#{id := Id} = Handler) ->
    case batch_io_handler_config:new(writer(Id), maps:get(config, Handler, #{})) of
        {ok, Config} -> started(start(Id, Config), Handler#{config => Config});
        {error, Problem} -> refused(Problem)
    end.

refused(Problem) -> {error, {?MODULE, batch_io_handler_config:format_error(Problem)}}.

%% Under logger_sup, where OTP's own handlers have their processes. It starts before applications
%% and stops after them.
start(Id, #{writer := Writer} = Config) ->
    Options = batch_io_handler_config:options(Config, {?MODULE, dropped, [Id]}),
    Devices = [{batch_io_file, [Name, File]} || {Name, File} <- [batch_io_handler_config:device(Config)]],
    supervisor:start_child(logger_sup, #{id => Writer, start => {batch_io_sup, start_link, [Options, Devices]},
                                         restart => temporary, shutdown => ?SHUTDOWN_MS, type => supervisor}).

started({ok, _}, Handler) -> {ok, Handler};
started({error, Reason}, _) -> {error, {?MODULE, Reason}}.

%% @private
-spec changing_config(set | update, logger:handler_config(), logger:handler_config()) ->
          {ok, logger:handler_config()} | {error, term()}.
changing_config(How, #{config := Old}, #{config := Given} = Handler) ->
    case batch_io_handler_config:change(How, Old, Given) of
        {ok, #{writer := Writer} = Config} ->
            changed(batch_io_writer:set_options(Writer, maps:without([type, writer], Config), ?CHANGE_MS), Handler#{config => Config});
        {error, Problem} -> refused(Problem)
    end;
changing_config(How, Old, Handler) -> changing_config(How, Old, Handler#{config => #{}}).

changed(ok, Handler) -> {ok, Handler};
changed({error, timeout}, _) -> refused(late_writer);
changed({error, _}, _) -> refused(no_writer).

%% @private
-spec removing_handler(logger:handler_config()) -> ok.
removing_handler(#{config := #{writer := Writer}}) ->
    ok = ended(Writer),
    _ = batch_io_buffer:forget(Writer),
    ok.

%% Waits with a timeout to avoid a deadlock. logger_sup, or a process that it waits for, may log
%% through another handler that fails. It then waits until the logger has removed that handler, and
%% the logger does so only after this one.
ended(Writer) ->
    {Ending, Monitor} = spawn_monitor(fun() -> supervisor:terminate_child(logger_sup, Writer) end),
    receive {'DOWN', Monitor, process, Ending, _} -> ok
    after ?REMOVE_MS ->
            true = demonitor(Monitor, [flush]),
            ok
    end.

%% @private
-spec filter_config(logger:handler_config()) -> logger:handler_config().
filter_config(#{config := Config} = Handler) -> Handler#{config => maps:remove(writer, Config)}.

%% @private
%% Raises no error. On an error the logger makes the logging process wait until the handler is
%% removed, and the process that removes it may be waiting for the logging process, as logger_sup
%% does for the handler's own supervisor.
-spec log(logger:log_event(), logger:handler_config()) -> ok.
log(Event, #{config := #{writer := Writer}} = Handler) ->
    try log(batch_io_buffer:current(Writer), Event, Handler)
    catch _:_ -> dropped_in(batch_io_buffer:latest(Writer))
    end.

log(undefined, _, #{id := Id, config := #{writer := Writer}}) -> lost(Id, Writer);
log(Buffer, Event, #{id := Id, config := #{writer := Writer}} = Handler) ->
    Line = line(Event, Handler),
    case batch_io_drop:write(Buffer, self(), byte_size(Line), Line) of
        closed -> lost(Id, Writer);
        _ -> ok
    end.

dropped_in(undefined) -> ok;
dropped_in(Buffer) -> batch_io_buffer:add(dropped, 1, Buffer).

%% Lines that come between two writers count as dropped.
lost(Id, Writer) ->
    case batch_io_buffer:latest(Writer) of
        undefined -> ok;
        Buffer ->
            ok = dropped_in(Buffer),
            _ = batch_io_buffer:is_gone(Buffer) andalso batch_io_buffer:forget(Writer) andalso spawn(fun() -> remove(Id) end),
            ok
    end.

remove(Id) ->
    case logger:remove_handler(Id) of
        ok -> ?LOG_ERROR("handler ~tp was removed, since its supervisor gave up", [Id]);
        {error, _} -> ok
    end.

%% If the formatter fails, by itself or because of metadata, the line loses its format but is not
%% lost.
line(Event, Handler) ->
    {Module, Config} = maps:get(formatter, Handler, ?FORMATTER),
    try unicode:characters_to_binary(Module:format(Event, Config)) of
        Line when is_binary(Line) -> Line;
        _ -> failed(Event, Module)
    catch _:_ -> failed(Event, Module)
    end.

%% Uses only the parts of the event on which no formatter fails. Its time may be the reason of the
%% failure.
failed(#{level := Level, msg := Message}, Module) ->
    Event = #{level => Level, msg => {"the formatter ~tp failed for ~0tp", [Module, Message]}, meta => #{time => logger:timestamp()}},
    unicode:characters_to_binary(logger_formatter:format(Event, #{single_line => true})).

dropped_words(1) -> "~b message of handler ~tp was dropped";
dropped_words(_) -> "~b messages of handler ~tp were dropped".

%% @private The line that the writer puts into the log for dropped lines.
-spec dropped(pos_integer(), logger:handler_id()) -> binary().
dropped(Number, Id) ->
    Event = #{level => warning, msg => {dropped_words(Number), [Number, Id]},
              meta => #{pid => self(), gl => group_leader(), time => logger:timestamp()}},
    case logger:get_handler_config(Id) of
        {ok, Handler} -> line(Event, Handler);
        {error, _} -> line(Event, #{})
    end.
