%% @doc Refuses what wants more memory than the machine has.
-module(ertslab_room).

-export([check/3, judge/3, judge/2, to_read/3, available/0]).

%% @doc Fails where an experiment says that the cases of one run need more bytes than are
%% available on the machine of that VM. `Runs' are the cases that each holds at once. Most say nothing.
-spec check(module(), Runs :: [[ertslab_experiment:params(), ...], ...], ertslab_vm:vm()) -> ok.
check(Module, Runs, VM) ->
    case erlang:function_exported(Module, needs, 1) of
        true -> judge(Module, Runs, ertslab_vm:on_its_machine(VM, ?MODULE, available, []));
        false -> ok
    end.

%% @doc The same with so many bytes available, `null' where that cannot be known.
-spec judge(module(), Runs :: [[ertslab_experiment:params(), ...], ...], non_neg_integer() | null) -> ok.
judge(Module, Runs, Available) ->
    {Bytes, Cases} = lists:max([{lists:sum([Module:needs(Case) || Case <- Cases]), Cases} || Cases <- Runs]),
    judge({held(Cases), Bytes}, Available).

held([Case]) -> ertslab_table:params(Case);
held([Case | _] = Cases) -> [ertslab_table:params(Case), io_lib:format(" and ~b more beside it", [length(Cases) - 1])].

%% @doc The same of what has a name and wants so many bytes.
-spec judge({unicode:chardata(), non_neg_integer()}, non_neg_integer() | null) -> ok.
judge({What, Bytes}, Available) when is_integer(Available), Bytes > Available ->
    ertslab_error:usage("~ts: this wants about ~ts of memory, and ~ts are available; choose less",
                        [What, gibibytes(Bytes), gibibytes(Available)]);
judge(_, _) -> ok.

%% @doc Fails where reading a file wants more bytes than are available.
-spec to_read(file:filename(), number(), non_neg_integer() | null) -> ok.
to_read(File, Bytes, Available) when is_integer(Available), Bytes > Available ->
    ertslab_error:failure("~ts: reading it wants about ~ts of memory, and ~ts are available; end other programs,"
                          " or read it on a machine with more.",
                          [File, gibibytes(Bytes), gibibytes(Available)]);
to_read(_, _, _) -> ok.

%% @doc Bytes that the kernel could give to a program now.
-spec available() -> non_neg_integer() | null.
available() ->
    case ertslab_host:kib(ertslab_host:field(~"/proc/meminfo", ~"MemAvailable")) of
        null -> null;
        Kib -> Kib * 1024
    end.

gibibytes(Bytes) -> io_lib:format("~.1f GiB", [Bytes / (1 bsl 30)]).
