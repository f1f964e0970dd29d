%% What the writer knows ({@link batch_io_writer}), and what becomes of it ({@link batch_io_flow}).
%% next: the number of the first in the queue. since: when that may have come.
%% hurry: what is there goes out, a full page or not. lingers, looks, asks: there
%% is a timer for it. failure: the device's last, and whether it has written since then.
-record(state, {buffer :: batch_io_buffer:buffer(), device :: batch_io_device:device(),
                queue = [] :: [batch_io_page:item()], next = 0 :: non_neg_integer(), since = 0 :: integer(),
                hurry = false :: boolean(), lingers = false :: boolean(),
                looks = false :: boolean(), asks = false :: boolean(),
                suspect = none :: none | {term(), non_neg_integer()},
                failure = none :: none | {now | before, Reason :: term()},
                flushers = [] :: [flusher()], waiting = batch_io_waiting:new() :: batch_io_waiting:waiting()}).
-type flusher() :: {Mark :: non_neg_integer(), Errors :: non_neg_integer(), gen_server:from()}.
