%% @doc The result of dam:info/1.
-module(dam_info).

-export([of_dam/1]).

-include("dam_state.hrl").

-spec of_dam(#dam{}) -> dam_types:info().
of_dam(#dam{window = Window, queue = Queue, last_queue = LastQueue, credit = Credit} = Dam) ->
    Length = dam_queue:length(Queue),
    #{received => Dam#dam.received,
      delivered => dam_window:count(Window),
      queue => Length,
      queue_change => Length - LastQueue,
      waiting => dam_callers:size(Dam#dam.priority_callers) + dam_callers:size(Dam#dam.normal_callers),
      server_queue => dam_window:outstanding(Window),
      server => Dam#dam.pid,
      dropped => Dam#dam.dropped,
      lost => Dam#dam.lost,
      bytes => dam_queue:bytes(Queue),
      oldest_ms => oldest_ms(dam_queue:since(Queue)),
      overloaded => Dam#dam.raised,
      credit => Credit,
      events_lost => dam_events:lost(Dam#dam.events)}.

oldest_ms(undefined) -> 0;
oldest_ms(Since) -> (dam_flow:now_us() - Since) div 1000.
