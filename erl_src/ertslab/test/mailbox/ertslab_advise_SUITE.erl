%% What is seen of a process, and which setting of its mailbox that speaks for.
-module(ertslab_advise_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, depth_and_sizes_are_seen/1, deep_mailbox_is_not_copied/1, collections_are_counted/1,
         process_that_ends_is_gone/1, advice_follows_what_was_measured/1]).

all() ->
    [depth_and_sizes_are_seen, deep_mailbox_is_not_copied, collections_are_counted, process_that_ends_is_gone,
     advice_follows_what_was_measured].

depth_and_sizes_are_seen(_) ->
    Pid = waiting([{a, [N]} || N <- lists:seq(1, 20)], off_heap),
    ?assertMatch(#{queue := off_heap, depth := 20, deepest := 20, message_words := 5, collections := 0},
                 seen(Pid)),
    exit(Pid, kill).

deep_mailbox_is_not_copied(_) ->
    Pid = waiting(lists:seq(1, 101), on_heap),
    ?assertMatch(#{queue := on_heap, depth := 101, message_words := unknown}, seen(Pid)),
    exit(Pid, kill).

waiting(Messages, Queue) ->
    Pid = spawn_opt(fun() -> receive stop -> ok end end, [{message_queue_data, Queue}]),
    lists:foreach(fun(Message) -> Pid ! Message end, Messages),
    Pid.

seen(Pid) ->
    {ok, Looks} = ertslab_mailbox_samples:watch(node(), Pid, 150),
    ertslab_mailbox_samples:summary(Looks).

%% Two minor ones; a full sweep and three minor ones; a full sweep with none after
%% it; one that shows only by the old heap; nothing.
collections_are_counted(_) ->
    Looks = [look(At, Minor, Old) || {At, Minor, Old} <- [{0, 5, 10}, {50, 7, 10}, {100, 3, 20}, {150, 0, 20},
                                                          {200, 0, 30}, {250, 0, 30}]],
    ?assertMatch(#{collections := 2 + 4 + 1 + 1, full_sweeps := 3, seconds := 0.25, looks := 6},
                 ertslab_mailbox_samples:summary(Looks)).

look(At, Minor, Old) ->
    #{at_ms => At, depth => 0, collections => Minor, reductions => 0, old_heap => Old, queue => on_heap, words => []}.

process_that_ends_is_gone(_) ->
    {Pid, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end,
    ?assertEqual(noproc, ertslab_mailbox_samples:watch(node(), Pid, 100)).

advice_follows_what_was_measured(_) ->
    [?assertMatch(#{favours := Favours},
                  diagnose_queue_advice:advise(#{deepest => Deepest, collections => Collections, seconds => 2.0}))
     || {Favours, Deepest, Collections} <- [{neither, 999, 100}, {off_heap, 1000, 2}, {on_heap, 1000, 1}]].
