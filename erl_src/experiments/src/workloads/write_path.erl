%% @doc The ways in which a process can write to a file, behind one interface.
-module(write_path).

-export([names/0, open/2, write/2, flush/1, close/1, payload/1]).
-export_type([name/0, path/0]).

%% The first four are the drivers of port_drivers.
-type name() :: async | output | tagged | control | raw_file | raw_delayed | file | delayed | none.
-opaque path() :: {driver, port_drivers:handle()} | {file | delayed, file:io_device()} | none.

-define(SHORT_LINE, <<"2026-11-21 12:00:00.000 info: a short line\n">>).
%% Binaries of more than 64 bytes are kept off the heap and are reference-counted.
-define(COUNTED_BYTES, 70).

%% @doc The names of all of them.
-spec names() -> [name()].
names() -> port_drivers:drivers() ++ [raw_file, raw_delayed, file, delayed, none].

%% @doc Opens a file or device for the calling process.
-spec open(name(), file:filename()) -> path().
open(none, _Sink) -> none;
open(raw_file, Sink) -> {file, open_file(Sink, [write, raw])};
open(raw_delayed, Sink) -> {delayed, open_file(Sink, [write, raw, delayed_write])};
open(file, Sink) -> {file, open_file(Sink, [write])};
open(delayed, Sink) -> {delayed, open_file(Sink, [write, delayed_write])};
open(Driver, Sink) ->
    {ok, Handle} = port_drivers:open(Driver, Sink, #{}),
    {driver, Handle}.

open_file(Sink, Modes) ->
    {ok, Device} = file:open(Sink, Modes),
    Device.

%% @doc Writes, or does nothing if the path is `none'.
-spec write(path(), iodata()) -> ok | {error, term()}.
write({driver, Handle}, Data) -> port_drivers:write(Handle, Data);
write({_File, Device}, Data) -> file:write(Device, Data);
write(none, _Data) -> ok.

%% @doc Passes delayed writes on to the system, by asking for the position.
-spec flush(path()) -> ok.
flush({delayed, Device}) ->
    {ok, _} = file:position(Device, cur),
    ok;
flush(_) -> ok.

%% @doc Closes what open/2 opened, in the same process.
-spec close(path()) -> ok.
close({driver, Handle}) -> port_drivers:close(Handle);
close({_File, Device}) -> file:close(Device);
close(none) -> ok.

%% @doc The data to write: one byte, a line on the heap, a reference-counted binary off it.
-spec payload(byte | line | counted) -> binary().
payload(byte) -> <<"x">>;
payload(line) -> ?SHORT_LINE;
payload(counted) -> binary:copy(<<"x">>, ?COUNTED_BYTES).
