%% A small node is really looked at, and nothing of both nodes stays.
-module(exp_diagnose_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, groups/0]).
-export([busy_node_is_looked_at/1, rabbitmq_is_looked_at/1, calls_go_on_for_the_whole_look/1, round_without_a_call_is_refused/1,
         nothing_stays/1]).

-define(SMALL(Work), #{work => Work, clients => 2, ms => 100, idle => 10, waiting => 2000}).

all() -> [{group, looks}].

%% Each looks for seconds, at nodes of its own.
groups() ->
    [{looks, [parallel], [busy_node_is_looked_at, rabbitmq_is_looked_at, calls_go_on_for_the_whole_look, round_without_a_call_is_refused,
                          nothing_stays]}].

busy_node_is_looked_at(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_diagnose, ?SMALL(servers)),
    ?assertEqual([alone, alone_p99, looked_at, looked_at_p99, again, again_p99], [Metric || {Metric, _} <- Samples]),
    [?assert(Value > 0) || {_, Values} <- Samples, Value <- Values].

%% From another node, which RabbitMQ does not know.
rabbitmq_is_looked_at(_) ->
    State = exp_diagnose:setup(?SMALL(rabbitmq)),
    Values = [exp_diagnose:run(Metric, State) || Metric <- [alone, alone_p99, looked_at, looked_at_p99]],
    ok = exp_diagnose:teardown(State),
    ?assertMatch([{_, answered}, {_, answered}, {_, answered}, {_, answered}], Values),
    [?assert(Value > 0) || {Value, _} <- Values].

%% The calls go on from the beginning of the look to its end: two fifths of ten seconds, at least.
calls_go_on_for_the_whole_look(_) ->
    #{nodes := Nodes} = State = exp_diagnose:setup(?SMALL(servers)),
    ?assertMatch(#{took := Took, calls := Calls, p99 := P99} when Took > 4.0e9 andalso Calls > 10_000 andalso P99 > 0,
                 looked_at_node:busy(Nodes, fun() -> looked_at_node:look(Nodes) end)),
    ok = exp_diagnose:teardown(State).

round_without_a_call_is_refused(_) ->
    ?assertEqual(ok, exp_diagnose:verify(looked_at, answered, #{})),
    ?assertMatch({wrong, _}, exp_diagnose:verify(looked_at, no_answer, #{})).

%% Another set of nodes can follow at once, and of the first no process is left.
nothing_stays(_) ->
    State = exp_diagnose:setup(?SMALL(servers)),
    {_, _} = exp_diagnose:run(looked_at, State),
    #{nodes := #{node := Node, looker := Looker}} = State,
    Processes = [integer_to_list(program_node:os_pid(Program)) || Program <- [Node, Looker]],
    ?assertEqual([true, true], [filelib:is_dir("/proc/" ++ Process) || Process <- Processes]),
    ok = exp_diagnose:teardown(State),
    ?assertEqual([gone, gone], [ended(Process, 100) || Process <- Processes]).

%% It was killed, and its parent has to hear of it.
ended(Process, 0) -> Process;
ended(Process, Tries) ->
    case filelib:is_dir("/proc/" ++ Process) of
        true -> timer:sleep(50), ended(Process, Tries - 1);
        false -> gone
    end.
