%% @doc What a dam is given and what it says, as types. {@link dam} shows them to users under its own name.
-module(dam_types).

-export_type([dam/0, name/0, server/0, options/0, policy/0, measure/0, reason/0, info/0]).

-type dam() :: pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}.
-type name() :: {local, atom()} | {global, term()} | {via, module(), term()}.
%% The server behind it. By name it may be down, or not there yet: the dam holds its messages until it is.
-type server() :: pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}.

%% What happens to a message when as much is held as may be:
%% block: its sender waits, up to so many milliseconds; drop_newest: it is dropped;
%% drop_oldest: the one that waits longest is; drop_key: the newest one of the same key is, the
%% message itself where there is none; codel: as drop_newest, and below the limit what has waited
%% for too long is shed as in RFC 8289.
-type policy() :: {block, Milliseconds :: non_neg_integer() | infinity}
                | drop_newest | drop_oldest
                | {drop_key, fun((Message :: term()) -> Key :: term())}
                | {codel, TargetMs :: pos_integer(), IntervalMs :: pos_integer()}.

%% external: erlang:external_size/1, with the bytes of binaries. flat: erts_debug:flat_size/1, words
%% on the heap in bytes, without those of binaries over 64 bytes. Either walks the whole
%% message, a few ns a word. A function that fails, or does not say a number of bytes, says 0.
-type measure() :: external | flat | fun((Message :: term()) -> Bytes :: non_neg_integer()).

%% high, low: of the server's mailbox; 1,000 and the half of high. limit, limit_bytes: what is held
%% in each of the two lanes; 10,000 and infinity. policy: {block, infinity}. measure: external.
%% credit: how the dam knows what the server has taken: sys (the default) asks by system messages, which
%% all behaviours answer; ack: the server calls ack/1; poll: message_queue_len of a server of this
%% node at most every poll_ms (10), where neither will do.
%% recover_ms: after so long without news from the server its queue is looked at (1,000).
%% retry_ms: how often a server that is down is looked for (100). stop_ms: how long what is held may
%% take to flush when the dam's supervisor stops it (5,000).
%% events: called with each event; see README.md. Those of telemetry where that is loaded, else none.
-type options() :: #{high => pos_integer(), low => non_neg_integer(),
                     limit => pos_integer() | infinity, limit_bytes => pos_integer() | infinity,
                     measure => measure(), policy => policy(),
                     credit => sys | ack | poll, poll_ms => pos_integer(),
                     recover_ms => pos_integer(), retry_ms => pos_integer(), stop_ms => non_neg_integer(),
                     events => dam_events:callback() | undefined}.

%% Why a message was dropped. deadline: its sender had waited long enough; full, too_large: no room,
%% and none for it ever; oldest, replaced, codel: by a policy; stopping: it came to a dam that stops;
%% stopped: it was still held at the end; server_down: it was held for a pid that has died.
-type reason() :: full | too_large | oldest | replaced | codel | deadline | stopping | stopped | server_down.

%% received = delivered + queue + waiting + all that were dropped.
%% queue: held; queue_change: since the last info/1. waiting: senders that are blocked. server_queue:
%% with the server, at most. lost: with a server when it died, at most; they count as delivered.
%% oldest_ms: how long the first has been held. bytes: of what is held, 0 without limit_bytes.
-type info() :: #{received := non_neg_integer(), delivered := non_neg_integer(),
                  queue := non_neg_integer(), queue_change := integer(), waiting := non_neg_integer(),
                  server_queue := non_neg_integer(), server := pid() | undefined,
                  dropped := #{reason() => pos_integer()}, lost := non_neg_integer(),
                  bytes := non_neg_integer(), oldest_ms := non_neg_integer(),
                  overloaded := boolean(), credit := sys | ack | poll, events_lost := non_neg_integer()}.
