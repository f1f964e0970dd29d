%% @doc The options of each command that measures, and the arguments from which the same options can be read again.
-module(ertslab_call).

-export([arguments/1, words/1, of_machines/0]).
-export([experiment/0, otp/0, vm/2, json/0]).
-export_type([command/0]).

-type command() :: compare | sweep | time | bisect | follow | judges.

%% Options without effect on the measurement: the place of results, their output, and accepting the machine as it is.
-define(BESIDE, [out, force, fail_if, json, accept_host]).

%% @doc The names of the options for other machines. Some commands do not have them, and they need a checkout.
-spec of_machines() -> [atom(), ...].
of_machines() -> [host, host_dir, fleet, slurm, nodes].

%% @doc The arguments of a command.
-spec arguments(command()) -> [ertslab_arguments:argument()].
arguments(compare) -> [experiment() | arms() ++ measuring()];
arguments(judges) -> arms() ++ without([param, builds, json | of_machines()], measuring());
arguments(time) ->
    [#{name => expressions, nargs => nonempty_list,
       help => "expressions in quotes, such as 'lists:seq(1, 100)'; the first is the baseline"},
     #{name => init, long => "-init", help => "binds the variables of the expressions, such as 'L = lists:seq(1, 100)'"},
     vm("the VMs to measure them on (stock by default): A,B,... as for compare", #{type => ertslab_option_types:erlangs()})
     | without([param, builds | of_machines()], measuring())];
arguments(sweep) ->
    [experiment(),
     vm("the variant", #{required => true, type => ertslab_option_types:erlangs()}),
     #{name => over, long => "-over", required => true, type => ertslab_option_types:assignment(),
       help => "NAME=V1,V2,...: the first value is the baseline"}
     | measuring()];
arguments(bisect) -> history() ++ passed();
arguments(follow) ->
    [#{name => every, long => "-every", required => true, type => {integer, [{min, 1}]},
       help => "N: measures every N-th commit, and the last"} | history() ++ passed()].

without(Names, Arguments) -> [Argument || #{name := Name} = Argument <- Arguments, not lists:member(Name, Names)].

%% @doc The arguments that repeat a measurement with these options. The place of its results is not among them.
-spec words(#{command := command(), _ => _}) -> [string(), ...].
words(#{source := File} = Options) -> words((maps:remove(source, Options))#{experiment := File});
words(#{command := Command} = Options) ->
    [atom_to_list(Command) | ertslab_arguments:words(maps:without(?BESIDE, Options), arguments(Command))].

arms() ->
    [vm("the VMs to compare: A,B,... The first is the baseline. Each is a variant (tuned), a variant of a release (stock@27), a"
        " path to an Erlang (/usr, ~/.kerl/28/bin/erl), or a revision (git:PATH@REVISION)",
        #{type => ertslab_option_types:erlangs()}),
     #{name => arm, long => "-arm", action => append, type => ertslab_option_types:arm(),
       help => "NAME=VM[,flags=\"+hmqd off_heap\"][,code=DIR]: one arm in full; give two or more in place of --vm"},
     #{name => flags, long => "-flags", action => append, type => ertslab_option_types:flags(),
       help => "flags of the emulator, such as \"+hmqd off_heap\". Compares the VM without flags with the VM with these flags. Repeat"
               " the option for more arms"},
     #{name => code, long => "-code", type => ertslab_option_types:builds_of_code(),
       help => "OLD=DIR,NEW=DIR: compares two builds of a rebar3 or mix project, or two folders of modules, on one VM. For two"
               " branches, check out and build each in a folder of its own (git worktree)"}].

history() ->
    [experiment(),
     #{name => git, long => "-git", required => true, type => ertslab_option_types:path(), help => "a git repository of Erlang/OTP"},
     #{name => good, long => "-good", required => true, help => "the first revision; the others are compared with it"},
     #{name => bad, long => "-bad", required => true, help => "the last revision, a descendant of the first"},
     #{name => metric, long => "-metric", help => "the metric that decides (by default the experiment's first)"}].

%% Each commit is measured with 20 pairs (counts: 3), unless one of these says otherwise.
passed() ->
    [of_commit(A) || #{name := Name} = A <- measuring(), lists:member(Name, [pairs, quick, budget, accept_host, param, out, json])].

of_commit(#{name := pairs} = Argument) -> Argument#{help := "number of pairs for each commit, 3 to 10000. Default: 20; 3 (counts)"};
of_commit(Argument) -> Argument.

measuring() ->
    [otp(),
     #{name => pairs, long => "-pairs", type => {integer, [{min, 3}, {max, 10000}]},
       help => "number of pairs, 3 to 10000. Times need at least 10, and more if there are many results. Default: 45 (floor, one run"
               " measures all cases), 30 (floor, each case has runs of its own), 20 (median), 3 (counts)"},
     #{name => quick, long => "-quick", type => boolean, help => "a smoke test: 6 pairs and few cases"},
     #{name => budget, long => "-budget", type => ertslab_option_types:duration(),
       help => "time to spend, such as 20m. A few pairs are measured first; they show how many pairs fit into the time, and the"
               " smallest change that this number of pairs will show"},
     #{name => builds, long => "-builds", type => {integer, [{min, 1}, {max, 99}]},
       help => "number of builds of each variant, which differ in the layout of their code; the pairs use them in turn (1 by"
               " default)"},
     #{name => same_within, long => "-same-within", type => ertslab_option_types:percentage(),
       help => "smallest change of interest, such as 2%; a smaller change counts as the same (1% by default)"},
     #{name => fail_if, long => "-fail-if", type => ertslab_option_types:bound(),
       help => "'slower 2%': exit with status 3 if a result has the verdict changed and is slower by at least 2 %; 'changed 2%':"
               " slower or faster. A result that differs from the baseline, but not from the control, is unsure, not changed. If the"
               " fastest runs and the medians disagree, both must be beyond the bound"},
     #{name => no_control, long => "-no-control", type => boolean,
       help => "measure no control (by default the baseline is measured a second time)"},
     #{name => accept_host, long => "-accept-host", type => boolean,
       help => "measure even if this machine is not fit to measure on"},
     #{name => host, long => "-host",
       help => "USER@MACHINE: measure on that machine, through ssh, with the ertslab that is built there"},
     #{name => host_dir, long => "-host-dir", help => "the folder of ertslab on that machine (by default the same as here)"},
     #{name => fleet, long => "-fleet", type => ertslab_option_types:path(),
       help => "a file that names machines (USER@MACHINE), one a line, with the folder of ertslab after a blank if it differs. Each makes"
               " the same comparison, into a folder of its own below --out"},
     #{name => slurm, long => "-slurm", type => ertslab_option_types:word(),
       help => "a partition of Slurm: measure exclusively on one of its nodes, into --out, which all nodes must share"},
     #{name => nodes, long => "-nodes", type => {integer, [{min, 1}, {max, 100}]},
       help => "with --slurm, the number of nodes that make the same comparison (1 by default)"},
     #{name => param, long => "-param", action => append, type => ertslab_option_types:assignment(),
       help => "NAME=VALUE[,VALUE...]: values of a parameter; each value is a case"},
     #{name => seed, long => "-seed", type => {integer, [{min, 0}, {max, 1 bsl 128}]},
       help => "seed of the order of runs (random by default)"},
     #{name => out, long => "-out", type => ertslab_option_types:path(), help => "folder for samples and results; if the folder"
           " contains an unfinished comparison with the same arguments, ertslab continues this comparison"},
     #{name => force, long => "-force", type => boolean, help => "replace the comparison in the folder of --out, even an"
           " unfinished comparison with the same arguments"},
     json()].

%% @doc The experiment that is measured.
-spec experiment() -> ertslab_arguments:argument().
experiment() -> #{name => experiment, type => ertslab_option_types:experiment(), help => "its name ('ertslab list' shows all), or"
      " a file exp_NAME.erl or exp_NAME.exs"}.

%% @doc The option for the release of the variants.
-spec otp() -> ertslab_arguments:argument().
otp() ->
    #{name => otp, long => "-otp", type => {integer, [{min, 1}]},
      help => "OTP release (the oldest that is built by default)"}.

%% @doc The option for the Erlang.
-spec vm(Help :: string(), #{atom() => term()}) -> ertslab_arguments:argument().
vm(Help, More) -> maps:merge(#{name => vm, long => "-vm", help => Help}, More).

%% @doc The option for machine-readable output.
-spec json() -> ertslab_arguments:argument().
json() -> #{name => json, long => "-json", type => boolean, help => "JSON on standard output"}.
