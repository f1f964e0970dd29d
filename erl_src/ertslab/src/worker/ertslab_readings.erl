%% @doc What a machine was doing during a run.
%%
%% Everything is read from /proc and /sys, without root and in containers; a
%% value that cannot be read is `null', never a guess.
-module(ertslab_readings).

-export([readings/0, during/2]).
-export([line/1, kib/1, field/2, read/1]).
-export_type([readings/0]).

%% USER_HZ, in which Linux counts for programs, is 100 on x86-64 and AArch64.
-define(MS_PER_TICK, 10).

-type readings() :: #{atom() => number() | null}.

%% @doc Counters of the machine and of this VM since they started.
-spec readings() -> readings().
readings() ->
    maps:merge(ticks(),
               maps:merge(own_process(),
                          #{swapped_in => vmstat(<<"pswpin">>),
                            load => load(),
                            cpu_pressure => cpu_pressure(),
                            frequency_khz => frequency_khz()})).

%% @doc What happened between two readings of one VM:
%% `steal_ms' (core time that the hypervisor took away), `others_ms' (core time
%% of everything but this VM), the VM's context switches and page faults, and
%% `swapped_in' (pages of the whole machine) as differences; `load',
%% `cpu_pressure' (share of the last 10 seconds in which some task waited for a
%% core, percent) and `frequency_khz' (of the first core) as at the end.
-spec during(readings(), readings()) -> readings().
during(Before, After) ->
    Counted = [busy_ms, own_ms, steal_ms, swapped_in, minor_faults, major_faults,
               voluntary_switches, involuntary_switches],
    Now = maps:map(fun(Key, Value) ->
                           case lists:member(Key, Counted) of
                               true -> difference(Value, maps:get(Key, Before));
                               false -> Value
                           end
                   end, After),
    #{busy_ms := Busy, own_ms := Own} = Now,
    (maps:without([busy_ms, own_ms], Now))#{others_ms => at_least_zero(difference(Busy, Own))}.

difference(Of, Take) when is_number(Of), is_number(Take) -> Of - Take;
difference(_, _) -> null.

%% The ticks of the machine and of the process are rounded separately, so their difference can be below 0.
at_least_zero(null) -> null;
at_least_zero(Number) -> max(0, Number).

%% The first line of /proc/stat. Guests are counted among user and nice.
ticks() ->
    case words(<<"/proc/stat">>) of
        [<<"cpu">>, User, Nice, System, _Idle, _IoWait, Irq, SoftIrq, Steal | _] ->
            Busy = lists:sum([binary_to_integer(T) || T <- [User, Nice, System, Irq, SoftIrq]]),
            #{busy_ms => Busy * ?MS_PER_TICK, steal_ms => binary_to_integer(Steal) * ?MS_PER_TICK};
        _ -> #{busy_ms => null, steal_ms => null}
    end.

own_process() ->
    maps:merge(own_stat(), #{voluntary_switches => switches(<<"voluntary_ctxt_switches">>),
                             involuntary_switches => switches(<<"nonvoluntary_ctxt_switches">>)}).

%% The fields after the program's name, which is in parentheses and may hold blanks.
own_stat() ->
    case read(<<"/proc/self/stat">>) of
        null -> #{minor_faults => null, major_faults => null, own_ms => null};
        Text ->
            [_, After] = string:split(Text, <<") ">>, trailing),
            [_State, _Ppid, _Group, _Session, _Tty, _TtyGroup, _Flags, Minor, _OfChildren, Major,
             _OfChildren2, User, System | _] = binary:split(After, <<" ">>, [global]),
            #{minor_faults => binary_to_integer(Minor), major_faults => binary_to_integer(Major),
              own_ms => (binary_to_integer(User) + binary_to_integer(System)) * ?MS_PER_TICK}
    end.

%% Linux counts them for each thread.
switches(Name) ->
    Counts = [field(File, Name) || File <- filelib:wildcard("/proc/self/task/*/status")],
    lists:sum([binary_to_integer(Count) || Count <- Counts, Count =/= null]).

vmstat(Name) ->
    case re:run(default(read(<<"/proc/vmstat">>), <<"">>), [<<"^">>, Name, <<" (\\d+)$">>],
                [multiline, {capture, all_but_first, binary}]) of
        {match, [Count]} -> binary_to_integer(Count);
        nomatch -> null
    end.

default(null, Default) -> Default;
default(Value, _Default) -> Value.

frequency_khz() ->
    case line(<<"/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq">>) of
        null -> null;
        Text -> binary_to_integer(Text)
    end.

load() ->
    case words(<<"/proc/loadavg">>) of
        [Load | _] -> binary_to_float(Load);
        _ -> null
    end.

cpu_pressure() ->
    case words(<<"/proc/pressure/cpu">>) of
        [<<"some">>, <<"avg10=", Share/binary>> | _] -> binary_to_float(Share);
        _ -> null
    end.

words(File) ->
    case read(File) of
        null -> [];
        Text -> binary:split(Text, [<<" ">>, <<"\n">>], [global, trim_all])
    end.

%% @doc The text of a file of one line, `null' if it cannot be read.
-spec line(file:filename_all()) -> binary() | null.
line(File) ->
    case read(File) of
        null -> null;
        Text -> string:trim(Text)
    end.

%% @doc The value of a line "NAME: VALUE" of a file, `null' if there is none.
-spec field(file:filename_all(), binary()) -> binary() | null.
field(File, Name) ->
    case read(File) of
        null -> null;
        Text ->
            case re:run(Text, [<<"^">>, Name, <<"\\s*:\\s*(.*)$">>],
                        [multiline, {capture, all_but_first, binary}]) of
                {match, [Value]} -> Value;
                nomatch -> null
            end
    end.

%% @doc The number in "N kB".
-spec kib(binary() | null) -> non_neg_integer() | null.
kib(null) -> null;
kib(Text) -> binary_to_integer(hd(binary:split(Text, <<" ">>))).

%% @doc The text of a whole file, `null' if it cannot be read.
-spec read(file:filename_all()) -> binary() | null.
read(File) ->
    case file:read_file(File) of
        {ok, Text} -> Text;
        {error, _} -> null
    end.
