%% @doc Nodes that Slurm assigns, as places that measure. Each makes the call by the checkout that the nodes share, and is
%% used by nobody else meanwhile. The checkout, `--out' and all files named in the options must be on a file system that
%% the nodes share. A node on which ertslab refuses to measure is given back, and another one is requested.
-module(ertslab_place_slurm).
-behaviour(ertslab_place).

-export([places/1, run/2, outcome/2, pattern/1, format_error/1]).
-export_type([reason/0]).

%% `said': the last line of the job or of sbatch.
-type reason() :: no_sbatch | {unfit, Nodes :: [string(), ...]} | {said, binary()} | {no_results, file:filename()}.

%% For each place among the results, at most this many nodes are tried.
-define(TRIES, 3).
-define(UNFIT, "this machine is not fit to measure on").
%% The first line of the log names the node. The caller's TMPDIR may not exist there.
-define(SCRIPT, "#!/bin/sh\necho \"node $SLURMD_NODENAME\"\n[ -d \"${TMPDIR-}\" ] || unset TMPDIR\nexec \"$@\"\n").

%% @doc As many nodes of a partition as are wanted, which measure at the same time.
-spec places(map()) -> ertslab_place:places().
places(#{slurm := Partition, out := Dir} = Options) ->
    Sbatch = os:find_executable("sbatch"),
    Sbatch =/= false orelse ertslab_error:failure(?MODULE, no_sbatch),
    {together, [#{name => Name, options => #{out => filename:join(Dir, Name)}, sbatch => Sbatch, partition => Partition}
                || Nth <- lists:seq(1, maps:get(nodes, Options, 1)), Name <- [lists:concat(["node-", Nth])]]}.

%% @doc Submits a job that makes the call, and waits for its end.
-spec run(ertslab_place:call(), ertslab_place:place()) -> ok.
run(#{words := Words}, #{options := #{out := Out}} = Place) ->
    ok = ertslab_results:make(filename:dirname(Out)),
    ok = ertslab_results:write(Out ++ ".sh", ?SCRIPT),
    submitted(Place, Words, [], ?TRIES).

submitted(#{options := #{out := Out}, sbatch := Sbatch, partition := Partition} = Place, Words, Unfit, Tries) ->
    Logs = [Log, Complaints] = [Out ++ ".log", Out ++ ".sbatch.log"],
    %% What an earlier try said is not how this one ends: sbatch may refuse a job before that writes anything.
    _ = [file:delete(Old) || Old <- Logs],
    Submit = [Sbatch, "--wait", "--quiet", "--exclusive", "--nodes=1", "--ntasks=1", "--partition=" ++ Partition,
              "--job-name=ertslab", "--output=" ++ pattern(Log)]
        ++ [lists:flatten(["--exclude=", lists:join($,, Unfit)]) || Unfit =/= []]
        ++ [Out ++ ".sh", filename:absname(filename:join(ertslab_paths:top(), "ertslab")) | Words] ++ ["--out", Out],
    Result = ertslab_os_command:run(Submit, Complaints, #{}),
    case outcome(Result, [read(File) || File <- Logs]) of
        ok -> has_results(Out);
        {unfit, Node} when Tries > 1 -> submitted(Place, Words, [Node | Unfit], Tries - 1);
        {unfit, Node} -> ertslab_error:failure(?MODULE, {unfit, [Node | Unfit]});
        {usage, Line} -> ertslab_error:usage(?MODULE, {said, Line});
        {beyond, Line} ->
            ok = has_results(Out),
            ertslab_error:beyond(?MODULE, {said, Line});
        {failure, Line} -> ertslab_error:failure(?MODULE, {said, Line})
    end.

%% A job that ended well on a node that does not share the folder has written them there.
has_results(Out) ->
    case filelib:is_regular(filename:join(Out, "summary.json")) of
        true -> ok;
        false -> ertslab_error:failure(?MODULE, {no_results, Out})
    end.

%% @doc A path as Slurm wants it, where `%' begins what it replaces.
-spec pattern(file:filename()) -> string().
pattern(File) -> lists:flatten(string:replace(File, "%", "%%", all)).

-spec format_error(reason()) -> unicode:chardata().
format_error(no_sbatch) -> "sbatch is missing; it comes with Slurm (Debian package slurm-client).";
format_error({unfit, Nodes}) -> ["none of ", lists:join(", ", Nodes), " is fit to measure on."];
format_error({no_results, Out}) -> ["the job ended well, but its results are not in ", Out, "; the nodes must share this folder."];
format_error({said, Line}) -> Line.

read(File) ->
    case file:read_file(File) of
        {ok, Text} -> ertslab_text:foreign(Text);
        {error, _} -> <<"">>
    end.

%% @doc How a job ended, from its exit status and the output of the job and of sbatch. The statuses are those of
%% `ertslab', if it was started: sbatch has others.
-spec outcome({ok, binary()} | {error, term()}, [binary()]) -> ok | {unfit, string()} | {usage | failure | beyond, binary()}.
outcome({ok, _}, _) -> ok;
outcome({error, {status, 2, _}}, [Log, _]) when Log =/= <<>> -> {usage, last_line([Log])};
outcome({error, {status, 3, _}}, [Log, _]) when Log =/= <<>> -> {beyond, last_line([Log])};
outcome({error, _}, [Log, Complaints]) ->
    case {string:find(Log, ?UNFIT), re:run(Log, "^node (\\S+)$", [multiline, {capture, all_but_first, list}])} of
        {<<_/bits>>, {match, [Node]}} -> {unfit, Node};
        _ -> {failure, last_line([Log, Complaints])}
    end.

last_line(Texts) ->
    case [Line || Text <- Texts, Line <- binary:split(Text, <<"\n">>, [global, trim_all])] of
        [] -> <<"sbatch said nothing">>;
        Lines -> without_program(lists:last(Lines))
    end.

without_program(<<"ertslab: ", Sentence/bits>>) -> Sentence;
without_program(Line) -> Line.
