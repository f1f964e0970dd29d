%% @doc Facts about the machine. A fact that cannot be read is `null', never a guess.
-module(ertslab_host).

-export([machine/0, load/0]).
-export_type([machine/0]).

-import(ertslab_readings, [field/2, kib/1, line/1, read/1]).

-type machine() :: #{atom() => binary() | integer() | boolean() | unknown | null}.

%% @doc The machine in a few words: processor, cores, memory, kernel.
-spec machine() -> machine().
machine() ->
    #{cpu => field(<<"/proc/cpuinfo">>, <<"model name">>),
      cores => erlang:system_info(logical_processors_available),
      memory_kib => kib(field(<<"/proc/meminfo">>, <<"MemTotal">>)),
      kernel => line(<<"/proc/sys/kernel/osrelease">>),
      governor => line(<<"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor">>),
      virtual => is_virtual()}.

%% @doc How many programs want to run, on average over 15 minutes.
-spec load() -> binary().
load() ->
    case line(<<"/proc/loadavg">>) of
        null -> <<"unknown">>;
        Line -> lists:nth(3, binary:split(Line, <<" ">>, [global]))
    end.

is_virtual() ->
    case read(<<"/proc/cpuinfo">>) of
        null -> null;
        Text -> binary:match(Text, <<" hypervisor ">>) =/= nomatch
    end.
