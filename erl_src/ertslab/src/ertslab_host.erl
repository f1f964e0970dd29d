%% @doc What the machine is, and what it was doing during a run.
%%
%% Everything is read from /proc and /sys, without root and in containers; a
%% value that cannot be read is `null', never a guess.
-module(ertslab_host).

-export([machine/0, readings/0, during/2]).
-export_type([machine/0, readings/0]).

-type machine() :: #{atom() => binary() | integer() | boolean() | unknown | null}.
-type readings() :: #{atom() => number() | null}.

%% @doc The machine in a few words: processor, cores, memory, kernel.
-spec machine() -> machine().
machine() ->
    #{cpu => field(~"/proc/cpuinfo", ~"model name"),
      cores => erlang:system_info(logical_processors_available),
      memory_kib => kib(field(~"/proc/meminfo", ~"MemTotal")),
      kernel => line(~"/proc/sys/kernel/osrelease"),
      governor => line(~"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
      virtual => is_virtual()}.

is_virtual() ->
    case read(~"/proc/cpuinfo") of
        null -> null;
        Text -> binary:match(Text, ~" hypervisor ") =/= nomatch
    end.

%% @doc What changes while the machine works. Ticks count from its start.
-spec readings() -> readings().
readings() ->
    #{steal_ticks => steal_ticks(), load => load(), cpu_pressure => cpu_pressure()}.

%% @doc What happened between two readings: `steal_ticks' as a difference,
%% `load' and `cpu_pressure' (share of the last 10 seconds in which some task
%% waited for a core, percent) as they were at the end.
-spec during(readings(), readings()) -> readings().
during(#{steal_ticks := Before}, #{steal_ticks := After} = Now)
  when is_integer(Before), is_integer(After) ->
    Now#{steal_ticks := After - Before};
during(_, Now) -> Now.

%% The eighth number of the first line of /proc/stat: time that the hypervisor took away.
steal_ticks() ->
    case words(~"/proc/stat") of
        [~"cpu", _User, _Nice, _System, _Idle, _IoWait, _Irq, _SoftIrq, Steal | _] ->
            binary_to_integer(Steal);
        _ -> null
    end.

load() ->
    case words(~"/proc/loadavg") of
        [Load | _] -> binary_to_float(Load);
        _ -> null
    end.

cpu_pressure() ->
    case words(~"/proc/pressure/cpu") of
        [~"some", <<"avg10=", Share/binary>> | _] -> binary_to_float(Share);
        _ -> null
    end.

words(File) ->
    case read(File) of
        null -> [];
        Text -> binary:split(Text, [~" ", ~"\n"], [global, trim_all])
    end.

line(File) ->
    case read(File) of
        null -> null;
        Text -> string:trim(Text)
    end.

field(File, Name) ->
    case read(File) of
        null -> null;
        Text ->
            case re:run(Text, [~"^", Name, ~"\\s*:\\s*(.*)$"],
                        [multiline, {capture, all_but_first, binary}]) of
                {match, [Value]} -> Value;
                nomatch -> null
            end
    end.

kib(null) -> null;
kib(Text) -> binary_to_integer(hd(binary:split(Text, ~" "))).

read(File) ->
    case file:read_file(File) of
        {ok, Text} -> Text;
        {error, _} -> null
    end.
