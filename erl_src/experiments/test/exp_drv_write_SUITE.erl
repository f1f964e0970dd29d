%% Every path of the experiment writes what it is given, in a mailbox that stays as it
%% was said to be.
-module(exp_drv_write_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([suite/0, all/0, measures_every_metric/1, every_payload_and_sink/1, mailbox_is_as_said/1,
         dam_keeps_the_mailbox_short/1, paths_write_the_same/1, wrong_result_is_noticed/1,
         file_is_removed/1, needs_grow_with_depth/1]).

suite() -> [{timetrap, {seconds, 60}}].

all() ->
    [measures_every_metric, every_payload_and_sink, mailbox_is_as_said, dam_keeps_the_mailbox_short,
     paths_write_the_same, wrong_result_is_noticed, file_is_removed, needs_grow_with_depth].

params() -> #{depth => 300, queue => on_heap, way => direct, sink => file, payload => line}.

measures_every_metric(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_drv_write, params()),
    ?assertEqual(write_path:names(), [Metric || {Metric, [_, _, _, _, _]} <- Samples]).

every_payload_and_sink(_) ->
    [begin
         Outputs = ertslab_worker:outputs(exp_drv_write, (params())#{depth := 10, sink := Sink, payload := Payload}),
         ?assertEqual(write_path:names(), [Metric || {Metric, _} <- Outputs])
     end || Sink <- [file, dev_null], Payload <- [byte, line, counted]].

mailbox_is_as_said(_) ->
    [begin
         #{owner := Owner} = State = prepared(async, (params())#{queue := Queue}),
         Before = process_info(Owner, messages),
         ?assertMatch({_, [500, 300, _]}, exp_drv_write:run(async, State)),
         ?assertEqual({message_queue_data, Queue}, process_info(Owner, message_queue_data)),
         ?assertEqual(Before, process_info(Owner, messages)),
         ok = exp_drv_write:teardown(State)
     end || Queue <- [on_heap, off_heap]].

dam_keeps_the_mailbox_short(_) ->
    #{owner := Owner} = State = prepared(output, (params())#{depth := 1000, way := dam}),
    ?assertEqual({message_queue_len, 100}, process_info(Owner, message_queue_len)),
    ?assertMatch({_, [500, 100, _]}, exp_drv_write:run(output, State)),
    ok = exp_drv_write:teardown(State).

paths_write_the_same(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "written"),
    [begin
         Written = [write_path:payload(Payload) || Payload <- [byte, line, counted]],
         Path = write_path:open(Name, File),
         [ok = write_path:write(Path, Data) || Data <- Written],
         ok = write_path:close(Path),
         ?assertEqual({ok, iolist_to_binary(Written)}, file:read_file(File))
     end || Name <- write_path:names() -- [none]],
    ?assertEqual([1, 43, 70], [byte_size(write_path:payload(Payload)) || Payload <- [byte, line, counted]]).

wrong_result_is_noticed(_) ->
    State = #{waiting => 300, sink => "a file", data => ~"x"},
    ?assertEqual(ok, exp_drv_write:verify(async, [500, 300, 500], State)),
    ?assertEqual(ok, exp_drv_write:verify(none, [500, 300, 0], State)),
    ?assertEqual(ok, exp_drv_write:verify(async, [5, 100_000, 5], State#{waiting := 100_000})),
    ?assertEqual(ok, exp_drv_write:verify(file, [500, 300, 0], State#{sink := "/dev/null"})),
    [?assertMatch({wrong, _}, exp_drv_write:verify(async, Result, State))
     || Result <- [[499, 300, 500], [500, 299, 500], [500, 300, 499]]].

file_is_removed(_) ->
    #{sink := Sink} = State = prepared(file, params()),
    ?assert(filelib:is_regular(Sink)),
    ok = exp_drv_write:teardown(State),
    ?assertNot(filelib:is_regular(Sink)).

%% A comparison asks before it starts.
needs_grow_with_depth(_) ->
    Deep = (params())#{depth := 1_000_000_000},
    ?assertEqual(ok, ertslab_memory_needs:judge(exp_drv_write, [[params()]], 1 bsl 30)),
    ?assertEqual(ok, ertslab_memory_needs:judge(exp_drv_write, [[Deep]], null)),
    {usage, {ertslab_memory_limit, {too_large, What, Bytes, 1073741824}}} =
        (catch ertslab_memory_needs:judge(exp_drv_write, [[params()], [Deep]], 1 bsl 30)),
    ?assertMatch({match, _}, re:run(What, "depth=1000000000")),
    ?assertEqual(242, Bytes bsr 30).

prepared(Path, Params) -> exp_drv_write:prepare(Path, exp_drv_write:setup(Params)).
