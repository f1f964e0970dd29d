%% @doc Facts about the machine. A fact that cannot be read is `null', never a guess.
-module(ertslab_host).

-export([machine/0, processor/1, emulated_by/0, load/0]).
-export_type([machine/0]).

-import(ertslab_readings, [field/2, kib/1, line/1]).

-type machine() :: #{atom() => binary() | integer() | boolean() | unknown | null}.

%% @doc The machine in a few words: processor, cores, memory, kernel.
-spec machine() -> machine().
machine() ->
    (processor(<<"/proc/cpuinfo">>))#{
      cores => erlang:system_info(logical_processors_available),
      memory_kib => kib(field(<<"/proc/meminfo">>, <<"MemTotal">>)),
      kernel => line(<<"/proc/sys/kernel/osrelease">>),
      governor => line(<<"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor">>)}.

%% @doc What that file of Linux says of the processor, and whether it is a virtual machine's. The words differ: on x86-64 there are a
%% name and flags, one of which is `hypervisor'; on AArch64 there are two numbers and no such flag.
-spec processor(file:filename_all()) -> #{cpu := binary() | null, virtual := boolean() | null}.
processor(File) ->
    #{cpu => cpu([field(File, Name) || Name <- [<<"model name">>, <<"CPU implementer">>, <<"CPU part">>]]),
      virtual => case field(File, <<"flags">>) of
                     null -> null;
                     Flags -> lists:member(<<"hypervisor">>, binary:split(Flags, <<" ">>, [global]))
                 end}.

cpu([null, Implementer, Part]) when Implementer =/= null, Part =/= null -> <<"ARM, implementer ", Implementer/binary, ", part ", Part/binary>>;
cpu([Name | _]) -> Name.

%% @doc The program that emulates this VM's processor, as qemu-user and Docker do for programs of another processor; `none' if
%% there is none, or /proc does not tell. Such a program hides behind /proc/self/exe, but under no other name of that file.
-spec emulated_by() -> file:filename() | none.
emulated_by() ->
    case [file:read_link(Name) || Name <- ["/proc/self/exe", "/proc/thread-self/exe"]] of
        [{ok, Own}, {ok, Other}] when Own =/= Other -> Other;
        _ -> none
    end.

%% @doc How many programs want to run, on average over 15 minutes.
-spec load() -> binary().
load() ->
    case line(<<"/proc/loadavg">>) of
        null -> <<"unknown">>;
        Line -> lists:nth(3, binary:split(Line, <<" ">>, [global]))
    end.
