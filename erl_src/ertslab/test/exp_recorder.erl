%% An experiment for the tests that keeps a record of its calls, in the dictionary of the
%% process that measures, and does what is asked for there. Its values are their own numbers.
-module(exp_recorder).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([asked/1, calls/0]).

%% What to do otherwise than as below: any key of the info; `prepared', `own' where each metric gets a
%% state of its own; `wrong', a metric whose result is wrong; `sleep', milliseconds that each value takes; `value', what each is; `returns', what
%% run/2 returns.
asked(Changes) ->
    erase(calls),
    put(asked, Changes),
    ok.

%% In their order, since they were asked for.
calls() -> lists:reverse(noted()).

info() ->
    maps:merge(#{title => "a recorder", shows => "nothing", origin => "the tests",
                 vms => [~"stock", ~"stock_copy"],
                 parameters => [#{name => id, min => 0, max => 9, quick => [1, 2], full => [1, 2], doc => "tells cases apart"}],
                 metrics => [#{name => first, doc => "the first"}, #{name => second, doc => "the second"}],
                 contrasts => [],
                 estimator => floor, rounds => cases, run_ms => 0,
                 warm_up => 0, iterations => 1, timeout_ms => 5000}, asked()).

setup(#{id := Id} = Params) ->
    note({setup, Id}),
    persistent_term:put(?MODULE, persistent_term:get(?MODULE, 0) + 1),
    {Id, maps:get(result, Params, done)}.

prepare(Metric, State) ->
    note({prepare, Metric, State}),
    case asked() of
        #{prepared := own} -> {State, Metric};
        #{} -> State
    end.

run(Metric, State) ->
    note({run, Metric, State}),
    case asked() of
        #{sleep := Ms} -> timer:sleep(Ms);
        #{} -> ok
    end,
    case asked() of
        #{returns := Returned} -> Returned;
        #{} -> {value(), result(Metric, State)}
    end.

value() ->
    case asked() of
        #{value := Value} -> Value;
        #{} -> length([run || {run, _, _} <- noted()])
    end.

%% What the parameter `result' asks for: `large' has 2^60 cells, all of them shared; `together' is how many were set up in this VM,
%% which must be the id.
result(second, {2, odd_in_the_second}) -> odd;
result(second, {_Id, together}) -> persistent_term:get(?MODULE);
result(_, {_Id, large}) -> lists:foldl(fun(_, Term) -> [Term | Term] end, [], lists:seq(1, 60));
result(_, _) -> done.

verify(second, Result, {Id, together}) when Result =/= Id -> {wrong, Result};
verify(Metric, Result, _State) ->
    case asked() of
        #{wrong := Metric} -> {wrong, Result};
        #{} -> ok
    end.

teardown(State) ->
    note({teardown, State}),
    ok.

asked() ->
    case get(asked) of
        undefined -> #{};
        Changes -> Changes
    end.

noted() ->
    case get(calls) of
        undefined -> [];
        Calls -> Calls
    end.

note(Call) -> put(calls, [Call | noted()]).
