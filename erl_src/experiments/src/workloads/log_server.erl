%% @doc A typical log server: it takes {log, Line} after {log, Line} from its
%% mailbox, and writes each line by a driver of port_drivers.
-module(log_server).

-export([start/3, behind/2, end_writing/1, has_ended/1]).
-export([init/4]).
-export_type([server/0]).

-type server() :: #{pid := pid(), flags := atomics:atomics_ref()}.

%% Flags instead of messages, since a message would wait behind all others.
-define(END, 1).
-define(ENDED, 2).
-define(LOOK_MS, 20).

%% @doc Starts a server that is linked to the caller, with the sink open. Before it takes the first
%% line from its mailbox, it sends lines to itself and writes them for `Milliseconds', while nothing else waits, and then
%% begins the sink anew. `Alone' is the number of those writes a second.
-spec start(port_drivers:driver(), file:name_all(), pos_integer()) ->
          {ok, server(), port_drivers:handle(), Alone :: float()} | {error, port_drivers:reason()}.
start(Driver, Sink, Milliseconds) ->
    Flags = atomics:new(2, []),
    Server = spawn_link(?MODULE, init, [self(), Flags, {Driver, Sink}, Milliseconds]),
    receive
        {Server, {ready, Handle, Alone}} -> {ok, #{pid => Server, flags => Flags}, Handle, Alone};
        {Server, {error, _} = Error} -> Error
    end.

%% @doc Tells the server that a dam with the option `credit => ack' is in front of it.
-spec behind(pid(), pid()) -> ok.
behind(Pid, Dam) ->
    Pid ! {behind, Dam},
    ok.

%% @doc Asks the server to stop after the current write.
-spec end_writing(server()) -> ok.
end_writing(#{flags := Flags}) -> atomics:put(Flags, ?END, 1).

%% @doc Whether it has stopped writing. The remaining messages stay in the mailbox.
-spec has_ended(server()) -> boolean().
has_ended(#{flags := Flags}) -> atomics:get(Flags, ?ENDED) =:= 1.

%% @doc The process of the server.
-spec init(pid(), atomics:atomics_ref(), {port_drivers:driver(), file:name_all()}, pos_integer()) -> ok.
init(Starter, Flags, {Driver, Sink}, Milliseconds) ->
    case ready(Driver, Sink, Milliseconds) of
        {ok, Log, Alone} ->
            Starter ! {self(), {ready, Log, Alone}},
            loop(Log, none, Flags);
        {error, _} = Error ->
            Starter ! {self(), Error},
            ok
    end.

ready(Driver, Sink, Milliseconds) ->
    case written_alone(port_drivers:open(Driver, Sink, #{}), Milliseconds) of
        {ok, Alone} -> opened_again(port_drivers:open(Driver, Sink, #{}), Alone);
        {error, _} = Error -> Error
    end.

written_alone({ok, Log}, Milliseconds) ->
    Alone = alone(Log, erlang:monotonic_time(), Milliseconds),
    ok = port_drivers:close(Log),
    Alone;
written_alone({error, _} = Error, _) -> Error.

opened_again({ok, Log}, Alone) -> {ok, Log, Alone};
opened_again({error, _} = Error, _) -> Error.

alone(Log, Started, Milliseconds) ->
    alone(Log, Started, erlang:convert_time_unit(Milliseconds, millisecond, native), 0).

alone(Log, Started, Enough, Written) ->
    self() ! {log, <<"a line that is written while no other waits\n">>},
    Result = receive {log, Line} -> port_drivers:write(Log, Line) end,
    case erlang:monotonic_time() - Started of
        Elapsed when Result =:= ok, Elapsed < Enough -> alone(Log, Started, Enough, Written + 1);
        Elapsed when Result =:= ok ->
            {ok, (Written + 1) * erlang:convert_time_unit(1, second, native) / Elapsed};
        _ -> Result
    end.

loop(Log, Dam, Flags) ->
    receive
        {log, Line} ->
            written(port_drivers:write(Log, Line)),
            ok = taken(Dam),
            next(Log, Dam, Flags);
        {behind, NewDam} -> next(Log, NewDam, Flags)
    after ?LOOK_MS -> next(Log, Dam, Flags)
    end.

%% A server that cannot write any more ends, like real ones of this kind.
written(ok) -> ok;
written({error, Reason}) -> exit({cannot_write, Reason}).

taken(none) -> ok;
taken(Dam) -> dam:ack(Dam).

next(Log, Dam, Flags) ->
    case atomics:get(Flags, ?END) of
        0 -> loop(Log, Dam, Flags);
        1 ->
            ok = atomics:put(Flags, ?ENDED, 1),
            receive close -> port_drivers:close(Log) end
    end.
