%% Calls that are timed: what ends badly, what is read, and what the slopes say.
%% How fast anything is, is not tested.
-module(mailbox_audit_timed_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, line_is_exact/1, interval_of_the_sign_test/1, one_round_far_off_moves_nothing/1,
         scan_is_told_from_none/1, crash_is_reported/1, never_returning_is_reported/1,
         the_rest_goes_on/1, setup_and_cleanup_go_together/1, calls_are_read_not_run/1,
         other_text_is_refused/1, catalogue_works/1, catalogue_is_large_enough/1,
         causes_name_receives_that_scan/1, names_that_nothing_has/1, depths_that_make_no_line/1,
         bad_calls_and_options/1]).

all() ->
    [line_is_exact, interval_of_the_sign_test, one_round_far_off_moves_nothing, scan_is_told_from_none,
     crash_is_reported, never_returning_is_reported, the_rest_goes_on, setup_and_cleanup_go_together,
     calls_are_read_not_run, other_text_is_refused, catalogue_works, catalogue_is_large_enough,
     causes_name_receives_that_scan, names_that_nothing_has, depths_that_make_no_line,
     bad_calls_and_options].

line_is_exact(_) ->
    Line = [{N, 1000 + 5 * N} || N <- [0, 10_000, 100_000]],
    ?assertEqual(#{estimate => 5.0, low => 5.0, high => 5.0}, mailbox_audit_slope:of_rounds(lists:duplicate(6, Line))).

%% Of 9 fair coins fewer than 2 show heads 10 times in 512, fewer than 3 already
%% 46 times, which is over 2.5 %; of 25, fewer than 8 show heads in 2.16 %.
interval_of_the_sign_test(_) ->
    [?assertMatch({Rounds, #{low := Low, high := High}},
                  {Rounds, mailbox_audit_slope:of_rounds([[{0, 0}, {1, N}] || N <- lists:seq(1, Rounds)])})
     || {Rounds, Low, High} <- [{6, 1.0, 6.0}, {8, 1.0, 8.0}, {9, 2.0, 8.0}, {25, 8.0, 18.0}]].

one_round_far_off_moves_nothing(_) ->
    Rounds = [[{0, 0}, {1, 3}] || _ <- lists:seq(1, 8)] ++ [[{0, 0}, {1, 1_000_000}]],
    ?assertEqual(#{estimate => 3.0, low => 3.0, high => 3.0}, mailbox_audit_slope:of_rounds(Rounds)).

%% A scan of 100 thousand messages takes hundreds of microseconds, taking the
%% reply by its marker one or two, and the bound between them is at a hundred. A
%% busy machine may make either unsure, but never one the other.
scan_is_told_from_none(_) ->
    Scan = #{name => "scan", cause => "planted",
             call => fun(_) -> self() ! {wanted, 1}, receive {wanted, 1} -> ok end end},
    Marker = #{name => "marker",
               call => fun(_) -> Ref = make_ref(), self() ! {wanted, Ref}, receive {wanted, Ref} -> ok end end},
    [#{name := "scan", verdict := Scans, cause := "planted", times := [{0, _}, {10_000, _}, {100_000, _}]},
     #{name := "marker", verdict := Flat, slope := #{}}] = mailbox_audit_timed:run([Scan, Marker], #{}),
    ?assert(lists:member(Scans, [scans, unsure]), Scans),
    ?assert(lists:member(Flat, [flat, unsure]), Flat).

crash_is_reported(_) ->
    [?assertMatch([#{verdict := crashed, slope := none, reason := Reason}],
                  mailbox_audit_timed:run([#{name => "bad", call => Call}], #{depths => [0]}))
     || {Call, Reason} <- [{fun(_) -> error(broken) end, "broken"}, {fun(_) -> exit(broken) end, "broken"},
                           {fun(_) -> throw(broken) end, "broken"},
                           {fun(_) -> exit(self(), kill), timer:sleep(1000) end, "killed"}]].

never_returning_is_reported(_) ->
    [#{verdict := timed_out, reason := Reason}] =
        mailbox_audit_timed:run([#{name => "long", call => fun(_) -> timer:sleep(infinity) end}],
                                #{depths => [3], timeout_ms => 50}),
    ?assertEqual("did not come back within 50 ms, with 3 messages waiting", Reason).

the_rest_goes_on(_) ->
    Self = self(),
    Entries = [#{name => "first", call => fun(_) -> error(broken) end},
               #{name => "second", call => fun(_) -> ok end}],
    Results = mailbox_audit_timed:run(Entries, #{depths => [0, 10],
                                                 progress => fun(Done, All) -> Self ! {Done, All} end}),
    ?assertMatch([#{name := "first", verdict := crashed}, #{name := "second", slope := #{}}], Results),
    [receive Progress -> ok after 0 -> error({missing, Progress}) end || Progress <- [{1, 2}, {2, 2}]].

setup_and_cleanup_go_together(_) ->
    Self = self(),
    Entry = #{name => "failing", setup => fun() -> Self ! set_up, state end,
              prepare => fun(state) -> input end, call => fun(input) -> error(broken) end,
              cleanup => fun(state) -> Self ! cleaned_up end},
    [#{verdict := crashed}] = mailbox_audit_timed:run([Entry], #{depths => [0]}),
    [receive Message -> ok after 0 -> error({missing, Message}) end || Message <- [set_up, cleaned_up]].

calls_are_read_not_run(_) ->
    [?assertEqual({ok, Call}, mailbox_audit_call:parse(Text))
     || {Text, Call} <- [{"file:read_file_info(\"/tmp\")", {file, read_file_info, ["/tmp"]}},
                         {" timer:sleep(0). ", {timer, sleep, [0]}},
                         {"timer:sleep(0).\n%% briefly\n", {timer, sleep, [0]}}, {"timer:sleep(0) % briefly", {timer, sleep, [0]}},
                         {"a:'B c'(#{k => [1, {2.5, <<\"b\">>}]}, -1)", {a, 'B c', [#{k => [1, {2.5, ~"b"}]}, -1]}},
                         {"erlang:now()", {erlang, now, []}}]].

other_text_is_refused(_) ->
    [?assertMatch({Text, {error, [_ | _]}}, {Text, mailbox_audit_call:parse(Text)})
     || Text <- ["", "file", "sleep(0)", "timer:sleep(X)", "timer:sleep(os:cmd(\"true\"))", "timer:sleep(self())",
                 "a:b(), c:d()", "a:b(fun() -> ok end)", "a:b(", "\"", "X:b()", "1:b()", "a:b(1 + 1)"]].

catalogue_works(_) ->
    Failed = [{Name, Reason} || #{name := Name} = Entry <- mailbox_audit_catalogue:entries(),
                                {failed, Reason} <- [once(Entry)]],
    ?assertEqual([], Failed).

%% An entry the whole way, in a process of its own.
once(Entry) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({tried, tried(Entry)}) end),
    receive
        {'DOWN', Monitor, process, Pid, {tried, Outcome}} -> Outcome;
        {'DOWN', Monitor, process, Pid, Reason} -> {failed, Reason}
    end.

tried(#{call := Call} = Entry) ->
    Step = fun(Name, Default) -> maps:get(Name, Entry, Default) end,
    State = (Step(setup, fun() -> none end))(),
    Input = (Step(prepare, fun(Same) -> Same end))(State),
    Result = Call(Input),
    _ = (Step(finish, fun(_, _) -> ok end))(Input, Result),
    _ = (Step(cleanup, fun(_) -> ok end))(State),
    ok.

catalogue_is_large_enough(_) ->
    Names = [Name || #{name := Name} <- mailbox_audit_catalogue:entries()],
    ?assert(length(Names) >= 40),
    ?assertEqual(Names, lists:uniq(Names)),
    [?assertMatch({Module, [_ | _]}, {Module, [Name || Name <- Names, string:find(Name, Module ++ ":") =/= nomatch]})
     || Module <- ["file", "gen_tcp", "gen_udp", "inet", "disk_log", "code", "application", "supervisor",
                   "gen_server", "gen_statem", "gen_event", "proc_lib", "io", "logger", "os", "rpc", "erpc",
                   "global", "pg", "ets", "timer", "sys"]].

%% Each function that a cause names has a receive that scans.
causes_name_receives_that_scan(_) ->
    Named = lists:usort([{Module, Function} || #{cause := Cause} <- mailbox_audit_catalogue:entries(),
                                               {Module, Function} <- named(Cause)]),
    {ok, #{findings := Findings}} = mailbox_audit:static(lists:usort([beam(Module) || {Module, _} <- Named])),
    Scanning = [{Module, Function} || #{module := Module, function := Function, verdict := scans} <- Findings],
    ?assert(length(Named) > 10),
    ?assertEqual([], Named -- Scanning).

named(Cause) ->
    case re:run(Cause, "([a-z_0-9]+):([a-zA-Z_0-9]+)/([0-9]+)", [global, {capture, all_but_first, list}]) of
        {match, Found} -> [{list_to_atom(M), {list_to_atom(F), list_to_integer(A)}} || [M, F, A] <- Found];
        nomatch -> []
    end.

beam(Module) ->
    {Module, _Code, File} = code:get_object_code(Module),
    File.

names_that_nothing_has(_) ->
    {error, Reason} = mailbox_audit:timed({catalogue, ["fly", "swim"]}, #{}),
    ?assertMatch("no call of the catalogue has 'fly' or 'swim' in its name" ++ _, mailbox_audit:format_error(Reason)).

depths_that_make_no_line(_) ->
    [begin
         ?assertEqual({error, {bad_depths, Depths}}, mailbox_audit:timed({calls, [{erlang, self, []}]}, #{depths => Depths})),
         ?assertMatch("depths must be " ++ _, mailbox_audit:format_error({bad_depths, Depths}))
     end || Depths <- [[0], [10, 10], [], [0, -1], [0, a], [0, 1.0], many, [0, 10 | 20]]],
    ?assertEqual("depths must be a list of two or more different numbers of messages, not [10,10]",
                 mailbox_audit:format_error({bad_depths, [10, 10]})),
    ?assertMatch({ok, [#{slope := #{}}]}, mailbox_audit:timed({calls, [{erlang, self, []}]}, #{depths => [0, 10, 10]})).

bad_calls_and_options(_) ->
    [begin
         ?assertEqual({error, {bad_calls, Asked}}, mailbox_audit:timed(Asked, #{depths => [0, 10]})),
         ?assertEqual(lists:flatten(io_lib:format("what to time must be {calls, [{Module, Function, Arguments}]} or {catalogue, [Text]},"
                                                  " not ~0tp", [Asked])), mailbox_audit:format_error({bad_calls, Asked}))
     end || Asked <- [x, {calls, x}, {calls, [x]}, {calls, [{lists, reverse, x}]}, {calls, [{lists, reverse, [a | b]}]},
                      {calls, [{"lists", reverse, []}]}, {calls, [{erlang, self, []} | x]}, {catalogue, "gen_tcp:"},
                      {catalogue, [x]}, {catalogue, [~"a" | ~"b"]}]],
    Timed = fun(Options) ->
                    {error, Reason} = mailbox_audit:timed({calls, [{erlang, self, []}]}, Options),
                    mailbox_audit:format_error(Reason)
            end,
    [?assertEqual(lists:flatten(io_lib:format("timeout_ms must be a number of milliseconds from 1 to 4294967295, not ~p", [Ms])),
                  Timed(#{depths => [0, 10], timeout_ms => Ms})) || Ms <- [-1, 0, x, 1.5, 1 bsl 32]],
    ?assertEqual("options must be a map, not []", Timed([])),
    ?assertEqual("progress must be a function of two arguments, not x", Timed(#{progress => x})).
