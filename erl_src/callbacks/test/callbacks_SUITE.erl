%% Callbacks run, wait, fail and end independently, even if one of them never returns.
-module(callbacks_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include_lib("common_test/include/ct.hrl").

-export([block_at_the_limit/0]).
-export([all/0, init_per_testcase/2, end_per_testcase/2, stop_here/0]).
-export([runs_at_once/1, waits_for_a_message/1, messages_come_in_order/1, next_lets_others_go_first/1,
         sleeper_takes_messages_afterwards/1, message_comes_before_the_timeout/1, timeout_comes_without_a_message/1,
         callbacks_send_to_each_other/1, self_is_the_callback/1, ended_identity_reaches_nobody/1,
         monitor_tells_the_reason/1, monitor_of_an_ended_one/1, demonitored_is_not_told/1, demonitor_forgets_the_monitor/1,
         callback_monitors_another/1, exception_ends_one_only/1, nonsense_ends_one_only/1,
         exit_ends_who_waits/1, others_go_on_beside_one_that_never_returns/1, many_that_never_return/1,
         held_one_goes_on_when_it_returns/1, returns_while_it_is_left_alone/1,
         keeper_is_killed_while_one_returns/1, order_is_kept_across_a_replacement/1, blocked_in_receive_is_held/1,
         exit_ends_who_is_held/1, killed_held_process_ends_its_callback/1, killed_worker_is_told/1,
         killed_keeper_is_told/1, killed_keeper_takes_all_with_it/1, told_and_never_begun/1, spawned_without_workers/1,
         keeper_is_found_without_its_former_worker/1, killed_watcher_leaves_nothing/1,
         link_from_a_callback_is_harmless/1, name_that_is_taken_from_a_worker/1, name_that_is_given_to_another/1,
         worker_that_ends_unlinked/1,
         trap_exit_that_is_turned_off/1, trap_exit_that_is_off_when_a_linked_process_ends/1,
         erased_dictionary_is_that_of_one_callback/1, flags_are_put_back/1, workers_share_what_one_process_starts/1,
         exit_normal_is_no_done/1, counted_while_keepers_end/1, malformed_messages_are_dropped/1,
         stray_messages_are_dropped/1, ending_holds_nobody_up/1, sensitive_worker_is_refused/1, limit_of_processes_ends_nobody/1,
         worker_that_ends_unlinked_at_rest/1, answered_wait_keeps_no_timer/1,
         nothing_stays/1, bad_arguments/1, not_started/1, bad_environment/1, laws_hold/1]).

-define(HOLD_MS, 10).
-define(TIMEOUT_MS, 10_000).

all() ->
    [runs_at_once, waits_for_a_message, messages_come_in_order, next_lets_others_go_first,
     sleeper_takes_messages_afterwards, message_comes_before_the_timeout, timeout_comes_without_a_message,
     callbacks_send_to_each_other, self_is_the_callback, ended_identity_reaches_nobody,
     monitor_tells_the_reason, monitor_of_an_ended_one, demonitored_is_not_told, demonitor_forgets_the_monitor,
     callback_monitors_another, exception_ends_one_only, nonsense_ends_one_only,
     exit_ends_who_waits, others_go_on_beside_one_that_never_returns, many_that_never_return,
     held_one_goes_on_when_it_returns, returns_while_it_is_left_alone,
     keeper_is_killed_while_one_returns, order_is_kept_across_a_replacement, blocked_in_receive_is_held,
     exit_ends_who_is_held, killed_held_process_ends_its_callback, killed_worker_is_told,
     killed_keeper_is_told, killed_keeper_takes_all_with_it, told_and_never_begun, spawned_without_workers,
     keeper_is_found_without_its_former_worker, killed_watcher_leaves_nothing,
     link_from_a_callback_is_harmless, name_that_is_taken_from_a_worker, name_that_is_given_to_another, worker_that_ends_unlinked,
     trap_exit_that_is_turned_off, trap_exit_that_is_off_when_a_linked_process_ends,
     erased_dictionary_is_that_of_one_callback, flags_are_put_back, workers_share_what_one_process_starts,
     exit_normal_is_no_done, counted_while_keepers_end, malformed_messages_are_dropped,
     stray_messages_are_dropped, ending_holds_nobody_up, sensitive_worker_is_refused, limit_of_processes_ends_nobody,
     worker_that_ends_unlinked_at_rest, answered_wait_keeps_no_timer,
     nothing_stays, bad_arguments, not_started, bad_environment, laws_hold].

%% Two workers, whatever the number of schedulers.
init_per_testcase(_, Config) ->
    ok = load(),
    ok = application:set_env(callbacks, workers, 2),
    ok = application:set_env(callbacks, hold_ms, ?HOLD_MS),
    ok = application:start(callbacks),
    Config.

end_per_testcase(Case, _) when Case =:= returns_while_it_is_left_alone; Case =:= keeper_is_killed_while_one_returns ->
    ok = stop(),
    _ = code:purge(callbacks_keeper),
    {module, _} = code:load_file(callbacks_keeper),
    ok;
end_per_testcase(_, _) -> stop().

stop() ->
    _ = application:stop(callbacks),
    ok = application:unload(callbacks).

load() ->
    case application:load(callbacks) of
        ok -> ok;
        {error, {already_loaded, callbacks}} -> ok
    end.

runs_at_once(_) ->
    Test = self(),
    Ids = [callbacks:spawn(fun() -> Test ! {ran, N}, done end) || N <- lists:seq(1, 100)],
    ?assertEqual(100, length(lists:usort(Ids))),
    ?assertEqual([{ran, N} || N <- lists:seq(1, 100)], lists:sort(received(100))).

waits_for_a_message(_) ->
    Id = echo(),
    [callbacks:send(Id, N) || N <- [1, 2, 3]],
    ?assertEqual([{echo, N} || N <- [1, 2, 3]], received(3)).

%% Answers every message.
echo() -> echo(1).

echo(Worker) ->
    Test = self(),
    callbacks:spawn(Worker, fun() -> echo_next(Test) end).

echo_next(Test) -> {wait, fun(Message) -> Test ! {echo, Message}, echo_next(Test) end}.

%% Also messages that come while the callback does not wait.
messages_come_in_order(_) ->
    Test = self(),
    Id = callbacks:spawn(fun() -> slow(Test, 0) end),
    Senders = [spawn_monitor(fun() -> [callbacks:send(Id, {Sender, N}) || N <- lists:seq(1, 200)] end)
               || Sender <- [a, b, c]],
    [?assertEqual(normal, await_down(Monitor)) || {_, Monitor} <- Senders],
    Echoed = [Message || {echo, Message} <- received(600)],
    [?assertEqual(lists:seq(1, 200), [N || {S, N} <- Echoed, S =:= Sender]) || Sender <- [a, b, c]].

slow(Test, Count) when Count rem 50 =:= 49 -> {sleep, 1, fun() -> slow(Test, Count + 1) end};
slow(Test, Count) when Count rem 3 =:= 2 -> {next, fun() -> slow(Test, Count + 1) end};
slow(Test, Count) -> {wait, fun(Message) -> Test ! {echo, Message}, slow(Test, Count + 1) end}.

%% Two callbacks that are always busy take turns.
next_lets_others_go_first(_) ->
    Test = self(),
    _ = callbacks:spawn(1, fun() ->
                                   [callbacks:spawn(1, fun() -> turns(Test, Name, 3) end) || Name <- [a, b]],
                                   done
                           end),
    ?assertEqual([{a, 3}, {b, 3}, {a, 2}, {b, 2}, {a, 1}, {b, 1}], received(6)).

turns(_, _, 0) -> done;
turns(Test, Name, Left) ->
    Test ! {Name, Left},
    {next, fun() -> turns(Test, Name, Left - 1) end}.

sleeper_takes_messages_afterwards(_) ->
    Test = self(),
    Id = callbacks:spawn(fun() -> {sleep, 20, fun() -> Test ! awake, echo_next(Test) end} end),
    [callbacks:send(Id, N) || N <- [1, 2]],
    ?assertEqual([awake, {echo, 1}, {echo, 2}], received(3)).

message_comes_before_the_timeout(_) ->
    Id = patient(60_000),
    callbacks:send(Id, message),
    ?assertEqual([{got, message}], received(1)),
    ?assertMatch(#{alive := 0, done := 1}, settled(0)).

timeout_comes_without_a_message(_) ->
    _ = patient(1),
    ?assertEqual([late], received(1)).

patient(Ms) ->
    Test = self(),
    callbacks:spawn(fun() ->
                            {wait, fun(Message) -> Test ! {got, Message}, done end,
                             Ms, fun() -> Test ! late, done end}
                    end).

%% A token passes round a ring that spans both workers.
callbacks_send_to_each_other(_) ->
    Test = self(),
    Last = callbacks:spawn(fun() -> echo_next(Test) end),
    First = lists:foldl(fun(_, Next) -> callbacks:spawn(fun() -> pass(Next) end) end, Last, lists:seq(1, 1000)),
    callbacks:send(First, 0),
    ?assertEqual([{echo, 1000}], received(1)).

pass(Next) -> {wait, fun(Passed) -> callbacks:send(Next, Passed + 1), done end}.

self_is_the_callback(_) ->
    Test = self(),
    ?assertEqual(undefined, callbacks:self()),
    Id = callbacks:spawn(fun() -> Test ! callbacks:self(), {next, fun() -> Test ! callbacks:self(), done end} end),
    ?assertEqual([Id, Id], received(2)).

ended_identity_reaches_nobody(_) ->
    {Ended, _} = callbacks:spawn_monitor(fun() -> done end),
    [{{callback_down, Ended}, _, process, _, normal}] = received(1),
    Alive = [echo(Worker) || Worker <- lists:append([[1, 2] || _ <- lists:seq(1, 100)])],
    ok = callbacks:send(Ended, lost),
    ok = callbacks:exit(Ended, lost),
    [callbacks:send(Id, kept) || Id <- Alive],
    ?assertEqual([{echo, kept} || _ <- Alive], received(200)),
    ?assertEqual(lists:sort(Alive), lists:sort(callbacks:all())),
    ?assertNot(lists:member(Ended, Alive)).

monitor_tells_the_reason(_) ->
    [begin
         {Id, Reference} = callbacks:spawn_monitor(Fun),
         [{{callback_down, Id}, Reference, process, _, Reason}] = received(1),
         ?assertEqual(Expected, without_stack(Reason))
     end || {Fun, Expected} <- [{fun() -> done end, normal},
                                {fun() -> {next, fun() -> done end} end, normal},
                                {fun() -> exit(planned) end, planned},
                                {fun() -> error(planned) end, {planned, stack}},
                                {fun() -> throw(planned) end, {{nocatch, planned}, stack}},
                                {fun() -> nonsense end, {bad_return, nonsense}}]].

without_stack({Reason, [{_, _, _, _} | _]}) -> {Reason, stack};
without_stack(Reason) -> Reason.

monitor_of_an_ended_one(_) ->
    {Id, _} = callbacks:spawn_monitor(fun() -> done end),
    [_] = received(1),
    Reference = callbacks:monitor(Id),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, noproc}], received(1)).

demonitored_is_not_told(_) ->
    Id = echo(),
    [Gone, Kept] = [callbacks:monitor(Id), callbacks:monitor(Id)],
    true = erlang:demonitor(Gone, [flush]),
    ok = callbacks:exit(Id, planned),
    ?assertMatch([{{callback_down, Id}, Kept, process, _, planned}], received(1)),
    ?assertEqual([], rest()).

%% Also of a monitor from the start, and of those of a callback, on its own worker and on another one.
demonitor_forgets_the_monitor(_) ->
    Test = self(),
    {Id, First} = callbacks:spawn_monitor(fun() -> {wait, fun(_) -> done end} end),
    [ok = callbacks:demonitor(Id, Reference) || Reference <- [First | [callbacks:monitor(Id) || _ <- lists:seq(1, 1000)]]],
    [begin
         Watcher = callbacks:spawn(Worker, fun() ->
                                                   [ok = callbacks:demonitor(Id, callbacks:monitor(Id)) || _ <- lists:seq(1, 100)],
                                                   {_, Own} = callbacks:spawn_monitor(fun() -> done end),
                                                   Test ! none_left,
                                                   {wait, fun(Down) -> Test ! {told, Down, Own}, {wait, fun(_) -> Test ! twice, done end} end}
                                           end),
         none_left = hd(received(1)),
         ?assertMatch([{told, {_, Own, process, _, normal}, Own}], received(1)),
         Rows = fun() -> lists:sum([ets:info(Table, size) || Table <- ets:all(), ets:info(Table, name) =:= callbacks_messages]) end,
         ok = until(fun() -> Rows() =:= 0 end),
         ?assertMatch(#{watched := None} when None =:= #{}, sys:get_state(callbacks_keeper_1)),
         ?assertMatch(#{watched := None} when None =:= #{}, sys:get_state(callbacks_keeper_2)),
         true = lists:member(Watcher, callbacks:all())
     end || Worker <- [1, 2]],
    Kept = callbacks:monitor(Id),
    ok = callbacks:demonitor(Id, make_ref()),
    ok = callbacks:exit(Id, planned),
    ?assertMatch([{{callback_down, Id}, Kept, process, _, planned}], received(1)),
    ok = callbacks:demonitor(Id, Kept),
    ok = callbacks:demonitor(Id, callbacks:monitor(Id)),
    _ = callbacks:info(),
    ?assertEqual([], rest()),
    ?assertEqual({monitors, []}, process_info(self(), monitors)).

callback_monitors_another(_) ->
    Test = self(),
    [begin
         Watched = echo(Of),
         _ = callbacks:spawn(Watcher, fun() ->
                                              Test ! callbacks:monitor(Watched),
                                              {wait, fun(Down) -> Test ! {told, Down}, done end}
                                      end),
         [Reference] = received(1),
         ok = callbacks:exit(Watched, planned),
         ?assertMatch([{told, {{callback_down, Watched}, Reference, process, _, planned}}], received(1))
     end || Watcher <- [1, 2], Of <- [1, 2]].

exception_ends_one_only(_) -> ends_one_only(fun(_) -> error(planned) end).

nonsense_ends_one_only(_) ->
    [ends_one_only(fun(_) -> Nonsense end)
     || Nonsense <- [ok, {wait, fun() -> done end}, {next, fun(_) -> done end}, {sleep, -1, fun() -> done end},
                     {sleep, 16#100000000, fun() -> done end}, {sleep, infinity, fun() -> done end},
                     {wait, fun(_) -> done end, 1}, {wait, fun(_) -> done end, 1, done}, [done], {}]].

ends_one_only(Fun) ->
    Others = [echo(Worker) || Worker <- [1, 2]],
    #{failed := Before} = callbacks:info(),
    Id = callbacks:spawn(fun() -> {wait, Fun} end),
    Reference = callbacks:monitor(Id),
    callbacks:send(Id, go),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, {_, _}}], received(1)),
    [callbacks:send(Other, still_there) || Other <- Others],
    ?assertEqual([{echo, still_there}, {echo, still_there}], received(2)),
    ?assertMatch(#{failed := Failed, held := []} when Failed =:= Before + 1, callbacks:info()).

exit_ends_who_waits(_) ->
    Waiting = [fun() -> {wait, fun(_) -> done end} end,
               fun() -> {sleep, 60_000, fun() -> done end} end,
               fun() -> {wait, fun(_) -> done end, 60_000, fun() -> done end} end],
    [begin
         {Id, Reference} = callbacks:spawn_monitor(Fun),
         ok = callbacks:exit(Id, planned),
         ?assertMatch([{{callback_down, Id}, Reference, process, _, planned}], received(1))
     end || Fun <- Waiting],
    ?assertMatch(#{alive := 0, failed := 3}, callbacks:info()).

%% Callbacks from before, callbacks whose spawn is queued behind it, and later ones.
others_go_on_beside_one_that_never_returns(_) ->
    Test = self(),
    Before = [echo() || _ <- lists:seq(1, 500)],
    Processes = erlang:system_info(process_count),
    Endless = callbacks:spawn(1, fun() -> endless(0) end),
    During = [callbacks:spawn(1, fun() -> {next, fun() -> Test ! ended, done end} end) || _ <- lists:seq(1, 500)],
    [callbacks:send(Id, go) || Id <- Before],
    ?assertEqual(#{{echo, go} => 500, ended => 500}, counted(received(1000))),
    After = [echo() || _ <- lists:seq(1, 500)],
    [callbacks:send(Id, go) || Id <- After],
    ?assertEqual(#{{echo, go} => 500}, counted(received(500))),
    ?assertMatch(#{held := [Endless], failed := 0, alive := 1001}, callbacks:info()),
    ?assertEqual(500, length(lists:usort(During))),
    ?assert(erlang:system_info(process_count) =< Processes + 1).

endless(Count) -> endless(Count + 1).

many_that_never_return(_) ->
    Endless = [callbacks:spawn(1, fun() -> endless(0) end) || _ <- lists:seq(1, 10)],
    Id = echo(),
    callbacks:send(Id, go),
    ?assertEqual([{echo, go}], received(1)),
    #{held := Held} = callbacks:info(),
    ?assertEqual(Endless, lists:sort(Held)).

%% The callback gets the messages that came meanwhile, and its process ends.
held_one_goes_on_when_it_returns(_) ->
    Test = self(),
    {Id, Reference} =
        callbacks:spawn_monitor(fun() ->
                                        receive_go(),
                                        {wait, fun(First) -> Test ! {first, First}, echo_next(Test) end}
                                end),
    Pid = await_held(Id),
    [callbacks:send(Id, N) || N <- [1, 2, 3]],
    Monitor = monitor(process, Pid),
    Pid ! go,
    ?assertEqual(normal, await_down(Monitor)),
    ?assertEqual([{first, 1}, {echo, 2}, {echo, 3}], received(3)),
    ?assertMatch(#{held := [], alive := 1}, callbacks:info()),
    ok = callbacks:exit(Id, planned),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, planned}], received(1)).

receive_go() -> receive go -> ok end.

%% The callback returns after the keeper has separated it, but before the keeper takes the worker's name.
returns_while_it_is_left_alone(_) ->
    Keeper = whereis(callbacks_keeper_1),
    {Id, Reference, Other, Worker} = left_alone(),
    [callbacks:send(Other, N) || N <- [1, 2, 3]],
    ok = returned_meanwhile(Worker),
    callbacks_keeper_1 ! go,
    ?assertEqual([{echo, N} || N <- [1, 2, 3]], received(3)),
    ?assertMatch([], rest()),
    callbacks:send(Id, last),
    ?assertMatch([{took, last}, {{callback_down, Id}, Reference, process, _, normal}], received(2)),
    ok = answered(Other),
    ?assertMatch(#{held := [], alive := 1, failed := 0}, settled(1)),
    ?assertEqual(Keeper, whereis(callbacks_keeper_1)),
    ?assertNot(is_process_alive(Worker)).

%% No keeper waits for the callback then.
keeper_is_killed_while_one_returns(_) ->
    {Id, Reference, _, Worker} = left_alone(),
    Monitor = monitor(process, Worker),
    ok = returned_meanwhile(Worker),
    true = exit(whereis(callbacks_keeper_1), kill),
    _ = await_down(Monitor),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, killed}], received(1)),
    ok = await_keepers(),
    ok = answered(echo(1)).

%% Another callback of a worker, and one that blocks the worker while the keeper is stopped.
left_alone() ->
    Test = self(),
    Other = echo(1),
    ok = answered(Other),
    Worker = whereis(callbacks_worker_1),
    true = register(callbacks_SUITE_stop, Test),
    ok = load_keeper_that_stops(),
    Id = callbacks:spawn(1, fun() -> receive_go(), {wait, fun(Message) -> Test ! {took, Message}, done end} end),
    Reference = callbacks:monitor(Id),
    ?assertEqual([stopped], received(1)),
    {Id, Reference, Other, Worker}.

returned_meanwhile(Worker) ->
    Worker ! go,
    Waits = {current_function, {?MODULE, receive_go, 0}},
    until(fun() ->
                  case process_info(Worker, [current_function, status]) of
                      undefined -> true;
                      Now -> not lists:member(Waits, Now) andalso lists:member({status, waiting}, Now)
                  end
          end).

%% The real keeper, but it stops before it replaces a worker.
load_keeper_that_stops() ->
    {ok, {_, [{abstract_code, {_, Forms}}]}} = beam_lib:chunks(code:which(callbacks_keeper), [abstract_code]),
    {ok, callbacks_keeper, Beam} = compile:forms([stopping(Form) || Form <- Forms]),
    {module, _} = code:load_binary(callbacks_keeper, "stopping", Beam),
    ok.

stopping({function, Anno, replace, 3, [{clause, ClauseAnno, Patterns, Guards, Body}]}) ->
    Stop = {call, Anno, {remote, Anno, {atom, Anno, ?MODULE}, {atom, Anno, stop_here}}, []},
    {function, Anno, replace, 3, [{clause, ClauseAnno, Patterns, Guards, [Stop | Body]}]};
stopping(Form) -> Form.

%% Stops only the first time.
stop_here() ->
    case whereis(callbacks_SUITE_stop) of
        undefined -> ok;
        Test ->
            true = unregister(callbacks_SUITE_stop),
            Test ! stopped,
            receive_go()
    end.

%% The process of a held callback.
await_held(Id) ->
    ok = until(fun() -> maps:get(held, callbacks:info()) =:= [Id] end),
    [Pid] = [P || P <- processes(), proplists:get_value('$callback', dictionary(P)) =:= Id,
                  process_info(P, registered_name) =:= []],
    Pid.

dictionary(Pid) ->
    case process_info(Pid, dictionary) of
        {dictionary, Dictionary} -> Dictionary;
        undefined -> []
    end.

%% Senders that never pause, while workers are replaced again and again.
order_is_kept_across_a_replacement(_) ->
    Test = self(),
    Sink = echo(1),
    Senders = [{Sender, spawn_link(fun() -> send_until_told(Test, Sender, Sink, 0) end)} || Sender <- [a, b]],
    [callbacks:spawn(1, fun() -> timer:sleep(3 * ?HOLD_MS), Test ! was_held, done end) || _ <- lists:seq(1, 5)],
    [receive was_held -> ok after ?TIMEOUT_MS -> error(missing) end || _ <- lists:seq(1, 5)],
    [Pid ! stop || {_, Pid} <- Senders],
    Sent = [receive {sent, Sender, Count} -> {Sender, Count} after ?TIMEOUT_MS -> error(missing) end || {Sender, _} <- Senders],
    callbacks:send(Sink, last),
    Echoed = echoed_until_last(),
    [?assertEqual(lists:seq(1, Count), [N || {S, N} <- Echoed, S =:= Sender]) || {Sender, Count} <- Sent].

echoed_until_last() ->
    receive
        {echo, last} -> [];
        {echo, Message} -> [Message | echoed_until_last()]
    after ?TIMEOUT_MS -> error(missing)
    end.

send_until_told(Test, Sender, Sink, Count) ->
    receive
        stop -> Test ! {sent, Sender, Count}
    after 0 ->
            callbacks:send(Sink, {Sender, Count + 1}),
            erlang:yield(),
            send_until_told(Test, Sender, Sink, Count + 1)
    end.

blocked_in_receive_is_held(_) ->
    Id = callbacks:spawn(1, fun() -> erase(), receive_go(), done end),
    Other = echo(1),
    callbacks:send(Other, go),
    ?assertEqual([{echo, go}], received(1)),
    ?assertMatch(#{held := [Id]}, callbacks:info()).

exit_ends_who_is_held(_) ->
    {Id, Reference} = callbacks:spawn_monitor(fun() -> endless(0) end),
    Pid = await_held(Id),
    Monitor = monitor(process, Pid),
    ok = callbacks:exit(Id, planned),
    ?assertEqual(killed, await_down(Monitor)),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, planned}], received(1)),
    ?assertMatch(#{alive := 0, failed := 1, held := []}, settled(0)).

killed_held_process_ends_its_callback(_) ->
    {Id, Reference} = callbacks:spawn_monitor(fun() -> endless(0) end),
    true = exit(await_held(Id), kill),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, killed}], received(1)),
    ?assertMatch(#{alive := 0, failed := 1, held := []}, settled(0)).

%% All callbacks of that worker are lost, those of the other one are not.
killed_worker_is_told(_) -> lost_with(callbacks_worker_1).

killed_keeper_is_told(_) -> lost_with(callbacks_keeper_1).

lost_with(Name) ->
    [Lost, Kept] = [echo(Worker) || Worker <- [1, 2]],
    References = [callbacks:monitor(Id) || Id <- [Lost, Kept]],
    ok = answered(Kept),
    Pid = whereis(Name),
    true = exit(Pid, kill),
    ?assertMatch([{{callback_down, Lost}, Reference, process, _, _}] when Reference =:= hd(References), received(1)),
    ok = answered(Kept),
    ok = callbacks:send(Lost, lost),
    ok = await_keepers(),
    Fresh = echo(1),
    ok = answered(Fresh),
    ?assertEqual([], rest()).

%% Before that, a callback may still reach the worker that is about to end.
await_keepers() ->
    #{} = callbacks:info(),
    ok.

answered(Id) ->
    callbacks:send(Id, there),
    [{echo, there}] = received(1),
    ok.

%% A killed keeper cannot end the held callbacks itself.
killed_keeper_takes_all_with_it(_) ->
    Id = callbacks:spawn(1, fun() -> endless(0) end),
    Monitor = monitor(process, await_held(Id)),
    true = exit(whereis(callbacks_keeper_1), kill),
    ?assertEqual(killed, await_down(Monitor)).

%% Who is told of the end by a keeper that was killed is not started by the next one: here the
%% worker gets what was sent to the one before.
told_and_never_begun(_) ->
    Test = self(),
    {Id, Reference} = callbacks:spawn_monitor(fun() -> {wait, fun(_) -> done end} end),
    Former = whereis(callbacks_route:keeper_name(callbacks_route:worker(Id))),
    true = exit(Former, kill),
    [{{callback_down, Id}, Reference, process, Former, killed}] = received(1),
    ok = callbacks_route:post(Id, {'$spawn', Id, {fun() -> Test ! begun, done end, Reference, Former}}),
    ok = await_keepers(),
    ok = answered(echo(callbacks_route:worker(Id))),
    ?assertEqual([], rest()),
    ?assertMatch(#{spawned := Spawned, alive := Spawned, done := 0}, callbacks:info()).

%% The callback begins when there are workers. Until then, no monitor reports its end.
spawned_without_workers(_) ->
    Test = self(),
    ok = sys:suspend(callbacks_sup),
    Keepers = [callbacks_keeper_1, callbacks_keeper_2],
    Monitors = [monitor(process, Name) || Name <- [callbacks_worker_1, callbacks_worker_2 | Keepers]],
    [exit(whereis(Keeper), kill) || Keeper <- Keepers],
    [await_down(Monitor) || Monitor <- Monitors],
    Spawner = spawn_link(fun() ->
                                 callbacks:spawn_monitor(fun() -> Test ! begun, {wait, fun(_) -> done end} end),
                                 Test ! spawned,
                                 timer:sleep(infinity)
                         end),
    timer:sleep(20), % it has looked for them, most likely
    ok = sys:resume(callbacks_sup),
    ?assertEqual([begun, spawned], lists:sort(received(2))),
    ?assertEqual({messages, []}, process_info(Spawner, messages)).

%% Messages to that worker are lost, and no monitor would report it. So the new keeper takes its name only when
%% the former worker has lost its own.
%% The worker is in a callback, so it does not end with its keeper by itself.
keeper_is_found_without_its_former_worker(_) ->
    Test = self(),
    [Worker, Keeper] = [whereis(callbacks_worker_1), whereis(callbacks_keeper_1)],
    ok = sys:suspend(Keeper), % so that it is not held
    _ = callbacks:spawn(1, fun() -> Test ! begun, endless(0) end),
    ?assertEqual([begun], received(1)),
    1 = erlang:trace(Worker, true, [procs, strict_monotonic_timestamp]),
    1 = erlang:trace(whereis(callbacks_sup), true, [procs, set_on_spawn, strict_monotonic_timestamp]),
    true = exit(Keeper, kill),
    Gone = receive {trace_ts, Worker, unregister, callbacks_worker_1, At} -> At after ?TIMEOUT_MS -> error(missing) end,
    Found = receive {trace_ts, _, register, callbacks_keeper_1, Then} -> Then after ?TIMEOUT_MS -> error(missing) end,
    ?assert(Gone < Found).

%% The watcher is killed while it waits for the worker of the watched callback.
killed_watcher_leaves_nothing(_) ->
    Watched = echo(2),
    ok = answered(Watched),
    Worker = whereis(callbacks_worker_2),
    ok = until(fun() -> maps:get(last, sys:get_state(callbacks_keeper_2)) =:= none end), % else it gives the name back
    true = unregister(callbacks_worker_2),
    Watcher = callbacks:spawn(1, fun() -> callbacks:monitor(Watched), {wait, fun(_) -> done end} end),
    Pid = await_held(Watcher),
    Monitor = monitor(process, Pid),
    true = exit(Pid, kill),
    ?assertEqual(killed, await_down(Monitor)),
    true = register(callbacks_worker_2, Worker),
    Reference = callbacks:monitor(Watched),
    ok = callbacks:exit(Watched, planned),
    ?assertMatch([{{callback_down, Watched}, Reference, process, _, planned}], received(1)),
    ?assertMatch(#{alive := 0, held := []}, settled(0)),
    ?assertMatch(#{watched := None} when None =:= #{}, sys:get_state(callbacks_keeper_1)),
    ?assertNot(lists:member({process, whereis(callbacks_keeper_2)},
                            element(2, process_info(whereis(callbacks_keeper_1), monitors)))).

link_from_a_callback_is_harmless(_) ->
    Id = callbacks:spawn(1, fun() -> link(spawn(fun() -> exit(planned) end)), {wait, fun(_) -> done end} end),
    Other = echo(1),
    ok = answered(Other),
    Reference = callbacks:monitor(Id),
    callbacks:send(Id, go),
    ?assertMatch([{{callback_down, Id}, Reference, process, _, normal}], received(1)),
    ok = answered(Other).

%% Senders wait for the name. Without it, all of them would wait forever.
name_that_is_taken_from_a_worker(_) ->
    Other = echo(1),
    Test = self(),
    [begin
         _ = callbacks:spawn(1, fun() ->
                                        true = unregister(callbacks_worker_1),
                                        _ = Name =:= none orelse register(Name, erlang:self()),
                                        Test ! taken,
                                        done
                                end),
         ?assertEqual([taken], received(1)),
         ok = answered(Other)
     end || Name <- [none, another_name]],
    ?assertEqual(undefined, whereis(another_name)).

%% The other process would get all messages to the worker, for as long as it lives.
name_that_is_given_to_another(_) ->
    Test = self(),
    Other = echo(1),
    [begin
         Stranger = spawn_link(fun() -> timer:sleep(infinity) end),
         _ = callbacks:spawn(1, fun() ->
                                        true = unregister(Name),
                                        true = register(Name, Stranger),
                                        Test ! given,
                                        done
                                end),
         ?assertEqual([given], received(1)),
         ok = until(fun() -> not lists:member(whereis(Name), [undefined, Stranger]) end),
         ok = answered(Other),
         ?assertMatch(#{alive := 1}, settled(1))
     end || Name <- [callbacks_worker_1, callbacks_keeper_1]].

%% Without a link, the keeper gets no exit signal.
worker_that_ends_unlinked(_) ->
    Lost = echo(1),
    Reference = callbacks:monitor(Lost),
    _ = callbacks:spawn(1, fun() -> true = unlink(whereis(callbacks_keeper_1)), exit(erlang:self(), kill), receive never -> done end end),
    ok = callbacks:send(Lost, lost),
    _ = callbacks:spawn(1, fun() -> done end),
    ?assertMatch([{{callback_down, Lost}, Reference, process, _, {worker_down, _}}], received(1)),
    ok = await_keepers(),
    ok = answered(echo(1)).

%% No look of the keeper comes between.
worker_that_ends_unlinked_at_rest(_) ->
    Lost = echo(1),
    Reference = callbacks:monitor(Lost),
    Worker = whereis(callbacks_worker_1),
    Test = self(),
    _ = callbacks:spawn(1, fun() -> true = unlink(whereis(callbacks_keeper_1)), Test ! unlinked, done end),
    ?assertEqual([unlinked], received(1)),
    ok = until(fun() -> process_info(Worker, status) =:= {status, waiting} end),
    true = exit(Worker, kill),
    _ = spawn(fun() -> callbacks:send(Lost, lost) end),
    ?assertMatch([{{callback_down, Lost}, Reference, process, _, {worker_down, _}}], received(1)),
    ok = await_keepers(),
    ok = answered(echo(1)).

answered_wait_keeps_no_timer(_) ->
    Test = self(),
    Took = fun(Message) -> Test ! Message, {wait, fun(_) -> done end} end,
    Id = callbacks:spawn(1, fun() -> {wait, Took, 3_600_000, fun() -> done end} end),
    Rows = gen_server:call(callbacks_keeper_1, rows),
    ok = until(fun() -> ets:lookup(Rows, Id) =/= [] end),
    [{Id, {wait, _, Timer, _}, _}] = ets:lookup(Rows, Id),
    ?assert(is_integer(erlang:read_timer(Timer))),
    ok = callbacks:send(Id, answer),
    ?assertEqual([answer], received(1)),
    ok = until(fun() -> erlang:read_timer(Timer) =:= false end).

%% Else the heap of the next callback ends the worker with all that wait for it.
flags_are_put_back(_) ->
    Self = self(),
    Flags = fun() ->
                    {garbage_collection, Sizes} = process_info(self(), garbage_collection),
                    {process_info(self(), [priority, message_queue_data, group_leader]), lists:keydelete(minor_gcs, 1, Sizes)}
            end,
    _ = callbacks:spawn(1, fun() ->
                                   Self ! {before, Flags()},
                                   _ = process_flag(priority, low),
                                   _ = process_flag(message_queue_data, off_heap),
                                   _ = process_flag(min_heap_size, 0),
                                   _ = process_flag(max_heap_size, #{size => 50_000, kill => true}),
                                   _ = process_flag(min_heap_size, 30_000),
                                   _ = process_flag(min_bin_vheap_size, 1_000_000),
                                   _ = process_flag(fullsweep_after, 0),
                                   true = group_leader(Self, self()),
                                   done
                           end),
    _ = callbacks:spawn(1, fun() -> Self ! {'after', Flags()}, done end),
    [Before, After] = [receive {When, Seen} -> Seen after 5_000 -> error(When) end || When <- [before, 'after']],
    ?assertEqual(Before, After).

%% No worker gets more than twice its part. (The low bits of a unique integer are those of the scheduler.)
workers_share_what_one_process_starts(_) ->
    Self = self(),
    Each = callbacks_route:workers(),
    _ = [callbacks:spawn(fun() -> Self ! {on, erlang:self()}, done end) || _ <- lists:seq(1, 1000 * Each)],
    Counts = maps:values(maps:groups_from_list(fun(Pid) -> Pid end,
                                               [receive {on, Pid} -> Pid after 5_000 -> error(lost) end || _ <- lists:seq(1, 1000 * Each)])),
    ?assertEqual([], [length(Same) || Same <- Counts, length(Same) > 2000]).

trap_exit_that_is_turned_off(_) ->
    Other = echo(1),
    Test = self(),
    Worker = whereis(callbacks_worker_1),
    _ = callbacks:spawn(1, fun() ->
                                   _ = process_flag(trap_exit, false),
                                   Test ! spawn_link(fun() -> receive go -> exit(planned) end end),
                                   done
                           end),
    [Linked] = received(1),
    ok = answered(Other),
    Monitor = monitor(process, Linked),
    Linked ! go,
    ?assertEqual(planned, await_down(Monitor)),
    ok = answered(Other),
    ?assertEqual(Worker, whereis(callbacks_worker_1)).

%% As the README says. No exit signal can be kept from a process that does not trap exits.
trap_exit_that_is_off_when_a_linked_process_ends(_) ->
    Other = echo(1),
    Watch = callbacks:monitor(Other),
    ok = answered(Other),
    Blocked = fun() -> receive {never, Other} -> done end end,
    _ = callbacks:spawn(1, fun() -> process_flag(trap_exit, false), spawn_link(fun() -> exit(planned) end), Blocked() end),
    receive {{callback_down, Other}, Watch, process, _, Reason} -> ?assertEqual({worker_down, planned}, Reason)
    after ?TIMEOUT_MS -> error(missing)
    end,
    ok = until(fun() -> is_pid(whereis(callbacks_worker_1)) end),
    ok = answered(echo(1)).

%% What the callback erases is set again for the next one.
erased_dictionary_is_that_of_one_callback(_) ->
    Test = self(),
    Other = echo(1),
    Erasing = callbacks:spawn(1, fun() ->
                                         Before = callbacks:self(),
                                         _ = erase(),
                                         Test ! {Before, callbacks:self()},
                                         {wait, fun(_) -> Test ! callbacks:self(), done end}
                                 end),
    ?assertEqual([{Erasing, undefined}], received(1)),
    ok = callbacks:send(Erasing, go),
    ?assertEqual([Erasing], received(1)),
    ok = answered(Other).

exit_normal_is_no_done(_) ->
    [{_, Exits}, {_, Done}] = [callbacks:spawn_monitor(Fun) || Fun <- [fun() -> exit(normal) end, fun() -> done end]],
    Id = echo(),
    Ended = callbacks:monitor(Id),
    ok = callbacks:exit(Id, normal),
    ?assertEqual(lists:sort([Exits, Done, Ended]), lists:sort([Reference || {_, Reference, process, _, normal} <- received(3)])),
    ?assertMatch(#{done := 1, failed := 2}, callbacks:info()).

%% Callers wait for the next keeper.
counted_while_keepers_end(_) ->
    [begin
         true = exit(whereis(callbacks_route:keeper_name(Worker)), kill),
         ?assertMatch(#{workers := 2}, callbacks:info()),
         true = exit(whereis(callbacks_route:worker_name(Worker)), kill),
         ?assert(is_list(callbacks:all()))
     end || Worker <- lists:append(lists:duplicate(10, [1, 2]))].

malformed_messages_are_dropped(_) ->
    Ids = [echo(Worker) || Worker <- [1, 2]],
    Processes = [whereis(Name) || Name <- [callbacks_worker_1, callbacks_keeper_1]],
    Fun = fun() -> done end,
    [callbacks_worker_1 ! Message
     || Message <- [{'$spawn', Id, Fun} || Id <- [foo, 0, -1, 5, 1023, 1 bsl 100 bor 1, 1.0]]
            ++ [{'$spawn', hd(Ids) + (1 bsl 40), {Fun, junk, whereis(callbacks_keeper_1)}},
                {'$monitor', 5, junk}, {'$monitor', hd(Ids), junk}, {'$demonitor', 5, junk}, {'$demonitor', hd(Ids), junk},
                {'$message', foo, x}, {'$exit', foo, x}, {'$returned', foo, {a, b}},
                {'$returned', hd(Ids), junk}, {'$timeout', foo, x}, {'$run', foo, x}, {'$tell', hd(Ids), x}, {'$tell', foo, x},
                {'$drop', hd(Ids), x}, {'$drop', foo, x}]],
    [?assertEqual({error, request}, gen_server:call(callbacks_keeper_1, Request))
     || Request <- [junk, {unwatch, a, b}, {watch, a, b, c, d}, {watch, 1, foo, self(), post}, {watch, 1, 5, self(), post}]],
    [ok = answered(Id) || Id <- Ids],
    ok = callbacks:exit(hd(Ids), planned),
    ok = answered(lists:last(Ids)),
    ?assertEqual(Processes, [whereis(Name) || Name <- [callbacks_worker_1, callbacks_keeper_1]]).

stray_messages_are_dropped(_) ->
    [callbacks_worker_1 ! Stray || Stray <- [stray, {stray, 1}, {'$message', x, y}, {'EXIT', self(), planned}]],
    [callbacks_keeper_1 ! Stray || Stray <- [stray, {timeout, make_ref(), 1}]],
    gen_server:cast(callbacks_keeper_1, stray),
    Id = echo(1),
    ok = answered(Id).

limit_of_processes_ends_nobody(_) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["+P", "1024", "-pa" | ebins()]}),
    ?assertMatch({again, #{alive := 100, held := []}, []}, peer:call(Peer, ?MODULE, block_at_the_limit, [])),
    ok = peer:stop(Peer).

ebins() -> [filename:dirname(code:which(Module)) || Module <- [?MODULE, callbacks]].

%% In the peer: what the callbacks did meanwhile, what is left of them, and which ends were told.
block_at_the_limit() ->
    ok = load(),
    ok = application:set_env(callbacks, workers, 1),
    ok = application:start(callbacks),
    Test = self(),
    Echo = fun Echo() -> {wait, fun(Message) -> Test ! Message, Echo() end} end,
    [{Id, _} | _] = [callbacks:spawn_monitor(Echo) || _ <- lists:seq(1, 100)],
    Fillers = fillers(),
    _ = callbacks:spawn(fun() -> receive after 20 * ?HOLD_MS -> done end end),
    ok = callbacks:send(Id, again),
    Answer = receive again -> again after ?TIMEOUT_MS -> lost end,
    _ = [exit(Filler, kill) || Filler <- Fillers],
    {Answer, settled(100), [Reason || {{callback_down, _}, _, process, _, Reason} <- element(2, process_info(self(), messages))]}.

fillers() ->
    try spawn(fun() -> receive after infinity -> ok end end) of
        Pid -> [Pid | fillers()]
    catch error:system_limit -> []
    end.

%% No rows, kept messages, processes or monitors.
nothing_stays(_) ->
    Processes = erlang:system_info(process_count),
    Before = tables(),
    Ids = [callbacks:spawn(fun() -> {sleep, 60_000, fun() -> done end} end) || _ <- lists:seq(1, 1000)],
    [callbacks:send(Id, {N, kept}) || Id <- Ids, N <- [1, 2, 3]],
    References = [callbacks:monitor(Id) || Id <- Ids],
    [callbacks:exit(Id, planned) || Id <- Ids],
    ?assertEqual(lists:sort(References), lists:sort([Reference || {_, Reference, _, _, planned} <- received(1000)])),
    ?assertMatch(#{alive := 0, spawned := 1000, failed := 1000}, callbacks:info()),
    ?assertEqual([], callbacks:all()),
    ?assertEqual(Before, tables()),
    ?assertEqual({monitors, []}, process_info(self(), monitors)),
    ?assertEqual(Processes, erlang:system_info(process_count)).

tables() ->
    lists:sort([{ets:info(Table, name), ets:info(Table, size)}
                || Table <- ets:all(), Keeper <- [callbacks_keeper_1, callbacks_keeper_2],
                   ets:info(Table, owner) =:= whereis(Keeper)]).

bad_arguments(_) ->
    [begin
         {badarg, Stack} = failure(Fun),
         ?assertMatch(#{Number := Text}, callbacks:format_error(badarg, Stack))
     end || {Number, Text, Fun} <-
                [{1, "not a fun without arguments", fun() -> callbacks:spawn(done) end},
                 {1, "not a fun without arguments", fun() -> callbacks:spawn(fun(_) -> done end) end},
                 {1, "not a fun without arguments", fun() -> callbacks:spawn_monitor(done) end},
                 {2, "not a fun without arguments", fun() -> callbacks:spawn(1, done) end},
                 {1, "not the number of a worker", fun() -> callbacks:spawn(3, fun() -> done end) end},
                 {1, "not the number of a worker", fun() -> callbacks:spawn(0, fun() -> done end) end},
                 {1, "not a callback of this node", fun() -> callbacks:send(self(), message) end},
                 {1, "not a callback of this node", fun() -> callbacks:send(1024, message) end},
                 {1, "not a callback of this node", fun() -> callbacks:exit(-1, reason) end},
                 {1, "not a callback of this node", fun() -> callbacks:monitor(7) end},
                 {1, "not a callback of this node", fun() -> callbacks:demonitor(7, make_ref()) end},
                 {2, "not a reference", fun() -> callbacks:demonitor(echo(), junk) end}]].

%% What another callback has to do comes between the parts of the end of one that has many messages
%% and watchers. The worker counts as a message comes, so each part is one message.
ending_holds_nobody_up(_) ->
    Many = 20_000,
    Sleeper = callbacks:spawn(1, fun() -> {sleep, 600_000, fun() -> done end} end),
    _ = [callbacks:send(Sleeper, N) || N <- lists:seq(1, Many)],
    Watchers = [callbacks:monitor(Sleeper) || _ <- lists:seq(1, Many)],
    Other = echo(1),
    ok = answered(Other),
    Worker = whereis(callbacks_worker_1),
    1 = erlang:trace(Worker, true, ['receive']),
    ok = callbacks:exit(Sleeper, planned),
    [receive {{callback_down, Sleeper}, Watcher, process, _, planned} -> ok after ?TIMEOUT_MS -> error(missing) end
     || Watcher <- Watchers],
    ok = until(fun() -> ets:info(messages_table(), size) =:= 0 end),
    1 = erlang:trace(Worker, false, ['receive']),
    Parts = [Item || {trace, Pid, 'receive', {Kind, Item, _}} <- rest(), Pid =:= Worker, lists:member(Kind, ['$tell', '$drop'])],
    ?assert(length(Parts) >= 2 * (Many div 1000) - 2),
    ok = answered(Other).

messages_table() ->
    [Table] = [Table || Table <- ets:all(), ets:info(Table, name) =:= callbacks_messages,
                        ets:info(Table, owner) =:= whereis(callbacks_keeper_1)],
    Table.

%% Nothing is lost unseen: what waits for a worker that hides it cannot be passed on, so the worker ends.
sensitive_worker_is_refused(_) ->
    Self = self(),
    _ = callbacks:spawn(1, fun() -> process_flag(sensitive, true), Self ! set, done end),
    receive set -> ok end,
    Waiting = echo(1),
    ok = answered(Waiting),
    Watch = callbacks:monitor(Waiting),
    ok = answered(Waiting),
    Blocked = callbacks:spawn(1, fun() -> Self ! begun, receive {never, Self} -> done end end),
    receive begun -> ok end,
    _ = [callbacks:send(Waiting, N) || N <- lists:seq(1, 100)],
    receive {{callback_down, Waiting}, Watch, process, _, Reason} -> ?assertEqual({worker_down, sensitive}, Reason)
    after ?TIMEOUT_MS -> error(missing)
    end,
    ok = until(fun() -> is_pid(whereis(callbacks_worker_1)) end),
    ?assertNot(lists:member(Blocked, callbacks:all())),
    ok = answered(echo(1)).

failure(Fun) ->
    try Fun() of Value -> {no_failure, Value}
    catch error:Reason:Stack -> {Reason, Stack}
    end.

not_started(_) ->
    Id = echo(),
    ok = application:stop(callbacks),
    [?assertError(callbacks_not_started, Fun())
     || Fun <- [fun() -> callbacks:spawn(fun() -> done end) end, fun() -> callbacks:send(Id, message) end,
                fun() -> callbacks:info() end]].

bad_environment(_) ->
    ok = application:stop(callbacks),
    [begin
         ok = application:set_env(callbacks, Name, Value),
         ?assertMatch({error, {{bad_environment, {Name, Value, _}}, _}}, application:start(callbacks)),
         ok = application:set_env(callbacks, Name, 2)
     end || {Name, Value} <- [{workers, 0}, {workers, 1024}, {workers, many}, {hold_ms, 0}, {hold_ms, 1.5}]],
    ok = application:start(callbacks),
    ?assertMatch(#{workers := 2}, callbacks:info()).

laws_hold(_) ->
    true = proper:quickcheck(prop_callbacks:prop_every_callback_ends_once_or_waits(),
                             [{numtests, 200}, {max_size, 40}, quiet, long_result]).

received(0) -> [];
received(Count) ->
    receive Message -> [Message | received(Count - 1)]
    after ?TIMEOUT_MS -> error({missing, Count})
    end.

%% Unexpected messages.
rest() ->
    receive Message -> [Message | rest()]
    after 0 -> []
    end.

counted(Messages) -> maps:map(fun(_, Group) -> length(Group) end, maps:groups_from_list(fun(M) -> M end, Messages)).

%% The counts once this many callbacks are left.
settled(Alive) ->
    ok = until(fun() -> maps:with([alive, held], callbacks:info()) =:= #{alive => Alive, held => []} end),
    callbacks:info().

until(Fun) -> until(Fun, ?TIMEOUT_MS).

until(Fun, Left) ->
    case Fun() of
        true -> ok;
        false when Left > 0 ->
            timer:sleep(1),
            until(Fun, Left - 1);
        false -> error(missing)
    end.

await_down(Monitor) ->
    receive {'DOWN', Monitor, process, _, Reason} -> Reason
    after ?TIMEOUT_MS -> error(missing)
    end.
