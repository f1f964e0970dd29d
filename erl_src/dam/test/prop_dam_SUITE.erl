%% The properties of prop_dam, by as many cases as take a few seconds.
-module(prop_dam_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, window/1, lane/1, codel/1, running_dam/1]).

all() -> [window, lane, codel, running_dam].

window(_) ->
    holds(prop_dam:prop_window_bound(), 2_000),
    holds(prop_dam:prop_window_opens(), 2_000).

lane(_) -> holds(prop_dam:prop_lane_is_its_model(), 2_000).

codel(_) ->
    holds(prop_dam:prop_codel_spares_the_fast(), 300),
    holds(prop_dam:prop_codel_sheds_the_slow(), 30).

running_dam(_) -> holds(prop_dam:prop_laws(), 60).

holds(Property, Cases) ->
    ?assertEqual(true, proper:quickcheck(Property, [{numtests, Cases}, {to_file, user}, long_result])).
