%% @doc Which `message_queue_data' suits a process, by what was seen of it and what
%% the experiments message_queue_data and mailbox_scan have measured. Pure.
-module(diagnose_queue_advice).

-export([advise/1]).
-export_type([advice/0]).

-include("diagnose_bounds.hrl").

-type advice() :: #{favours := on_heap | off_heap | neither, ratio := {float(), float()} | none,
                    because := string()}.
%% `ratio' is that of times, of the setting that is favoured to the other, at the
%% best and at the worst of what was measured for such processes.

%% A collection for each so many looks of 50 ms makes the copying count.
-define(COLLECTIONS_PER_SECOND, 1.0).

%% @doc The advice. A deep mailbox on the heap is copied by the collections; one off
%% it is slower to go by, since each message is a block of its own.
-spec advise(#{deepest := non_neg_integer(), collections := non_neg_integer(), seconds := float(), _ => _}) -> advice().
advise(#{deepest := Deepest}) when Deepest < ?DEEP ->
    #{favours => neither, ratio => none,
      because => "so few messages wait that neither setting was faster in any experiment by more than its noise"};
advise(#{collections := Collections, seconds := Seconds}) when Collections >= ?COLLECTIONS_PER_SECOND * Seconds ->
    #{favours => off_heap, ratio => {0.2, 0.7},
      because => "it collects while many messages wait, and each collection goes over those on the heap"};
advise(#{}) ->
    #{favours => on_heap, ratio => {0.4, 0.9},
      because => "it hardly collects, and a receive that goes by messages that wait does so faster on the heap;"
                 " where none does ('ertslab audit' finds them), neither matters"}.
