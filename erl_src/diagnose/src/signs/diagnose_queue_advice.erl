%% @doc Which `message_queue_data' suits a process. The advice follows from the looks at the process and from
%% measurements by the experiments message_queue_data and mailbox_scan. Pure.
-module(diagnose_queue_advice).

-export([advise/1]).
-export_type([advice/0]).

-include("../diagnose_bounds.hrl").

-type advice() :: #{favours := on_heap | off_heap | neither, ratio := {float(), float()} | none,
                    because := string()}.
%% `ratio' is the time with the favoured setting, divided by the time with the other: the best and the worst
%% that was measured for such processes.

%% From this rate on, the cost of copying messages matters.
-define(COLLECTIONS_PER_SECOND, 1.0).

%% @doc The advice. Collections copy messages that lie on the heap. Scanning messages off the heap is
%% slower, since each message is a block of its own.
-spec advise(#{deepest := non_neg_integer(), collections := non_neg_integer(), seconds := float(), _ => _}) -> advice().
advise(#{deepest := Deepest}) when Deepest < ?DEEP ->
    #{favours => neither, ratio => none,
      because => "so few messages wait that neither setting was faster in any experiment by more than its noise"};
advise(#{collections := Collections, seconds := Seconds}) when Collections >= ?COLLECTIONS_PER_SECOND * Seconds ->
    #{favours => off_heap, ratio => {0.2, 0.7},
      because => "it collects while many messages wait, and each collection traverses those on the heap"};
advise(#{}) ->
    #{favours => on_heap, ratio => {0.4, 0.9},
      because => "it hardly collects, and a receive scans messages on the heap faster"
                 " (if no receive scans, neither setting matters; 'ertslab audit' finds those that do)"}.
