%% @doc The command line: which commands there are, what they take, and how
%% each way of ending becomes an exit status (0 done, 1 failed, 2 misused, 3 beyond the bound
%% of `--fail-if', or something found by `diagnose').
-module(ertslab_cli).

-export([main/0, command/0]).

%% @doc Runs the command that the words after `-extra' name, and ends the VM.
-spec main() -> no_return().
main() ->
    _ = io:setopts(standard_io, [{encoding, unicode}]),
    _ = io:setopts(standard_error, [{encoding, unicode}]),
    halt(status(init:get_plain_arguments())).

status(Words) ->
    try run(Words) of
        _ -> 0
    catch
        throw:{usage, Text} -> complain(Text, 2);
        throw:{failure, Text} -> complain(Text, 1);
        throw:{beyond, Text} -> complain(Text, 3);
        Class:Reason:Stack ->
            case is_read() of
                true -> defect(Class, Reason, Stack);
                false -> 1
            end
    end.

%% As of `ertslab ... | head', whose end is nothing that went wrong here.
is_read() -> lists:all(fun(Device) -> io:request(Device, {put_chars, unicode, ""}) =:= ok end, [standard_io, standard_error]).

complain(Text, Status) ->
    _ = io:request(standard_error, {format, "ertslab: ~ts~n", [Text]}),
    Status.

%% What should not happen: one sentence, and the details in a file.
defect(Class, Reason, Stack) ->
    File = ertslab_paths:log("defect.txt"),
    Details = io_lib:format("~p~n", [{Class, Reason, Stack}]),
    Written = filelib:ensure_dir(File) =:= ok andalso file:write_file(File, Details) =:= ok,
    complain(["this is a defect in ertslab itself", details(Written, File, Details)], 1).

details(true, File, _Details) -> ["; its details are in ", File, "."];
details(false, _File, Details) -> [": ", Details].

%% What follows `--' belongs to the VM that `erl' starts.
run(Words) ->
    {Own, Rest} = lists:splitwith(fun(Word) -> Word =/= "--" end, Words),
    case wants_help(Own) of
        true -> io:put_chars(argparse:help(command(), help_options(Own)));
        false -> dispatch(Own, Rest)
    end.

wants_help([]) -> true;
wants_help(Words) -> lists:member("--help", Words) orelse lists:member("-h", Words).

help_options(Words) ->
    #{commands := Commands} = command(),
    Options = #{progname => "ertslab"},
    case [Word || Word <- Words, is_map_key(Word, Commands)] of
        [Name | _] -> Options#{command => [Name]};
        [] -> Options
    end.

dispatch(Own, Rest) ->
    case argparse:parse(Own, command(), #{progname => "ertslab"}) of
        {ok, Options, _Path, #{handler := Handler}} ->
            Handler(Options#{words => Own, rest => drop_separator(Rest)});
        {ok, _, _, _} -> ertslab_error:usage("no command is named; see './ertslab --help'", []);
        {error, Reason} ->
            ertslab_error:usage("~ts; see './ertslab --help'",
                                [string:trim(argparse:format_error(Reason))])
    end.

drop_separator(["--" | Args]) -> Args;
drop_separator([]) -> [].

%% @doc The tree of commands, for stdlib's argparse.
-spec command() -> argparse:command().
command() ->
    #{help => "Shows, explains and proves slowdowns from memory layout and deep mailboxes"
              " in the Erlang VM.",
      commands =>
          #{"list" => #{help => "experiments, and the VMs that are built",
                        arguments => [json()], handler => fun ertslab_list:run/1},
            "doctor" => #{help => "what is built, what this machine can measure, what is missing",
                          arguments => [json()], handler => fun ertslab_doctor:run/1},
            "erl" => #{help => "starts a VM; what follows -- goes to it",
                       arguments => [vm("the variant", #{required => true}), otp()],
                       handler => fun start_erl/1},
            "iex" => #{help => "starts Elixir's shell on a VM; what follows -- goes to iex, as -S mix",
                       arguments => [vm("the variant", #{required => true}), otp()],
                       handler => fun start_iex/1},
            "compare" => #{help => "measures an experiment on several VMs, in random pairs",
                           arguments => [experiment() | arms() ++ measuring()],
                           handler => fun ertslab_compare:compare/1},
            "judges" => #{help => "measures programs that others wrote on several VMs, and says on one page what they make of them",
                          arguments => [#{name => only, long => "-only",
                                          help => "NAME,NAME...: some of " ++ lists:append(lists:join(", ", ertslab_judges:names()))}
                                        | arms() ++ [A || #{name := Name} = A <- measuring(),
                                                          not lists:member(Name, [host, host_dir, fleet, slurm, nodes, param, builds, json])]],
                          handler => fun ertslab_judges:run/1},
            "time" => #{help => "measures Erlang expressions, in random pairs",
                        arguments => [#{name => expressions, nargs => nonempty_list,
                                        help => "each in quotes, as 'lists:seq(1, 100)'; the first is the baseline"},
                                      #{name => init, long => "-init",
                                        help => "binds variables that they use, as 'L = lists:seq(1, 100)'"},
                                      vm("where they are measured (stock by default): A,B,... as for compare", #{})
                                      | [A || #{name := Name} = A <- measuring(),
                                              not lists:member(Name, [host, host_dir, fleet, slurm, nodes, param, builds])]],
                        handler => fun ertslab_compare:time/1},
            "sweep" => #{help => "measures an experiment over the values of one parameter",
                         arguments => [experiment(),
                                       vm("the variant", #{required => true}),
                                       #{name => over, long => "-over", required => true,
                                         help => "NAME=V1,V2,...: the first value is the baseline"}
                                       | measuring()],
                         handler => fun ertslab_compare:sweep/1},
            "bisect" => #{help => "which commit of OTP made an experiment slower: builds and measures those that tell"
                                  " most, until 95 % of the chance lie on one",
                          arguments => history() ++ passed(), handler => fun ertslab_bisect:run/1},
            "follow" => #{help => "how an experiment went over a history of OTP: each so many commits beside the first",
                          arguments => [#{name => every, long => "-every", required => true, type => {integer, [{min, 1}]},
                                          help => "each so many commits, and the last"} | history() ++ passed()],
                          handler => fun ertslab_follow:run/1},
            "report" => #{help => "what results say: one page that opens offline, text for a pull"
                                  " request, or lines for benchstat",
                          arguments => [#{name => dirs, nargs => nonempty_list,
                                          help => "folders of comparisons; several are set side by side"},
                                        #{name => format, long => "-format",
                                          type => {atom, [html, table, markdown, benchstat, iterations]},
                                          help => "html (by default), table, markdown, benchstat, or iterations: how"
                                                  " single iterations are spread"},
                                        #{name => out, long => "-out",
                                          help => "the file to write, in place of report.html in the folder"
                                                  " (html) or of standard output"}],
                          handler => fun ertslab_report:run/1},
            "diagnose" => #{help => "says why a live node is slow: mailboxes, collections, layout, memory; what to change,"
                                    " and the command that proves it (exit status 3 where something is found)",
                            arguments => diagnose(), handler => fun ertslab_diagnose:run/1},
            "advise" => #{help => "looks at processes of a live node, and says which message_queue_data suits"
                                  " them by what was measured",
                          arguments => [#{name => process,
                                          help => "a process identifier as '<0.80.0>', or a regular expression"
                                                  " that registered names match"},
                                        live_node(), cookie(),
                                        #{name => seconds, long => "-seconds",
                                          type => {integer, [{min, 1}, {max, 3600}]},
                                          help => "how long each is looked at (5 by default)"},
                                        json()],
                          handler => fun ertslab_advise:run/1},
            "flood" => #{help => "floods a log server with messages, directly or through a dam, and"
                                 " shows every second what waits and how many writes are made",
                         arguments => flood(), handler => fun ertslab_flood:run/1},
            "selftest" => #{help => "shows that it is honest: identical and different VMs in simulated"
                                    " noise, and how often what is said of them is wrong",
                            arguments => selftest(), handler => fun ertslab_selftest:run/1},
            "perf" => #{help => "shows where an experiment's time goes, as flame graphs and hottest"
                                " functions; wants perf, in Docker '--security-opt"
                                " seccomp=unconfined', and where kernel.perf_event_paranoid is"
                                " over 2 also '--user root --cap-add PERFMON'",
                        arguments => [experiment(), one_or_two_vms(), otp(), one_case(""),
                                      #{name => rounds, long => "-rounds",
                                        type => {integer, [{min, 1}, {max, 1000}]},
                                        help => "how often each metric makes its iterations (20"
                                                " by default); more give more samples"},
                                      new_dir(), json()],
                        handler => fun ertslab_perf:run/1},
            "cachegrind" => #{help => "counts instructions, cache misses, branches and mispredictions of"
                                      " each function, under valgrind with caches of 32 KiB (D1) and"
                                      " 2 MiB (LL) and its branch predictor, on the interpreter"
                                      " (./build.sh otp --interpreter NAME)",
                              arguments => [experiment(), one_or_two_vms(), otp(),
                                            one_case("; valgrind is 50 times slower, so some are"
                                                     " smaller than for other commands"),
                                            #{name => runs, long => "-runs",
                                              type => {integer, [{min, 2}, {max, 100}]},
                                              help => "runs whose counts are compared (3 by default)"},
                                            new_dir(), json()],
                              handler => fun ertslab_cachegrind:run/1},
            "audit" => #{help => "finds what looks through a whole mailbox: receives of compiled modules,"
                                 " or calls that are timed with messages waiting",
                         arguments => audit(), handler => fun ertslab_audit:run/1}}}.

arms() ->
    [vm("what is set side by side, the first is the baseline: A,B,... Each is a variant (tuned), a variant of a"
        " release (stock@27), a path to an Erlang (/usr, ~/.kerl/28/bin/erl), or a revision (git:PATH@REVISION)", #{}),
     #{name => arm, long => "-arm", action => append,
       help => "NAME=VM[,flags=\"+hmqd off_heap\"][,code=DIR]: one arm in full; give two or more in place of --vm"},
     #{name => flags, long => "-flags", action => append,
       help => "words for the emulator, as \"+hmqd off_heap\": sets the VM beside itself with these; give it again for"
               " one more"},
     #{name => code, long => "-code",
       help => "OLD=DIR,NEW=DIR: two builds of a project of rebar3 or mix, or folders of modules, on one VM"}].

history() ->
    [experiment(),
     #{name => git, long => "-git", required => true, help => "a git repository of Erlang/OTP"},
     #{name => good, long => "-good", required => true, help => "the first revision, which all others are measured beside"},
     #{name => bad, long => "-bad", required => true, help => "the last revision, which follows the first"},
     #{name => metric, long => "-metric", help => "the metric to judge by (the experiment's first by default)"}].

%% How each commit is measured: by 20 pairs, where nothing is said.
passed() -> [A || #{name := Name} = A <- measuring(), lists:member(Name, [pairs, quick, budget, accept_host, param, out, json])].

measuring() ->
    [otp(),
     #{name => pairs, long => "-pairs", type => {integer, [{min, 1}, {max, 10000}]},
       help => "random pairs to measure, at least 10 (by default 45 where one run measures all"
               " cases' floors, 30 where each case has its runs, and 20 for medians)"},
     #{name => quick, long => "-quick", type => boolean, help => "6 pairs and few cases: a first impression"},
     #{name => budget, long => "-budget",
       help => "time to spend, as 20m: a few pairs are measured first, then it says how many pairs"
               " that is and the smallest change they will show"},
     #{name => builds, long => "-builds", type => {integer, [{min, 1}, {max, 99}]},
       help => "layouts of each variant that the pairs take in turn, to spread the luck of layout"
               " (1 by default; './build.sh otp --builds N' makes them)"},
     #{name => same_within, long => "-same-within",
       help => "smallest change of interest, as 2%: less is called the same (1% by default)"},
     #{name => fail_if, long => "-fail-if",
       help => "'slower 2%' or 'changed 2%': exit status 3 where a result is so, for machines that watch over speed"},
     #{name => no_control, long => "-no-control", type => boolean,
       help => "without the A/A control that otherwise comes along"},
     #{name => accept_host, long => "-accept-host", type => boolean,
       help => "measure also where the look at the machine says that it is not fit"},
     #{name => host, long => "-host",
       help => "USER@MACHINE: measure there, over ssh, with the ertslab that is built there"},
     #{name => host_dir, long => "-host-dir", help => "where that is (the same folder as here by default)"},
     #{name => fleet, long => "-fleet",
       help => "a file of such machines, one a line, its folder after a blank where it differs:"
               " the same comparison on each, a folder below --out for each"},
     #{name => slurm, long => "-slurm",
       help => "a partition of Slurm: measure on a node of its own, into --out, which the nodes share"},
     #{name => nodes, long => "-nodes", type => {integer, [{min, 1}, {max, 100}]},
       help => "with --slurm, the same comparison on so many nodes at a time (1 by default)"},
     #{name => param, long => "-param", action => append,
       help => "NAME=VALUE[,VALUE...]: values of a parameter, each a case"},
     #{name => seed, long => "-seed", type => {integer, [{min, 0}]},
       help => "seed of the order of runs (random by default)"},
     #{name => out, long => "-out", help => "folder for samples and results; one that holds the same"
                                            " comparison unfinished is finished"},
     #{name => force, long => "-force", type => boolean, help => "replace what --out holds"},
     json()].

selftest() ->
    [#{name => comparisons, long => "-comparisons", type => {integer, [{min, 1}, {max, 100000}]},
       help => "comparisons to simulate in each kind of noise and for each effect (1000 by default)"},
     #{name => seed, long => "-seed", type => {integer, [{min, 0}]},
       help => "seed of all that is drawn (1 by default)"},
     #{name => bisect, long => "-bisect", type => boolean,
       help => "in place of comparisons, histories to bisect: how often a wrong commit is named (200 of each kind, or"
               " --comparisons)"},
     #{name => machine, long => "-machine", type => {integer, [{min, 1}, {max, 1000}]},
       help => "in place of simulations, so many real comparisons of stock with its copy here,"
               " of about a minute each"},
     #{name => record, long => "-record", type => boolean,
       help => "in place of simulations, keep the noise of this machine: what stock and its copy measure (5 minutes)"},
     #{name => replay, long => "-replay",
       help => "a recording to draw comparisons from, in place of those that come with ertslab"},
     #{name => pairs, long => "-pairs", type => {integer, [{min, 20}, {max, 1000}]},
       help => "with --record, so many pairs (60 by default)"},
     #{name => out, long => "-out", help => "with --machine or --record, folder for samples and results; one that"
                                            " holds some of the comparisons is continued"},
     #{name => accept_host, long => "-accept-host", type => boolean,
       help => "with --machine or --record, measure also where this machine is not fit"},
     otp(), json()].

audit() ->
    [#{name => target, nargs => list, required => false,
       help => "an application, a .beam file, a folder of them, a rebar3 project or a release; with --timed,"
               " a part of a call's name in the catalogue (none: all of it)"},
     #{name => static, long => "-static", type => boolean,
       help => "judge every receive by what the compiler says of it (by default)"},
     #{name => timed, long => "-timed", type => boolean,
       help => "time calls with 0, 10 thousand and 100 thousand messages waiting"},
     #{name => call, long => "-call", action => append,
       help => "with --timed, a call with literal arguments in place of the catalogue, as"
               " 'file:read_file_info(\"/tmp\")'"},
     #{name => page, long => "-page",
       help => "with --timed, write a page of what scans on each release that is built (or on that of --otp), and why"},
     json(),
     #{name => sarif, long => "-sarif", type => boolean, help => "SARIF 2.1.0 on standard output"},
     #{name => baseline, long => "-baseline",
       help => "a file of known findings: only others are shown, and fail the call"},
     #{name => write_baseline, long => "-write-baseline", help => "write the findings into such a file"},
     vm("the variant whose compiler and libraries are used (stock by default)", #{}), otp()].

diagnose() ->
    [live_node(), cookie(),
     #{name => budget, long => "-budget", help => "the longest that looking may take there, as 10s (the default)"},
     #{name => nif, long => "-nif", type => boolean,
       help => "also measure where the list cells of large states lie: loads cons_spacing into the node, and busies five"
               " idle servers for about 10 ns a cell"},
     #{name => out, long => "-out", help => "also write the report as one page of HTML into this file"},
     #{name => watch, long => "-watch", type => boolean, help => "look again and again: a line a look, until interrupted"},
     #{name => looks, long => "-looks", type => {integer, [{min, 1}]}, help => "with --watch, end after so many"},
     #{name => collect, long => "-collect",
       help => "in place of looking, collect the garbage of this process, as '<0.80.0>', and say what it gave back"},
     json()].

live_node() -> #{name => node, long => "-node", required => true, help => "the node, as name@host"}.

cookie() -> #{name => cookie, long => "-cookie", help => "its cookie (that of ~/.erlang.cookie by default)"}.

flood() ->
    [#{name => way, help => "direct, or dam: a back-pressure library in front of the server"},
     #{name => driver, long => "-driver",
       help => "how the server writes: async (by default) or output, whose answers carry no"
               " reference, tagged or control"},
     #{name => messages, long => "-messages", type => {integer, [{min, 1}, {max, 1_000_000_000}]},
       help => "messages that are there before the server takes the first one (1000000 by default)"},
     #{name => seconds, long => "-seconds", type => {integer, [{min, 1}, {max, 86_400}]},
       help => "the longest time to write them in (60 by default); what waits then is counted"},
     #{name => sink, long => "-sink",
       help => "the file to write, a new one, or a device such as /dev/null (a file that is"
               " removed afterwards by default)"},
     vm("the variant (stock by default)", #{}), otp(), json()].

experiment() -> #{name => experiment, help => "its name, as 'ertslab list' shows it"}.

otp() ->
    #{name => otp, long => "-otp", type => {integer, [{min, 1}]},
      help => "OTP release (the oldest that is built by default)"}.

one_or_two_vms() -> vm("the variant, or two to set side by side: A,B", #{required => true}).

one_case(More) ->
    #{name => param, long => "-param", action => append,
      help => "NAME=VALUE: the value of a parameter, in place of the experiment's own" ++ More}.

new_dir() ->
    #{name => out, long => "-out", help => "folder for the results, new or empty"}.

vm(Help, More) -> maps:merge(#{name => vm, long => "-vm", help => Help}, More).

json() -> #{name => json, long => "-json", type => boolean, help => "JSON on standard output"}.

%% The launcher becomes this command: its words, each ended by a zero byte.
start_erl(#{vm := Name, rest := Args} = Options) ->
    VM = ertslab_inventory:find(ertslab_error:text(Name), ertslab_inventory:release(Options)),
    io:put_chars([[Word, 0] || Word <- ertslab_vm:command(VM, Args)]).

%% The same for iex, which takes its emulator from PATH, and of its words what is between blanks.
start_iex(#{vm := Name, rest := Args} = Options) ->
    [Erl | Words] = ertslab_vm:command(ertslab_inventory:find(ertslab_error:text(Name), ertslab_inventory:release(Options)), []),
    _ = [ertslab_error:failure("iex cannot be told of ~ts, which has a blank in it.", [Word]) || Word <- Words, lists:member($\s, Word)],
    Environment = ["PATH=" ++ filename:dirname(Erl) ++ ":" ++ os:getenv("PATH"),
                   "ELIXIR_ERL_OPTIONS=" ++ lists:append(lists:join(" ", Words))],
    io:put_chars([[Word, 0] || Word <- ["env" | Environment] ++ [ertslab_os_command:find("iex", "elixir") | Args]]).
