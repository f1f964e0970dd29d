%% How a job of Slurm ended, by what it wrote. That jobs run is ertslab_places_SUITE, with a Slurm tests/slurm.bats.
-module(ertslab_place_slurm_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_path_is_no_pattern/1, an_unfit_node_is_known/1, what_failed_is_said/1, what_is_beyond_its_bound_was_measured/1]).

all() -> [a_path_is_no_pattern, an_unfit_node_is_known, what_failed_is_said, what_is_beyond_its_bound_was_measured].

an_unfit_node_is_known(_) ->
    {ok, Sentence} = refusal(),
    ?assertEqual({unfit, "lab7"},
                 ertslab_place_slurm:outcome({error, {status, 1, <<>>}}, [<<"node lab7\nertslab: ", Sentence/binary>>, <<>>])),
    ?assertEqual(ok, ertslab_place_slurm:outcome({ok, <<>>}, [<<"node lab7\n">>, <<>>])).

%% As the comparison itself words it.
refusal() ->
    Source = proplists:get_value(source, ertslab_place_here:module_info(compile)),
    {ok, Text} = file:read_file(Source),
    {match, [Sentence]} = re:run(Text, "\"(this machine is not fit to measure on)", [{capture, all_but_first, binary}]),
    {ok, Sentence}.

%% Slurm would replace %j by the number of the job.
a_path_is_no_pattern(_) -> ?assertEqual("/out/100%%job%%/node-1.log", ertslab_place_slurm:pattern("/out/100%job%/node-1.log")).

what_failed_is_said(_) ->
    ?assertEqual({usage, ~"no"}, ertslab_place_slurm:outcome({error, {status, 2, <<>>}}, [<<"node lab7\nertslab: no\n">>, <<>>])),
    ?assertEqual({failure, ~"no"}, ertslab_place_slurm:outcome({error, {status, 1, <<>>}}, [<<"node lab7\nertslab: no\n">>, <<>>])),
    [?assertEqual({failure, ~"sbatch: error"}, ertslab_place_slurm:outcome({error, {status, Status, <<>>}}, [<<>>, <<"sbatch: error\n">>]))
     || Status <- [1, 2, 3]],
    ?assertEqual({failure, ~"sbatch said nothing"}, ertslab_place_slurm:outcome({error, timeout}, [<<>>, <<>>])).

what_is_beyond_its_bound_was_measured(_) ->
    ?assertEqual({beyond, ~"1 results are beyond"},
                 ertslab_place_slurm:outcome({error, {status, 3, <<>>}}, [<<"node lab7\nertslab: 1 results are beyond\n">>, <<>>])).
