%% @doc io:format/1,2,3 buffered, batched and shed: a call puts its text into a buffer and returns,
%% and one process writes the buffer to the device in pages. If the buffer is full, messages are
%% dropped. Drops are counted, and a line in the output reports them.
%%
%% If this application is not started, everything is left to `io'. If the group leader of a process
%% is `whereis(batch_io)', its calls of `io' go into the buffer too. Once the application is stopped,
%% such a process has no group leader, and its calls fail with `terminated'.
-module(batch_io).

-export([format/1, format/2, format/3, put_chars/1, put_chars/2]).
-export([start/0, start/1, start_link/1, stop/0, flush/0, flush/1]).
-export([info/0, options/0, set_options/1, format_error/1]).
-export_type([info/0]).

%% {@link batch_io_info} describes this type.
-type info() :: batch_io_info:info().

-define(FLUSH_MS, 5000).
-define(STARTER, batch_io_starter).
-define(MAX_MS, 16#FFFFFFFF).

%% @equiv format(Format, [])
-spec format(io:format()) -> ok.
format(Format) -> format(Format, []).

%% @doc Writes as io:format/2 does, to the leader. Fails with `badarg' as that does.
-spec format(io:format(), [term()]) -> ok.
format(Format, Arguments) ->
    case batch_io_buffer:current() of
        undefined -> io:format(Format, Arguments);
        Buffer -> format_into(Buffer, Format, Arguments)
    end.

format_into(Buffer, Format, Arguments) ->
    try batch_io_protocol:entry(Format, Arguments, batch_io_buffer:format(Buffer)) of
        {Bytes, Text} ->
            case batch_io_drop:write(Buffer, self(), Bytes, Text) of
                closed -> io:format(Format, Arguments);
                _ -> ok
            end
    catch error:_ -> error(badarg, [Format, Arguments])
    end.

%% @doc Writes to a device. The text goes through the buffer if the device is the leader, by its pid or
%% its name, or `batch_io'. It also does so if it is `standard_io', whatever the caller's group leader.
-spec format(io:device(), io:format(), [term()]) -> ok.
format(Device, Format, Arguments) ->
    case is_buffered(Device) of
        true -> format(Format, Arguments);
        false -> io:format(Device, Format, Arguments)
    end.

%% @doc Writes characters as io:put_chars/1 does, to the leader.
-spec put_chars(unicode:chardata()) -> ok.
put_chars(Chars) ->
    case batch_io_buffer:current() of
        undefined -> io:put_chars(Chars);
        Buffer -> put_chars_into(Buffer, Chars)
    end.

put_chars_into(Buffer, Chars) ->
    case batch_io_protocol:output({put_chars, unicode, Chars}, caller) of
        {text, Bytes, Text} ->
            case batch_io_drop:write(Buffer, self(), Bytes, Text) of
                closed -> io:put_chars(Chars);
                _ -> ok
            end;
        {error, _} -> error(badarg, [Chars])
    end.

%% @doc Writes characters to a device, as format/3 does.
-spec put_chars(io:device(), unicode:chardata()) -> ok.
put_chars(Device, Chars) ->
    case is_buffered(Device) of
        true -> put_chars(Chars);
        false -> io:put_chars(Device, Chars)
    end.

is_buffered(Device) ->
    case batch_io_buffer:current() of
        undefined -> false;
        Buffer ->
            #{leader := Leader} = batch_io_buffer:options(Buffer),
            lists:member(Device, [Leader, batch_io, standard_io]) orelse is_same(process(Device), process(Leader))
    end.

is_same(Process, Other) -> is_pid(Process) andalso Process =:= Other.

process(Name) when is_atom(Name) -> whereis(Name);
process(Other) -> Other.

%% @equiv start(#{})
-spec start() -> ok | {error, term()}.
start() -> start(#{}).

%% @doc Starts the application. The options override those of its environment (see
%% batch_io_options), until the application stops. If several processes call this at once, one of them
%% starts it. The others get `{error, {already_started, batch_io}}', and their options do not count.
-spec start(#{term() => term()}) -> ok | {error, term()}.
start(Options) ->
    case batch_io_options:complete(Options) of
        {ok, _} -> start_loaded(loaded(application:load(batch_io)), Options);
        {error, _} = Error -> Error
    end.

-dialyzer({nowarn_function, start_loaded/2}). % the process only exits
start_loaded(ok, Options) ->
    {Starter, Monitor} = spawn_monitor(fun() -> exit({?STARTER, start_alone(Options)}) end),
    receive
        {'DOWN', Monitor, process, Starter, {?STARTER, Started}} -> Started;
        {'DOWN', Monitor, process, Starter, Reason} -> {error, Reason}
    end;
start_loaded({error, _} = Error, _) -> Error.

%% Starts it with options in the environment, where batch_io_app finds them. They are taken out again,
%% so that they are not those of a later start. The process that has the name is the only one there,
%% and goes on if the caller is killed.
-spec start_alone(map()) -> ok | {error, term()}.
start_alone(Options) ->
    try register(?STARTER, self()) of
        true ->
            ok = application:set_env(batch_io, given, Options),
            Started = application:start(batch_io),
            ok = application:unset_env(batch_io, given),
            Started
    catch
        error:badarg ->
            Monitor = monitor(process, ?STARTER),
            receive {'DOWN', Monitor, process, _, _} -> start_alone(Options) end
    end.

%% The modules may be on the path without batch_io.app.
loaded({error, {already_loaded, _}}) -> ok;
loaded(Loaded) -> Loaded.

%% @doc Starts the supervision tree below your own supervisor. Only one can run on a node at a time.
-spec start_link(#{term() => term()}) -> {ok, pid()} | {error, term()}.
start_link(Given) ->
    case batch_io_options:complete(Given) of
        {ok, Options} -> batch_io_sup:start_link(Options);
        {error, _} = Error -> Error
    end.

%% @doc Stops the application after it has written the held messages. Returns the counts of all
%% messages. What processes write meanwhile is left to `io' at once, so it may overtake held messages.
-spec stop() -> {ok, info()} | {error, not_started}.
stop() ->
    Buffer = batch_io_buffer:current(),
    case application:stop(batch_io) of
        ok when Buffer =/= undefined -> {ok, batch_io_info:of_buffer(Buffer)};
        _ -> {error, not_started}
    end.

%% @equiv flush(5000)
-spec flush() -> ok | {error, term()}.
flush() -> flush(?FLUSH_MS).

%% @doc Waits until the device has confirmed everything written before. Returns the last error that
%% the device reported meanwhile, or `terminated' if there is no device.
-spec flush(timeout()) -> ok | {error, term()}.
flush(Ms) when Ms =:= infinity; is_integer(Ms), Ms >= 0, Ms =< ?MAX_MS -> batch_io_writer:flush(batch_io_writer, Ms).

%% @doc Counts of the messages. Asks no process, so it answers even if one hangs.
-spec info() -> info() | not_started.
info() ->
    case batch_io_buffer:current() of
        undefined -> not_started;
        Buffer -> batch_io_info:of_buffer(Buffer)
    end.

-spec options() -> batch_io_options:options() | not_started.
options() ->
    case batch_io_buffer:current() of
        undefined -> not_started;
        Buffer -> batch_io_buffer:options(Buffer)
    end.

%% @doc Changes options of the running application: all given options, or none if one is invalid.
-spec set_options(#{term() => term()}) -> ok | {error, batch_io_options:problem() | not_started}.
set_options(Options) -> batch_io_writer:set_options(batch_io_writer, Options, infinity).

%% @doc Describes an invalid option in one sentence.
-spec format_error(batch_io_options:problem()) -> string().
format_error(Problem) -> batch_io_options:format_error(Problem).
