%% The state of the writer (batch_io_writer), which batch_io_flow changes.
%% next: the number of the first message in the queue. since: the earliest time at which it may have
%% come. hurry: send what there is, even if it is not a full page. lingers, looks, asks: whether the
%% timer for this runs. flushers: the oldest first, whose marks are the lowest, so that not all are looked at.
%% failure: the device's last error, and whether it has written since then.
-record(state, {buffer :: batch_io_buffer:buffer(), device :: batch_io_device:device(),
                queue = [] :: [batch_io_page:item()], next = 0 :: non_neg_integer(), since = 0 :: integer(),
                hurry = false :: boolean(), lingers = false :: boolean(),
                looks = false :: boolean(), asks = false :: boolean(),
                suspect = none :: none | {term(), non_neg_integer()},
                failure = none :: none | {now | before, Reason :: term()},
                flushers = [] :: [flusher()], waiting = batch_io_waiting:new() :: batch_io_waiting:waiting()}).
%% Mark: the number of the first message that a flush does not wait for.
-type flusher() :: {Mark :: non_neg_integer(), Errors :: non_neg_integer(), gen_server:from(), DeadlineMs :: integer() | infinity}.
