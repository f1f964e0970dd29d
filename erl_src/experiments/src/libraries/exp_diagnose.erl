%% @doc What a busy node pays for being looked at by `diagnose': the time of a call of a gen_server there, and the 99th percentile
%% of it, while nobody looks and while one look follows the other.
%%
%% The node has one half of the cores, who looks has the other. `again' is `alone' once more: what the two differ by is
%% what cannot be seen here.
-module(exp_diagnose).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a busy node, looked at",
      shows => "what diagnose costs the node that it looks at",
      origin => "recon, entop and system_monitor, which walked deep mailboxes of the nodes that they looked at (otp#6494)",
      vms => [~"stock", ~"stock_copy", ~"tuned"],
      parameters =>
          [#{name => clients, min => 1, max => 1000, quick => [4], full => [4],
             doc => "clients that call a server each, as fast as they can"},
           #{name => calls, min => 100, max => 10_000_000, quick => [200_000], full => [400_000],
             doc => "calls of all of them in a round"},
           #{name => idle, min => 0, max => 1_000_000, quick => [10_000], full => [10_000],
             doc => "servers beside them that wait"},
           #{name => waiting, min => 0, max => 10_000_000, quick => [100_000], full => [100_000],
             doc => "messages in a process that takes none"}],
      metrics =>
          [#{name => alone, doc => "the time of all calls, shared out over them, while nobody looks"},
           #{name => again, doc => "the same once more"},
           #{name => looked_at, doc => "the same while one look follows the other"},
           #{name => alone_p99, doc => "a call while nobody looks: 99 of 100 are shorter"},
           #{name => again_p99, doc => "the same once more"},
           #{name => looked_at_p99, doc => "the same while one look follows the other"}],
      contrasts =>
          [#{name => cost, over => looked_at, under => alone, says => "time of a call, looked at to alone"},
           #{name => nothing, over => again, under => alone, says => "the same, alone to alone"},
           #{name => cost_p99, over => looked_at_p99, under => alone_p99, says => "99th percentile, looked at to alone"},
           #{name => nothing_p99, over => again_p99, under => alone_p99, says => "the same, alone to alone"}],
      estimator => typical,
      rounds => metrics,
      warm_up => 1,
      iterations => 1,
      run_ms => 20_000,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{clients := Clients, calls := Calls} = Params) ->
    Place = program_place:new("diagnose"),
    #{place => Place, nodes => looked_at_node:start(Place, maps:with([idle, waiting], Params)),
      clients => Clients, each => max(1, Calls div Clients)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% What came of it: how many calls were answered, and how many looks there were.
-spec run(atom(), map()) -> {number(), {Calls :: non_neg_integer(), Looks :: non_neg_integer()}}.
run(Metric, #{nodes := Nodes, clients := Clients, each := Each}) ->
    IsLookedAt = is_looked_at(Metric),
    _ = IsLookedAt andalso looked_at_node:begin_looking(Nodes),
    #{took := Took, calls := Calls, p99 := P99} = looked_at_node:calls(Nodes, Clients, Each),
    Looks = case IsLookedAt of true -> looked_at_node:end_looking(Nodes); false -> 0 end,
    {case is_p99(Metric) of true -> P99; false -> Took / Calls end, {Calls, Looks}}.

is_looked_at(Metric) -> lists:member(Metric, [looked_at, looked_at_p99]).

is_p99(Metric) -> lists:member(Metric, [alone_p99, again_p99, looked_at_p99]).

-spec verify(atom(), {non_neg_integer(), non_neg_integer()}, map()) -> ok | {wrong, term()}.
verify(Metric, {Calls, Looks}, #{clients := Clients, each := Each}) ->
    ertslab_experiment:expect({Clients * Each, is_looked_at(Metric)}, {Calls, Looks > 0}).

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
