%% What is where, by terms whose words are known: a list of N small integers
%% has 2 N words of 8 bytes.
-module(ertslab_memory_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, list_is_on_the_heap/1, list_grows_old/1, parts_are_the_whole/1,
         small_message_goes_onto_the_heap/1, large_message_is_a_fragment/1,
         message_off_heap_is_outside/1, literal_counts_though_it_is_not_copied/1,
         binary_counts_once/1, binary_in_a_message_counts_when_taken/1, process_that_is_gone/1,
         carriers_hold_blocks/1, vm_grows_with_a_binary/1]).
-export([before_and_after/1]).

all() ->
    [list_is_on_the_heap, list_grows_old, parts_are_the_whole, small_message_goes_onto_the_heap,
     large_message_is_a_fragment, message_off_heap_is_outside,
     literal_counts_though_it_is_not_copied, binary_counts_once,
     binary_in_a_message_counts_when_taken, process_that_is_gone, carriers_hold_blocks,
     vm_grows_with_a_binary].

list_is_on_the_heap(_) ->
    [Small, Large] = [begin
                          Pid = holder(fun() -> lists:seq(1, N) end, []),
                          true = garbage_collect(Pid),
                          ertslab_memory:process(Pid)
                      end || N <- [1000, 3000]],
    ?assertEqual(2000 * 16, maps:get(heap, Large) - maps:get(heap, Small)),
    ?assertMatch(#{old_heap := 0, fragments := 0, messages := 0, mailbox_on_heap := 0,
                   mailbox_off_heap := 0, binaries := 0}, Large).

%% What survives two minor collections is moved to the old heap.
list_grows_old(_) ->
    [Small, Large] =
        [ertslab_memory:process(
           holder(fun() ->
                          List = lists:seq(1, N),
                          [true = garbage_collect(self(), [{type, minor}]) || _ <- [1, 2, 3]],
                          List
                  end, []))
         || N <- [1000, 3000]],
    ?assertEqual(2000 * 16, maps:get(old_heap, Large) - maps:get(old_heap, Small)).

parts_are_the_whole(_) ->
    Pid = holder(fun() -> put(key, value), lists:seq(1, 1000) end, [link]),
    Pid ! lists:seq(1, 10_000),
    #{heap_block := Block, heap := Heap, stack := Stack, old_heap_block := OldBlock, old_heap := Old,
      fragments := Fragments, outside := Outside, memory := Memory} = ertslab_memory:process(Pid),
    ?assertEqual(Memory, Block + OldBlock + Fragments + Outside),
    ?assertEqual({memory, Memory}, process_info(Pid, memory)),
    ?assert(Heap + Stack =< Block andalso Old =< OldBlock andalso Outside > 0).

%% While a process does not run and its heap has room, messages go there.
small_message_goes_onto_the_heap(_) ->
    Pid = holder(fun() -> none end, [{message_queue_data, on_heap}]),
    #{heap := Before} = ertslab_memory:process(Pid),
    send_suspended(Pid, lists:seq(1, 50)),
    ?assertMatch(#{heap := After, fragments := 0, messages := 1,
                   mailbox_on_heap := 800, mailbox_off_heap := 0} when After =:= Before + 800,
                 ertslab_memory:process(Pid)).

%% Its heap of 233 words has no room for it.
large_message_is_a_fragment(_) ->
    Pid = holder(fun() -> none end, [{message_queue_data, on_heap}]),
    #{heap := Before} = ertslab_memory:process(Pid),
    send_suspended(Pid, lists:seq(1, 10_000)),
    ?assertMatch(#{heap := Before, fragments := 160_000, messages := 1,
                   mailbox_on_heap := 160_000, mailbox_off_heap := 0},
                 ertslab_memory:process(Pid)).

message_off_heap_is_outside(_) ->
    [Small, Large] = [begin
                          Pid = holder(fun() -> none end, [{message_queue_data, off_heap}]),
                          send_suspended(Pid, lists:seq(1, N)),
                          ertslab_memory:process(Pid)
                      end || N <- [1, 10_000]],
    ?assertMatch(#{fragments := 0, mailbox_on_heap := 0, mailbox_off_heap := 160_000,
                   messages := 1}, Large),
    ?assertEqual(maps:get(heap, Small), maps:get(heap, Large)),
    ?assertEqual(9_999 * 16, maps:get(outside, Large) - maps:get(outside, Small)).

literal_counts_though_it_is_not_copied(_) ->
    [Atom, Literal] = [begin
                           Pid = holder(fun() -> none end, [{message_queue_data, off_heap}]),
                           send_suspended(Pid, Message),
                           ertslab_memory:process(Pid)
                       end || Message <- [atom, {a, literal, tuple}]],
    ?assertEqual({0, 32}, {maps:get(mailbox_off_heap, Atom), maps:get(mailbox_off_heap, Literal)}),
    ?assertEqual(maps:get(outside, Atom), maps:get(outside, Literal)).

binary_counts_once(_) ->
    Pid = holder(fun() ->
                         Binary = binary:copy(~"b", 1_000_000),
                         {Binary, [Binary, binary:part(Binary, 1000, 100_000)]}
                 end, []),
    true = garbage_collect(Pid),
    ?assertMatch(#{binaries := 1_000_000, memory := Memory} when Memory < 100_000,
                 ertslab_memory:process(Pid)).

binary_in_a_message_counts_when_taken(_) ->
    Pid = holder(fun() -> none end, [{message_queue_data, off_heap}]),
    send_suspended(Pid, {keep, binary:copy(~"b", 1_000_000)}),
    ?assertMatch(#{binaries := 0, messages := 1}, ertslab_memory:process(Pid)),
    Taker = holder(fun() -> receive {keep, Binary} -> Binary end end, [{message_queue_data, off_heap}]),
    Taker ! {keep, binary:copy(~"b", 1_000_000)},
    await(Taker, 0),
    ?assertMatch(#{binaries := 1_000_000}, ertslab_memory:process(Taker)).

process_that_is_gone(_) ->
    {Pid, Monitor} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Monitor, process, Pid, _} -> ok end,
    ?assertError(noproc, ertslab_memory:process(Pid)).

carriers_hold_blocks(_) ->
    #{carriers := Carriers, blocks := Blocks, total := Total, processes := Processes, system := System,
      rss := Rss, pss := Pss} = ertslab_memory:vm(),
    ?assert(Carriers >= Blocks andalso Blocks > Processes),
    ?assertEqual(Total, Processes + System),
    ?assert(Rss >= Pss andalso Pss > 0 andalso Rss > 10_000_000).

%% In a VM of its own, where nothing else is freed meanwhile. The bytes are written,
%% so they are in blocks, in carriers and in memory.
vm_grows_with_a_binary(_) ->
    {ok, Peer, _} = peer:start(#{connection => standard_io,
                                 args => ["-pa" | [filename:dirname(code:which(Module))
                                                   || Module <- [ertslab_memory, ?MODULE]]]}),
    {Before, After} = peer:call(Peer, ?MODULE, before_and_after, [50_000_000]),
    ok = peer:stop(Peer),
    [?assertMatch({Key, More} when More > 45_000_000,
                  {Key, maps:get(Key, After) - maps:get(Key, Before)})
     || Key <- [total, system, binary, carriers, blocks, rss, pss]].

before_and_after(Bytes) ->
    Before = ertslab_memory:vm(),
    Binary = binary:copy(~"b", Bytes),
    After = ertslab_memory:vm(),
    Bytes = byte_size(Binary),
    {Before, After}.

%% A process that keeps what the fun makes, and takes no message but `stop'.
holder(Fun, Options) ->
    Pid = spawn_opt(fun() ->
                            Kept = Fun(),
                            receive stop -> Kept end
                    end, Options),
    await(Pid, 0),
    Pid.

%% Its messages have been looked at when it waits with them.
await(Pid, Messages) ->
    case process_info(Pid, [status, message_queue_len]) of
        [{status, waiting}, {message_queue_len, Messages}] -> ok;
        _ -> timer:sleep(1), await(Pid, Messages)
    end.

send_suspended(Pid, Message) ->
    true = erlang:suspend_process(Pid),
    Pid ! Message,
    true = erlang:resume_process(Pid),
    await(Pid, 1).
