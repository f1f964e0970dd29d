%% A run that waits between its setup and its metrics.
-module(ertslab_paused_run_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, waits_until_it_is_let_go/1, tells_an_error_of_a_metric/1, tells_a_wrong_result/1,
         tells_an_error_of_the_setup/1]).

-define(ONCE, #{warm_up => 0, iterations => 1}).

all() ->
    [waits_until_it_is_let_go, tells_an_error_of_a_metric, tells_a_wrong_result,
     tells_an_error_of_the_setup].

waits_until_it_is_let_go(_) ->
    ok = ertslab_paused_run:start(exp_toy, #{behaviour => 0}, ?ONCE),
    ?assert(is_pid(whereis(ertslab_paused_run))),
    ?assertEqual(ok, ertslab_paused_run:finish()),
    ?assertEqual(undefined, whereis(ertslab_paused_run)).

tells_an_error_of_a_metric(_) ->
    ok = ertslab_paused_run:start(exp_toy, #{behaviour => 1}, ?ONCE),
    ?assertError({toy_raises, _}, ertslab_paused_run:finish()).

tells_a_wrong_result(_) ->
    ok = ertslab_paused_run:start(exp_toy, #{behaviour => 4}, ?ONCE),
    ?assertError({{wrong_result, work, wrong}, _}, ertslab_paused_run:finish()).

tells_an_error_of_the_setup(_) ->
    ?assertError({function_clause, _}, ertslab_paused_run:start(exp_toy, #{}, ?ONCE)).
