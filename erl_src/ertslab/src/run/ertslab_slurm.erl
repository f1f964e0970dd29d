%% @doc The same comparison on nodes that Slurm hands out: each is whole, on a node of its own that nobody else uses.
%% The checkout and `--out' must be on a file system that the nodes share. A node whose ertslab says that it is not fit
%% to measure on is given back, and another one is asked for.
-module(ertslab_slurm).

-export([each/2, outcome/2]).

%% So many nodes are tried for a place among the results.
-define(TRIES, 3).
-define(UNFIT, "this machine is not fit to measure on").
%% What a job says first, for its log.
-define(SCRIPT, "#!/bin/sh\necho \"node $SLURMD_NODENAME\"\nexec \"$@\"\n").

%% @doc Has as many nodes measure as the options want, at a time, each into a folder of its own below `--out', and sets
%% their results side by side there.
-spec each(map(), [string()]) -> ok.
each(#{slurm := Partition, out := Dir} = Options, Words) ->
    Sbatch = os:find_executable("sbatch"),
    Sbatch =/= false orelse ertslab_error:failure("sbatch is missing; it comes with Slurm (Debian package slurm-client).", []),
    ok = ertslab_results:make(Dir),
    Script = filename:join(Dir, "job.sh"),
    ok = ertslab_results:write(Script, ?SCRIPT),
    Wanted = maps:get(nodes, Options, 1),
    Job = #{sbatch => Sbatch, partition => Partition, script => Script, words => Words},
    Ended = ertslab_parallel:map(fun(Nth) -> placed(Job, place(Dir, Nth), [], ?TRIES) end, lists:seq(1, Wanted), Wanted,
                                 ertslab_progress:counted("node")),
    side_by_side(Dir, [Place || {measured, Place} <- Ended]),
    case [Sentence || {failed, Sentence} <- Ended] of
        [] -> ok;
        [First | _] = Failed ->
            ertslab_error:failure("~b of ~b jobs failed; the first: ~ts", [length(Failed), Wanted, First])
    end;
each(#{}, _) -> ertslab_error:usage("--slurm wants --out, a folder that the nodes share", []).

place(Dir, Nth) -> filename:join(Dir, lists:concat(["node-", Nth])).

placed(_, Place, Unfit, 0) ->
    {failed, ertslab_error:text(io_lib:format("~ts: none of ~ts is fit to measure on.", [Place, lists:join(", ", Unfit)]))};
placed(#{sbatch := Sbatch, partition := Partition, script := Script, words := Words} = Job, Place, Unfit, Tries) ->
    Log = Place ++ ".log",
    Submit = [Sbatch, "--wait", "--quiet", "--exclusive", "--nodes=1", "--ntasks=1", "--partition=" ++ Partition,
              "--job-name=ertslab", "--output=" ++ Log, "--chdir=" ++ ertslab_paths:absolute(ertslab_paths:top())]
        ++ [lists:flatten(["--exclude=", lists:join($,, Unfit)]) || Unfit =/= []]
        ++ [Script, filename:absname(filename:join(ertslab_paths:top(), "ertslab")) | Words] ++ ["--out", Place],
    Result = ertslab_os_command:run(Submit, Place ++ ".sbatch.log", #{}),
    case outcome(Result, [read(Log), read(Place ++ ".sbatch.log")]) of
        measured -> {measured, Place};
        {unfit, Node} -> placed(Job, Place, [Node | Unfit], Tries - 1);
        {failed, Why} -> {failed, ertslab_error:text([Place, ": ", Why])}
    end.

read(File) ->
    case file:read_file(File) of
        {ok, Text} -> Text;
        {error, _} -> ~""
    end.

%% @doc How a job ended, by its end and by what it and sbatch wrote.
-spec outcome({ok, binary()} | {error, term()}, [binary()]) -> measured | {unfit, string()} | {failed, binary()}.
outcome({ok, _}, _) -> measured;
outcome({error, _}, [Log, Complaints]) ->
    case {string:find(Log, ?UNFIT), re:run(Log, "^node (\\S+)$", [multiline, {capture, all_but_first, list}])} of
        {<<_/binary>>, {match, [Node]}} -> {unfit, Node};
        _ -> {failed, last_line([Log, Complaints])}
    end.

last_line(Texts) ->
    case [Line || Text <- Texts, Line <- binary:split(Text, ~"\n", [global, trim_all])] of
        [] -> ~"sbatch said nothing";
        Lines -> lists:last(Lines)
    end.

side_by_side(_Dir, []) -> ok;
side_by_side(Dir, Places) -> ertslab_report:run(#{dirs => Places, out => filename:join(Dir, "report.html")}).
