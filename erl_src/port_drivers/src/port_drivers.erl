%% @doc Writes a file through a linked-in driver of c_src/. The four drivers do the same work and
%% differ only in how the answer comes back:
%%
%%   async    {Port, {data, _}} from a thread of the VM's pool to the port's owner, the
%%            protocol of OTP's file driver before OTP 21
%%   output   the same message, sent during the call of port_command/2
%%   tagged   as async, but the message is {Reference, _} with the caller's own reference
%%   control  the return value of port_control/3, no message
%%
%% With async and output, write/2 waits in a receive of `{Port, {data, _}}' without a fresh
%% reference, ON PURPOSE: for each write, such a receive scans every message in the mailbox. Log
%% servers did this, and the other two drivers are compared with it. Do not use these two for your
%% own files.
%%
%% output and control write on a scheduler thread, so a slow sink blocks other processes. async and
%% tagged do not.
-module(port_drivers).

-export([open/3, write/2, counters/1, port/1, close/1, drivers/0]).
-export_type([handle/0, driver/0, options/0, counters/0, reason/0]).

-type driver() :: async | output | tagged | control.
%% `append': adds to the file, instead of truncating it.
-type options() :: #{append => boolean()}.
%% `writes': complete writes. `errors': incomplete writes. `bytes': bytes that the sink took in
%% both.
%% `jobs': unfinished jobs.
-type counters() :: #{writes := non_neg_integer(), bytes := non_neg_integer(),
                      errors := non_neg_integer(), jobs := non_neg_integer()}.
-type reason() :: {unknown_driver, term()} | {unknown_options, term()} | {not_loaded, string()}
                | not_owner | closed | badarg | system_limit | file:posix().

-record(handle, {driver :: driver(), port :: port(), owner :: pid(), monitor :: reference()}).
-opaque handle() :: #handle{}.

%% As in drv_common.h.
-define(OPEN, 1).
-define(OPEN_TO_APPEND, 2).
-define(COUNTERS, 3).
-define(WRITE, 4).

%% @doc The names of the drivers.
-spec drivers() -> [driver()].
drivers() -> [async, output, tagged, control].

%% @doc Opens a file, or a device such as /dev/null, for writing with that driver. The caller
%% becomes the owner of the port, is linked to it, and keeps the driver loaded until it closes the
%% port or ends.
%% `badarg' means that the argument is not a file name.
-spec open(driver(), file:name_all(), options()) -> {ok, handle()} | {error, reason()}.
open(Driver, Sink, Options) ->
    case {lists:member(Driver, drivers()), operation(Options), native_name(Sink)} of
        {false, _, _} -> {error, {unknown_driver, Driver}};
        {true, none, _} -> {error, {unknown_options, Options}};
        {true, _, none} -> {error, badarg};
        {true, Operation, Name} -> load(Driver, Operation, Name)
    end.

operation(Options) when Options =:= #{}; Options =:= #{append => false} -> ?OPEN;
operation(Options) when Options =:= #{append => true} -> ?OPEN_TO_APPEND;
operation(_) -> none.

native_name(Name) when is_binary(Name) -> without_zero(Name);
native_name(Name) ->
    try unicode:characters_to_binary(filename:flatten(Name), unicode, file:native_name_encoding()) of
        Native when is_binary(Native) -> without_zero(Native);
        _ -> none
    catch
        error:_ -> none
    end.

%% A zero byte would end the name for the system.
without_zero(Name) ->
    case binary:match(Name, <<0>>) of
        nomatch -> Name;
        _ -> none
    end.

%% The VM counts how often each process has loaded a driver. An unused driver is unloaded when its
%% last port and its last job have ended.
load(Driver, Operation, Name) ->
    case erl_ddll:load(priv_dir(), name(Driver)) of
        ok -> opened(Driver, Operation, Name);
        {error, Reason} -> {error, {not_loaded, erl_ddll:format_error(Reason)}}
    end.

name(Driver) -> atom_to_list(Driver) ++ "_drv".

%% If the application is only on the code path, the code server may not know its name.
priv_dir() ->
    case code:priv_dir(port_drivers) of
        {error, bad_name} ->
            filename:join(filename:dirname(filename:dirname(code:which(?MODULE))), "priv");
        Dir -> Dir
    end.

opened(Driver, Operation, Name) ->
    try open_port({spawn_driver, name(Driver)}, [binary]) of
        Port -> opened(Port, Driver, Operation, Name)
    catch error:Reason -> % as where there are as many ports as there may be
            ok = erl_ddll:unload(name(Driver)),
            {error, Reason}
    end.

opened(Port, Driver, Operation, Name) ->
    case result(port_control(Port, Operation, Name)) of
        ok ->
            {ok, #handle{driver = Driver, port = Port, owner = self(), monitor = monitor(port, Port)}};
        {error, _} = Error ->
            ok = close_port(Driver, Port),
            Error
    end.

%% The answer of a driver.
result(<<"ok">>) -> ok;
result(Posix) -> {error, binary_to_atom(Posix)}.

%% @doc Writes all of the data, and returns when the system has it. Data taken before an error stays
%% written. With async and output only the owner can write, because the answer goes to it. With
%% tagged and control any process can. The error is `closed' if the port is gone, and `badarg' if
%% the data is no iodata.
-spec write(handle(), iodata()) -> ok | {error, reason()}.
write(#handle{driver = control, port = Port}, Data) ->
    try result(port_control(Port, ?WRITE, Data))
    catch error:badarg -> {error, refused(Port)}
    end;
write(#handle{driver = tagged, port = Port}, Data) -> write_tagged(Port, Data);
write(#handle{owner = Owner, port = Port} = Handle, Data) when Owner =:= self() ->
    try port_command(Port, Data) of
        true -> await_untagged(Handle)
    catch
        error:badarg -> {error, refused(Port)}
    end;
write(#handle{}, _Data) -> {error, not_owner}.

refused(Port) ->
    case erlang:port_info(Port, id) of
        undefined -> closed;
        _ -> badarg
    end.

%% Neither port nor monitor is new to this process, so the VM must look at each message. The monitor
%% is that of open/3. Its message means that no other write will be answered either.
await_untagged(#handle{port = Port, monitor = Monitor}) ->
    receive
        {Port, {data, Word}} -> result(Word);
        {'DOWN', Monitor, port, _, _} -> {error, closed}
    end.

%% The monitor's reference is new and is in both messages. So the compiler sets a receive marker,
%% and the search begins after all queued messages.
write_tagged(Port, Data) ->
    Tag = monitor(port, Port),
    Encoded = term_to_binary(Tag),
    try port_command(Port, [<<(byte_size(Encoded)):16>>, Encoded | Data]) of
        true ->
            receive
                {Tag, Result} ->
                    demonitor(Tag, [flush]),
                    Result;
                {'DOWN', Tag, port, _, _} -> {error, closed}
            end
    catch
        error:badarg ->
            demonitor(Tag, [flush]),
            {error, refused(Port)}
    end.

%% @doc Counts of the port so far. Any process may ask, even while others write.
-spec counters(handle()) -> counters() | {error, closed}.
counters(#handle{port = Port}) ->
    try port_control(Port, ?COUNTERS, <<>>) of
        <<Writes:64, Bytes:64, Errors:64, Jobs:64>> ->
            #{writes => Writes, bytes => Bytes, errors => Errors, jobs => Jobs}
    catch
        error:badarg -> {error, closed}
    end.

%% @doc The port, for `erlang:port_info/2' and similar functions.
-spec port(handle()) -> port().
port(#handle{port = Port}) -> Port.

%% @doc Closes the port. Only the owner can do this. Data accepted by async or tagged is still
%% written, without a report. Closing a port that is gone is no error.
-spec close(handle()) -> ok | {error, not_owner}.
close(#handle{owner = Owner, driver = Driver, port = Port, monitor = Monitor}) when Owner =:= self() ->
    demonitor(Monitor, [flush]),
    close_port(Driver, Port);
close(#handle{}) -> {error, not_owner}.

%% The link is removed, so that an owner that traps exits gets no message. If the port is already
%% gone, the driver stays loaded until the owner ends: the port may have been closed through this
%% function before, and unloading again would unload the driver for another port of the owner.
close_port(Driver, Port) ->
    true = unlink(Port),
    try port_close(Port) of true -> ok = erl_ddll:unload(name(Driver))
    catch error:badarg -> ok
    end.
