%% @doc Runs the same comparison on nodes that Slurm assigns. Each node makes a whole comparison and is used by nobody
%% else meanwhile. The checkout, `--out' and all files named in the options must be on a file system that the nodes
%% share. A node on which ertslab refuses to measure is given back, and another one is requested.
-module(ertslab_slurm).

-export([each/1, outcome/2]).

%% For each place among the results, at most this many nodes are tried.
-define(TRIES, 3).
-define(UNFIT, "this machine is not fit to measure on").
%% The first line of the log names the node. The caller's TMPDIR may not exist there.
-define(SCRIPT, "#!/bin/sh\necho \"node $SLURMD_NODENAME\"\n[ -d \"${TMPDIR-}\" ] || unset TMPDIR\nexec \"$@\"\n").

%% @doc Lets the number of nodes in the options measure in parallel, each into a folder of its own below `--out', and
%% then writes a page there with all their results side by side.
-spec each(map()) -> ok.
each(#{slurm := Partition, out := Dir} = Options) ->
    Sbatch = os:find_executable("sbatch"),
    Sbatch =/= false orelse ertslab_error:failure("sbatch is missing; it comes with Slurm (Debian package slurm-client).", []),
    ok = ertslab_results:make(Dir),
    Script = filename:join(Dir, "job.sh"),
    ok = ertslab_results:write(Script, ?SCRIPT),
    Wanted = maps:get(nodes, Options, 1),
    Own = maps:without([slurm, nodes], Options),
    Job = #{sbatch => Sbatch, partition => Partition, script => Script, words => words(Own)},
    Places = [place(Dir, Nth) || Nth <- lists:seq(1, Wanted)],
    %% Nodes share the checkout, so one plan describes what all of them measure.
    Plan = case lists:any(fun ertslab_session:is_finished/1, Places) of
               true -> ertslab_plan:of_call(ertslab_experiment_source:named(Own));
               false -> none
           end,
    Ended = ertslab_parallel:map(fun(Place) -> placed(Own, Plan, Job, Place) end, Places, Wanted, ertslab_progress:counted("node")),
    side_by_side(Dir, [Place || {measured, Place, _} <- Ended]),
    Failed = [Sentence || {failed, Sentence} <- Ended],
    _ = [io:format(standard_error, "ertslab: ~ts~n", [Sentence]) || {measured, _, Sentence} <- Ended, Sentence =/= none],
    ertslab_fail_if:ended([filename:basename(Place) || {measured, Place, Sentence} <- Ended, Sentence =/= none],
                          [io_lib:format("~b of ~b jobs failed; the first: ~ts", [length(Failed), Wanted, hd(Failed)]) || Failed =/= []]);
each(#{}) -> ertslab_error:usage("--slurm wants --out, a folder that the nodes share", []).

place(Dir, Nth) -> filename:join(Dir, lists:concat(["node-", Nth])).

%% The arguments of a job, without the folder of its results. They include options that only affect how the result is
%% reported.
words(Options) ->
    ertslab_call:words(Options)
        ++ [Word || {Name, Word} <- [{force, "--force"}, {accept_host, "--accept-host"}], maps:get(Name, Options, false)]
        ++ lists:append([["--fail-if", ertslab_option_types:written(ertslab_option_types:bound(), Bound)] || #{fail_if := Bound} <- [Options]]).

%% Submits a job only if the place has no finished results yet.
placed(Options, Plan, Job, Place) ->
    try ertslab_finished:or_else(Place, Options, fun() -> Plan end, fun() -> submitted(Job, Place, [], ?TRIES) end) of
        before -> {measured, Place, none};
        Ended -> Ended
    catch
        throw:{beyond, Sentence} -> {measured, Place, ertslab_error:text([Place, ": ", Sentence])};
        throw:{failure, Sentence} -> {failed, Sentence}
    end.

submitted(_, Place, Unfit, 0) ->
    {failed, ertslab_error:text(io_lib:format("~ts: none of ~ts is fit to measure on.", [Place, lists:join(", ", Unfit)]))};
submitted(#{sbatch := Sbatch, partition := Partition, script := Script, words := Words} = Job, Place, Unfit, Tries) ->
    Log = Place ++ ".log",
    Submit = [Sbatch, "--wait", "--quiet", "--exclusive", "--nodes=1", "--ntasks=1", "--partition=" ++ Partition,
              "--job-name=ertslab", "--output=" ++ Log]
        ++ [lists:flatten(["--exclude=", lists:join($,, Unfit)]) || Unfit =/= []]
        ++ [Script, filename:absname(filename:join(ertslab_paths:top(), "ertslab")) | Words] ++ ["--out", Place],
    Result = ertslab_os_command:run(Submit, Place ++ ".sbatch.log", #{}),
    case outcome(Result, [read(Log), read(Place ++ ".sbatch.log")]) of
        measured -> {measured, Place, none};
        {beyond, Sentence} -> {measured, Place, ertslab_error:text([Place, ": ", Sentence])};
        {unfit, Node} -> submitted(Job, Place, [Node | Unfit], Tries - 1);
        {failed, Why} -> {failed, ertslab_error:text([Place, ": ", Why])}
    end.

read(File) ->
    case file:read_file(File) of
        {ok, Text} -> Text;
        {error, _} -> <<"">>
    end.

%% @doc How a job ended, from its exit status and the output of the job and of sbatch.
-spec outcome({ok, binary()} | {error, term()}, [binary()]) -> measured | {beyond, binary()} | {unfit, string()} | {failed, binary()}.
outcome({ok, _}, _) -> measured;
outcome({error, {status, 3, _}}, [Log, _]) -> {beyond, last_line([Log])};
outcome({error, _}, [Log, Complaints]) ->
    case {string:find(Log, ?UNFIT), re:run(Log, "^node (\\S+)$", [multiline, {capture, all_but_first, list}])} of
        {<<_/bits>>, {match, [Node]}} -> {unfit, Node};
        _ -> {failed, last_line([Log, Complaints])}
    end.

last_line(Texts) ->
    case [Line || Text <- Texts, Line <- binary:split(Text, <<"\n">>, [global, trim_all])] of
        [] -> <<"sbatch said nothing">>;
        Lines -> lists:last(Lines)
    end.

side_by_side(_Dir, []) -> ok;
side_by_side(Dir, Places) -> ertslab_report:run(#{dirs => Places, out => filename:join(Dir, "report.html")}).
