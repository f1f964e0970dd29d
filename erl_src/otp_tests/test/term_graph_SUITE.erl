%% Random terms survive random collections on `tuned', of each release that is
%% built; and the look at them sees what a faulty collector could do.
-module(term_graph_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, terms_survive_on_tuned/1, every_step_leaves_terms_alone/1, others_leave_large_terms_alone/1,
         programs_reach_every_limit/1, large_programs_are_collected_dirtily/1, notes_tell_terms_apart/1]).

all() ->
    [terms_survive_on_tuned, every_step_leaves_terms_alone, others_leave_large_terms_alone, programs_reach_every_limit,
     large_programs_are_collected_dirtily, notes_tell_terms_apart].

-define(CASES, 300).
-define(PROGRAMS, 2_000).
-define(MAX_SIZE, 30).
-define(TIMEOUT_MS, 600_000).
%% ERTS_POTENTIALLY_LONG_GC_HSIZE in OTP's erl_gc.h: from so many words on a dirty scheduler collects.
-define(DIRTY_WORDS, 131_072).

terms_survive_on_tuned(_) ->
    Paths = [filename:dirname(code:which(Module)) || Module <- [proper, prop_term_graph]],
    Releases = ertslab_inventory:releases(),
    ?assertMatch([_ | _], Releases),
    [?assertEqual({Release, {ok, true}}, {Release, quickcheck(ertslab_inventory:find(~"tuned", Release), Paths)})
     || Release <- Releases],
    {comment, lists:concat([?CASES, " cases on each of ", length(Releases), " releases"])}.

quickcheck(VM, Paths) ->
    {ok, Running} = ertslab_vm:start(VM, ["-pa" | Paths], []),
    try ertslab_vm:call(Running, proper, quickcheck,
                        [prop_term_graph:prop_terms_survive_collections(), [{numtests, ?CASES}, {max_size, ?MAX_SIZE}, quiet, long_result]],
                        ?TIMEOUT_MS)
    after ertslab_vm:stop(Running)
    end.

every_step_leaves_terms_alone(_) ->
    List = {spine, 600, tuple, {list, [{float, 1}, {big, 2}, {binary, 100}, {binary, 10}], {value, improper}}},
    Steps = lists:append([[Make, {make, {tuple, [{held, 0}, {tail, 0, 3}]}}, Collect]
                          || Make <- [{make, List}, {dictionary, List}, {literal, List}, {decode, List},
                                      {message, List}, {mailbox, List}],
                             Collect <- [minor, major, hibernate, {deep, 100}, receive_all, {forget, 1}, purge]]),
    [?assertEqual(ok, term_graph_owner:run({small, [{message_queue_data, Where}, {fullsweep_after, After}], Steps}))
     || Where <- [on_heap, off_heap], After <- [0, 65535]].

others_leave_large_terms_alone(_) ->
    Make = {make, {spine, 65537, pair, {value, improper}}},
    Steps = [[Make, {literal, {held, 0}}],
             [[{under, Deed, Collect}, {kill, Deed, Which}]
              || Deed <- [messages, suspension, collection, questions],
                 {Collect, Which} <- [{minor, 0}, {major, 1}, {hibernate, 0}, {{deep, 100}, 1}, {purge, 0}, {minor, 1}]]],
    [?assertEqual(ok, term_graph_owner:run({large, [{message_queue_data, Where}], lists:flatten(Steps)}))
     || Where <- [on_heap, off_heap]].

%% So many programs, always the same, hold spines below, at and above each limit, with all kinds
%% of ends, and more words than an ordinary scheduler collects.
programs_reach_every_limit(_) ->
    {ok, Programs} = proper_gen:pick(proper_types:vector(?PROGRAMS, prop_term_graph:program()), ?MAX_SIZE, {1, 2, 3}),
    _ = proper:global_state_erase(),
    Large = [Measured || {large, _, Steps} <- Programs, Measured <- held(large, Steps)],
    Small = [Measured || {small, _, Steps} <- Programs, Measured <- held(small, Steps)],
    [?assertMatch([_ | _], [found || {_, Cells, _} <- Large, Cells =:= Wanted], Wanted)
     || Limit <- prop_term_graph:limits(), Wanted <- [Limit - 1, Limit, Limit + 1, 2 * Limit]],
    ?assertEqual([improper, proper], lists:usort([End || {_, Cells, End} <- Large, Cells > 4096])),
    Dirty = [Words || {Words, _, _} <- Large, Words > ?DIRTY_WORDS],
    ?assertMatch([_ | _], Dirty),
    ?assertMatch([_ | _], [found || {Words, _, _} <- Small, Words > 1_000]),
    {comment, lists:concat([?PROGRAMS, " programs; the large ones hold ", length(Large), " terms, ", length(Dirty),
                            " above ", ?DIRTY_WORDS, " words, the largest of ", lists:max(Dirty)])}.

%% What the owner would hold: words, cells of the spine, and what ends it.
held(Size, Steps) ->
    Held = lists:foldl(fun({_, Node}, Held) -> bounded(Size, term_graph:build(Node, Held)) ++ Held end, [],
                       [Step || Step <- Steps, makes(Step)]),
    [spine(Term, erts_debug:flat_size(Term), 0) || Term <- Held].

makes({Step, _}) -> lists:member(Step, [make, dictionary, literal, decode, message, mailbox]);
makes(_) -> false.

bounded(Size, Term) -> [Term || erts_debug:flat_size(Term) =< term_graph_owner:words(Size)].

spine([_ | Tail], Words, Cells) -> spine(Tail, Words, Cells + 1);
spine([], Words, Cells) -> {Words, Cells, proper};
spine(_, Words, Cells) -> {Words, Cells, improper}.

large_programs_are_collected_dirtily(_) ->
    Spine = {spine, 65536, integer, {value, []}},
    ?assertEqual({true, true}, is_collected_dirtily(large, [{make, Spine}, minor, major])),
    ?assertEqual({false, false}, is_collected_dirtily(small, [{make, {spine, 512, pair, {value, []}}}, minor, major])).

%% By minor collections, and by major ones: a trace names no scheduler where a dirty one collects.
is_collected_dirtily(Size, Steps) ->
    0 = erlang:trace(new_processes, true, [garbage_collection, scheduler_id]),
    ok = term_graph_owner:run({Size, [], Steps}),
    _ = erlang:trace(new_processes, false, [all]),
    Traced = traced(),
    {lists:member({gc_minor_start, 0}, Traced), lists:member({gc_major_start, 0}, Traced)}.

traced() ->
    receive {trace, _, What, _, Scheduler} -> [{What, Scheduler} | traced()]
    after 100 -> []
    end.

%% What is compared after each collection differs where structure or sharing does.
notes_tell_terms_apart(_) ->
    Tail = lists:seq(1, 10),
    Notes = [term_graph_owner:note(Term)
             || Term <- [[Tail | Tail], [Tail | lists:seq(1, 10)], [Tail, 1 | Tail], {Tail, Tail},
                         [lists:seq(1, 9) ++ [11] | Tail]]],
    ?assertEqual(Notes, lists:uniq(Notes)).
