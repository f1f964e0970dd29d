%% @doc Processes as real programs have them, for questions about when the VM collects: each keeps and drops terms in
%% a way of its own.
%%
%% All work is fixed. A process gets its messages in batches, handles them and answers once. The module has no clock
%% and looks at no collection; {@link collection_pass} does both.
-module(collection_processes).

-export([names/0, lasts/1, batch/2, batch_size/1, start/2, hand/3, served/2, expected/2, hibernates/2]).
-export([wait/3]).
-export_type([name/0, settings/0, answer/0]).

%% Queues of a broker, by the bytes of a message; `slices' are of 100 bytes, parts of the packet that brought them. A
%% writer packs small messages and keeps them until they are confirmed. A session changes a little of its state. A cache
%% keeps all. A parser makes much and keeps two numbers. A request is a process for each message, which ends with it.
-type name() :: queue_64 | queue_65 | queue_slices | queue_1k | queue_64k | writer | session | cache | parser | request.
%% `options': of spawn_opt/2. `hibernate_after': the number of batches after which the process hibernates, 0 for never.
-type settings() :: #{options := [proc_lib:spawn_option()], hibernate_after := non_neg_integer()}.
%% What a batch of messages comes to.
-type answer() :: integer().

%% The messages that a broker's queue holds all the time.
-define(BACKLOG, 400).
-define(LARGE_BACKLOG, 40).
-define(SLICE_BYTES, 100).
%% The batches that a writer keeps until they are confirmed.
-define(UNCONFIRMED, 20).
-define(CONTACTS, 200).
-define(LINES, 100).

%% @doc The processes, in the order in which they are shown.
-spec names() -> [name(), ...].
names() -> [queue_64, queue_65, queue_slices, queue_1k, queue_64k, writer, session, cache, parser, request].

%% @doc Whether a process lasts for all batches, or is made anew for each.
-spec lasts(name()) -> boolean().
lasts(request) -> false;
lasts(_) -> true.

%% @doc The number of messages of a batch.
-spec batch_size(name()) -> pos_integer().
batch_size(queue_64k) -> 5;
batch_size(writer) -> 20;
batch_size(session) -> 10;
batch_size(parser) -> 1;
batch_size(request) -> 1;
batch_size(_) -> 50.

%% @doc The messages of the Nth batch, the first of which is number 1.
-spec batch(name(), pos_integer()) -> [term()].
batch(queue_slices, N) ->
    Packet = iolist_to_binary([payload(I, ?SLICE_BYTES) || I <- numbers(queue_slices, N)]),
    [binary:part(Packet, Offset, ?SLICE_BYTES) || Offset <- lists:seq(0, byte_size(Packet) - 1, ?SLICE_BYTES)];
batch(Name, N) -> [message(Name, I) || I <- numbers(Name, N)].

numbers(Name, N) ->
    Size = batch_size(Name),
    lists:seq((N - 1) * Size + 1, N * Size).

message(queue_64, I) -> payload(I, 64);
message(queue_65, I) -> payload(I, 65);
message(queue_1k, I) -> payload(I, 1_000);
message(queue_64k, I) -> payload(I, 64_000);
message(writer, I) -> payload(I, 100);
message(session, I) -> {presence, I rem ?CONTACTS, available, [I, I + 1, I + 2], <<"seen at ", (I band 1023):16>>};
message(cache, I) -> {{user, I}, [{name, <<"user", I:32>>}, {visits, I}, {pages, [I, I + 1, I + 2]}]};
message(parser, I) -> document(I);
message(request, I) -> {get, I, [{<<"host">>, <<"example.org">>}, {<<"accept">>, <<"text/plain">>}]}.

payload(I, Bytes) -> <<I:64, 0:(8 * (Bytes - 8))>>.

number(<<I:64, _/bits>>) -> I.

document(I) ->
    iolist_to_binary([[<<"key">>, integer_to_list(N), $=, integer_to_list(I + N), $\n] || N <- lists:seq(1, ?LINES)]).

%% @doc Starts a process, linked to the caller. It works until it is stopped.
-spec start(name(), settings()) -> pid().
start(Name, #{options := Options, hibernate_after := After}) ->
    spawn_opt(fun() -> wait({Name, After}, 1, new(Name)) end, [link | Options]).

%% @doc Sends a process a batch.
-spec hand(pid(), reference(), [term()]) -> ok.
hand(Process, Reference, Messages) ->
    Client = self(),
    lists:foreach(fun(Message) -> Process ! {Client, Reference, Message} end, Messages).

%% @doc Waits until a process has handled the batch that was handed to it. What it hands on comes along.
-spec served(pid(), reference()) -> answer().
served(Process, Reference) ->
    receive {Process, Reference, Answer, _HandedOn} -> Answer end.

%% @doc The sum of the answers to the first `Batches' batches, as it follows from the messages.
-spec expected(name(), non_neg_integer()) -> answer().
expected(Name, Batches) -> lists:sum([comes_to(Name, I) || I <- lists:seq(1, Batches * batch_size(Name))]).

%% Of the queues, the number of the message that leaves.
comes_to(parser, I) -> sum_from(I + 1, ?LINES);
comes_to(request, I) -> sum_from(I, ?LINES);
comes_to(Name, I) when Name =:= writer; Name =:= session; Name =:= cache -> I;
comes_to(Queue, I) -> max(0, I - backlog(Queue)).

sum_from(First, Count) -> Count * First + Count * (Count - 1) div 2.

backlog(queue_64k) -> ?LARGE_BACKLOG;
backlog(_) -> ?BACKLOG.

%% @private Waits for a batch.
-spec wait({name(), non_neg_integer()}, pos_integer(), term()) -> no_return().
wait({Name, _} = Own, Batch, State) ->
    receive
        {Client, Reference, Message} ->
            {Value, Next} = handle(Name, Message, State),
            serve(Own, Batch, {Client, Reference, Value}, batch_size(Name) - 1, Next)
    end.

%% The answer is the last that a process does before it waits: what it then finds does not depend on who is faster.
serve({Name, After} = Own, Batch, {Client, Reference, Sum}, 0, State) ->
    {HandedOn, Kept} = closed(Name, State),
    Client ! {self(), Reference, Sum, HandedOn},
    rest(Own, Batch, hibernates(After, Batch), Kept);
serve({Name, _} = Own, Batch, {Client, Reference, Sum}, Left, State) ->
    receive
        {Client, Reference, Message} ->
            {Value, Next} = handle(Name, Message, State),
            serve(Own, Batch, {Client, Reference, Sum + Value}, Left - 1, Next)
    end.

rest(Own, Batch, false, State) -> wait(Own, Batch + 1, State);
rest(Own, Batch, true, State) -> erlang:hibernate(?MODULE, wait, [Own, Batch + 1, State]).

%% @doc Whether a process hibernates after this batch.
-spec hibernates(non_neg_integer(), pos_integer()) -> boolean().
hibernates(0, _) -> false;
hibernates(After, Batch) -> Batch rem After =:= 0.

%% The state with which a process begins.
new(writer) -> {[], queue:new()};
new(session) -> maps:from_list([{N, contact(N)} || N <- lists:seq(0, ?CONTACTS - 1)]);
new(cache) -> #{};
new(parser) -> {0, 0};
new(request) -> none;
new(_Queue) -> {queue:new(), 0, []}.

contact(N) -> #{name => <<"contact", N:16>>, groups => [friends, N], presence => none, history => []}.

%% One message: what it comes to, and the state after it.
handle(writer, Payload, {Entries, Unconfirmed}) ->
    I = number(Payload),
    {I, {[{entry, I, erlang:crc32(Payload), [{offset, I}], Payload} | Entries], Unconfirmed}};
handle(session, {presence, Contact, Status, Resources, Text}, Contacts) ->
    #{Contact := #{history := History} = Known} = Contacts,
    [I | _] = Resources,
    {I, Contacts#{Contact := Known#{presence := {Status, Resources, Text}, history := lists:sublist([I | History], 5)}}};
handle(cache, {{user, I} = Key, Value}, Cache) -> {I, Cache#{Key => maps:from_list(Value)}};
handle(parser, Document, {Documents, Total}) ->
    Lines = binary:split(Document, <<"\n">>, [global, trim]),
    Pairs = [list_to_tuple(binary:split(Line, <<"=">>)) || Line <- Lines],
    Sum = lists:sum([binary_to_integer(Value) || {_, Value} <- Pairs]),
    {Sum, {Documents + 1, Total + Sum}};
handle(request, {get, I, Headers}, none) ->
    #{<<"host">> := Host} = maps:from_list(Headers),
    Rows = [{N, integer_to_list(N), Host} || N <- lists:seq(I, I + ?LINES - 1)],
    Sorted = lists:sort(fun({A, _, _}, {B, _, _}) -> A >= B end, Rows),
    {lists:sum([N || {N, _, _} <- Sorted]), none};
handle(Queue, Payload, {Waiting, Length, Given}) ->
    Kept = {message, erlang:phash2(Length), [{priority, byte_size(Payload) rem 10}, {expires, never}], Payload},
    given(queue:in(Kept, Waiting), Length + 1, Given, backlog(Queue)).

given(Waiting, Length, Given, Backlog) when Length > Backlog ->
    {{value, {message, _, _, Payload}}, Rest} = queue:out(Waiting),
    {number(Payload), {Rest, Length - 1, [Payload | Given]}};
given(Waiting, Length, Given, _) -> {0, {Waiting, Length, Given}}.

%% What is handed on at the end of a batch, and the state after it.
closed(writer, {Entries, Unconfirmed}) ->
    Chunk = iolist_to_binary([[<<I:64, Crc:32>>, Payload] || {entry, I, Crc, _, Payload} <- lists:reverse(Entries)]),
    {Chunk, {[], confirmed(queue:in(Entries, Unconfirmed))}};
closed(Name, State) when Name =:= session; Name =:= cache; Name =:= parser; Name =:= request -> {none, State};
closed(_Queue, {Waiting, Length, Given}) -> {Given, {Waiting, Length, []}}.

confirmed(Unconfirmed) ->
    case queue:len(Unconfirmed) > ?UNCONFIRMED of
        true -> queue:drop(Unconfirmed);
        false -> Unconfirmed
    end.
