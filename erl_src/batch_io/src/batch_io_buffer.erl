%% @doc The messages that were written and are not yet with the device. Callers insert them into
%% tables and the writer empties the tables, without messages between the two.
%%
%% One atomic word counts the held messages and bytes. A caller raises it before it inserts, and
%% only if both stay within their bounds. So a caller sees that the buffer is full by reading one
%% word.
%%
%% All messages of a client go to the same table, where they lie under one key in the order of
%% insertion. The writer takes the whole content of a table at once. This keeps the order of each
%% client.
-module(batch_io_buffer).

-export([new/1, publish/1, withdraw/1, forget/1, resume/1, current/0, current/1, latest/1, writer/1, options/1, format/1, with_options/2]).
-export([is_gone/1]).
-export([put/4, take/1, is_empty/1, is_page/1, has_room/3, page_limits/1, settle/4, held/1, add/3, set/3, get/2]).
-export([busy/1, rest/2, close/1, reopen/1]).
-export_type([buffer/0, entry/0, limits/0]).

-define(KEY, batch_io).
%% More tables than callers can use at once, so that two clients rarely contend for one.
-define(TABLES_A_SCHEDULER, 8).
-define(MOST_TABLES, 64).
%% Held messages are counted in the bits above the bytes. While ?CLOSED is added, nothing is
%% accepted.
-define(SLOT, (1 bsl 36)).
-define(CLOSED, (1 bsl 58)).

%% The words of the array. A resting writer is woken by the first message, a lingering writer by a
%% full page.
-define(HELD, 1).
-define(STATE, 2).
-define(WORDS, 9). % these two, and index/1
-define(BUSY, 0).
-define(RESTING, 1).
-define(LINGERING, 2).

-record(buffer, {tables :: tuple(), words :: atomics:atomics_ref(),
                 options :: batch_io_options:options(),
                 slots = 1 :: pos_integer(), bytes = 1 :: pos_integer(), page = 1 :: pos_integer(),
                 format = caller :: caller | device}).
-opaque buffer() :: #buffer{}.
%% Text in UTF-8, or a format and arguments that the device formats.
-type entry() :: {?MODULE, Bytes :: non_neg_integer(), Text :: binary() | {io:format(), [term()]}}.
%% The limits of a page.
-type limits() :: {Bytes :: pos_integer(), Slots :: pos_integer()}.
-type counter() :: sent | dropped | in_flight | errors | since | oldest | told.

%% @doc An empty buffer, owned by the caller.
-spec new(batch_io_options:options()) -> buffer().
new(Options) ->
    Number = min(?MOST_TABLES, ?TABLES_A_SCHEDULER * erlang:system_info(schedulers)),
    Tables = [ets:new(?MODULE, [public, duplicate_bag]) || _ <- lists:seq(1, Number)],
    with_options(Options, #buffer{tables = list_to_tuple(Tables), words = atomics:new(?WORDS, []), options = Options}).

%% @doc The same buffer with other bounds.
-spec with_options(batch_io_options:options(), buffer()) -> buffer().
with_options(#{slots := Slots, bytes := Bytes, page_size := Page, format := Format} = Options, Buffer) ->
    Buffer#buffer{slots = Slots, bytes = Bytes, page = min(Page, max(1, Bytes div 4)),
                  format = Format, options = Options}.

-spec options(buffer()) -> batch_io_options:options().
options(#buffer{options = Options}) -> Options.

%% @doc Who formats the text. Each call reads this.
-spec format(buffer()) -> caller | device.
format(#buffer{format = Format}) -> Format.

%% @doc Makes this the buffer that callers find.
-spec publish(buffer()) -> ok.
publish(Buffer) ->
    Writer = writer(Buffer),
    ok = persistent_term:put(key(Writer), Buffer),
    _ = persistent_term:erase(withdrawn(Writer)),
    ok.

%% @doc Hides the buffer from callers until the next writer of that name starts (resume/1).
-spec withdraw(Writer :: atom()) -> ok.
withdraw(Writer) ->
    case current(Writer) of
        undefined -> ok;
        Buffer ->
            ok = persistent_term:put(withdrawn(Writer), Buffer),
            _ = persistent_term:erase(key(Writer)),
            ok
    end.

%% @doc Removes the buffer. Returns whether there was one; if several processes call this at once,
%% one of them gets `true'.
-spec forget(Writer :: atom()) -> boolean().
forget(Writer) ->
    Published = persistent_term:erase(key(Writer)),
    persistent_term:erase(withdrawn(Writer)) orelse Published.

%% @doc The buffer for a writer that starts. Callers find it and it accepts messages, whatever state
%% the previous writer left it in.
-spec resume(Writer :: atom()) -> buffer().
resume(Writer) ->
    Buffer = latest(Writer),
    ok = reopen(Buffer),
    ok = publish(Buffer),
    Buffer.

%% @doc The buffer of batch_io itself.
-spec current() -> buffer() | undefined.
current() -> persistent_term:get(?KEY, undefined).

%% @doc The buffer that the process of this name writes.
-spec current(Writer :: atom()) -> buffer() | undefined.
current(Writer) -> persistent_term:get(key(Writer), undefined).

%% @doc The buffer that the process of this name writes, even if it was withdrawn.
-spec latest(Writer :: atom()) -> buffer() | undefined.
latest(Writer) -> persistent_term:get(key(Writer), persistent_term:get(withdrawn(Writer), undefined)).

withdrawn(Writer) -> {?KEY, withdrawn, Writer}.

key(batch_io_writer) -> ?KEY;
key(Writer) -> Writer.

%% @doc The name of the process that writes this buffer. It is stored in the options and not in a
%% field of its own, so that buffers made by a version without it remain valid.
-spec writer(buffer()) -> atom().
writer(#buffer{options = Options}) -> maps:get(writer, Options, batch_io_writer).

%% @doc Inserts a client's message if there is room, and wakes the writer if it waits for that. A
%% message that is not inserted is not counted.
-spec put(buffer(), Client :: pid(), Bytes :: non_neg_integer(), Text) -> ok | full | too_large | closed
              when Text :: binary() | {io:format(), [term()]}.
put(#buffer{bytes = Most}, _Client, Bytes, _Text) when Bytes > Most -> too_large;
put(#buffer{words = Words} = Buffer, Client, Bytes, Text) ->
    case reserve(Buffer, Bytes, atomics:get(Words, ?HELD)) of
        {ok, Held} -> insert(Buffer, Client, Bytes, Text, Held);
        closed -> closed;
        full ->
            %% The writer may be lingering if the last messages came all at once.
            ok = wake(Buffer, atomics:get(Words, ?HELD)),
            full
    end.

%% Held is below zero only if a caller that was merely delayed was taken for dead, until the writer
%% notices (lost/1 in batch_io_writer).
reserve(#buffer{words = Words, slots = Slots, bytes = Most} = Buffer, Bytes, Held) ->
    Wanted = Held + ?SLOT + Bytes,
    if
        Held < 0; Wanted bsr 36 =< Slots, Wanted band (?SLOT - 1) =< Most ->
            case atomics:compare_exchange(Words, ?HELD, Held, Wanted) of
                ok -> {ok, Wanted};
                Other -> reserve(Buffer, Bytes, Other)
            end;
        true -> no_room(is_closed(Held) orelse is_gone(Buffer))
    end.

no_room(true) -> closed;
no_room(false) -> full.

%% @doc Whether the supervisor was killed or has given up, so that nothing will ever make room.
-spec is_gone(buffer()) -> boolean().
is_gone(#buffer{tables = Tables}) -> ets:info(element(1, Tables), owner) =:= undefined.

%% The tables are gone if the supervisor was killed.
insert(#buffer{tables = Tables} = Buffer, Client, Bytes, Text, Held) ->
    Nth = 1 + erlang:phash2(Client, tuple_size(Tables)),
    try ets:insert(element(Nth, Tables), {?MODULE, Bytes, alone(Text)}) of
        true -> wake(Buffer, Held)
    catch error:badarg -> closed
    end.

%% A part of a larger binary would keep all of that, which `bytes' does not count.
alone(Text) when is_binary(Text) ->
    case binary:referenced_byte_size(Text) > byte_size(Text) of
        true -> binary:copy(Text);
        false -> Text
    end;
alone(Unformatted) -> Unformatted.

wake(#buffer{words = Words} = Buffer, Held) ->
    case atomics:get(Words, ?STATE) of
        ?BUSY -> ok;
        Waiting -> wake(Buffer, Waiting, is_page(Buffer, Held))
    end.

wake(Buffer, Waiting, true) -> signal(Buffer, Waiting, ?BUSY, page);
wake(_Buffer, ?LINGERING, false) -> ok;
wake(Buffer, ?RESTING, false) ->
    ok = set(since, erlang:monotonic_time(), Buffer),
    signal(Buffer, ?RESTING, ?LINGERING, first).

%% Only the caller that changes the state sends the message.
signal(#buffer{words = Words} = Buffer, From, To, Message) ->
    case atomics:compare_exchange(Words, ?STATE, From, To) of
        ok -> tell_writer(whereis(writer(Buffer)), Message);
        _ -> ok
    end.

tell_writer(undefined, _Message) -> ok;
tell_writer(Writer, Message) ->
    Writer ! Message,
    ok.

%% @doc Whether the held messages, in the tables or taken, make a page or more.
-spec is_page(buffer()) -> boolean().
is_page(#buffer{words = Words} = Buffer) -> is_page(Buffer, atomics:get(Words, ?HELD)).

%% A small buffer has a page as soon as a quarter of its slots is used.
is_page(#buffer{page = Page, slots = Slots}, Held) ->
    Held band (?SLOT - 1) >= Page orelse 4 * (Held bsr 36) >= Slots.

%% @doc How much goes to the device at once: a page, and at most a quarter of the slots. So with two
%% pages in flight there is room for new messages.
-spec page_limits(buffer()) -> limits().
page_limits(#buffer{page = Page, slots = Slots}) -> {Page, max(1, Slots div 4)}.

%% @doc Whether there is room for that many more messages and bytes.
-spec has_room(Slots :: pos_integer(), Bytes :: non_neg_integer(), buffer()) -> boolean().
has_room(Slots, Bytes, #buffer{slots = MostSlots, bytes = MostBytes} = Buffer) ->
    {HeldSlots, HeldBytes} = held(Buffer),
    HeldSlots + Slots =< MostSlots andalso HeldBytes + Bytes =< MostBytes.

%% @doc Takes all messages, in the order of each client. They still count as held.
-spec take(buffer()) -> [entry()].
take(#buffer{tables = Tables}) -> take(tuple_size(Tables), Tables, []).

take(0, _Tables, Taken) -> Taken;
take(Nth, Tables, Taken) ->
    case ets:take(element(Nth, Tables), ?MODULE) of
        [] -> take(Nth - 1, Tables, Taken);
        More -> take(Nth - 1, Tables, More ++ Taken)
    end.

%% @doc Whether nothing is in the tables.
-spec is_empty(buffer()) -> boolean().
is_empty(#buffer{tables = Tables}) -> is_empty(tuple_size(Tables), Tables).

is_empty(0, _Tables) -> true;
is_empty(Nth, Tables) -> ets:info(element(Nth, Tables), size) =:= 0 andalso is_empty(Nth - 1, Tables).

%% @doc Counts held messages as `sent' or `dropped', and frees their room.
%%
%% A process killed between the two steps would have counted them twice. But a process is killed
%% only when it is scheduled out, and after yield/0 it has a whole time slice for these few calls.
-spec settle(sent | dropped, Slots :: integer(), Bytes :: integer(), buffer()) -> ok.
settle(Counter, Slots, Bytes, #buffer{words = Words}) ->
    true = erlang:yield(),
    ok = atomics:add(Words, index(Counter), Slots),
    atomics:sub(Words, ?HELD, Slots * ?SLOT + Bytes).

%% @doc The held messages and their bytes. Both are below zero if they belong to a caller that was
%% taken for dead.
-spec held(buffer()) -> {Slots :: integer(), Bytes :: integer()}.
held(#buffer{words = Words}) ->
    Word = atomics:get(Words, ?HELD),
    Held = case is_closed(Word) of
               true -> Word - ?CLOSED;
               false -> Word
           end,
    Slots = (Held + ?SLOT div 4) bsr 36,
    {Slots, Held - Slots * ?SLOT}.

%% The threshold is far above any number of held messages, and far below a closed buffer's word.
is_closed(Held) -> Held >= ?CLOSED - ?CLOSED div 4.

%% @doc Sets the writer's state while it works: it need not be woken.
-spec busy(buffer()) -> ok.
busy(#buffer{words = Words}) -> atomics:put(Words, ?STATE, ?BUSY).

%% @doc Chooses what wakes the writer. If neither writer nor tables have a message, the next message
%% wakes it (`resting'), otherwise the next full page (`lingering'). `busy' means that a page was
%% completed before the state was set.
-spec rest(HasNone :: boolean(), buffer()) -> resting | lingering | busy.
rest(false, Buffer) -> linger(Buffer);
rest(true, #buffer{words = Words} = Buffer) ->
    ok = atomics:put(Words, ?STATE, ?RESTING),
    case is_empty(Buffer) of
        true -> resting;
        false ->
            _ = linger(Buffer),
            unless_page(is_page(Buffer), Buffer)
    end.

linger(#buffer{words = Words}) ->
    ok = atomics:put(Words, ?STATE, ?LINGERING),
    lingering.

unless_page(false, _Buffer) -> lingering;
unless_page(true, Buffer) ->
    ok = busy(Buffer),
    busy.

%% @doc Closes the buffer: it accepts no more messages. Messages still held were accepted before.
-spec close(buffer()) -> ok.
close(#buffer{words = Words} = Buffer) ->
    ok = reopen(Buffer),
    atomics:add(Words, ?HELD, ?CLOSED).

%% @doc Accepts messages again after close/1.
-spec reopen(buffer()) -> ok.
reopen(#buffer{words = Words}) ->
    case is_closed(atomics:get(Words, ?HELD)) of
        true -> atomics:sub(Words, ?HELD, ?CLOSED);
        false -> ok
    end.

%% @doc Adds to a counter. `sent': messages that the device has confirmed. `dropped': messages
%% dropped. `in_flight': messages given to the device and not confirmed. `errors': errors of the
%% device. `since', `oldest': times (native, 0 for none) since when a message may wait in the
%% tables, and with the writer. `told': drops that a line has reported.
-spec add(counter(), integer(), buffer()) -> ok.
add(Counter, Number, #buffer{words = Words}) -> atomics:add(Words, index(Counter), Number).

-spec set(counter(), integer(), buffer()) -> ok.
set(Counter, Value, #buffer{words = Words}) -> atomics:put(Words, index(Counter), Value).

-spec get(counter(), buffer()) -> integer().
get(Counter, #buffer{words = Words}) -> atomics:get(Words, index(Counter)).

index(sent) -> 3;
index(dropped) -> 4;
index(in_flight) -> 5;
index(errors) -> 6;
index(since) -> 7;
index(oldest) -> 8;
index(told) -> 9.
