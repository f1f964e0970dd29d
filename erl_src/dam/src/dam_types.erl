%% @doc The types of a dam's arguments and results. {@link dam} exports them under its own name.
-module(dam_types).

-export_type([dam/0, name/0, server/0, options/0, policy/0, measure/0, reason/0, info/0]).

-type dam() :: pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}.
-type name() :: {local, atom()} | {global, term()} | {via, module(), term()}.
%% The server behind a dam. A server given by name may be down or not yet started. The dam holds its
%% messages until it is up.
-type server() :: pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}.

%% What happens to a message when the limit is reached:
%% block: its sender waits, at most that many milliseconds.
%% drop_newest: the message is dropped.
%% drop_oldest: the message that has waited longest is dropped.
%% drop_key: the newest held message with the same key is dropped, or the message itself if there is
%% none.
%% codel: as drop_newest. In addition, messages that have waited too long are shed below the limit,
%% as in RFC 8289.
-type policy() :: {block, Milliseconds :: non_neg_integer() | infinity}
                | drop_newest | drop_oldest
                | {drop_key, fun((Message :: term()) -> Key :: term())}
                | {codel, TargetMs :: pos_integer(), IntervalMs :: pos_integer()}.

%% external: erlang:external_size/1, which includes the bytes of binaries.
%% flat: erts_debug:flat_size/1, the words on the heap, in bytes. It does not include binaries over
%% 64 bytes.
%% Both walk the whole message, which takes a few ns for each word. A function that fails, or does
%% not return a number of bytes, counts as 0.
-type measure() :: external | flat | fun((Message :: term()) -> Bytes :: non_neg_integer()).

%% Defaults are in parentheses.
%% high (1,000), low (half of high): sending stops when `high' messages are in the server's mailbox,
%% and resumes at `low'.
%% limit (10,000), limit_bytes (infinity): the most that each of the two lanes holds.
%% policy ({block, infinity}): what happens at the limit. measure (external): how bytes are
%% measured.
%% credit (sys): how the dam knows what the server has taken. sys: it asks with system messages,
%% which all behaviours answer. ack: the server calls ack/1. poll: it reads message_queue_len of a
%% server on this node, at most every poll_ms (10); for servers where the other two do not work.
%% recover_ms (1,000): after this time without news from the server, the dam looks at its queue.
%% retry_ms (100): how often the dam looks for a server that is down.
%% stop_ms (5,000): how long held messages may take to flush when the supervisor stops the dam.
%% events: a fun called with each event; see README.md. The default is that of telemetry if that
%% library is available, else none.
-type options() :: #{high => pos_integer(), low => non_neg_integer(),
                     limit => pos_integer() | infinity, limit_bytes => pos_integer() | infinity,
                     measure => measure(), policy => policy(),
                     credit => sys | ack | poll, poll_ms => pos_integer(),
                     recover_ms => pos_integer(), retry_ms => pos_integer(), stop_ms => non_neg_integer(),
                     events => dam_events:callback() | undefined}.

%% Why a message was dropped.
%% full: there was no room. too_large: there would never be room for it. deadline: its sender had
%% waited until its deadline. oldest, replaced, codel: dropped by a policy. stopping: it arrived
%% while the dam was stopping. stopped: it was still held at the end. server_down: it was held for a
%% pid that has died.
-type reason() :: full | too_large | oldest | replaced | codel | deadline | stopping | stopped | server_down.

%% received = delivered + queue + waiting + all that were dropped.
%% queue: messages held. queue_change: their change since the last info/1. waiting: blocked senders.
%% server_queue: the most messages that are with the server. lost: the most messages that were with
%% a server when it died; they also count as delivered. oldest_ms: how long the oldest message has
%% been held. bytes: size of the held messages, 0 without limit_bytes.
-type info() :: #{received := non_neg_integer(), delivered := non_neg_integer(),
                  queue := non_neg_integer(), queue_change := integer(), waiting := non_neg_integer(),
                  server_queue := non_neg_integer(), server := pid() | undefined,
                  dropped := #{reason() => pos_integer()}, lost := non_neg_integer(),
                  bytes := non_neg_integer(), oldest_ms := non_neg_integer(),
                  overloaded := boolean(), credit := sys | ack | poll, events_lost := non_neg_integer()}.
