%% @doc Floods a log server, directly or through a dam, and reports its progress.
%%
%% The server is suspended until all messages have been sent, and takes the first one
%% after that. One process, the flood, starts and watches the others; any process of the VM
%% may call its functions.
-module(log_flood).
-behaviour(ertslab_flood).

-export([start/1, look/0, finish/0]).
-export([init/2]).
-export_type([options/0, look/0, finished/0]).

-type options() :: #{way := direct | dam, driver := port_drivers:driver(), messages := pos_integer(),
                     sink := file:name_all() | none}.
%% `sink': if it is `none', the server writes to a deleted file, which vanishes with the VM.

%% `ms' since the start of the flood, `writing_ms' since the server began to write.
-type look() :: #{ms := non_neg_integer(), writing_ms := non_neg_integer(), phase := filling | writing | empty,
                  dam_queue := non_neg_integer(), server_queue := non_neg_integer(), writes := non_neg_integer()}.

%% `alone' and `flooded' in writes a second; `lines' in the file, if the sink is one.
%% `lost' are the messages that are neither written nor waiting.
-type finished() :: #{written := non_neg_integer(), waiting := non_neg_integer(), lost := integer(),
                      lines := non_neg_integer() | none, alone := float(), flooded := float()}.

-define(SENDERS, 10).
-define(ALONE_MS, 500).
-define(DAM, #{high => 100, low => 50, limit => infinity, credit => ack}).
-define(SETTLE_MS, 20).
-define(CHUNK, 1 bsl 20).

%% @doc Starts the flood, and returns when the server runs.
-spec start(options()) -> ok | {error, port_drivers:reason()}.
start(Options) ->
    {Pid, Monitor} = spawn_opt(?MODULE, init, [self(), Options], [monitor, {priority, high}]),
    receive
        {Pid, Answer} ->
            demonitor(Monitor, [flush]),
            Answer;
        {'DOWN', Monitor, process, Pid, Reason} -> error(Reason)
    end.

%% @doc The progress, or why the server has ended.
-spec look() -> {ok, look()} | {error, term()}.
look() -> ask(look).

%% @doc Stops the server's writes, counts everything, and ends the flood.
%% It is an error while messages are still being sent.
-spec finish() -> {ok, finished()} | {error, term()}.
finish() -> ask(finish).

ask(What) ->
    Monitor = monitor(process, ?MODULE),
    catch ?MODULE ! {Monitor, self(), What},
    receive
        {Monitor, Answer} ->
            demonitor(Monitor, [flush]),
            Answer;
        {'DOWN', Monitor, process, _, Reason} -> {error, Reason}
    end.

%% @doc The process of the flood.
-spec init(pid(), options()) -> ok.
init(Starter, #{driver := Driver, sink := Sink} = Options) ->
    true = register(?MODULE, self()),
    process_flag(trap_exit, true),
    Path = path(Sink),
    case log_server:start(Driver, Path, ?ALONE_MS) of
        {ok, #{pid := Pid} = Server, Handle, Alone} ->
            Reader = reader(Path, Sink),
            true = erlang:suspend_process(Pid),
            Starter ! {self(), ok},
            watch(send(Options#{server => Server, pid => Pid, handle => Handle, reader => Reader, alone => Alone,
                                started => now_ms(), phase => filling}));
        {error, _} = Error ->
            Starter ! {self(), Error},
            ok
    end.

path(none) -> ertslab_experiment:scratch_file("flood");
path(Sink) -> Sink.

%% The file is deleted while open, so it goes with the VM, however that ends.
reader(Path, none) ->
    {ok, Reader} = file:open(Path, [read, raw, binary]),
    ok = file:delete(Path),
    Reader;
reader(Path, _) ->
    case filelib:is_regular(Path) of
        true ->
            {ok, Reader} = file:open(Path, [read, raw, binary]),
            Reader;
        false -> none
    end.

send(#{way := direct, pid := Pid, messages := Messages} = Flood) ->
    senders(Flood#{dam => none}, fun(Message) -> Pid ! Message end, Messages);
send(#{way := dam, pid := Pid, messages := Messages} = Flood) ->
    {ok, Dam} = dam:start_link(Pid, ?DAM),
    ok = log_server:behind(Pid, Dam),
    senders(Flood#{dam => Dam}, fun(Message) -> ok = dam:send(Dam, Message) end, Messages).

senders(Flood, Send, Messages) ->
    Pids = [spawn_link(fun() -> send_lines(Send, Nth, ertslab_experiment:share(Messages, ?SENDERS, Nth)) end)
            || Nth <- lists:seq(1, ?SENDERS)],
    Flood#{senders => Pids}.

send_lines(_Send, _Nth, 0) -> ok;
send_lines(Send, Nth, Left) ->
    _ = Send({log, <<"sender ", (integer_to_binary(Nth))/binary, " still has ", (integer_to_binary(Left))/binary,
                     " lines to send\n">>}),
    send_lines(Send, Nth, Left - 1).

watch(#{senders := [], phase := filling, pid := Pid} = Flood) ->
    true = erlang:resume_process(Pid),
    watch(Flood#{phase := writing, resumed => now_ms()});
watch(#{senders := Senders, pid := Pid, dam := Dam} = Flood) ->
    receive
        {'EXIT', Pid, Reason} -> failed({the_server_ended, Reason});
        {'EXIT', Dam, Reason} -> failed({the_dam_ended, Reason});
        {'EXIT', Sender, normal} -> watch(Flood#{senders := Senders -- [Sender]});
        {'EXIT', _, Reason} -> failed({a_sender_ended, Reason});
        {Tag, Client, look} ->
            Client ! {Tag, {ok, looked(Flood)}},
            watch(Flood);
        {Tag, Client, finish} ->
            Client ! {Tag, finished(Flood)},
            true = exit(Pid, kill), % and the dam with it
            ok
    end.

failed(Reason) ->
    receive
        {Tag, Client, _} when is_pid(Client) -> Client ! {Tag, {error, Reason}};
        {'EXIT', _, _} -> ok
    end,
    failed(Reason).

now_ms() -> erlang:monotonic_time(millisecond).

looked(#{pid := Pid, handle := Handle, dam := Dam, phase := Phase, messages := Messages} = Flood) ->
    #{writes := Writes} = port_drivers:counters(Handle),
    {message_queue_len, ServerQueue} = process_info(Pid, message_queue_len),
    Now = now_ms(),
    #{ms => Now - maps:get(started, Flood), writing_ms => Now - maps:get(resumed, Flood, Now),
      dam_queue => dam_queue(Dam), server_queue => ServerQueue, writes => Writes,
      phase => case Writes of Messages -> empty; _ -> Phase end}.

dam_queue(none) -> 0;
dam_queue(Dam) ->
    #{queue := Queue} = dam:info(Dam),
    Queue.

finished(#{phase := filling}) -> {error, filling};
finished(#{server := Server, handle := Handle, messages := Messages, alone := Alone, resumed := Resumed} = Flood) ->
    Elapsed = max(1, now_ms() - Resumed),
    #{writes := InTime} = port_drivers:counters(Handle),
    ok = log_server:end_writing(Server),
    case await_end(Flood) of
        ok ->
            #{writes := Written} = port_drivers:counters(Handle),
            Waiting = settled(Flood, waiting(Flood)),
            Lines = lines(Flood),
            {ok, #{written => Written, waiting => Waiting, lines => Lines, alone => Alone,
                   flooded => 1000 * InTime / Elapsed, lost => Messages - counted(Lines, Written) - Waiting}};
        {error, _} = Error -> Error
    end.

await_end(#{server := Server, pid := Pid} = Flood) ->
    case {log_server:has_ended(Server), is_process_alive(Pid)} of
        {true, _} -> ok;
        {false, false} -> {error, the_server_ended};
        {false, true} -> timer:sleep(?SETTLE_MS), await_end(Flood)
    end.

%% A message on its way from the dam to the server is counted by neither, so this waits until the count is stable.
settled(Flood, Before) ->
    timer:sleep(?SETTLE_MS),
    case waiting(Flood) of
        Before -> Before;
        Now -> settled(Flood, Now)
    end.

waiting(#{pid := Pid, dam := none}) ->
    {message_queue_len, Waiting} = process_info(Pid, message_queue_len),
    Waiting;
waiting(#{pid := Pid, dam := Dam}) ->
    {messages, Messages} = process_info(Pid, messages),
    dam_queue(Dam) + length([Line || {log, Line} <- Messages]).

counted(none, Written) -> Written;
counted(Lines, _Written) -> Lines.

lines(#{reader := none}) -> none;
lines(#{reader := Reader}) -> count_lines(Reader, file:read(Reader, ?CHUNK), 0).

count_lines(Reader, {ok, Bytes}, Lines) ->
    count_lines(Reader, file:read(Reader, ?CHUNK), Lines + length(binary:matches(Bytes, <<"\n">>)));
count_lines(Reader, eof, Lines) ->
    ok = file:close(Reader),
    Lines.
