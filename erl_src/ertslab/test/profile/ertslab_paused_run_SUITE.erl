%% A run that waits between its setup and its metrics.
-module(ertslab_paused_run_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, waits_until_it_is_let_go/1, names_the_program_that_works/1, tells_an_error_of_a_metric/1, tells_a_wrong_result/1,
         tells_an_error_of_the_setup/1, tells_what_does_not_load/1]).
%% An experiment whose work is done by a program.
-behaviour(ertslab_experiment).
-export([info/0, setup/1, prepare/2, run/2, verify/3, program/1, teardown/1]).

-define(ONCE, #{warm_up => 0, iterations => 1}).

all() ->
    [waits_until_it_is_let_go, names_the_program_that_works, tells_an_error_of_a_metric, tells_a_wrong_result,
     tells_an_error_of_the_setup, tells_what_does_not_load].

waits_until_it_is_let_go(_) ->
    Own = list_to_integer(os:getpid()),
    ?assertEqual({ok, Own}, ertslab_paused_run:start(exp_toy, #{behaviour => 0}, ?ONCE)),
    ?assert(is_pid(whereis(ertslab_paused_run))),
    ?assertEqual(ok, ertslab_paused_run:finish()),
    ?assertEqual(undefined, whereis(ertslab_paused_run)).

names_the_program_that_works(_) ->
    ?assertEqual({ok, 4711}, ertslab_paused_run:start(?MODULE, #{os_pid => 4711}, ?ONCE)),
    ?assertEqual(ok, ertslab_paused_run:finish()).

%% Its setup would call it, and say another thing.
tells_what_does_not_load(_) ->
    Why = try ertslab_paused_run:start(exp_wanting, #{behaviour => 0}, ?ONCE) catch error:Reason -> Reason end,
    ?assertEqual(~"nowhere_nif, which the experiment needs, does not load there", ertslab_crash:says(Why)).

info() -> (exp_toy:info())#{parameters := []}.

setup(Params) -> Params.

prepare(work, Params) -> Params.

run(work, _) -> {1, done}.

verify(work, done, _) -> ok.

program(#{os_pid := OsPid}) -> OsPid.

teardown(_) -> ok.

tells_an_error_of_a_metric(_) ->
    {ok, _} = ertslab_paused_run:start(exp_toy, #{behaviour => 1}, ?ONCE),
    ?assertError({toy_raises, _}, ertslab_paused_run:finish()).

tells_a_wrong_result(_) ->
    {ok, _} = ertslab_paused_run:start(exp_toy, #{behaviour => 4}, ?ONCE),
    ?assertError({{wrong_result, work, wrong}, _}, ertslab_paused_run:finish()).

tells_an_error_of_the_setup(_) ->
    ?assertError({function_clause, _}, ertslab_paused_run:start(exp_toy, #{}, ?ONCE)).
