%% Random terms survive random collections on `tuned', of each release that is
%% built; and the look at them sees what a faulty collector could do.
-module(term_graph_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, terms_survive_on_tuned/1, every_step_leaves_terms_alone/1, notes_tell_terms_apart/1]).

all() -> [terms_survive_on_tuned, every_step_leaves_terms_alone, notes_tell_terms_apart].

-define(CASES, 300).
-define(TIMEOUT_MS, 600_000).

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
                        [prop_term_graph:prop_terms_survive_collections(), [{numtests, ?CASES}, {max_size, 30}, quiet, long_result]],
                        ?TIMEOUT_MS)
    after ertslab_vm:stop(Running)
    end.

every_step_leaves_terms_alone(_) ->
    List = {numbers, 600, {list, [{float, 1}, {big, 2}, {binary, 100}, {binary, 10}], {value, improper}}},
    Steps = lists:append([[Make, {make, {tuple, [{held, 0}, {tail, 0, 3}]}}, Collect]
                          || Make <- [{make, List}, {dictionary, List}, {literal, List}, {decode, List},
                                      {message, List}, {mailbox, List}],
                             Collect <- [minor, major, hibernate, {deep, 100}, receive_all, {forget, 1}, purge]]),
    [?assertEqual(ok, term_graph_owner:run({[{message_queue_data, Where}, {fullsweep_after, After}], Steps}))
     || Where <- [on_heap, off_heap], After <- [0, 65535]].

%% What is compared after each collection differs where structure or sharing does.
notes_tell_terms_apart(_) ->
    Tail = lists:seq(1, 10),
    Notes = [term_graph_owner:note(Term)
             || Term <- [[Tail | Tail], [Tail | lists:seq(1, 10)], [Tail, 1 | Tail], {Tail, Tail},
                         [lists:seq(1, 9) ++ [11] | Tail]]],
    ?assertEqual(Notes, lists:uniq(Notes)).
