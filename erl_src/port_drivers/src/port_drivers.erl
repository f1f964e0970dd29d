%% @doc Writes a file through a linked-in driver of c_src/. The four drivers do the
%% same and differ in how the answer comes back, which is all that is of interest:
%%
%%   async    {Port, {data, _}} from a thread of the VM's pool to the port's owner, the
%%            protocol of OTP's file driver before OTP 21
%%   output   the same message, sent in the call of port_command/2 already
%%   tagged   as async, but {Reference, _} with the caller's own reference
%%   control  the value of port_control/3, no message
%%
%% async and output are waited for by a receive of `{Port, {data, _}}' without a fresh
%% reference, ON PURPOSE: such a receive looks at every message that waits in the
%% mailbox, for each write. That is what log servers did, and what the other two are
%% to be compared with. Do not take them for your own writes.
%%
%% output and control write in a scheduler's own time, which others wait for where the
%% sink is slow; async and tagged do not.
-module(port_drivers).

-export([open/3, write/2, counters/1, port/1, close/1, drivers/0]).
-export_type([handle/0, driver/0, options/0, counters/0, reason/0]).

-type driver() :: async | output | tagged | control.
%% `append': to what the file holds, in place of beginning it anew.
-type options() :: #{append => boolean()}.
%% `writes' that were complete, `errors' that were not, `bytes' that the sink took
%% of either, `jobs' on their way.
-type counters() :: #{writes := non_neg_integer(), bytes := non_neg_integer(),
                      errors := non_neg_integer(), jobs := non_neg_integer()}.
-type reason() :: {unknown_driver, term()} | {unknown_options, term()} | {not_loaded, string()}
                | not_owner | closed | badarg | file:posix().

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

%% @doc Opens a file, or a device such as /dev/null, to be written by that driver. The
%% caller becomes the owner of the port, is linked to it, and keeps the driver loaded
%% until it closes or ends. `badarg' is a name that is none of a file.
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

native_name(Name) when is_binary(Name) -> Name;
native_name(Name) ->
    try unicode:characters_to_binary(filename:flatten(Name), unicode, file:native_name_encoding()) of
        Native when is_binary(Native) -> Native;
        _ -> none
    catch
        error:_ -> none
    end.

%% The VM counts how often each process has loaded a driver. One that nobody uses
%% goes when its last port and its last job have ended.
load(Driver, Operation, Name) ->
    case erl_ddll:load(priv_dir(), name(Driver)) of
        ok -> opened(Driver, Operation, Name);
        {error, Reason} -> {error, {not_loaded, erl_ddll:format_error(Reason)}}
    end.

name(Driver) -> atom_to_list(Driver) ++ "_drv".

%% An application that is used by path alone may be unknown to the code server.
priv_dir() ->
    case code:priv_dir(port_drivers) of
        {error, bad_name} ->
            filename:join(filename:dirname(filename:dirname(code:which(?MODULE))), "priv");
        Dir -> Dir
    end.

opened(Driver, Operation, Name) ->
    Port = open_port({spawn_driver, name(Driver)}, [binary]),
    case result(port_control(Port, Operation, Name)) of
        ok ->
            {ok, #handle{driver = Driver, port = Port, owner = self(), monitor = monitor(port, Port)}};
        {error, _} = Error ->
            ok = close_port(Driver, Port),
            Error
    end.

%% What a driver says.
result(<<"ok">>) -> ok;
result(Posix) -> {error, binary_to_atom(Posix)}.

%% @doc Writes all of the data, and returns when the system has it. What was taken
%% before an error stays written. Through async and output only the owner writes, since
%% the answer goes to it; through tagged and control any process may. A port that is
%% gone is `closed', data that is none `badarg'.
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

%% Neither the port nor the monitor is new to this process, so the VM must look at
%% each message. The monitor is that of open/3, and its message means that no other
%% write will be answered either.
await_untagged(#handle{port = Port, monitor = Monitor}) ->
    receive
        {Port, {data, Word}} -> result(Word);
        {'DOWN', Monitor, port, _, _} -> {error, closed}
    end.

%% The reference of the monitor is new, and in both messages, so that a receive
%% marker holds and the search begins behind all that waits.
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

%% @doc What the port has done so far. Any process may ask, also while others write.
-spec counters(handle()) -> counters() | {error, closed}.
counters(#handle{port = Port}) ->
    try port_control(Port, ?COUNTERS, <<>>) of
        <<Writes:64, Bytes:64, Errors:64, Jobs:64>> ->
            #{writes => Writes, bytes => Bytes, errors => Errors, jobs => Jobs}
    catch
        error:badarg -> {error, closed}
    end.

%% @doc The port, for `erlang:port_info/2' and its like.
-spec port(handle()) -> port().
port(#handle{port = Port}) -> Port.

%% @doc Closes the port, which only its owner can. What was handed to async or tagged
%% before is written all the same, and nobody is told. Closing what is gone is no error.
-spec close(handle()) -> ok | {error, not_owner}.
close(#handle{owner = Owner, driver = Driver, port = Port, monitor = Monitor}) when Owner =:= self() ->
    demonitor(Monitor, [flush]),
    close_port(Driver, Port);
close(#handle{}) -> {error, not_owner}.

%% Without the link, an owner that traps exits finds no message of it. A port that is
%% gone leaves its driver loaded until the owner ends: it may have been closed before,
%% and what another port of the owner needs must not be unloaded for it.
close_port(Driver, Port) ->
    true = unlink(Port),
    try port_close(Port) of true -> ok = erl_ddll:unload(name(Driver))
    catch error:badarg -> ok
    end.
