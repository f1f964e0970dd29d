%% @doc Small programs of many kinds, to see whether a change that helps one of them
%% hurts another.
%%
%% The themes are those of OTP's own estone_SUITE: lists, messages of three sizes,
%% pattern matching, ports, large data, BIFs, binaries, ets, servers, arithmetic,
%% calls, timers, links. The programs are written anew, since that suite lies in
%% OTP's sources only and not where OTP is installed.
%%
%% Each program is measured in four modules, with different functions before it, and a
%% value is the sum of the four (`placed_module' says why).
-module(exp_estone).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(PLACES, 4).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "small programs of many kinds",
      shows => "whether a change that helps one kind of program hurts another",
      origin => "the themes of OTP's estone_SUITE; the programs are ertslab's own",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => theme, 'of' => small_programs:themes(),
             quick => [lists, small_messages, traverse, dataset, binaries, server], full => small_programs:themes(),
             doc => "what the program does"},
           #{name => percent, min => 1, max => 100_000, quick => [100], full => [100],
             doc => "the share of the rounds, all of which take a few milliseconds"}],
      metrics => [#{name => work, doc => "all rounds of the program, in all places"}],
      contrasts => [],
      overall => true,
      estimator => floor,
      rounds => cases,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 120_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{theme := Theme, percent := Percent}) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    #{theme => Theme, rounds => max(1, small_programs:rounds(Theme) * Percent div 100),
      modules => placed_module:copies(small_programs, ?PLACES)}.

-spec prepare(atom(), map()) -> map().
prepare(work, State) -> State.

%% Nanoseconds of all copies together, and the result of each copy.
-spec run(atom(), map()) -> {integer(), [non_neg_integer()]}.
run(work, #{modules := Modules} = State) ->
    {Times, Results} = lists:unzip([timed(Module, State) || Module <- Modules]),
    {lists:sum(Times), Results}.

timed(Module, #{theme := Theme, rounds := Rounds}) ->
    Resource = Module:open(Theme),
    Timed = ertslab_experiment:timed(fun() -> Module:work(Theme, Resource, Rounds) end),
    ok = Module:close(Theme, Resource),
    Timed.

-spec verify(atom(), [non_neg_integer()], map()) -> ok | {wrong, term()}.
verify(work, Results, #{theme := Theme, rounds := Rounds}) ->
    ertslab_experiment:expect([Rounds * small_programs:result(Theme)], lists:usort(Results)).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
