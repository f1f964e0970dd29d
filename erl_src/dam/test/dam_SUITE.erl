%% Each thing that a dam does, and each way in which it can be asked wrongly.
-module(dam_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include("../src/dam_state.hrl").

-export([all/0, suite/0]).
-export([wrong_options_are_named/1, wrong_changes_are_named/1, wrong_names_are_refused/1, errors_name_the_function/1, low_is_half_of_high/1,
         dead_pid_is_refused/1, taken_name_is_refused/1, no_dam_is_noproc/1]).
-export([any_message_arrives/1, servers_by_name/1, dams_by_name/1, calls_go_through/1, supervised/1, child_specs/1]).
-export([mailbox_stays_short/1, behaviours_answer/1, suspended_server_gets_no_more/1, state_is_never_copied/1,
         acknowledged/1, lost_acknowledgements_are_recovered/1, polled/1, polls_are_apart/1, poll_ms_is_for_polls/1,
         silent_server_is_polled/1]).
-export([blocked_until_there_is_room/1, blocked_until_the_deadline/1, blocked_until_the_policy_changes/1,
         deadline_begins_when_the_sender_asks/1,
         full_drops_newest/1, full_drops_oldest/1,
         full_drops_by_key/1, replaced_ones_keep_no_memory/1, codel_sheds/1, bytes_are_limited/1, measure_that_crashes/1,
         priority_overtakes/1,
         async_never_waits/1, limit_of_one/1]).
-export([named_server_restarts/1, pid_that_dies_ends_the_dam/1, server_is_exchanged/1, watch_dies/1]).
-export([flush_waits/1, flush_waits_for_the_look_up/1, flush_waits_for_no_dead_server/1, late_dam_holds_up_nobody/1,
         many_that_flush_cost_nothing/1,
         stop_hands_over/1, stop_frees_the_name/1, stop_gives_up/1,
         supervisor_stops_it/1, stopping_dam_refuses/1]).
-export([events_tell/1, telemetry_tells/1, callback_that_crashes/1, callback_that_hangs/1, killed_callback_loses_events/1]).
-export([raw_flood/1, dam_answers_sys/1, other_node/1, dam_on_another_node/1, lost_connection_is_no_noproc/1,
         replaced_server_on_another_node_ends/1,
         exits_of_others_are_forwarded/1, exits_of_servers_are_forwarded/1,
         messages_that_look_like_its_own/1,
         acknowledgements_that_are_none/1,
         exit_of_a_server_that_lives/1, exit_of_a_helper_that_lives/1, own_server_is_refused/1, hibernating_server_is_not_suspended/1,
         suspended_while_it_hibernates/1, suspended_while_others_look/1,
         server_that_others_look_at_is_not_suspended/1, callback_that_hangs_ends_after_its_dam/1, callback_that_traps_exits/1]).
-export([suspended_server_that_ends/1, answer_of_a_server_that_has_ended/1, late_look_up_is_not_taken/1,
         exchanged_for_itself/1, look_ups_do_not_pile_up/1,
         server_sends_through_its_full_dam/1, server_is_told_of_its_drops/1,
         code_with_another_state/1, dam_outlives_its_old_code/1, server_that_is_not_asked_is_not_silent/1,
         who_answers_is_not_silent/1, stop_tells_of_drops/1, whereis_name/1]).

suite() -> [{timetrap, {minutes, 1}}].

all() ->
    [wrong_options_are_named, wrong_changes_are_named, wrong_names_are_refused, errors_name_the_function, low_is_half_of_high,
     dead_pid_is_refused, taken_name_is_refused, no_dam_is_noproc,
     any_message_arrives, servers_by_name, dams_by_name, calls_go_through, supervised, child_specs,
     mailbox_stays_short, behaviours_answer, suspended_server_gets_no_more, state_is_never_copied,
     acknowledged, lost_acknowledgements_are_recovered, polled, polls_are_apart, poll_ms_is_for_polls, silent_server_is_polled,
     blocked_until_there_is_room, blocked_until_the_deadline, blocked_until_the_policy_changes, deadline_begins_when_the_sender_asks,
     full_drops_newest, full_drops_oldest,
     full_drops_by_key, replaced_ones_keep_no_memory, codel_sheds, bytes_are_limited, measure_that_crashes, priority_overtakes,
     async_never_waits, limit_of_one,
     named_server_restarts, pid_that_dies_ends_the_dam, server_is_exchanged, watch_dies,
     flush_waits, flush_waits_for_the_look_up, flush_waits_for_no_dead_server, late_dam_holds_up_nobody, many_that_flush_cost_nothing,
     stop_hands_over, stop_frees_the_name, stop_gives_up, supervisor_stops_it,
     stopping_dam_refuses,
     events_tell, telemetry_tells, callback_that_crashes, callback_that_hangs, killed_callback_loses_events, raw_flood, dam_answers_sys,
     other_node, dam_on_another_node, lost_connection_is_no_noproc, replaced_server_on_another_node_ends,
     exits_of_others_are_forwarded, exits_of_servers_are_forwarded,
     messages_that_look_like_its_own, acknowledgements_that_are_none,
     exit_of_a_server_that_lives, exit_of_a_helper_that_lives, own_server_is_refused, hibernating_server_is_not_suspended,
     suspended_while_it_hibernates, suspended_while_others_look,
     server_that_others_look_at_is_not_suspended, callback_that_hangs_ends_after_its_dam, callback_that_traps_exits,
     suspended_server_that_ends, answer_of_a_server_that_has_ended, late_look_up_is_not_taken,
     exchanged_for_itself, look_ups_do_not_pile_up,
     server_sends_through_its_full_dam, server_is_told_of_its_drops,
     code_with_another_state, dam_outlives_its_old_code, server_that_is_not_asked_is_not_silent,
     who_answers_is_not_silent, stop_tells_of_drops].

%% Wrong calls

wrong_options_are_named(_) ->
    [begin
         {badarg, #{2 := Text}} = failure(fun() -> dam:start_link(self(), #{Name => Value}) end),
         ?assertMatch("option " ++ _, Text),
         ?assertNotEqual(nomatch, string:find(Text, atom_to_list(Name)), Text)
     end || {Name, Value} <- [{high, 0}, {high, 1.5}, {low, -1}, {low, 1000}, {limit, 0}, {limit_bytes, none},
                              {measure, words}, {policy, drop}, {policy, {block, -1}}, {policy, {drop_key, fun() -> ok end}},
                              {policy, {codel, 0, 100}}, {credit, trust}, {poll_ms, 0}, {recover_ms, soon},
                              {retry_ms, 0}, {stop_ms, infinity}, {events, fun(_) -> ok end}, {hihg, 10}]],
    {badarg, #{2 := "option hihg: there is no such option"}} = failure(fun() -> dam:start_link(self(), #{hihg => 10}) end),
    {badarg, #{2 := "option low: 5 must be less than high, which is 5"}} =
        failure(fun() -> dam:start_link(self(), #{high => 5, low => 5}) end),
    {badarg, #{2 := "option credit: poll is for servers of this node" ++ _}} =
        failure(fun() -> dam:start_link({server, elsewhere@host}, #{credit => poll}) end),
    {badarg, #{1 := "option server: 17 must be a pid" ++ _}} = failure(fun() -> dam:start_link(17, #{}) end),
    {badarg, #{2 := "option server: 17 must be a pid" ++ _}} = failure(fun() -> dam:start_link({local, a_dam}, 17, #{}) end),
    {badarg, #{3 := "option high: 0 must be" ++ _}} = failure(fun() -> dam:start_link({local, a_dam}, self(), #{high => 0}) end),
    {badarg, #{2 := "the options must be a map"}} = failure(fun() -> dam:start_link(self(), [{high, 1}]) end).

wrong_changes_are_named(_) ->
    {_, Dam, _} = start(#{high => 10}),
    {badarg, #{2 := "option low: 10 must be less than high" ++ _}} = failure(fun() -> dam:configure(Dam, #{low => 10}) end),
    {badarg, #{2 := "option credit: cannot be changed" ++ _}} = failure(fun() -> dam:configure(Dam, #{credit => ack}) end),
    {badarg, #{2 := "option hihg: there is no such option"}} = failure(fun() -> dam:configure(Dam, #{hihg => 10}) end),
    {badarg, #{2 := "the options must be a map"}} = failure(fun() -> dam:configure(Dam, high) end),
    ok = dam:configure(Dam, #{}),
    [{badarg, #{2 := "the timeout must be infinity or an integer" ++ _}} = failure(Call)
     || Call <- [fun() -> dam:stop(Dam, soon) end, fun() -> dam:flush(Dam, -1) end, fun() -> dam:stop(Dam, 1 bsl 32) end]],
    [{badarg, #{2 := "the number of messages must be a positive integer"}} = failure(fun() -> dam:ack(Dam, N) end) || N <- [0, x]],
    ok = dam:stop(Dam).

wrong_names_are_refused(_) ->
    [{badarg, #{1 := "a dam is a pid, a name, {Name, Node}, {global, Name} or {via, Module, Name}, not " ++ _}} = failure(Call)
     || Wrong <- ["dam", {dam, "node"}, {a, b, c}, {via, "module", dam}],
        Call <- [fun() -> dam:send(Wrong, m) end, fun() -> dam:send_async(Wrong, m) end, fun() -> dam:info(Wrong) end]],
    {badarg, #{1 := "the module no_such_module" ++ _}} = failure(fun() -> dam:start_link({via, no_such_module, a}, self(), #{}) end),
    {badarg, #{1 := "the module no_such_module" ++ _}} = failure(fun() -> dam:send({via, no_such_module, a}, m) end),
    %% This one can look a name up, but not register it.
    {badarg, #{1 := "the module dam_SUITE of the name has no function register_name/2"}} =
        failure(fun() -> dam:start_link({via, ?MODULE, a}, self(), #{}) end),
    [{badarg, #{1 := "not {local, Name}" ++ _}} = failure(fun() -> dam:start_link(Name, self(), #{}) end)
     || Name <- [dam, {local, "dam"}, {local, undefined}, self()]].

%% As erl_error prints them, and with the caller next on the stack.
errors_name_the_function(_) ->
    {_, Dam, _} = start(#{}),
    [begin
         {badarg, [{dam, Name, Given, Info} | Callers]} = stack(fun() -> apply(dam, Name, Arguments) end),
         ?assertEqual({Name, Arguments}, {Name, Given}),
         ?assertMatch(#{cause := #{}}, proplists:get_value(error_info, Info)),
         ?assertMatch([{?MODULE, _, _, _} | _], Callers)
     end || {Name, Arguments} <- [{start_link, [17, #{}]}, {start_link, [x, self(), #{}]}, {start_link, [{local, own}, own, #{}]},
                                  {start_link, [{via, no_such_module, a}, self(), #{}]}, {start_link, [{local, a_dam}, 17, #{}]},
                                  {child_spec, [[]]}, {child_spec, [x]}, {child_spec, [[{server, 1}]]}, {child_spec, [#{server => 1}]},
                                  {child_spec, [#{server => a, name => {b}}]}, {child_spec, [#{server => a, name => a}]},
                                  {send, [17, m]}, {send_priority, [17, m]}, {send_async, [17, m]}, {send, [{via, no_such_module, a}, m]},
                                  {ack, [17, 1]}, {ack, [Dam, 0]}, {info, [17]},
                                  {configure, [17, #{}]}, {configure, [Dam, x]}, {configure, [Dam, #{credit => ack}]},
                                  {configure, [Dam, #{high => 0}]},
                                  {flush, [17, 1]}, {flush, [Dam, x]}, {stop, [17, 1]}, {stop, [Dam, x]}]],
    ok = dam:stop(Dam).

stack(Fun) ->
    try Fun() of Value -> {no_failure, Value}
    catch error:Reason:Stack -> {Reason, Stack}
    end.

failure(Fun) ->
    try Fun() of Value -> {no_failure, Value}
    catch error:Reason:Stack -> {Reason, dam:format_error(Reason, Stack)}
    end.

low_is_half_of_high(_) ->
    {ok, #{high := 7, low := 3}} = dam_options:new(self(), #{high => 7}),
    {ok, Options} = dam_options:new(self(), #{high => 20, low => 15}),
    {ok, #{high := 30, low := 15}} = dam_options:change(#{high => 30, low => 15}, Options),
    {ok, #{high := 10, low := 5}} = dam_options:change(#{high => 10}, Options),
    {ok, #{high := 20, low := 15}} = dam_options:change(#{limit => 1}, Options).

dead_pid_is_refused(_) ->
    ?assertEqual({error, noproc}, dam:start_link(dead(), #{})).

dead() ->
    {Pid, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, _, _} -> Pid end.

taken_name_is_refused(_) ->
    {ok, Dam} = dam:start_link({local, taken_name}, self(), #{}),
    ?assertEqual({error, {already_started, Dam}}, dam:start_link({local, taken_name}, self(), #{})),
    {ok, Global} = dam:start_link({global, taken_name}, self(), #{}),
    ?assertEqual({error, {already_started, Global}}, dam:start_link({global, taken_name}, self(), #{})),
    [ok = dam:stop(Each) || Each <- [Dam, Global]].

no_dam_is_noproc(_) ->
    true = register(port_of_the_test, hd(erlang:ports())),
    [begin
         ?assertEqual({error, noproc}, dam:send(None, m)),
         ?assertEqual({error, noproc}, dam:send_priority(None, m)),
         ?assertEqual({error, noproc}, dam:send_async(None, m)),
         ?assertEqual({error, noproc}, dam:ack(None)),
         ?assertExit({noproc, {dam, info, [None]}}, dam:info(None)),
         ?assertExit({noproc, {dam, stop, [None, 5000]}}, dam:stop(None))
     end || None <- [no_such_dam, port_of_the_test, {port_of_the_test, node()}, {global, no_such_dam}, {no_such_dam, node()},
                 {no_such_dam, 'nobody@nowhere'}, {via, global, no_such_dam}]],
    true = unregister(port_of_the_test),
    {_, Dam, _} = start(#{}),
    ok = dam:stop(Dam),
    %% A pid asks, since the flag of the dam that has stopped is up.
    ?assertEqual({error, noproc}, dam:send(Dam, m)).

%% The way through

any_message_arrives(_) ->
    {ok, Dam} = dam:start_link(self(), #{credit => ack}),
    Messages = [m, {a, 1}, ["text"], {'DOWN', make_ref(), process, self(), normal}, {timeout, make_ref(), x},
                {'$dam', inside}, 1.5],
    %% As the state of the dam has it where it monitors nothing.
    Like = {'DOWN', undefined, process, self(), normal},
    [ok = dam:send(Dam, Message) || Message <- Messages],
    ?assertEqual(Messages, received(length(Messages))),
    [Dam ! Message || Message <- [raw, Like, {raw, 1}]],
    ok = dam:send_async(Dam, {system, not_really}),
    ok = dam:send_priority(Dam, p),
    ?assertEqual([raw, Like, {raw, 1}, {system, not_really}, p], received(5)),
    ok = dam:ack(Dam, 12),
    ?assertMatch(#{received := 12, delivered := 12, queue := 0, server_queue := 0, dropped := Dropped}
                 when Dropped =:= #{}, dam:info(Dam)),
    ok = dam:stop(Dam).

received(N) -> [receive Message -> Message after 5_000 -> error({missing, N}) end || _ <- lists:seq(1, N)].

servers_by_name(_) ->
    true = register(named_server, self()),
    yes = global:register_name(named_server, self()),
    [begin
         {ok, Dam} = dam:start_link(Server),
         ok = dam:send(Dam, Server),
         ?assertEqual([Server], received(1)),
         ok = dam:stop(Dam)
     end || Server <- [self(), named_server, {named_server, node()}, {global, named_server}, {via, global, named_server}]],
    true = unregister(named_server),
    global:unregister_name(named_server).

dams_by_name(_) ->
    [begin
         {ok, _} = dam:start_link(Name, self(), #{}),
         ok = dam:send(Called, Name),
         ?assertEqual([Name], received(1)),
         ?assertMatch(#{delivered := 1}, dam:info(Called)),
         ok = dam:stop(Called)
     end || {Name, Called} <- [{{local, a_dam}, a_dam}, {{local, a_dam}, {a_dam, node()}},
                               {{global, a_dam}, {global, a_dam}}, {{via, global, a_dam}, {via, global, a_dam}}]].

calls_go_through(_) ->
    {ok, Server} = gen_server:start_link(dam_test_gen, [], []),
    {ok, Dam} = dam:start_link(Server, #{high => 1}),
    ?assertEqual([1, 2, 3], [gen_server:call(Dam, N) || N <- [1, 2, 3]]),
    ok = gen_server:cast(Dam, ignored).

%% By name, by pid, and of a server that is named by a module.
child_specs(_) ->
    yes = global:register_name(via_server, self()),
    Via = {via, global, via_server},
    {ok, Supervisor} = supervisor:start_link(dam_test_supervisor,
                                             [dam:child_spec(#{server => Via, name => via_dam, high => 7}),
                                              dam:child_spec([{server, Via}, {name, {global, global_dam}}, {stop_ms, 1}]),
                                              dam:child_spec(#{server => self(), id => third})]),
    ?assertEqual([third, {dam, {global, global_dam}}, {dam, via_dam}],
                 [Id || {Id, _, _, _} <- supervisor:which_children(Supervisor)]),
    ok = dam:send(via_dam, through),
    ?assertEqual([through], received(1)),
    ?assertMatch(#{shutdown := 1001}, dam:child_spec(#{server => Via, stop_ms => 1})),
    %% An upgrade finds the process by the module that it runs.
    ?assertMatch([[dam_proxy], [dam_proxy], [dam_proxy]], [Modules || {_, _, _, Modules} <- supervisor:which_children(Supervisor)]),
    {badarg, #{1 := "the server is missing" ++ _}} = failure(fun() -> dam:child_spec([{name, a}]) end),
    [{badarg, #{1 := "the argument must be a map or a list of pairs" ++ _}} = failure(fun() -> dam:child_spec(Wrong) end)
     || Wrong <- [[a], [{server, Via} | x], x]],
    {badarg, #{1 := "option stop_ms: soon must be" ++ _}} = failure(fun() -> dam:child_spec(#{server => Via, stop_ms => soon}) end),
    {badarg, #{1 := "option server: 1 must be" ++ _}} = failure(fun() -> dam:child_spec(#{server => 1}) end),
    ok = gen_server:stop(Supervisor),
    global:unregister_name(via_server).

supervised(_) ->
    Spec = #{id => dam, start => {dam, start_link, [{local, supervised_dam}, some_server, #{}]}, shutdown => 6000},
    {ok, Supervisor} = supervisor:start_link(dam_test_supervisor, [Spec]),
    First = whereis(supervised_dam),
    exit(First, kill),
    Second = eventually(fun() -> whereis(supervised_dam) end, fun(Pid) -> is_pid(Pid) andalso Pid =/= First end),
    ?assertMatch(#{server := undefined}, dam:info(Second)),
    ok = gen_server:stop(Supervisor),
    ?assertEqual(undefined, whereis(supervised_dam)).

%% Credit

mailbox_stays_short(_) ->
    [begin
         {Server, Dam, Record} = start(#{high => High, low => Low}),
         [ok = dam:send(Dam, N) || N <- lists:seq(1, 300)],
         ?assertMatch(#{queue := Held, server_queue := High} when Held =:= 300 - High, dam:info(Dam)),
         ?assertEqual(High, dam_test_server:waiting(Server)),
         Most = [begin
                     ok = dam_test_server:permit(7, Server),
                     _ = dam:info(Dam),
                     dam_test_server:waiting(Server)
                 end || _ <- lists:seq(1, 40)],
         ?assert(lists:max(Most) =< High, Most),
         ok = dam_test_server:permit(all, Server),
         ok = dam:flush(Dam, 5000),
         ?assertEqual(lists:seq(1, 300), dam_test_server:taken(Record)),
         ?assertMatch(#{queue := 0, server_queue := 0, delivered := 300}, dam:info(Dam)),
         ok = dam:stop(Dam)
     end || {High, Low} <- [{1, 0}, {2, 0}, {2, 1}, {10, 5}, {10, 9}, {10, 0}, {100, 90}]].

%% What any of OTP's behaviours says to a probe moves the window on.
behaviours_answer(_) ->
    {ok, Event} = gen_event:start_link(),
    {ok, Supervisor} = supervisor:start_link(dam_test_supervisor, []),
    {ok, Server} = gen_server:start_link(dam_test_gen, [], []),
    {ok, Statem} = gen_statem:start_link(dam_test_gen, statem, []),
    {Special, _, _} = start(#{}),
    ok = dam_test_server:permit(all, Special),
    {ok, Other} = dam:start_link(Server, #{}),
    [begin
         {ok, Dam} = dam:start_link(Pid, #{high => 4, low => 1, recover_ms => 50_000}),
         [ok = dam:send(Dam, {notify, N}) || N <- lists:seq(1, 20)],
         ?assertEqual(ok, dam:flush(Dam, 5_000), Pid),
         ?assertMatch(#{credit := sys, delivered := 20, server_queue := 0}, dam:info(Dam)),
         ok = dam:stop(Dam)
     end || Pid <- [Event, Server, Statem, Special, Other]],
    {ok, Quiet} = dam:start_link(Supervisor, #{recover_ms => 50_000}),
    Quiet ! {'$gen_call', {self(), tag}, count_children},
    ?assertEqual(ok, dam:flush(Quiet, 5_000)).

suspended_server_gets_no_more(_) ->
    {Server, Dam, Record} = start(#{high => 5, low => 2, recover_ms => 20}),
    ok = dam_test_server:permit(all, Server),
    ok = sys:suspend(Server),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 30)],
    timer:sleep(150),
    ?assertEqual(5, dam_test_server:waiting(Server)),
    ok = sys:resume(Server),
    ok = dam:flush(Dam, 5_000),
    ?assertEqual(lists:seq(1, 30), dam_test_server:taken(Record)).

%% What the server answers to a probe is a few words, whatever its state is.
state_is_never_copied(_) ->
    {ok, Server} = gen_server:start_link(dam_test_gen, lists:seq(1, 100_000), []),
    Server ! {system, {self(), tag}, '$dam_probe'},
    [{tag, Answer}] = received(1),
    ?assert(erts_debug:flat_size(Answer) < 10, Answer),
    %% A dam asks for no more than that, and never for the state, which would be a copy.
    {ok, Dam} = dam:start_link(self(), #{high => 2, low => 1, credit => sys}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 2)],
    ?assertEqual(['$dam_probe'], lists:uniq(asked_of_the_server())),
    ok = dam:stop(Dam).

%% What the dam asks its server, which is this process, until it has asked nothing for some time.
asked_of_the_server() ->
    receive
        {system, _, Request} -> [Request | asked_of_the_server()];
        N when is_integer(N) -> asked_of_the_server()
    after 300 -> []
    end.

acknowledged(_) ->
    {ok, Dam} = dam:start_link(self(), #{high => 4, low => 2, credit => ack}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 10)],
    ?assertMatch(#{server_queue := 4, queue := 6}, dam:info(Dam)),
    ok = dam:ack(Dam),
    ?assertMatch(#{server_queue := 3, queue := 6}, dam:info(Dam)),
    ok = dam:ack(Dam),
    ?assertMatch(#{server_queue := 4, queue := 4}, dam:info(Dam)),
    %% More than there are.
    ok = dam:ack(Dam, 100),
    ?assertMatch(#{server_queue := 4, queue := 0}, dam:info(Dam)),
    ?assertEqual(lists:seq(1, 10), received(10)),
    ok = dam:stop(Dam).

lost_acknowledgements_are_recovered(_) ->
    {Server, Dam, Record} = start(#{high => 4, low => 2, credit => ack, recover_ms => 20}),
    ok = dam_test_server:permit(all, Server),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 10)],
    ok = dam:flush(Dam, 5_000),
    ?assertEqual(lists:seq(1, 10), dam_test_server:taken(Record)).

polled(_) ->
    {Server, Dam, Record} = start(#{high => 4, credit => poll}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 20)],
    timer:sleep(50),
    ?assertEqual(4, dam_test_server:waiting(Server)),
    ok = dam_test_server:permit(all, Server),
    ok = dam:flush(Dam, 5_000),
    ?assertEqual(lists:seq(1, 20), dam_test_server:taken(Record)).

%% One reading for each message, the first at once. A look for recovery is no reading more.
polls_are_apart(_) ->
    {Server, Dam, _} = start(#{high => 1, credit => poll, poll_ms => 50, recover_ms => 5}),
    ok = dam_test_server:permit(all, Server),
    Begin = erlang:monotonic_time(millisecond),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 5)],
    ok = dam:flush(Dam, 5_000),
    ?assert(erlang:monotonic_time(millisecond) - Begin >= 4 * 50).

%% Looks at a busy server hold up neither its answers nor each other.
poll_ms_is_for_polls(_) ->
    {Server, Dam, _} = start(#{high => 4, poll_ms => 60_000, recover_ms => 20}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 30)],
    timer:sleep(100),
    ok = dam_test_server:permit(all, Server),
    ?assertEqual(ok, dam:flush(Dam, 5_000)),
    ?assertMatch(#{credit := sys}, dam:info(Dam)),
    ok = dam:stop(Dam),
    %% This one is looked at twice before it is polled.
    Silent = spawn_link(fun Loop() -> receive _ -> Loop() end end),
    {ok, Other} = dam:start_link(Silent, #{high => 4, poll_ms => 60_000, recover_ms => 20}),
    [ok = dam:send(Other, N) || N <- lists:seq(1, 30)],
    _ = eventually(fun() -> dam:info(Other) end, fun(#{credit := Credit}) -> Credit =:= poll end),
    _ = dam:stop(Other, 0).

%% One that knows no system messages, and throws them away.
silent_server_is_polled(_) ->
    Self = self(),
    Server = spawn_link(fun Loop() -> receive {m, N} -> Self ! N, Loop(); _ -> Loop() end end),
    {ok, Dam} = dam:start_link(Server, #{high => 4, recover_ms => 20, events => teller()}),
    [ok = dam:send(Dam, {m, N}) || N <- lists:seq(1, 50)],
    ok = dam:flush(Dam, 10_000),
    ?assertEqual(lists:seq(1, 50), received_numbers(50)),
    ?assertMatch(#{credit := poll}, dam:info(Dam)),
    {#{}, #{credit := poll}} = told([dam, credit, fallback]),
    %% That was about this server. Another one is asked again, also on another node.
    ok = dam:configure(Dam, #{server => {silent_server, 'nobody@nowhere'}}),
    ?assertMatch(#{credit := sys}, dam:info(Dam)).

received_numbers(N) -> [receive Number when is_integer(Number) -> Number after 5_000 -> error(missing) end || _ <- lists:seq(1, N)].

%% Policies

blocked_until_there_is_room(_) ->
    {Server, Dam, Record} = start(#{high => 2, low => 1, limit => 10}),
    Self = self(),
    Sender = spawn_link(fun() -> [ok = dam:send(Dam, N) || N <- lists:seq(1, 500)], Self ! sent end),
    #{queue := Queue} = eventually(fun() -> dam:info(Dam) end, fun(#{waiting := Waiting}) -> Waiting =:= 1 end),
    ?assert(Queue >= 10),
    %% The flag tells the next one to ask, and it waits behind the first.
    Second = spawn_link(fun() -> ok = dam:send(Dam, second), Self ! sent_too end),
    eventually(fun() -> dam:info(Dam) end, fun(#{waiting := Waiting}) -> Waiting =:= 2 end),
    ?assertMatch(#{overloaded := true}, dam:info(Dam)),
    ?assert(is_process_alive(Sender) andalso is_process_alive(Second)),
    ok = dam_test_server:permit(all, Server),
    ?assertEqual([sent, sent_too], lists:sort(received(2))),
    ok = dam:flush(Dam, 5_000),
    ?assertEqual(lists:seq(1, 500), dam_test_server:taken(Record) -- [second]),
    ?assertMatch(#{overloaded := false, dropped := Dropped} when Dropped =:= #{}, dam:info(Dam)).

%% Not when the dam reads the request. A time that is no sender's ends no dam.
deadline_begins_when_the_sender_asks(_) ->
    Self = self(),
    {Server, Dam, Record} = start(#{high => 1, limit => 1, policy => {block, 2_000}}),
    fill(Dam, 2),
    ok = sys:suspend(Dam),
    _ = spawn_link(fun() -> Self ! {sent, dam:send(Dam, late)} end),
    timer:sleep(2_050),
    ok = sys:resume(Dam),
    ?assertEqual({error, deadline}, receive {sent, Result} -> Result after 1_000 -> still_waits end),
    [Dam ! {'$dam_call', make_ref(), {send, normal, M, self(), Sent}} || {M, Sent} <- [{3, 1 bsl 70}, {4, -1 bsl 70}]],
    %% Of code before that with the time.
    Dam ! {'$dam_call', make_ref(), {send, normal, 5, self()}},
    ?assertMatch(#{dropped := #{deadline := 2}, waiting := 2}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual([1, 2, 3, 5], dam_test_server:taken(Record)).

blocked_until_the_deadline(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 1, policy => {block, 30}}),
    fill(Dam, 2),
    ?assertEqual({error, deadline}, dam:send(Dam, late)),
    ?assertEqual({error, deadline}, dam:send(Dam, later)),
    ok = dam:configure(Dam, #{policy => {block, 0}}),
    ?assertEqual({error, deadline}, dam:send(Dam, at_once)),
    ?assertMatch(#{dropped := #{deadline := 3}, waiting := 0}, dam:info(Dam)),
    ok = dam_test_server:permit(all, Server),
    ok = dam:flush(Dam, 5_000),
    ?assertEqual([1, 2], dam_test_server:taken(Record)).

blocked_until_the_policy_changes(_) ->
    [begin
         {Server, Dam, Record} = start(#{high => 1, limit => 2, policy => {block, infinity}}),
         fill(Dam, 3),
         Self = self(),
         _ = [begin
                  spawn_link(fun() -> Self ! {answer, N, dam:send(Dam, N)} end),
                  eventually(fun() -> dam:info(Dam) end, fun(#{waiting := Waiting}) -> Waiting =:= N - 3 end)
              end || N <- [4, 5]],
         ok = dam:configure(Dam, #{policy => Policy}),
         ?assertEqual({Policy, [Answer, Answer]}, {Policy, [receive {answer, N, Given} -> Given end || N <- [4, 5]]}),
         ?assertMatch(#{waiting := 0, received := 5}, dam:info(Dam)),
         finished(Server, Dam),
         ?assertEqual({Policy, Taken}, {Policy, dam_test_server:taken(Record)})
     end || {Policy, Answer, Taken} <- [{drop_newest, {error, full}, [1, 2, 3]}, {drop_oldest, ok, [1, 4, 5]},
                                        {{block, 30}, {error, deadline}, [1, 2, 3]}]].

%% So many, and the flag is up.
fill(Dam, N) ->
    [ok = dam:send(Dam, I) || I <- lists:seq(1, N)],
    eventually(fun() -> dam:info(Dam) end, fun(#{overloaded := Overloaded}) -> Overloaded end).

full_drops_newest(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 3, policy => drop_newest}),
    fill(Dam, 4),
    ?assertEqual([{error, full}, {error, full}], [dam:send(Dam, N) || N <- [5, 6]]),
    ?assertMatch(#{received := 6, delivered := 1, queue := 3, dropped := #{full := 2}}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual([1, 2, 3, 4], dam_test_server:taken(Record)).

finished(Server, Dam) ->
    ok = dam_test_server:permit(all, Server),
    ok = dam:flush(Dam, 5_000).

full_drops_oldest(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 3, policy => drop_oldest}),
    fill(Dam, 4),
    ?assertEqual([ok, ok], [dam:send(Dam, N) || N <- [5, 6]]),
    ?assertMatch(#{received := 6, delivered := 1, queue := 3, dropped := #{oldest := 2}}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual([1, 4, 5, 6], dam_test_server:taken(Record)).

full_drops_by_key(_) ->
    KeyFun = fun(N) when N < 100 -> N rem 10 end,
    {Server, Dam, Record} = start(#{high => 1, limit => 3, policy => {drop_key, KeyFun}}),
    fill(Dam, 4),
    ?assertEqual([ok, ok, {error, full}, {error, full}], [dam:send(Dam, N) || N <- [12, 22, 15, 102]]),
    ?assertMatch(#{queue := 3, dropped := #{replaced := 2, full := 2}}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual([1, 3, 4, 22], dam_test_server:taken(Record)).

replaced_ones_keep_no_memory(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 2, policy => {drop_key, fun({Key, _}) -> Key end}}),
    [ok = dam:send(Dam, {Key, 0}) || Key <- [a, b, c]],
    [ok = dam:send(Dam, {c, N}) || N <- lists:seq(1, 20_000)],
    ?assertMatch(#{queue := 2}, dam:info(Dam)),
    true = erlang:garbage_collect(Dam),
    {memory, Bytes} = process_info(Dam, memory),
    ?assert(Bytes < 200_000, Bytes),
    finished(Server, Dam),
    ?assertEqual([{a, 0}, {b, 0}, {c, 20_000}], dam_test_server:taken(Record)),
    %% The same of senders that give up behind one that waits.
    First = dam_callers:add(make_ref(), first, message, dam_callers:new()),
    Left = lists:foldl(fun(_, Callers) ->
                               Ref = make_ref(),
                               {late, Rest} = dam_callers:take(Ref, dam_callers:add(Ref, late, message, Callers)),
                               Rest
                       end, First, lists:seq(1, 20_000)),
    ?assertMatch([{_, first, message}], dam_callers:to_list(Left)),
    ?assert(erts_debug:flat_size(Left) < 1000, erts_debug:flat_size(Left)).

codel_sheds(_) ->
    {Server, Dam, Record} = start(#{high => 1, policy => {codel, 5, 20}}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 100)],
    [begin ok = dam_test_server:permit(2, Server), timer:sleep(5) end || _ <- lists:seq(1, 30)],
    finished(Server, Dam),
    #{dropped := #{codel := Shed}, delivered := Delivered} = dam:info(Dam),
    ?assertEqual(100, Shed + Delivered),
    Taken = dam_test_server:taken(Record),
    ?assertEqual({lists:sort(Taken), Delivered}, {Taken, length(Taken)}).

bytes_are_limited(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit_bytes => 100, measure => fun byte_size/1, policy => drop_newest}),
    Sizes = [50, 60, 41, 40, 101],
    [dam:send(Dam, binary:copy(~"x", Size)) || Size <- Sizes],
    ?assertMatch(#{bytes := 100, queue := 2, dropped := #{full := 1, too_large := 1}}, dam:info(Dam)),
    ok = dam:configure(Dam, #{policy => drop_oldest}),
    ok = dam:send(Dam, binary:copy(~"y", 61)),
    ?assertMatch(#{bytes := 61, queue := 1, dropped := #{oldest := 2}}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual([50, 61], [byte_size(Message) || Message <- dam_test_server:taken(Record)]),
    [begin
         ok = dam:configure(Dam, #{measure => Measure}),
         ?assertMatch(#{bytes := 0}, dam:info(Dam))
     end || Measure <- [flat, external]].

%% external sees the bytes of a binary, flat does not.
measure_that_crashes(_) ->
    [begin
         {_, Dam, _} = start(#{high => 1, limit_bytes => 100_000, measure => Measure}),
         [ok = dam:send(Dam, binary:copy(~"x", 1000)) || _ <- [1, 2, 3]],
         #{bytes := Bytes, queue := 2} = dam:info(Dam),
         ?assert(Low =< Bytes andalso Bytes =< High, {Measure, Bytes})
     end || {Measure, Low, High} <- [{external, 2000, 2100}, {flat, 16, 200}, {fun(_) -> error(no) end, 0, 0},
                                     {fun(_) -> many end, 0, 0}, {fun(_) -> 7 end, 14, 14}]].

priority_overtakes(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 3, policy => drop_newest}),
    fill(Dam, 4),
    %% A lane of its own is not full.
    ?assertEqual([ok, ok, ok, {error, full}], [dam:send_priority(Dam, {urgent, N}) || N <- [1, 2, 3, 4]]),
    finished(Server, Dam),
    ?assertEqual([1, {urgent, 1}, {urgent, 2}, {urgent, 3}, 2, 3, 4], dam_test_server:taken(Record)).

async_never_waits(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 2, policy => {block, infinity}}),
    fill(Dam, 3),
    ok = dam:send_async(Dam, dropped),
    Dam ! dropped_too,
    ?assertMatch(#{dropped := #{full := 2}}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual([1, 2, 3], dam_test_server:taken(Record)).

limit_of_one(_) ->
    {Server, Dam, Record} = start(#{high => 1, low => 0, limit => 1}),
    ok = dam_test_server:permit(all, Server),
    Senders = [spawn_monitor(fun() -> [ok = dam:send(Dam, {Name, N}) || N <- lists:seq(1, 20)] end) || Name <- [a, b, c]],
    [receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) end || {_, Monitor} <- Senders],
    ok = dam:flush(Dam, 5_000),
    Taken = dam_test_server:taken(Record),
    [?assertEqual(lists:seq(1, 20), [N || {Of, N} <- Taken, Of =:= Name]) || Name <- [a, b, c]].

%% The server comes and goes

named_server_restarts(_) ->
    {ok, Dam} = dam:start_link(restarting, #{high => 3, low => 1, retry_ms => 5, events => teller()}),
    [ok = dam:send(Dam, N) || N <- [1, 2]],
    ?assertMatch(#{server := undefined, queue := 2}, dam:info(Dam)),
    Record = dam_test_server:new_record(),
    First = named(restarting, Record),
    told([dam, server, up]),
    [ok = dam:send(Dam, N) || N <- [3, 4, 5, 6]],
    ok = dam_test_server:permit(1, First),
    eventually(fun() -> dam_test_server:taken(Record) end, fun(Taken) -> Taken =:= [1] end),
    unlink(First),
    exit(First, kill),
    {#{lost := 3}, #{reason := killed}} = told([dam, server, down]),
    ?assertMatch(#{lost := 3, queue := 3, delivered := 3}, dam:info(Dam)),
    Second = named(restarting, Record),
    finished(Second, Dam),
    ?assertEqual([1, 4, 5, 6], dam_test_server:taken(Record)),
    ?assertMatch(#{received := 6, delivered := 6, lost := 3, server := Second}, dam:info(Dam)),
    ok = dam:stop(Dam).

named(Name, Record) ->
    Server = dam_test_server:start(Record),
    true = register(Name, Server),
    Server.

pid_that_dies_ends_the_dam(_) ->
    process_flag(trap_exit, true),
    [begin
         {Server, Dam, _} = start(#{high => 1, limit => 2, policy => {block, infinity}, events => teller()}),
         fill(Dam, 3),
         Self = self(),
         spawn_link(fun() -> Self ! {blocked, dam:send(Dam, blocked)} end),
         eventually(fun() -> dam:info(Dam) end, fun(#{waiting := Waiting}) -> Waiting =:= 1 end),
         exit(Server, Reason),
         receive {'EXIT', Dam, Why} -> ?assertEqual(Expected, Why) end,
         receive {blocked, Result} -> ?assertEqual({error, server_down}, Result) end,
         {#{count := 3}, _} = told([dam, drop]),
         ?assertEqual({error, noproc}, dam:send(Dam, too_late))
     end || {Reason, Expected} <- [{kill, {shutdown, {server_down, killed}}}, {oops, {shutdown, {server_down, oops}}}]].

server_is_exchanged(_) ->
    {_, Dam, _} = start(#{high => 2}),
    [ok = dam:send(Dam, N) || N <- [1, 2, 3, 4]],
    Record = dam_test_server:new_record(),
    Other = dam_test_server:start(Record),
    ok = dam:configure(Dam, #{server => Other}),
    finished(Other, Dam),
    ?assertEqual([3, 4], dam_test_server:taken(Record)),
    ?assertMatch(#{server := Other, lost := 0}, dam:info(Dam)).

%% Answers to the one that died are lost; its successor asks again.
watch_dies(_) ->
    {Server, Dam, Record} = start(#{high => 2, low => 1, recover_ms => 50_000}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 20)],
    _ = dam:info(Dam),
    {links, Links} = process_info(Dam, links),
    [exit(Pid, kill) || Pid <- Links, Pid =/= self()],
    finished(Server, Dam),
    ?assertEqual(lists:seq(1, 20), dam_test_server:taken(Record)).

%% The end

flush_waits(_) ->
    {Server, Dam, _} = start(#{high => 2}),
    ?assertEqual(ok, dam:flush(Dam, 0)),
    [ok = dam:send(Dam, N) || N <- [1, 2, 3]],
    ?assertEqual({error, deadline}, dam:flush(Dam, 30)),
    ok = dam_test_server:permit(2, Server),
    ?assertEqual({error, deadline}, dam:flush(Dam, 30)),
    ok = dam_test_server:permit(1, Server),
    %% The answer to the last probe takes a turn too.
    ok = dam_test_server:permit(all, Server),
    ?assertEqual(ok, dam:flush(Dam, infinity)).

%% The server may turn out to be the same, which has taken nothing. If it is another, nothing is to be taken.
flush_waits_for_the_look_up(_) ->
    Self = self(),
    Early = fun() -> receive {flushed, Result} -> error({early, Result}) after 50 -> ok end end,
    [begin
         {Server, Dam, _} = start(#{high => 10}),
         true = register(looked_up, Becomes(Server)),
         [ok = dam:send(Dam, N) || N <- lists:seq(1, 5)],
         _ = spawn_link(fun() -> Self ! {flushed, dam:flush(Dam, infinity)} end),
         eventually(fun() -> sys:get_state(Dam) end, fun(#dam{flushers = Flushers}) -> length(Flushers) =:= 1 end),
         ok = dam:configure(Dam, #{server => {via, ?MODULE, {held, Self, looked_up}}}),
         Watch = receive {looks, Looking} -> Looking end,
         ok = Early(),
         Watch ! go,
         ok = Then(Server, Early),
         ?assertEqual(ok, receive {flushed, Result} -> Result end),
         true = unregister(looked_up),
         ok = dam:stop(Dam)
     end || {Becomes, Then} <- [{fun(Server) -> Server end, fun(Server, Waits) -> ok = Waits(), dam_test_server:permit(all, Server) end},
                                {fun(_) -> Self end, fun(_, _) -> ok end}]].

%% The one that is looked for cannot be it, and what it had is lost.
flush_waits_for_no_dead_server(_) ->
    [begin
         {Server, Dam, _} = start(#{high => 10}),
         [ok = dam:send(Dam, N) || N <- lists:seq(1, 5)],
         ok = dam:configure(Dam, #{server => no_such_server}),
         Self = self(),
         Flush = fun() -> spawn_link(fun() -> Self ! {flushed, dam:flush(Dam, infinity)} end) end,
         ok = Ends(Server, Flush),
         ?assertEqual(ok, receive {flushed, Result} -> Result after 5_000 -> waits_still end),
         ?assertMatch(#{lost := 5, delivered := 5, server_queue := 0}, dam:info(Dam)),
         ok = dam:stop(Dam)
     end || Ends <- [fun(Server, Flush) -> exit(Server, kill), _ = Flush(), ok end,
                     fun(Server, Flush) -> _ = Flush(), timer:sleep(50), exit(Server, kill), ok end]].

%% A dam that does not read its mailbox, and then does. Nobody waits for the late answers.
late_dam_holds_up_nobody(_) ->
    process_flag(trap_exit, true),
    {_, Dam, _} = start(#{high => 2}),
    ok = sys:suspend(Dam),
    Begin = erlang:monotonic_time(millisecond),
    ?assertEqual({error, deadline}, dam:flush(Dam, 20)),
    ?assertEqual({error, deadline}, dam:stop(Dam, 20)),
    ?assert(erlang:monotonic_time(millisecond) - Begin < 5_000),
    ok = sys:resume(Dam),
    receive {'EXIT', Dam, Reason} -> ?assertEqual(normal, Reason) end,
    ?assertEqual({messages, []}, process_info(self(), messages)).

%% Each message would look at all of them, for as long as the server takes nothing.
many_that_flush_cost_nothing(_) ->
    Flushers = 5_000,
    {Server, Dam, _} = start(#{high => 5}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 20)],
    Clients = [spawn(fun() -> dam:flush(Dam, infinity) end) || _ <- lists:seq(1, Flushers)],
    Monitors = [monitor(process, Client) || Client <- Clients],
    _ = eventually(fun() -> length(element(#dam.flushers, sys:get_state(Dam))) end, fun(Number) -> Number =:= Flushers end),
    {reductions, Before} = process_info(Dam, reductions),
    [begin ok = dam:send(Dam, N), _ = dam:info(Dam) end || N <- lists:seq(21, 120)],
    {reductions, After} = process_info(Dam, reductions),
    ?assert(After - Before < 100 * Flushers, After - Before),
    ok = dam_test_server:permit(all, Server),
    [receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(normal, Reason) end || Monitor <- Monitors],
    ok = dam:stop(Dam).

stop_hands_over(_) ->
    {Server, Dam, Record} = start(#{high => 2, events => teller()}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 50)],
    _ = erlang:send_after(20, Server, {permit, all}),
    ?assertEqual(ok, dam:stop(Dam, 5_000)),
    {#{received := 50, delivered := 50}, #{reason := normal, dam := Dam, server := Server}} = told([dam, stop]),
    eventually(fun() -> dam_test_server:taken(Record) end, fun(Taken) -> Taken =:= lists:seq(1, 50) end).

%% Another dam can take the name at once: it has ended, even if it takes its time after the answer.
stop_frees_the_name(_) ->
    Slow = spawn(fun() -> receive {'$dam_call', Reference, {stop, _}} -> Reference ! {Reference, ok}, timer:sleep(100) end end),
    ?assertEqual(ok, dam:stop(Slow)),
    ?assertNot(is_process_alive(Slow)),
    ?assertEqual({messages, []}, process_info(self(), messages)).

stop_gives_up(_) ->
    {_, Dam, _} = start(#{high => 2, events => teller()}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 50)],
    ?assertEqual({error, deadline}, dam:stop(Dam, 20)),
    {#{count := 48}, #{reason := stopped}} = told([dam, drop]),
    {#{received := 50, delivered := 2}, _} = told([dam, stop]).

supervisor_stops_it(_) ->
    {Server, First, Record} = start(#{}),
    ok = dam:stop(First),
    Spec = #{id => dam, start => {dam, start_link, [Server, #{high => 2}]}, shutdown => 6000},
    {ok, Supervisor} = supervisor:start_link(dam_test_supervisor, [Spec]),
    [{dam, Dam, _, _}] = supervisor:which_children(Supervisor),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 50)],
    _ = erlang:send_after(20, Server, {permit, all}),
    ok = gen_server:stop(Supervisor),
    ?assertNot(is_process_alive(Dam)),
    eventually(fun() -> dam_test_server:taken(Record) end, fun(Taken) -> Taken =:= lists:seq(1, 50) end).

stopping_dam_refuses(_) ->
    {Server, Dam, Record} = start(#{high => 1, limit => 2}),
    fill(Dam, 3),
    Self = self(),
    spawn_link(fun() -> Self ! {blocked, dam:send(Dam, blocked)} end),
    eventually(fun() -> dam:info(Dam) end, fun(#{waiting := Waiting}) -> Waiting =:= 1 end),
    spawn_link(fun() -> Self ! {stopped, dam:stop(Dam, 5_000)} end),
    receive {blocked, Result} -> ?assertEqual({error, stopping}, Result) end,
    ?assertEqual({error, stopping}, dam:send(Dam, too_late)),
    ?assertEqual({error, stopping}, dam:flush(Dam, 0)),
    ?assertMatch(#{dropped := #{stopping := 2}}, dam:info(Dam)),
    ok = dam_test_server:permit(all, Server),
    receive {stopped, Stopped} -> ?assertEqual(ok, Stopped) end,
    eventually(fun() -> dam_test_server:taken(Record) end, fun(Taken) -> Taken =:= [1, 2, 3] end).

%% Events

%% A module of that name, as the library telemetry has it: it is the callback where no other is given.
telemetry_tells(_) ->
    Forms = [{attribute, 1, module, telemetry}, {attribute, 1, export, [{execute, 3}]},
             {function, 1, execute, 3,
              [{clause, 1, [{var, 1, 'E'}, {var, 1, 'M'}, {var, 1, 'D'}], [],
                [{op, 1, '!', {atom, 1, telemetry_test}, {tuple, 1, [{var, 1, 'E'}, {var, 1, 'M'}, {var, 1, 'D'}]}}]}]}],
    {ok, telemetry, Beam} = compile:forms(Forms),
    {module, telemetry} = code:load_binary(telemetry, "telemetry.beam", Beam),
    true = register(telemetry_test, self()),
    {ok, Dam} = dam:start_link(self()),
    receive {[dam, server, up], #{}, #{pid := Pid}} -> ?assertEqual(self(), Pid) end,
    ok = dam:stop(Dam),
    {ok, Silent} = dam:start_link(self(), #{events => undefined}),
    ?assertMatch(#{events_lost := 0}, dam:info(Silent)),
    ok = dam:stop(Silent),
    receive {[dam, server, up], _, #{dam := Silent}} -> error(told) after 0 -> ok end,
    true = unregister(telemetry_test),
    true = code:delete(telemetry).

events_tell(_) ->
    {Server, Dam, _} = start(#{high => 1, limit => 2, policy => drop_newest, events => teller()}),
    {#{}, #{pid := Server, dam := Dam, server := Server}} = told([dam, server, up]),
    fill(Dam, 3),
    {#{queue := 2, bytes := 0}, _} = told([dam, overload, start]),
    [dam:send(Dam, N) || N <- lists:seq(1, 10)],
    {#{count := N}, #{reason := full}} = told([dam, drop]),
    ?assert(N > 0),
    finished(Server, Dam),
    {#{queue := Queue}, _} = told([dam, overload, stop]),
    ?assert(Queue =< 1),
    ok = dam:stop(Dam),
    told([dam, stop]).

teller() ->
    Self = self(),
    fun(Event, Measurements, Metadata) -> Self ! {event, Event, Measurements, Metadata} end.

told(Event) -> receive {event, Event, Measurements, Metadata} -> {Measurements, Metadata} after 5_000 -> error({untold, Event}) end.

callback_that_crashes(_) ->
    Crash = fun([dam, server, up], _, _) -> error(oops);
               ([dam, overload, start], _, _) -> exit(oops);
               (_, _, _) -> exit(self(), kill)
            end,
    {Server, Dam, Record} = start(#{high => 1, limit => 2, policy => drop_newest, events => Crash}),
    fill(Dam, 3),
    dam:send(Dam, dropped),
    finished(Server, Dam),
    ?assertEqual([1, 2, 3], dam_test_server:taken(Record)),
    %% The process of the callback was killed in an event of its own, and there is another.
    eventually(fun() -> process_info(Dam, links) end, fun({links, Links}) -> length(Links) =:= 3 end),
    ok = dam:stop(Dam).

callback_that_hangs(_) ->
    Hang = fun(_, _, _) -> timer:sleep(infinity) end,
    {Server, Dam, _} = start(#{high => 1, limit => 2, policy => drop_newest, events => Hang}),
    fill(Dam, 3),
    finished(Server, Dam),
    Events = dam_events:start_link(Hang),
    [ok = dam_events:emit([dam, drop], #{count => N}, #{}, Events) || N <- lists:seq(1, 250)],
    ?assertEqual(150, dam_events:lost(Events)),
    ok = dam:stop(Dam).

%% Those that it had not been told of are counted, and so are those that were lost before.
killed_callback_loses_events(_) ->
    Hang = fun(_, _, _) -> timer:sleep(infinity) end,
    {Server, Dam, _} = start(#{high => 1, limit => 2, policy => drop_newest, events => Hang}),
    fill(Dam, 3),
    dam:send(Dam, dropped),
    finished(Server, Dam),
    eventually(fun() -> dam:info(Dam) end, fun(#{overloaded := Overloaded}) -> not Overloaded end),
    {links, Links} = process_info(Dam, links),
    [Events] = [Pid || Pid <- Links, proc_lib:translate_initial_call(Pid) =:= {dam_events, init, 1}],
    exit(Events, kill),
    %% The server is up, and the dam was full and is not any more. The drops may not be told yet.
    eventually(fun() -> dam:info(Dam) end, fun(#{events_lost := Lost}) -> Lost >= 3 end),
    ok = dam:stop(Dam).

%% A raw flood cannot be held up: what is beyond the limit is dropped and counted, and the
%% server's mailbox stays short.
raw_flood(_) ->
    {Server, Dam, Record} = start(#{high => 100, limit => 1000}),
    [Dam ! N || N <- lists:seq(1, 100_000)],
    #{received := 100_000, delivered := 100, queue := 1000, dropped := #{full := 98_900}} = dam:info(Dam),
    ?assertEqual(100, dam_test_server:waiting(Server)),
    finished(Server, Dam),
    ?assertEqual(lists:seq(1, 1100), dam_test_server:taken(Record)).

dam_answers_sys(_) ->
    {Server, Dam, Record} = start(#{high => 2}),
    ok = sys:suspend(Dam),
    [ok = dam:send(Dam, N) || N <- [1, 2, 3]],
    ok = sys:change_code(Dam, dam_proxy, undefined, []),
    ok = sys:resume(Dam),
    State = sys:get_state(Dam),
    ?assertEqual(State, sys:replace_state(Dam, fun(Same) -> Same end)),
    finished(Server, Dam),
    ?assertEqual([1, 2, 3], dam_test_server:taken(Record)),
    ok = proc_lib:stop(Dam).

other_node(_) ->
    on_two_nodes(fun(_There, Here) -> from_here(Here, run) end).

%% By its name, which is no pid.
dam_on_another_node(_) ->
    on_two_nodes(fun(_There, Here) -> from_here(Here, send) end).

%% A sender that waits is not told that its message is neither held nor with the server.
lost_connection_is_no_noproc(_) ->
    on_two_nodes(fun(There, Here) ->
                         from_here(Here, lose),
                         ?assertMatch(#{received := 3, waiting := 1}, peer:call(There, dam, info, [dam_there]))
                 end).

replaced_server_on_another_node_ends(_) ->
    on_two_nodes(fun(_There, Here) -> from_here(Here, replace) end).

from_here(Here, What) -> ?assertEqual(ok, peer:call(Here, dam_test_remote, What, ['dam_there@127.0.0.1'], 30_000)).

%% Two VMs without epmd: one listens at a port that both know, the other only connects.
on_two_nodes(Test) ->
    {ok, Socket} = gen_tcp:listen(0, []),
    {ok, Port} = inet:port(Socket),
    ok = gen_tcp:close(Socket),
    There = node_started("dam_there@127.0.0.1", Port, []),
    Here = node_started("dam_here@127.0.0.1", Port, ["-dist_listen", "false"]),
    try Test(There, Here)
    after
        peer:stop(Here),
        peer:stop(There)
    end.

node_started(Name, Port, More) ->
    Paths = lists:append([["-pa", filename:dirname(code:which(Module))] || Module <- [dam, ?MODULE]]),
    {ok, Peer, _} = peer:start(#{connection => standard_io,
                                 args => ["-name", Name, "-setcookie", "dam", "-start_epmd", "false", "-erl_epmd_port",
                                          integer_to_list(Port), "-kernel", "dist_auto_connect", "once" | More] ++ Paths}),
    Peer.

%% What the cases use

start(Options) ->
    Record = dam_test_server:new_record(),
    Server = dam_test_server:start(Record),
    {ok, Dam} = dam:start_link(Server, Options),
    {Server, Dam, Record}.

eventually(Look, Is) -> eventually(Look, Is, 1000).

eventually(Look, Is, Times) ->
    Seen = Look(),
    case Is(Seen) of
        true -> Seen;
        false when Times > 0 ->
            timer:sleep(5),
            eventually(Look, Is, Times - 1);
        false -> error({never, Seen})
    end.

%% But it ends with who started it, and with its server where that is a pid.
exits_of_others_are_forwarded(_) ->
    {ok, Dam} = dam:start_link(self(), #{credit => ack}),
    Exits = [{'EXIT', dead(), normal}, {'EXIT', dead(), boom}, {'EXIT', make_ref(), x}],
    [Dam ! Exit || Exit <- Exits],
    ?assertEqual(Exits, received(3)),
    ok = dam:stop(Dam),
    Server = spawn(fun() -> receive {link, To} -> link(To) end, receive {stop, Reason} -> exit(Reason) end end),
    {ok, Linked} = dam:start_link(Server, #{credit => ack}),
    unlink(Linked),
    Monitor = monitor(process, Linked),
    ok = dam:send(Linked, {link, Linked}),
    ok = dam:send(Linked, {stop, boom}),
    receive {'DOWN', Monitor, _, _, Reason} -> ?assert(lists:member(Reason, [boom, {shutdown, {server_down, boom}}]), Reason) end.

%% The dam waits for the next server of that name, also where it was linked to the one before: anybody can tell of its end.
exits_of_servers_are_forwarded(_) ->
    {ok, Dam} = dam:start_link(server_that_comes_back, #{credit => ack, retry_ms => 1}),
    Ended = server_that_ends(fun(_) -> true end, Dam),
    Dam ! {'EXIT', Ended, boom},
    ?assertEqual([{'EXIT', Ended, boom}], next_server(Dam)),
    %% The exit of one that was linked may be sent on to that process itself, if it comes before the news of its end.
    Linked = server_that_ends(fun erlang:link/1, Dam),
    ok = dam:send(Dam, next),
    ?assert(lists:member(next_server(Dam), [[next], [{'EXIT', Linked, boom}, next]])),
    ok = dam:stop(Dam).

server_that_ends(Link, Dam) ->
    Server = spawn(fun() -> true = register(server_that_comes_back, self()), true = Link(Dam), receive stop -> exit(boom) end end),
    eventually(fun() -> dam:info(Dam) end, fun(#{server := Pid}) -> Pid =:= Server end),
    Server ! stop,
    eventually(fun() -> dam:info(Dam) end, fun(#{server := Pid}) -> Pid =:= undefined end),
    Server.

%% What waits for it.
next_server(Dam) ->
    #{queue := Held} = dam:info(Dam),
    true = register(server_that_comes_back, self()),
    Received = received(Held),
    true = unregister(server_that_comes_back),
    ok = dam:configure(Dam, #{server => server_that_comes_back}),
    Received.

%% Whatever is in them: they are the server's, as any other, and nothing that is held is lost.
messages_that_look_like_its_own(_) ->
    {ok, Dam} = dam:start_link(self(), #{credit => ack}),
    Ref = make_ref(),
    Messages = [{'$dam_ack', N} || N <- [junk, 0, -5, 1.5, [a | b]]]
        ++ [{'$dam_call', junk, info}]
        ++ [{'$dam_call', Ref, Request}
            || Request <- [junk, {send, foo, x}, {flush, junk}, {flush, -1}, {stop, junk}, {stop, 1.5}, {configure, junk}, [a | b]]]
        ++ [{'$dam_watch', News} || News <- [junk, {server, junk}, {length, self(), a, b}, [a | b]]]
        ++ [{timeout, junk, {'$dam', look}}, {system, self(), get_state}, {system, {a, b}, get_state}]
        ++ [{timeout, Ref, {'$dam', What}} || What <- [junk, stop, {sender, foo}, [a | b]]],
    [Dam ! Message || Message <- Messages],
    ?assertEqual(Messages, received(length(Messages))),
    Number = length(Messages),
    ?assertMatch(#{received := Number, delivered := Number, server_queue := Number}, dam:info(Dam)),
    ok = dam:ack(Dam, Number),
    ok = dam:stop(Dam).

%% The bound is that of whole messages.
acknowledgements_that_are_none(_) ->
    {ok, Dam} = dam:start_link(self(), #{credit => ack, high => 10}),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 5)],
    [Dam ! {'$dam_ack', N} || N <- [1.5, -1, junk]],
    [ok = dam:send(Dam, N) || N <- lists:seq(6, 100)],
    ?assertMatch(#{server_queue := 10, queue := 93}, dam:info(Dam)),
    Dam ! {'$dam_ack', 1 bsl 80},
    ?assertMatch(#{server_queue := 10, queue := 83}, dam:info(Dam)),
    ok = dam:configure(Dam, #{high => 1000}),
    ?assertEqual(103, length(received(103))),
    ok = dam:stop(Dam).

exit_of_a_server_that_lives(_) ->
    Self = self(),
    Server = spawn_link(fun Loop() -> receive Message -> Self ! {took, Message}, Loop() end end),
    {ok, Dam} = dam:start_link(Server, #{credit => ack}),
    Exits = [{'EXIT', Server, Reason} || Reason <- [boom, normal]],
    [Dam ! Exit || Exit <- Exits],
    ?assertEqual([{took, Exit} || Exit <- Exits], received(2)),
    ok = dam:ack(Dam, 2),
    ok = dam:stop(Dam).

%% It is seen while it hibernates, with messages waiting.
hibernating_server_is_not_suspended(_) ->
    {ok, Server} = gen_event:start_link(),
    ok = gen_event:add_handler(Server, dam_test_hibernates, []),
    {ok, Dam} = dam:start_link(Server, #{high => 20}),
    Tested = self(),
    Tracer = spawn_link(fun() -> count_suspended(Tested, 0) end),
    1 = erlang:trace(Dam, true, ['receive', {tracer, Tracer}]),
    [ok = dam:send(Dam, {notify, N}) || N <- lists:seq(1, 2_000)],
    ok = dam:flush(Dam, 30_000),
    Tracer ! tell,
    ?assertEqual(0, receive {suspended, Times} -> Times end),
    ok = dam:stop(Dam),
    ok = gen_event:stop(Server).

count_suspended(Tested, N) ->
    receive
        {trace, _, 'receive', {'$dam_watch', suspended}} -> count_suspended(Tested, N + 1);
        tell -> Tested ! {suspended, N};
        _ -> count_suspended(Tested, N)
    end.

%% It wakes again and again, and takes nothing.
suspended_while_it_hibernates(_) ->
    {ok, Server} = gen_event:start_link(),
    ok = gen_event:add_handler(Server, dam_test_hibernates, []),
    {ok, Dam} = dam:start_link(Server, #{high => 10}),
    ok = dam:send(Dam, {notify, first}),
    ok = dam:flush(Dam, 5_000),
    ok = sys:suspend(Server),
    [ok = dam:send(Dam, {notify, N}) || N <- lists:seq(1, 500)],
    Waiting = [begin ok = timer:sleep(50), {_, Length} = process_info(Server, message_queue_len), Length end || _ <- lists:seq(1, 10)],
    ?assert(lists:max(Waiting) =< 11, Waiting),
    ok = sys:resume(Server),
    ok = dam:flush(Dam, 10_000),
    ok = dam:stop(Dam),
    ok = gen_event:stop(Server).

%% The server answers a probe, and is in a function of sys when the answer is checked: what it executes
%% does not say that it is suspended.
suspended_while_others_look(_) ->
    Self = self(),
    {ok, Server} = gen_server:start_link(dam_test_gen, [], []),
    {ok, Dam} = dam:start_link(Server, #{high => 10, recover_ms => 50_000}),
    Watch = helper(dam_watch, Dam),
    true = erlang:suspend_process(Watch),
    ok = sys:suspend(Server),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 100)],
    ?assertMatch(#{delivered := 10}, dam:info(Dam)),
    eventually(fun() -> process_info(Watch, message_queue_len) end, fun({_, Length}) -> Length > 0 end),
    Looks = spawn_link(fun() -> sys:replace_state(Server, fun(State) -> Self ! inside, receive go -> State end end), Self ! left end),
    ?assertEqual([inside], received(1)),
    true = erlang:resume_process(Watch),
    eventually(fun() -> process_info(Watch, [message_queue_len, status]) end,
               fun(Info) -> Info =:= [{message_queue_len, 0}, {status, waiting}] end),
    [?assertMatch(#{delivered := 10}, dam:info(Dam)) || _ <- [1, 2]],
    ?assert(is_process_alive(Looks)),
    Server ! go,
    ?assertEqual([left], received(1)),
    ok = sys:resume(Server),
    ok = dam:flush(Dam, 5_000),
    ok = dam:stop(Dam).

helper(Module, Dam) ->
    {links, Links} = process_info(Dam, links),
    [Helper] = [Pid || Pid <- Links, proc_lib:translate_initial_call(Pid) =:= {Module, init, 1}],
    Helper.

%% A server that often is in a function of sys takes messages all the same.
server_that_others_look_at_is_not_suspended(_) ->
    {ok, Server} = gen_server:start_link(dam_test_gen, lists:seq(1, 10_000), []),
    {ok, Dam} = dam:start_link(Server, #{high => 20, recover_ms => 50_000}),
    Lookers = [spawn_link(fun Look() -> _ = sys:get_state(Server), Look() end) || _ <- [1, 2, 3]],
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 1_000)],
    ?assertEqual(ok, dam:flush(Dam, 30_000)),
    ?assertMatch(#{delivered := 1_000}, dam:info(Dam)),
    [begin unlink(Looker), exit(Looker, kill) end || Looker <- Lookers],
    ok = dam:stop(Dam).

%% Anybody may send what looks like its exit.
exit_of_a_helper_that_lives(_) ->
    {ok, Dam} = dam:start_link(self(), #{credit => ack, events => fun(_, _, _) -> ok end}),
    {links, Links} = process_info(Dam, links),
    Exits = [{'EXIT', helper(Module, Dam), boom} || Module <- [dam_watch, dam_events]],
    [Dam ! Exit || Exit <- Exits],
    ?assertEqual(Exits, received(2)),
    ?assertEqual({links, Links}, process_info(Dam, links)),
    ok = dam:ack(Dam, 2),
    ok = dam:stop(Dam).

%% Neither the function nor its process stays.
callback_that_hangs_ends_after_its_dam(_) ->
    {ok, Dam} = dam:start_link(self(), #{credit => ack, events => fun(_, _, _) -> timer:sleep(infinity) end}),
    Monitor = monitor(process, helper(dam_events, Dam)),
    ok = dam:stop(Dam),
    receive {'DOWN', Monitor, process, _, Reason} -> ?assertEqual(killed, Reason)
    after 30_000 -> error(runs_for_ever)
    end.

%% Its process ends with a dam that is killed, all the same.
callback_that_traps_exits(_) ->
    Self = self(),
    process_flag(trap_exit, true),
    {ok, Dam} = dam:start_link(Self, #{credit => ack, events => fun(_, _, _) -> process_flag(trap_exit, true), Self ! traps end}),
    ?assertEqual([traps], received(1)),
    Monitor = monitor(process, helper(dam_events, Dam)),
    exit(Dam, kill),
    receive {'DOWN', Monitor, process, _, _} -> ok after 5_000 -> error(runs_for_ever) end.

%% By its name as well as by its pid. One that gets the name of its server sends itself nothing.
own_server_is_refused(_) ->
    [{badarg, #{2 := "option server: " ++ _}} = failure(fun() -> dam:start_link(Name, Server, #{}) end)
     || {Name, Server} <- [{{local, own}, own}, {{local, own}, {own, node()}}, {{global, own}, {global, own}},
                           {{global, own}, {via, global, own}}, {{via, global, own}, {global, own}},
                           {{via, global, own}, {via, global, own}}]],
    {badarg, #{1 := "option server: own is the dam itself"}} = failure(fun() -> dam:child_spec(#{name => own, server => own}) end),
    {ok, Dam} = dam:start_link(own_server, #{retry_ms => 1}),
    {badarg, #{2 := "option server: " ++ _}} = failure(fun() -> dam:configure(Dam, #{server => Dam}) end),
    {Ended, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    {badarg, #{2 := "option server: " ++ _}} = failure(fun() -> dam:configure(Dam, #{server => Ended}) end),
    #{} = dam:info(Dam),
    true = register(own_server, Dam),
    ok = dam:send(Dam, m),
    ok = dam:configure(Dam, #{server => {own_server, node()}}),
    ?assertMatch(#{received := 1, queue := 1, server := undefined}, dam:info(Dam)),
    true = unregister(own_server),
    true = register(own_server, self()),
    ?assertEqual([m], received(1)),
    true = unregister(own_server),
    ok = dam:stop(Dam, 0).

%% The watch tells of it 50 ms after it was seen.
suspended_server_that_ends(_) ->
    {ok, Dam} = dam:start_link(server_that_ends, #{retry_ms => 5}),
    [ok = dam:send(Dam, N) || N <- [1, 2, 3]],
    Dam ! {'$dam_watch', suspended},
    ?assertMatch(#{queue := 3, server := undefined}, dam:info(Dam)),
    true = register(server_that_ends, self()),
    ?assertEqual([1, 2, 3], received(3)),
    true = unregister(server_that_ends),
    ok = dam:stop(Dam, 0).

%% It may have been suspended when it answered, so its messages are lost.
answer_of_a_server_that_has_ended(_) ->
    Watch = dam_watch:start_link(10),
    element(1, Watch) ! {{'$dam_probe', dead(), 5}, {error, unknown}},
    ?assertEqual([{'$dam_watch', suspended}], received(1)),
    ?assertEqual(0, dam_watch:answered(Watch)),
    ok = dam_watch:stop(Watch).

%% The look-up of a server that was exchanged meanwhile.
late_look_up_is_not_taken(_) ->
    [First, Second] = [dam_test_server:start(dam_test_server:new_record()) || _ <- [1, 2]],
    true = register(first_server, First),
    true = register(second_server, Second),
    {ok, Dam} = dam:start_link({via, ?MODULE, {held, self(), first_server}}),
    receive {looks, Watch} -> ok = dam:configure(Dam, #{server => {via, ?MODULE, second_server}}), Watch ! go end,
    ?assertMatch(#{server := Second}, eventually(fun() -> dam:info(Dam) end, fun(#{server := Pid}) -> is_pid(Pid) end)),
    ok = dam:stop(Dam).

whereis_name({held, Test, Name}) ->
    Test ! {looks, self()},
    receive go -> whereis(Name) end;
whereis_name(Name) -> whereis(Name).

%% Its messages count as before, by whatever name it is given.
exchanged_for_itself(_) ->
    {Server, Dam, Record} = start(#{high => 4}),
    true = register(exchanged, Server),
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 50)],
    [begin
         ok = dam:configure(Dam, #{server => Same, high => 4}),
         eventually(fun() -> dam:info(Dam) end, fun(#{server := Pid}) -> Pid =:= Server end),
         ?assertMatch(#{delivered := 4, server_queue := 4, queue := 46}, dam:info(Dam)),
         ?assertEqual(4, dam_test_server:waiting(Server))
     end || Same <- [Server, exchanged, {exchanged, node()}, {via, ?MODULE, exchanged}, exchanged]],
    %% Where it is exchanged again before the other server is found, and for another one.
    ok = dam:configure(Dam, #{server => no_such_server}),
    ok = dam:configure(Dam, #{server => exchanged, high => 6, low => 5}),
    ?assertMatch(#{delivered := 6, server_queue := 6}, dam:info(Dam)),
    finished(Server, Dam),
    ?assertEqual(lists:seq(1, 50), dam_test_server:taken(Record)).

%% Ten times in a row it takes nine intervals, as none of these timers is early.
look_ups_do_not_pile_up(_) ->
    {ok, Dam} = dam:start_link(nobody, #{retry_ms => 20}),
    [ok = dam:configure(Dam, #{server => nobody}) || _ <- lists:seq(1, 200)],
    1 = erlang:trace(Dam, true, ['receive', monotonic_timestamp]),
    Times = [receive {trace_ts, Dam, 'receive', {timeout, _, {'$dam', connect}}, Time} -> Time end || _ <- lists:seq(1, 10)],
    1 = erlang:trace(Dam, false, ['receive']),
    ?assert(erlang:convert_time_unit(lists:last(Times) - hd(Times), native, millisecond) >= 8 * 20),
    ok = dam:stop(Dam).

%% Blocked, it would take nothing, so all would wait for ever.
server_sends_through_its_full_dam(_) ->
    Self = self(),
    Server = spawn_link(fun Loop() ->
                                receive
                                    {dam, Dam, N} -> ok = dam:send(Dam, {own, N}), Loop();
                                    {own, N} -> Self ! {own, N}, Loop();
                                    {system, From, Request} ->
                                        Self ! {asked, Request},
                                        gen:reply(From, {error, Request}),
                                        Loop()
                                end
                        end),
    {ok, Dam} = dam:start_link(Server, #{high => 4, limit => 10}),
    Sender = spawn_link(fun() -> [ok = dam:send(Dam, {dam, Dam, N}) || N <- lists:seq(1, 200)] end),
    _ = monitor(process, Sender),
    [receive {own, N} -> ok after 5_000 -> error({missing, N}) end || N <- lists:seq(1, 200)],
    receive {'DOWN', _, process, Sender, Reason} -> ?assertEqual(normal, Reason) end.

%% Held beyond the limit, but not beyond that of its size, and not while the dam is stopping.
server_is_told_of_its_drops(_) ->
    Self = self(),
    Server = spawn_link(fun Loop() -> receive {do, Fun} -> Self ! {done, Fun()}, Loop() end end),
    {ok, Dam} = dam:start_link(Server, #{high => 1, limit => 10, limit_bytes => 300, recover_ms => 60_000}),
    fill(Dam, 11),
    Sent = fun(Message) -> Server ! {do, fun() -> dam:send(Dam, Message) end}, receive {done, Result} -> Result end end,
    ?assertEqual({error, too_large}, Sent(binary:copy(~"x", 1000))),
    ?assertEqual(ok, Sent(held)),
    ?assertMatch(#{queue := 11, dropped := #{too_large := 1}}, dam:info(Dam)),
    spawn_link(fun() -> dam:stop(Dam, infinity) end),
    eventually(fun() -> sys:get_state(Dam) end, fun(#dam{end_reason = Reason}) -> Reason =/= undefined end),
    ?assertEqual({error, stopping}, Sent(late)),
    ?assertMatch(#{queue := 11, dropped := #{too_large := 1, stopping := 1}}, dam:info(Dam)),
    unlink(Server),
    unlink(Dam),
    exit(Server, kill).

%% A dam goes on in code whose state has one more field, and then in the code without it, with all that it holds.
code_with_another_state(_) ->
    {Server, Dam, Record} = start(#{high => 2}),
    Modules = [dam_flow, dam_link, dam_info, dam_state, dam_proxy],
    [ok = dam:send(Dam, N) || N <- lists:seq(1, 50)],
    try
        ok = changed_code(Dam, [{Module, with_another_field(Module)} || Module <- Modules]),
        ?assertMatch(#{received := 50, queue := 48}, dam:info(Dam)),
        ?assertEqual(another, element(3, sys:get_state(Dam)))
    after
        ok = changed_code(Dam, [{Module, object_code(Module)} || Module <- Modules])
    end,
    finished(Server, Dam),
    ?assertEqual(lists:seq(1, 50), dam_test_server:taken(Record)),
    ?assertEqual({error, unknown_state}, dam_proxy:system_code_change({dam, self()}, dam_proxy, "0.2.0", [])).

changed_code(Dam, Codes) ->
    ok = sys:suspend(Dam),
    [{module, Module} = code:load_binary(Module, file_of(Module), Code) || {Module, Code} <- Codes],
    ok = sys:change_code(Dam, dam_proxy, undefined, []),
    sys:resume(Dam).

object_code(Module) ->
    {ok, Code} = file:read_file(file_of(Module)),
    Code.

%% Its own, also for other code: suites that follow ask code:which/1.
file_of(Module) -> code:where_is_file(atom_to_list(Module) ++ ".beam").

with_another_field(Module) ->
    {ok, {Module, [{abstract_code, {_, Forms}}]}} = beam_lib:chunks(object_code(Module), [abstract_code]),
    Another = {typed_record_field, {record_field, 1, {atom, 1, another}, {atom, 1, another}}, {type, 1, atom, []}},
    {ok, Module, Code} = compile:forms([case Form of
                                            {attribute, At, record, {dam, [First | Fields]}} ->
                                                {attribute, At, record, {dam, [First, Another | Fields]}};
                                            _ -> Form
                                        end || Form <- Forms], [debug_info]),
    Code.

%% As when a module is loaded anew, and its old code is purged.
dam_outlives_its_old_code(_) ->
    {Server, Dam, _} = start(#{high => 2}),
    Monitor = monitor(process, Dam),
    {dam_proxy, Code, File} = code:get_object_code(dam_proxy),
    [begin
         {module, dam_proxy} = code:load_binary(dam_proxy, File, Code),
         ok = dam:send(Dam, N),
         _ = dam:info(Dam),
         _ = code:purge(dam_proxy)
     end || N <- [1, 2, 3]],
    ok = dam_test_server:permit(all, Server),
    ok = dam:flush(Dam, 5_000),
    receive {'DOWN', Monitor, process, _, Reason} -> error(Reason) after 0 -> ok end.

%% In steady traffic of less than a step in recover_ms no probe is due, so none is answered.
server_that_is_not_asked_is_not_silent(_) ->
    {ok, Options} = dam_options:new(self(), #{high => 100, events => undefined}),
    Step = fun(_, #dam{window = Window} = Dam) ->
                   Sent = dam_window:sent(10, Window),
                   dam_link:length_known(self(), dam_window:count(Sent), 0, Dam#dam{window = Sent})
           end,
    Seen = lists:foldl(Step, #dam{pid = self(), options = Options, credit = sys, window = dam_window:new(100, 50)}, [1, 2, 3, 4]),
    ?assertMatch(#dam{credit = sys, silent = 0}, Seen).

%% A look may find the mailbox empty after the probe was taken and before it was answered.
who_answers_is_not_silent(_) ->
    {Server, Dam, _} = start(#{high => 100}),
    _ = sys:replace_state(Dam, fun(State) -> State#dam{silent = 1} end),
    Dam ! {'$dam_watch', answered},
    ?assertMatch(#dam{silent = 0}, sys:get_state(Dam)),
    finished(Server, Dam).

stop_tells_of_drops(_) ->
    process_flag(trap_exit, true),
    Self = self(),
    [begin
         {Server, Dam, _} = start(#{high => 2}),
         [ok = dam:send(Dam, N) || N <- lists:seq(1, 5)],
         spawn_link(fun() -> Self ! {stopped, dam:stop(Dam, infinity)} end),
         eventually(fun() -> sys:get_state(Dam) end, fun(#dam{end_reason = Reason}) -> Reason =/= undefined end),
         End(Server, Dam),
         ?assertEqual({error, deadline}, receive {stopped, Result} -> Result end)
     end || End <- [fun(Server, _) -> exit(Server, kill) end, fun(_, Dam) -> sys:terminate(Dam, normal) end]].
