%% How a job of Slurm ended, by what it wrote. That jobs run is ertslab_places_SUITE, with a Slurm tests/slurm.bats.
-module(ertslab_place_slurm_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_path_is_no_pattern/1, an_unfit_node_is_known/1, what_failed_is_said/1, what_is_beyond_its_bound_was_measured/1,
         what_an_earlier_try_said_is_forgotten/1, results_that_are_elsewhere_are_missed/1]).

all() -> [a_path_is_no_pattern, an_unfit_node_is_known, what_failed_is_said, what_is_beyond_its_bound_was_measured,
     what_an_earlier_try_said_is_forgotten, results_that_are_elsewhere_are_missed].

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

%% The node does not share the folder.
results_that_are_elsewhere_are_missed(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), "elsewhere"),
    Out = filename:join(Dir, "node-1"),
    ok = filelib:ensure_path(Dir),
    [?assertEqual({no_results, Out}, end_of(Script, Out)) || Script <- ["exit 0\n", ["printf 'ertslab: beyond\\n' >", Out, ".log; exit 3\n"]]],
    ok = filelib:ensure_path(Out),
    ok = file:write_file(filename:join(Out, "summary.json"), "{}"),
    ?assertEqual(ok, end_of("exit 0\n", Out)).

%% How run/2 ends with this sbatch.
end_of(Script, Out) ->
    Sbatch = filename:join(filename:dirname(Out), "sbatch"),
    ok = file:write_file(Sbatch, ["#!/bin/sh\n", Script]),
    ok = file:change_mode(Sbatch, 8#755),
    try ertslab_place_slurm:run(#{words => ["doctor"]}, #{name => "node-1", options => #{out => Out}, sbatch => Sbatch, partition => "none"})
    catch throw:{failure, {ertslab_place_slurm, Reason}} -> Reason
    end.

%% That of a node which was not fit, and that of sbatch itself.
what_an_earlier_try_said_is_forgotten(Config) ->
    Dir = proplists:get_value(priv_dir, Config),
    [Out, Sbatch] = [filename:join(Dir, Name) || Name <- ["node-1", "sbatch"]],
    {ok, Sentence} = refusal(),
    [ok = file:write_file(Out ++ Ending, Text)
     || {Ending, Text} <- [{".log", [~"node lab7\nertslab: ", Sentence]}, {".sbatch.log", ~"sbatch: error: no such account\n"}]],
    Ends = fun(Script) -> end_of(["echo try >>", Sbatch, ".tries\n", Script, "exit 1\n"], Out) end,
    ?assertEqual({said, ~"sbatch: error: invalid partition"}, Ends("echo 'sbatch: error: invalid partition' >&2\n")),
    ?assertEqual({said, ~"sbatch said nothing"}, Ends("")),
    ?assertEqual({ok, ~"try\ntry\n"}, file:read_file(Sbatch ++ ".tries")).
