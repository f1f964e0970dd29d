%% A small node is really looked at, and nothing of both nodes stays.
-module(exp_diagnose_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0]).
-export([busy_node_is_looked_at/1, round_without_a_look_is_refused/1, nothing_stays/1]).

-define(SMALL, #{clients => 2, calls => 2000, idle => 10, waiting => 2000}).

all() -> [busy_node_is_looked_at, round_without_a_look_is_refused, nothing_stays].

busy_node_is_looked_at(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_diagnose, ?SMALL),
    ?assertEqual([alone, again, looked_at, alone_p99, again_p99, looked_at_p99], [Metric || {Metric, _} <- Samples]).

round_without_a_look_is_refused(_) ->
    State = #{clients => 2, each => 1000},
    ?assertEqual(ok, exp_diagnose:verify(looked_at, {2000, 1}, State)),
    ?assertMatch({wrong, _}, exp_diagnose:verify(looked_at, {2000, 0}, State)),
    ?assertMatch({wrong, _}, exp_diagnose:verify(looked_at_p99, {2000, 0}, State)),
    ?assertMatch({wrong, _}, exp_diagnose:verify(alone, {2000, 1}, State)),
    ?assertMatch({wrong, _}, exp_diagnose:verify(alone, {1999, 0}, State)).

%% Another set of nodes can follow at once, and of the first no process is left.
nothing_stays(_) ->
    State = exp_diagnose:setup(?SMALL),
    {_, {2000, Looks}} = exp_diagnose:run(looked_at, State),
    ?assert(Looks > 0),
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
