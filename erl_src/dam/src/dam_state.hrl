%% The state of a dam's process. Only for dam_proxy, dam_flow, dam_link, dam_info and dam_state. A new field needs a default: a dam
%% of a version without the field goes on in the new code (dam_state).
-record(dam, {parent :: pid(),
              options :: map(),
              %% pid: the server while it is up. seen: the last server, up or not. left: the server before it was
              %% exchanged, with what it had, until the next is found or it ends. retry: the timer of the next look-up.
              pid :: pid() | undefined, seen :: pid() | undefined, monitor :: reference() | undefined,
              left :: {pid(), dam_window:window()} | undefined, left_monitor :: reference() | undefined,
              retry :: reference() | undefined,
              watch :: dam_watch:watch(), events :: dam_events:events() | undefined,
              window :: dam_window:window(), queue :: dam_queue:queue(),
              %% Blocked senders of each lane.
              priority_callers = dam_callers:new() :: dam_callers:callers(),
              normal_callers = dam_callers:new() :: dam_callers:callers(),
              raised = false :: boolean(),
              %% The timer of the next look at the server. known: what was taken when it started.
              recovery :: reference() | undefined, known = 0 :: non_neg_integer(),
              tries = 0 :: non_neg_integer(), silent = 0 :: non_neg_integer(),
              %% With credit => ack: the messages acknowledged and taken at the last look.
              last_look = {0, 0} :: {Done :: non_neg_integer(), Taken :: integer()},
              flushers = [] :: [{reference(), timer(), held | non_neg_integer()}],
              %% At their last check: whether no message was held, and how many were taken.
              flush_seen = none :: none | {boolean(), non_neg_integer()},
              stopping = [] :: [reference()], % who called stop/2
              end_reason :: term(), % undefined: the dam is not stopping
              received = 0 :: non_neg_integer(), lost = 0 :: non_neg_integer(),
              dropped = #{} :: #{dam_types:reason() => pos_integer()},
              %% untold: drops not yet reported by an event. telling: whether its timer runs.
              untold = #{} :: #{dam_types:reason() => pos_integer()}, telling = false :: boolean(),
              last_queue = 0 :: non_neg_integer(),
              %% The option of that name, or poll after the present server answered no probe.
              credit :: sys | ack | poll}).
-type timer() :: reference() | undefined.
