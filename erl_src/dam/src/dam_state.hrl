%% The state of a dam's process, for dam_proxy, dam_flow and dam_link alone.
-record(dam, {parent :: pid(),
              options :: map(),
              %% The server: a pid while it is up. seen: the last one, up or not.
              pid :: pid() | undefined, seen :: pid() | undefined, monitor :: reference() | undefined,
              watch :: dam_watch:watch(), events :: dam_events:events() | undefined,
              window :: dam_window:window(), queue :: dam_queue:queue(),
              %% Blocked senders of each lane.
              priority_callers = dam_callers:new() :: dam_callers:callers(),
              normal_callers = dam_callers:new() :: dam_callers:callers(),
              raised = false :: boolean(),
              %% The timer that looks whether there are news, and what was known when it last ran out.
              recovery :: reference() | undefined, known = 0 :: non_neg_integer(),
              tries = 0 :: non_neg_integer(), silent = 0 :: non_neg_integer(),
              %% With credit => ack: what was acknowledged, and taken, at the last look.
              last_look = {0, 0} :: {Done :: non_neg_integer(), Taken :: integer()},
              flushers = [] :: [{reference(), timer(), held | non_neg_integer()}],
              stopping = [] :: [reference()], % who asked for it
              end_reason :: term(), % undefined: it goes on
              received = 0 :: non_neg_integer(), lost = 0 :: non_neg_integer(),
              dropped = #{} :: #{dam_types:reason() => pos_integer()},
              %% Drops that no event has told of yet; the timer that tells.
              untold = #{} :: #{dam_types:reason() => pos_integer()}, telling = false :: boolean(),
              last_queue = 0 :: non_neg_integer()}).
-type timer() :: reference() | undefined.
