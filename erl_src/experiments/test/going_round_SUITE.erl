%% Experiments that go round find in every round what they found in the first, and their cases
%% live side by side where they say so.
-module(going_round_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_experiment_says_how_it_is_measured/1, what_goes_round_is_here/1, rounds_can_be_repeated/1,
         what_lives_side_by_side_is_asked_for_together/1]).

%% What they run is fetched by hand, or takes a minute to begin.
-define(ELSEWHERE, [exp_dialyzer, exp_ejabberd, exp_elixir, exp_rabbitmq_backlog, exp_rabbitmq_stream]).

all() ->
    [every_experiment_says_how_it_is_measured, what_goes_round_is_here, rounds_can_be_repeated,
     what_lives_side_by_side_is_asked_for_together].

every_experiment_says_how_it_is_measured(_) ->
    [begin
         #{estimator := Estimator, rounds := Rounds, warm_up := WarmUp, iterations := Iterations} = Info = Module:info(),
         ?assert(lists:member(Estimator, ertslab_estimate:names()), {Module, Estimator}),
         ?assert(lists:member(Rounds, [arms, cases, metrics, none]), {Module, Rounds}),
         ?assert(WarmUp >= 0 andalso Iterations >= 1, Module),
         %% What is counted has one value, and no time to go on for.
         ?assertEqual({Module, maps:get(exact, Info, false)},
                      {Module, maps:get(exact, Info, false) andalso maps:get(run_ms, Info, 2000) =:= 0 andalso Iterations =:= 1})
     end || Module <- experiments()].

%% Heaps of 320 million words for a shape fit one by one where 18 of them at once do not.
what_lives_side_by_side_is_asked_for_together(_) ->
    Cases = [#{shape => Shape, size => 20_000_000} || Shape <- exp_gc_shapes:shapes()],
    ?assertEqual(ok, ertslab_memory_needs:judge(exp_gc_shapes, [[Case] || Case <- Cases], 8 bsl 30)),
    {usage, {ertslab_memory_limit, {too_large, What, Bytes, _}}} = (catch ertslab_memory_needs:judge(exp_gc_shapes, [Cases], 8 bsl 30)),
    ?assertMatch({match, _}, re:run(What, "^shape=ints +size=20000000 and 17 more beside it$")),
    ?assertEqual(42, Bytes bsr 30),
    [?assert(Module:needs(maps:merge(Case, Grown)) > 5 * Module:needs(Case), Module)
     || {Module, Grown} <- [{exp_hibernate, #{cells => 10_000_000}}, {exp_length, #{cells => 10_000_000}},
                            {exp_mailbox_scan, #{depth => 1_000_000}}],
        Case <- element(2, lists:keyfind(Module, 1, small()))].

what_goes_round_is_here(_) ->
    ?assertEqual(lists:sort([Module || Module <- experiments() -- ?ELSEWHERE, #{rounds := Rounds} <- [Module:info()], Rounds =/= none]),
                 lists:sort([Module || {Module, _} <- small()])).

%% Five rounds are the least, and here the most; each result is verified, and teardown looks at what
%% is left.
rounds_can_be_repeated(_) ->
    [begin
         #{metrics := Metrics, iterations := Iterations, rounds := Rounds} = Module:info(),
         Together = case Rounds of
                        cases -> [lists:enumerate(0, Cases)];
                        _ -> [[{0, Case}] || Case <- Cases]
                    end,
         [begin
              #{samples := Samples} = ertslab_worker:cases(Module, Numbered, #{run_ms => 1, most => 5, visit_us => 0, warm_up => 1}),
              ?assertEqual([{Module, Case, Name, 5 * Iterations} || {Case, _} <- Numbered, #{name := Name} <- Metrics],
                           [{Module, Case, Name, length(Values)} || {Case, Name, Values} <- Samples])
          end || Numbered <- Together]
     end || {Module, Cases} <- small()].

%% Small cases, since nobody looks at their times.
small() ->
    [{exp_collection_counts, collections()},
     {exp_collection_policy, collections()},
     {exp_diagnose, [#{work => servers, clients => 2, ms => 100, idle => 1, waiting => 1}]},
     {exp_estone, [#{theme => Theme, percent => 1} || Theme <- small_programs:themes()]},
     {exp_gc_shapes, [#{shape => Shape, size => 3000} || Shape <- exp_gc_shapes:shapes()]},
     {exp_hibernate, [#{cells => 1001, value_words => Words, prefetch_distance => -1} || Words <- [0, 14]]},
     {exp_length, [#{cells => 1000}]},
     {exp_loops, [#{loop => Loop, elements => 10} || Loop <- building_loops:names()]},
     {exp_library_calls, [#{call => Call, depth => Depth} || Call <- [connect, recv, code_path], Depth <- [0, 100]]},
     {exp_term_copies, [#{shape => Shape, size => 3000} || Shape <- exp_gc_shapes:shapes()]},
     {exp_mailbox_scan, [#{depth => 100, senders => Senders} || Senders <- [1, 10]]},
     {exp_parallel_map, [#{elements => 100, queue => Queue, scope => receiver} || Queue <- [on_heap, off_heap]]},
     {exp_ping_ring, [#{processes => 10, messages => 100}]},
     {exp_mnesia, [#{transactions => 100}]},
     {exp_rabbitmq, [#{messages => 100, bytes => 100}]},
     {exp_web, [#{requests => 100}]}].

collections() ->
    [#{process => Process, batches => 2, fullsweep_after => -1, min_heap_size => 0, min_bin_vheap_size => 0,
       message_queue_data => stock, hibernate_after => 1} || Process <- collection_processes:names()].

%% Those of this application, without the tests' own.
experiments() ->
    _ = application:load(experiments),
    {ok, Modules} = application:get_key(experiments, modules),
    [M || M <- Modules, lists:prefix("exp_", atom_to_list(M))].
