%% @doc Makes the runs of a pair at the same time: the VMs of all arms live together and take turns of one round each,
%% in random order.
%%
%% If starting takes longer than measuring, as with a server, only few runs can be made. Between two of them the
%% machine's speed drifts by far more than the arms differ. Rounds within a tenth of a second of each other run at the
%% same speed. What then remains of each arm is the random effect of its start, whose size shows in the pairs of fresh
%% VMs.
-module(ertslab_side_by_side).

-export([outcomes/3]).
-export_type([call/0, outcome/0]).

-type call() :: #{vm := ertslab_inventory:vm(), padding := non_neg_integer(),
                  cases := [{Case :: non_neg_integer(), ertslab_experiment:params()}], _ => _}.
-type outcome() :: {ok, ertslab_worker:measured_cases()} | {error, term()}.

%% The least number of rounds of each arm.
-define(LEAST_ROUNDS, 3).

%% @doc The results of the runs of a pair, in their order. If one run fails, the others go on taking turns.
-spec outcomes(ertslab_session:plan(), Seed :: integer(), [call(), ...]) -> [outcome()].
outcomes(#{run_ms := RunMs} = Plan, Seed, Calls) ->
    Started = ertslab_parallel:map(fun(Call) -> started(Plan, Call) end, Calls, length(Calls), fun(_, _) -> ok end),
    try
        Until = erlang:monotonic_time(millisecond) + RunMs * length(Calls),
        [finished(Plan, Run) || Run <- turns(Plan, lists:enumerate(Started), Until, ?LEAST_ROUNDS, rand:seed_s(exsss, Seed))]
    after
        [ertslab_vm:stop(Running) || {ok, Running} <- Started]
    end.

started(#{module := Module} = Plan, #{vm := VM, padding := Padding, cases := Cases}) ->
    case ertslab_vm:start_padded(VM, Padding) of
        {ok, Running} ->
            case called(Plan, Running, start, [Module, Cases]) of
                {ok, ok} -> {ok, Running};
                {error, Reason} ->
                    ertslab_vm:stop(Running),
                    {error, Reason}
            end;
        {error, Reason} -> {error, Reason}
    end.

%% Takes turns until both the time is over and there are enough rounds.
turns(Plan, Runs, Until, Least, Random0) ->
    case Least =< 0 andalso erlang:monotonic_time(millisecond) >= Until of
        true -> [Run || {_, Run} <- Runs];
        false ->
            {Order, Random} = ertslab_schedule:shuffle(Runs, Random0),
            turns(Plan, lists:keysort(1, [{Index, turn(Plan, Run)} || {Index, Run} <- Order]), Until, Least - 1, Random)
    end.

turn(Plan, {ok, Running}) ->
    case called(Plan, Running, turn, []) of
        {ok, ok} -> {ok, Running};
        {error, Reason} -> {error, Reason}
    end;
turn(_, {error, Reason}) -> {error, Reason}.

finished(Plan, {ok, Running}) -> called(Plan, Running, finish, []);
finished(_, {error, Reason}) -> {error, Reason}.

called(#{timeout_ms := Timeout}, Running, Function, Args) -> ertslab_vm:call(Running, ertslab_turns, Function, Args, Timeout).
