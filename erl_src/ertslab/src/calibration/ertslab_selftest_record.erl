%% @doc `ertslab selftest --record': records the noise of this machine, from a comparison of stock with its copy,
%% which is the same emulator under another name.
-module(ertslab_selftest_record).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_noise, Dir :: file:filename(), Experiment :: string()}.

-define(PAIRS, 60).
-define(RECORDING, "noise.jsonl.gz").

%% @doc The command: measures, or continues an interrupted comparison, and writes the recording next to the samples.
-spec run(map()) -> ok.
run(Options) ->
    Dir = ertslab_results:dir("noise", Options),
    {Experiment, Params} = ertslab_declared:one(selftest_record),
    Finished = filelib:is_regular(ertslab_session:file(Dir, "summary.json")),
    Finished orelse compare(Options, Dir, Experiment, Params),
    {Results, Packed} = ertslab_recording:of_session(Dir),
    Results =/= [] orelse ertslab_error:failure(?MODULE, {no_noise, Dir, Experiment}),
    File = ertslab_session:file(Dir, ?RECORDING),
    ok = ertslab_results:write(File, Packed),
    io:format("The noise of ~b results is in ~ts; 'ertslab selftest --replay FILE' draws comparisons from it.~n",
              [length(Results), File]).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_noise, Dir, Experiment}) -> [Dir, " is not a comparison of ", Experiment, ", so there is no noise to keep."].

compare(Options, Dir, Experiment, Params) ->
    ok = ertslab_places:measure(
           maps:merge(maps:with([otp, accept_host, pairs], Options),
                      #{command => compare, experiment => Experiment, vm => ["stock", "stock_copy"], param => Params,
                        pairs => maps:get(pairs, Options, ?PAIRS), out => Dir, silent => true})).
