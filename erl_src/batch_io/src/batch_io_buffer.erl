%% @doc What was written and is not yet with the device: tables that callers insert
%% into and the writer empties, without a message from one to the other.
%%
%% What is held, messages and bytes, is counted in one atomic word, which a caller
%% raises before it inserts, and only where both stay within their bounds; so a
%% caller learns that the buffer is full by reading a word. A client's messages go
%% to one and the same table, where they lie under one key in the order of their
%% insertion. All that a table has is taken at once, so that the order of each
%% client is kept.
-module(batch_io_buffer).

-export([new/1, publish/1, withdraw/1, current/0, current/1, writer/1, options/1, format/1, with_options/2]).
-export([put/4, take/1, is_empty/1, is_page/1, has_room/3, page_limits/1, settle/4, held/1, add/3, set/3, get/2]).
-export([busy/1, rest/2, close/1, reopen/1]).
-export_type([buffer/0, entry/0, limits/0]).

-define(KEY, batch_io).
%% More than can be inserted into at once, so that two clients seldom meet.
-define(TABLES_A_SCHEDULER, 8).
-define(MOST_TABLES, 64).
%% Held messages are counted above the bytes. Nothing is accepted while closed.
-define(SLOT, (1 bsl 36)).
-define(CLOSED, (1 bsl 58)).

%% The words. A writer that rests is woken by the first message, one that lingers
%% by a full page.
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
%% Text in UTF-8, or what the device makes text of.
-type entry() :: {?MODULE, Bytes :: non_neg_integer(), Text :: binary() | {io:format(), [term()]}}.
%% Of a page.
-type limits() :: {Bytes :: pos_integer(), Slots :: pos_integer()}.
-type counter() :: sent | dropped | in_flight | errors | since | oldest | told.

%% @doc An empty one, owned by the caller.
-spec new(batch_io_options:options()) -> buffer().
new(Options) ->
    Number = min(?MOST_TABLES, ?TABLES_A_SCHEDULER * erlang:system_info(schedulers)),
    Tables = [ets:new(?MODULE, [public, duplicate_bag]) || _ <- lists:seq(1, Number)],
    with_options(Options, #buffer{tables = list_to_tuple(Tables), words = atomics:new(?WORDS, []), options = Options}).

%% @doc The same with other bounds.
-spec with_options(batch_io_options:options(), buffer()) -> buffer().
with_options(#{slots := Slots, bytes := Bytes, page_size := Page, format := Format} = Options, Buffer) ->
    Buffer#buffer{slots = Slots, bytes = Bytes, page = min(Page, max(1, Bytes div 4)),
                  format = Format, options = Options}.

-spec options(buffer()) -> batch_io_options:options().
options(#buffer{options = Options}) -> Options.

%% @doc Who makes text of formats, which each call asks.
-spec format(buffer()) -> caller | device.
format(#buffer{format = Format}) -> Format.

%% @doc Makes it the one that callers find.
-spec publish(buffer()) -> ok.
publish(Buffer) -> persistent_term:put(key(writer(Buffer)), Buffer).

%% @doc Lets callers find none.
-spec withdraw(Writer :: atom()) -> ok.
withdraw(Writer) ->
    _ = persistent_term:erase(key(Writer)),
    ok.

%% @doc That of batch_io itself.
-spec current() -> buffer() | undefined.
current() -> persistent_term:get(?KEY, undefined).

%% @doc That which the process of this name writes.
-spec current(Writer :: atom()) -> buffer() | undefined.
current(Writer) -> persistent_term:get(key(Writer), undefined).

key(batch_io_writer) -> ?KEY;
key(Writer) -> Writer.

%% @doc The name of the process that writes it. In the options, and no field of its own, so that a buffer which a version
%% without it has made is one still.
-spec writer(buffer()) -> atom().
writer(#buffer{options = Options}) -> maps:get(writer, Options, batch_io_writer).

%% @doc Inserts a client's message where there is room, and wakes the writer where
%% it waits for it. Not counted where it is not inserted.
-spec put(buffer(), Client :: pid(), Bytes :: non_neg_integer(), Text) -> ok | full | too_large | closed
              when Text :: binary() | {io:format(), [term()]}.
put(#buffer{bytes = Most}, _Client, Bytes, _Text) when Bytes > Most -> too_large;
put(#buffer{words = Words} = Buffer, Client, Bytes, Text) ->
    case reserve(Buffer, Bytes, atomics:get(Words, ?HELD)) of
        {ok, Held} -> insert(Buffer, Client, Bytes, Text, Held);
        closed -> closed;
        full ->
            %% It may linger where the last ones came all at once.
            ok = wake(Buffer, atomics:get(Words, ?HELD)),
            full
    end.

%% Below zero only where a caller was taken for dead that was only held up, until that is
%% seen (lost/1 of the writer).
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

%% Nobody would ever make room where the supervisor was killed or has given up.
is_gone(#buffer{tables = Tables}) -> ets:info(element(1, Tables), owner) =:= undefined.

%% The tables are gone where the supervisor was killed.
insert(#buffer{tables = Tables} = Buffer, Client, Bytes, Text, Held) ->
    Nth = 1 + erlang:phash2(Client, tuple_size(Tables)),
    try ets:insert(element(Nth, Tables), {?MODULE, Bytes, Text}) of
        true -> wake(Buffer, Held)
    catch error:badarg -> closed
    end.

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

%% Who changes the state first is the one that sends.
signal(#buffer{words = Words} = Buffer, From, To, Message) ->
    case atomics:compare_exchange(Words, ?STATE, From, To) of
        ok -> tell_writer(whereis(writer(Buffer)), Message);
        _ -> ok
    end.

tell_writer(undefined, _Message) -> ok;
tell_writer(Writer, Message) ->
    Writer ! Message,
    ok.

%% @doc Whether what is held, in the tables or taken, is a page or more.
-spec is_page(buffer()) -> boolean().
is_page(#buffer{words = Words} = Buffer) -> is_page(Buffer, atomics:get(Words, ?HELD)).

%% A small buffer is filled to a quarter before there is a page.
is_page(#buffer{page = Page, slots = Slots}, Held) ->
    Held band (?SLOT - 1) >= Page orelse 4 * (Held bsr 36) >= Slots.

%% @doc How much goes to the device at once: a page, and at most a quarter of the
%% room, so that with two in flight there is room for what comes meanwhile.
-spec page_limits(buffer()) -> limits().
page_limits(#buffer{page = Page, slots = Slots}) -> {Page, max(1, Slots div 4)}.

%% @doc Whether there is room for so many more messages, of so many bytes.
-spec has_room(Slots :: pos_integer(), Bytes :: non_neg_integer(), buffer()) -> boolean().
has_room(Slots, Bytes, #buffer{slots = MostSlots, bytes = MostBytes} = Buffer) ->
    {HeldSlots, HeldBytes} = held(Buffer),
    HeldSlots + Slots =< MostSlots andalso HeldBytes + Bytes =< MostBytes.

%% @doc Takes all there is, in the order of each client. Still counted as held.
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

%% @doc Counts messages that were held as `sent' or `dropped', and makes their room free again.
%%
%% Whoever is killed in between would have counted them twice. A process is killed only
%% where it lets others run; after yield/0 it has all of its time slice for these few calls.
-spec settle(sent | dropped, Slots :: integer(), Bytes :: integer(), buffer()) -> ok.
settle(Counter, Slots, Bytes, #buffer{words = Words}) ->
    true = erlang:yield(),
    ok = atomics:add(Words, index(Counter), Slots),
    atomics:sub(Words, ?HELD, Slots * ?SLOT + Bytes).

%% @doc What is held: messages and their bytes, which are below zero where both are of a
%% caller that was taken for dead.
-spec held(buffer()) -> {Slots :: integer(), Bytes :: integer()}.
held(#buffer{words = Words}) ->
    Word = atomics:get(Words, ?HELD),
    Held = case is_closed(Word) of
               true -> Word - ?CLOSED;
               false -> Word
           end,
    Slots = (Held + ?SLOT div 4) bsr 36,
    {Slots, Held - Slots * ?SLOT}.

%% Far above all that may be held, and far below with which that is closed.
is_closed(Held) -> Held >= ?CLOSED - ?CLOSED div 4.

%% @doc The writer's state while it works: nobody wakes it.
-spec busy(buffer()) -> ok.
busy(#buffer{words = Words}) -> atomics:put(Words, ?STATE, ?BUSY).

%% @doc Has the writer woken: by the next message where it has none itself and there
%% is none (`resting'), else by the next full page (`lingering'). `busy' where that
%% came before the word was set.
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

%% @doc Accepts nothing more. What is held from now on came before.
-spec close(buffer()) -> ok.
close(#buffer{words = Words} = Buffer) ->
    ok = reopen(Buffer),
    atomics:add(Words, ?HELD, ?CLOSED).

%% @doc Accepts again what one writer was told to accept no more.
-spec reopen(buffer()) -> ok.
reopen(#buffer{words = Words}) ->
    case is_closed(atomics:get(Words, ?HELD)) of
        true -> atomics:sub(Words, ?HELD, ?CLOSED);
        false -> ok
    end.

%% @doc Counters: messages that the device has, that were dropped, that it was
%% given and has not confirmed; its errors; the times (native, 0 is none) since
%% when something may wait in the tables, and with the writer; how many of the
%% dropped a line has told of.
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
