%% @doc A handler of OTP's logger, and so of Elixir's: the caller makes the line and puts it into a buffer, and one process
%% writes pages of lines to a file or another device. Where the device is slower than the callers, lines are dropped or callers
%% wait, as the handler's `drop' says, and a line tells how many were dropped.
%%
%% ```
%% logger:add_handler(file, batch_io_handler, #{config => #{type => {file, "log/shop.log"}}}).
%% '''
%%
%% Level, filters, formatter and metadata are those of every handler. What its `config' may have is in
%% {@link batch_io_handler_config}. The application batch_io need not be started.
-module(batch_io_handler).

-export([info/1, filesync/1]).
-export([adding_handler/1, changing_config/3, removing_handler/1, filter_config/1, log/2]).
-export([dropped/2]).

-define(FLUSH_MS, 5000).
-define(FORMATTER, {logger_formatter, #{}}).

%% @doc What became of the lines of a handler, as batch_io:info/0.
-spec info(logger:handler_id()) -> batch_io:info() | not_started.
info(Id) ->
    case batch_io_buffer:current(writer(Id)) of
        undefined -> not_started;
        Buffer -> batch_io_info:of_buffer(Buffer)
    end.

%% @doc Waits until the device has what was logged before, and for a file until it is on the disk.
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

%% Where OTP's own handlers have their processes: that is there before applications are, and after them.
start(Id, #{writer := Writer} = Config) ->
    Options = batch_io_handler_config:options(Config, {?MODULE, dropped, [Id]}),
    Devices = [{batch_io_file, [Name, File]} || {Name, File} <- [batch_io_handler_config:device(Config)]],
    supervisor:start_child(logger_sup, #{id => Writer, start => {batch_io_sup, start_link, [Options, Devices]},
                                         restart => temporary, shutdown => infinity, type => supervisor}).

started({ok, _}, Handler) -> {ok, Handler};
started({error, Reason}, _) -> {error, {?MODULE, Reason}}.

%% @private
-spec changing_config(set | update, logger:handler_config(), logger:handler_config()) ->
          {ok, logger:handler_config()} | {error, term()}.
changing_config(How, #{config := Old}, #{config := Given} = Handler) ->
    case batch_io_handler_config:change(How, Old, Given) of
        {ok, #{writer := Writer} = Config} ->
            changed(batch_io_writer:set_options(Writer, maps:without([type, writer], Config)), Handler#{config => Config});
        {error, Problem} -> refused(Problem)
    end;
changing_config(How, Old, Handler) -> changing_config(How, Old, Handler#{config => #{}}).

changed(ok, Handler) -> {ok, Handler};
changed({error, _}, _) -> refused(no_writer).

%% @private
-spec removing_handler(logger:handler_config()) -> ok.
removing_handler(#{config := #{writer := Writer}}) ->
    _ = supervisor:terminate_child(logger_sup, Writer),
    batch_io_buffer:withdraw(Writer).

%% @private
-spec filter_config(logger:handler_config()) -> logger:handler_config().
filter_config(#{config := Config} = Handler) -> Handler#{config => maps:remove(writer, Config)}.

%% @private
-spec log(logger:log_event(), logger:handler_config()) -> ok.
log(Event, #{config := #{writer := Writer}} = Handler) ->
    case batch_io_buffer:current(Writer) of
        undefined -> gone(Writer);
        Buffer ->
            Line = line(Event, Handler),
            case batch_io_drop:write(Buffer, self(), byte_size(Line), Line) of
                closed -> gone(Writer);
                _ -> ok
            end
    end.

%% A writer that is still there ends because the handler is being removed. Else its supervisor has given up: the logger
%% removes a handler that fails, and says so.
gone(Writer) ->
    case whereis(Writer) of
        undefined -> error({writer_is_gone, Writer});
        _ -> ok
    end.

%% A formatter that fails costs its line's form and not the line.
line(Event, Handler) ->
    {Module, Config} = maps:get(formatter, Handler, ?FORMATTER),
    try unicode:characters_to_binary(Module:format(Event, Config)) of
        Line when is_binary(Line) -> Line;
        _ -> failed(Event, Module)
    catch _:_ -> failed(Event, Module)
    end.

failed(#{msg := Message} = Event, Module) ->
    Text = {"the formatter ~tp failed for ~0tp", [Module, Message]},
    unicode:characters_to_binary(logger_formatter:format(Event#{msg := Text}, #{single_line => true})).

%% @private What the writer puts into the log for lines that were dropped.
-spec dropped(pos_integer(), logger:handler_id()) -> binary().
dropped(Number, Id) ->
    Event = #{level => warning, msg => {"~b messages of handler ~tp were dropped", [Number, Id]},
              meta => #{pid => self(), gl => group_leader(), time => logger:timestamp()}},
    case logger:get_handler_config(Id) of
        {ok, Handler} -> line(Event, Handler);
        {error, _} -> line(Event, #{})
    end.
