%% @doc Shows whether two machines measure with the same code.
-module(ertslab_fingerprint).

-export([of_code/1]).

-define(CODE, [ertslab_worker, ertslab_turns, ertslab_rounds, ertslab_speed_log, ertslab_speed_probe, ertslab_readings,
               ertslab_memory, ertslab_experiment, ertslab_digest]).

%% @doc A digest of the code that measures, and of an experiment.
-spec of_code(module()) -> binary().
of_code(Experiment) -> erlang:md5([Module:module_info(md5) || Module <- ?CODE ++ [Experiment]]).
