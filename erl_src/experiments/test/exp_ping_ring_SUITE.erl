%% Each message of the experiment arrives, at sizes that take no time.
-module(exp_ping_ring_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, measures_every_metric/1, all_messages_arrive/1, lost_message_is_noticed/1]).

all() -> [measures_every_metric, all_messages_arrive, lost_message_is_noticed].

measures_every_metric(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_ping_ring, #{processes => 10, messages => 100}),
    ?assertEqual([ring, fan_in], [Metric || {Metric, _} <- Samples]).

all_messages_arrive(_) ->
    State = exp_ping_ring:setup(#{processes => 7, messages => 100}),
    [?assertMatch({_, 98}, exp_ping_ring:run(Metric, State)) || Metric <- [ring, fan_in]],
    ?assertEqual({messages, []}, process_info(self(), messages)).

lost_message_is_noticed(_) ->
    State = exp_ping_ring:setup(#{processes => 7, messages => 100}),
    ?assertMatch({wrong, _}, exp_ping_ring:verify(ring, 97, State)).
