%% @doc The types that the modules of this application share. `unknown' stands where nothing could be seen.
-module(diagnose_types).

-export_type([look/0, processes/0, suspect/0, bytes/0, sample/0, frame/0, pauses/0, collections/0, carriers/0, layout/0,
              finding/0, kind/0, subject/0, cost/0, skipped/0, scan/0]).

%% What was seen of a node. Times are in milliseconds, sizes in bytes, unless a name says otherwise.
-type look() :: #{format := 3, otp := binary() | unknown, release := pos_integer(), schedulers := pos_integer(),
                  overloaded := boolean(), processes := processes() | unknown, suspects := [suspect()] | unknown, silent := [binary()],
                  collections := collections() | unknown, carriers := [carriers()] | unknown,
                  scan_ns := #{on_heap | off_heap => float()},
                  layouts := [{Pid :: binary(), layout()}] | unknown | not_asked | not_safe, cost := cost()}.
%% silent: those that did not answer when they were looked at closer. scan_ns: nanoseconds that a receive takes there
%% to go by a message that waits.

-type processes() :: #{looked := non_neg_integer(), skipped := skipped(),
                       heap_bytes := non_neg_integer(), used_bytes := non_neg_integer()}.
%% The bytes are those of processes whose mailbox is not deep.
-type skipped() :: #{ended | silent | out_of_time | too_many => pos_integer()}.
%% silent: it did not answer in time. too_many: their list alone would have been too large.

-type cost() :: #{milliseconds := non_neg_integer(), bytes := non_neg_integer(), carried_bytes => non_neg_integer(),
                  ended := finished | out_of_time | out_of_memory | crashed, stays_loaded := boolean(),
                  purge_bytes := non_neg_integer()}.
%% stays_loaded: what was carried is not removed. bytes: the most that the looking processes had at a time.
%% purge_bytes: what the VM needs for a moment to purge what was carried.

%% A process worth a second look: one of those with the deepest mailboxes, or the most memory.
-type suspect() :: #{pid := binary(), name := atom(), initial_call := mfa() | unknown, queue := on_heap | off_heap,
                     depth := non_neg_integer(), least_depth := non_neg_integer(), growth := float(),
                     samples := [sample()], hibernates := boolean(), idle := boolean(),
                     heap_bytes := bytes(), used_bytes := bytes(), old_bytes := bytes(), held_bytes := bytes(),
                     min_heap_bytes := bytes(),
                     binaries := non_neg_integer() | unknown, pauses := pauses() | not_traced | unknown}.
-type bytes() :: non_neg_integer() | unknown.
%% name: '' where there is none. growth: messages a second. held_bytes: of binaries outside the heap that it refers to.
%% min_heap_bytes: what its heap may not fall below. The bytes of a process with a deep mailbox are unknown.
%% not_traced: others were larger, somebody else traces it, or it
%% ended.

-type sample() :: {Status :: atom(), [frame()], Times :: pos_integer()}.
-type frame() :: {module(), atom(), arity()}.
-type pauses() :: #{minor := pos_integer() | 0, full := pos_integer() | 0, longest_us := non_neg_integer(),
                    total_us := non_neg_integer(), window_ms := pos_integer()}.
-type collections() :: #{share := float(), busy := float(), window_ms := pos_integer()}.
%% share: of the time in which schedulers were busy. busy: of all their time.
-type carriers() :: #{allocator := atom(), carrier_bytes := non_neg_integer(), block_bytes := non_neg_integer()}.
-type layout() :: #{cells := non_neg_integer(), mean := float() | undefined, cache_lines := float(),
                    walk_ns := float() | unknown, dense_ns := float() | unknown}.
%% As of cons_spacing: bytes from cell to cell, cache lines for each thousand cells. What a walk takes for a cell at least, so
%% far apart and dense, on that machine.

-type kind() :: deep_mailbox | scanning_receive | message_queue_data | long_collection | spread_list | idle_heap
              | binary_leak | carriers_underused | known_fault.
-type subject() :: #{pid := binary(), name := atom()} | none.
-type finding() :: #{kind := kind(), process := subject(), evidence := #{atom() => term()}, advice := binary(),
                     command := binary()}.
%% evidence: numbers, atoms, booleans and UTF-8 binaries.

%% A receive that a process goes through.
%% seen, looks: in so many of the looks at it the process was there. called_from: the next function of its stack.
-type scan() :: #{pid := binary(), function := mfa(), file := binary(), line := non_neg_integer(),
                  called_from := mfa() | none, seen := pos_integer(), looks := pos_integer()}.
