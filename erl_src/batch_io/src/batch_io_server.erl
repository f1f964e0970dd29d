%% @doc An IO device, registered as `batch_io', that can also be a group leader. Requests that write
%% go into the buffer, in the order of each client. All other requests are passed to the device,
%% after everything written before, and the device's answer is returned.
-module(batch_io_server).
-behaviour(gen_server).

-export([start_link/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

%% The requests that were passed on and not answered. The key is the monitor on the writer, the
%% value the waiting client. A second key, the monitor on the client, leads to the first key.
%% Entries from before an upgrade lack the second key.
-type state() :: #{reference() => waiting() | {of_client, reference()}}.
-type waiting() :: {Client :: pid(), ReplyAs :: term(), reference()} | {Client :: pid(), ReplyAs :: term()}.

-spec start_link() -> gen_server:start_ret().
start_link() -> gen_server:start_link({local, batch_io}, ?MODULE, [], []).

-spec init([]) -> {ok, state()}.
init([]) -> {ok, #{}}.

-spec handle_call(term(), gen_server:from(), state()) -> {reply, {error, request}, state()}.
handle_call(_, _, Passed) -> {reply, {error, request}, Passed}.

-spec handle_cast(term(), state()) -> {noreply, state()}.
handle_cast(_, Passed) -> {noreply, Passed}.

-spec handle_info(term(), state()) -> {noreply, state()}.
handle_info({io_request, Client, ReplyAs, Request}, Passed) when is_pid(Client) ->
    {noreply, requested(batch_io_buffer:current(), Client, ReplyAs, Request, Passed)};
handle_info({passed, Ref, Reply}, Passed) -> {noreply, passed(Ref, Reply, Passed)};
handle_info({'DOWN', Ref, process, _, _}, Passed) ->
    {noreply, case Passed of
                  #{Ref := {of_client, Of}} -> element(2, taken(Of, Passed));
                  #{} -> passed(Ref, {error, terminated}, Passed)
              end};
handle_info(_, Passed) -> {noreply, Passed}.

%% There is no buffer while there is no writer.
requested(undefined, Client, ReplyAs, _, Passed) ->
    ok = reply(Client, ReplyAs, {error, terminated}),
    Passed;
requested(Buffer, Client, ReplyAs, Request, Passed) ->
    case batch_io_protocol:judged(Request, batch_io_buffer:format(Buffer)) of
        {pass, Judged} -> pass(Client, ReplyAs, Judged, Passed);
        Outputs ->
            ok = reply(Client, ReplyAs, write(Outputs, Client, Buffer)),
            Passed
    end.

reply(Client, ReplyAs, Reply) ->
    Client ! {io_reply, ReplyAs, Reply},
    ok.

write([], _Client, _Buffer) -> ok;
write([{error, _} = Error | _], _Client, _Buffer) -> Error;
write([{text, Bytes, Text} | Outputs], Client, Buffer) ->
    case batch_io_drop:write(Buffer, Client, Bytes, Text) of
        closed -> {error, terminated};
        _ -> write(Outputs, Client, Buffer)
    end.

%% The monitor is for a writer that ends before it has answered.
pass(Client, ReplyAs, Request, Passed) ->
    Ref = monitor(process, batch_io_writer),
    ok = batch_io_writer:pass(Ref, Request),
    OfClient = monitor(process, Client),
    Passed#{Ref => {Client, ReplyAs, OfClient}, OfClient => {of_client, Ref}}.

passed(Ref, Reply, Passed) ->
    case taken(Ref, Passed) of
        {none, _} -> Passed;
        {Waiting, Left} ->
            ok = reply(element(1, Waiting), element(2, Waiting), Reply),
            Left
    end.

%% Forgets the request of a client that has ended or was answered.
taken(Ref, Passed) ->
    case Passed of
        #{Ref := {_, _, OfClient} = Waiting} ->
            true = demonitor(OfClient, [flush]),
            {Waiting, without(Ref, maps:remove(OfClient, Passed))};
        #{Ref := {Client, _} = Waiting} when is_pid(Client) -> {Waiting, without(Ref, Passed)};
        #{} -> {none, Passed}
    end.

without(Ref, Passed) ->
    true = demonitor(Ref, [flush]),
    maps:remove(Ref, Passed).
