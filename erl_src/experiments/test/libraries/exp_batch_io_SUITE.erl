%% Whatever the device and the writers, everything arrives, and is checked; so it is through the logger.
-module(exp_batch_io_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, small_buffer_sheds/1, message_that_is_lost_is_noticed/1, file_is_gone_afterwards/1,
         logger_loses_nothing/1]).

all() -> [measures_every_metric, small_buffer_sheds, message_that_is_lost_is_noticed, file_is_gone_afterwards, logger_loses_nothing].

measures_every_metric(_) ->
    [begin
         #{samples := Samples} = ertslab_worker:run(exp_batch_io, params(Changed)),
         ?assertMatch([{io_format, [_, _, _]}, {batch, [_, _, _]}, {batch_unformatted, [_, _, _]}, {shed, [_, _, _]}], Samples)
     end || Changed <- [#{}, #{device => passthrough}, #{writers => 64, buffer => 10}, #{message => term},
                        #{device => passthrough, message => term, writers => 7, page => 30, bytes => 100},
                        #{node => busy, messages => 20}, #{messages => 5, writers => 64}]].

%% A buffer that holds all of them drops none, and one that holds ten of 20,000 some.
small_buffer_sheds(_) ->
    Shed = fun(Buffer) ->
                   #{samples := Samples} =
                       ertslab_worker:run(exp_batch_io, params(#{device => passthrough, messages => 20_000, buffer => Buffer})),
                   lists:max(proplists:get_value(shed, Samples))
           end,
    ?assertEqual(0.0, Shed(20_000)),
    Some = Shed(10),
    ?assert(Some > 0 andalso Some < 100, Some).

message_that_is_lost_is_noticed(_) ->
    State = params(#{device => passthrough}),
    ?assertEqual(ok, exp_batch_io:verify(batch, [200, 0, 5000], State)),
    ?assertEqual(ok, exp_batch_io:verify(io_format, [0, 0, 5000], State)),
    [?assertMatch({wrong, _}, exp_batch_io:verify(batch, Result, State))
     || Result <- [[199, 0, 5000], [200, 1, 5000], [200, 0, 4999]]],
    ?assertEqual(ok, exp_batch_io:verify(shed, [200, 0], State)),
    [?assertMatch({wrong, _}, exp_batch_io:verify(shed, Result, State)) || Result <- [[199, 0], [200, 25]]].

file_is_gone_afterwards(_) ->
    Pattern = ertslab_experiment:scratch_file("batch_io") ++ "*",
    _ = ertslab_worker:run(exp_batch_io, params(#{device => passthrough})),
    ?assertEqual({[], undefined}, {filelib:wildcard(Pattern), whereis(batch_io)}).

logger_loses_nothing(_) ->
    {ok, #{level := Level}} = logger:get_handler_config(default),
    [begin
         Params = #{writers => Writers, messages => 300, form => Form},
         #{samples := Samples} = ertslab_worker:run(exp_logger, Params),
         ?assertMatch([{otp, [_, _, _]}, {batch, [_, _, _]}, {otp_p99, [_, _, _]}, {batch_p99, [_, _, _]}], Samples)
     end || Writers <- [1, 64], Form <- [default, own, message]],
    ok = logger:set_handler_config(default, level, Level),
    ok = logger:unset_module_level(exp_logger),
    ?assertMatch({wrong, _}, exp_logger:verify(batch, 299, #{writers => 1, messages => 300})),
    ?assertEqual([], filelib:wildcard(ertslab_experiment:scratch_file("logger") ++ "*")).

params(Changed) ->
    maps:merge(#{device => noop, messages => 200, message => text, bytes => 25, page => 256, buffer => 50,
                 writers => 1, node => idle}, Changed).
