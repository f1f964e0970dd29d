%% @doc The runs of a pair side by side: the VMs of all arms live at once and take turns, a round each in random order.
%%
%% Where starting takes longer than measuring, as with a server, few runs can be made; and the machine's speed drifts
%% between one and the next by far more than the arms differ. Rounds that follow within a tenth of a second meet the same
%% machine. What the arms have of their own is then the luck of a start, and pairs of fresh VMs tell how large that is.
-module(ertslab_side_by_side).

-export([outcomes/3]).
-export_type([call/0, outcome/0]).

-type call() :: #{vm := ertslab_inventory:vm(), padding := non_neg_integer(),
                  cases := [{Case :: non_neg_integer(), ertslab_experiment:params()}], _ => _}.
-type outcome() :: {ok, ertslab_worker:measured_cases()} | {error, term()}.

%% Each arm has so many rounds at least.
-define(LEAST_ROUNDS, 3).

%% @doc What the runs of a pair measured, in their order. One that ends badly leaves the turns to the others.
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

%% Rounds until the time is over and there are enough.
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
