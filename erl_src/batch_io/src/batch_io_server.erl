%% @doc An IO device, registered as `batch_io', and so also a group leader. What
%% writes goes into the buffer, in the order of each client; all else is passed to
%% the device, after what was written before, and its answer comes back.
-module(batch_io_server).
-behaviour(gen_server).

-export([start_link/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

%% Of what is passed and not answered, by the monitor of the writer: who wants to know.
-type state() :: #{reference() => {Client :: pid(), ReplyAs :: term()}}.

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
    Buffer = batch_io_buffer:current(),
    case outputs(Request, batch_io_buffer:format(Buffer)) of
        pass -> {noreply, pass(Client, ReplyAs, Request, Passed)};
        Outputs ->
            ok = reply(Client, ReplyAs, write(Outputs, Client, Buffer)),
            {noreply, Passed}
    end;
handle_info({passed, Ref, Reply}, Passed) -> {noreply, passed(Ref, Reply, Passed)};
handle_info({'DOWN', Ref, process, _, _}, Passed) -> {noreply, passed(Ref, {error, terminated}, Passed)};
handle_info(_, Passed) -> {noreply, Passed}.

reply(Client, ReplyAs, Reply) ->
    Client ! {io_reply, ReplyAs, Reply},
    ok.

%% Of several requests the device takes all where it must take one.
outputs({requests, Requests}, Who) when is_list(Requests) ->
    Outputs = [batch_io_protocol:output(Request, Who) || Request <- Requests],
    case lists:member(pass, Outputs) of
        true -> pass;
        false -> Outputs
    end;
outputs(Request, Who) ->
    case batch_io_protocol:output(Request, Who) of
        pass -> pass;
        Output -> [Output]
    end.

write([], _Client, _Buffer) -> ok;
write([{error, _} = Error | _], _Client, _Buffer) -> Error;
write([{text, Bytes, Text} | Outputs], Client, Buffer) ->
    case batch_io_drop:write(Buffer, Client, Bytes, Text) of
        closed -> {error, terminated};
        _ -> write(Outputs, Client, Buffer)
    end.

%% A writer that ends in the middle of it answers no more.
pass(Client, ReplyAs, Request, Passed) ->
    Ref = monitor(process, batch_io_writer),
    ok = batch_io_writer:pass(Ref, Request),
    Passed#{Ref => {Client, ReplyAs}}.

passed(Ref, Reply, Passed) ->
    case maps:take(Ref, Passed) of
        {{Client, ReplyAs}, Left} ->
            true = demonitor(Ref, [flush]),
            ok = reply(Client, ReplyAs, Reply),
            Left;
        error -> Passed
    end.
