%% Each call is made with as many messages waiting as are said, and takes none of them.
-module(exp_library_calls_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_call_is_measured/1, mailbox_is_as_said/1, message_taken_is_noticed/1]).

all() -> [every_call_is_measured, mailbox_is_as_said, message_taken_is_noticed].

every_call_is_measured(_) ->
    [?assertMatch(#{samples := [{call, [_ | _]}]}, ertslab_worker:run(exp_library_calls, #{call => Call, depth => Depth}))
     || Call <- calls(), Depth <- [0, 100]].

mailbox_is_as_said(_) ->
    [begin
         #{caller := Caller} = State = exp_library_calls:setup(#{call => Call, depth => 1003}),
         {Time, 1003} = exp_library_calls:run(call, State),
         ?assert(Time > 0),
         ?assertEqual({message_queue_len, 1003}, process_info(Caller, message_queue_len)),
         ok = exp_library_calls:teardown(State)
     end || Call <- calls()].

message_taken_is_noticed(_) ->
    ?assertEqual(ok, exp_library_calls:verify(call, 1000, #{depth => 1000})),
    ?assertMatch({wrong, _}, exp_library_calls:verify(call, 999, #{depth => 1000})).

calls() ->
    #{parameters := [#{name := call, 'of' := Calls} | _]} = exp_library_calls:info(),
    Calls.
