%% How a job of Slurm ended, by what it wrote. That jobs run is tests/slurm.bats.
-module(ertslab_slurm_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, an_unfit_node_is_known/1, what_failed_is_said/1, what_is_beyond_its_bound_was_measured/1]).

all() -> [an_unfit_node_is_known, what_failed_is_said, what_is_beyond_its_bound_was_measured].

an_unfit_node_is_known(_) ->
    {ok, Sentence} = refusal(),
    ?assertEqual({unfit, "lab7"}, ertslab_slurm:outcome({error, {status, 1, <<>>}}, [<<"node lab7\nertslab: ", Sentence/binary>>, <<>>])),
    ?assertEqual(measured, ertslab_slurm:outcome({ok, <<>>}, [<<"node lab7\n">>, <<>>])).

%% As the comparison itself words it.
refusal() ->
    Source = filename:join([ertslab_paths:top(), "erl_src/ertslab/src/run/ertslab_compare.erl"]),
    {ok, Text} = file:read_file(Source),
    {match, [Sentence]} = re:run(Text, "\"(this machine is not fit to measure on)", [{capture, all_but_first, binary}]),
    {ok, Sentence}.

what_failed_is_said(_) ->
    ?assertEqual({failed, ~"ertslab: no"}, ertslab_slurm:outcome({error, {status, 2, <<>>}}, [<<"node lab7\nertslab: no\n">>, <<>>])),
    ?assertEqual({failed, ~"sbatch: error"}, ertslab_slurm:outcome({error, {status, 1, <<>>}}, [<<>>, <<"sbatch: error\n">>])),
    ?assertEqual({failed, ~"sbatch said nothing"}, ertslab_slurm:outcome({error, timeout}, [<<>>, <<>>])).

what_is_beyond_its_bound_was_measured(_) ->
    ?assertEqual({beyond, ~"ertslab: 1 results are beyond"},
                 ertslab_slurm:outcome({error, {status, 3, <<>>}}, [<<"node lab7\nertslab: 1 results are beyond\n">>, <<>>])).
