%% Facts of this machine, and what is too much for its memory.
-module(ertslab_host_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, machine_is_described/1, processors_are_told_apart/1, the_load_is_a_number/1, memory_is_judged/1, a_gibibyte_is_written_as_one/1]).

all() -> [machine_is_described, processors_are_told_apart, the_load_is_a_number, memory_is_judged, a_gibibyte_is_written_as_one].

machine_is_described(_) ->
    #{cpu := Cpu, cores := Cores, memory_kib := Memory, kernel := Kernel, virtual := Virtual} = Machine = ertslab_host:machine(),
    ?assert(is_binary(Cpu) andalso is_binary(Kernel) andalso is_boolean(Virtual)),
    ?assert(is_integer(Cores) andalso Cores > 0),
    Available = ertslab_memory_limit:available(),
    ?assert(is_integer(Available) andalso Available div 1024 =< Memory),
    %% It is JSON in the plan.
    ?assertMatch(#{~"cores" := Cores}, json:decode(iolist_to_binary(json:encode(Machine)))).

%% The files of an EPYC in a virtual machine, of a Graviton and of no machine.
processors_are_told_apart(Config) ->
    File = filename:join(dir(Config), "cpuinfo"),
    Of = fun(Text) ->
                 ok = file:write_file(File, Text),
                 ertslab_host:processor(File)
         end,
    ?assertEqual(#{cpu => ~"AMD EPYC", virtual => true}, Of("model name\t: AMD EPYC\nflags\t\t: fpu hypervisor lahf_lm\n")),
    ?assertEqual(#{cpu => ~"Xeon", virtual => false}, Of("model name\t: Xeon\nflags\t\t: fpu vme\n")),
    ?assertEqual(#{cpu => ~"ARM, implementer 0x41, part 0xd0c", virtual => null},
                 Of("Features\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n")),
    ?assertEqual(#{cpu => null, virtual => null}, Of("")).

the_load_is_a_number(_) -> ?assert(binary_to_float(ertslab_host:load()) >= 0).

memory_is_judged(_) ->
    ?assertEqual([ok, ok], [ertslab_memory_limit:judge({"x", 100}, Available) || Available <- [100, null]]),
    ?assertThrow({usage, _}, ertslab_memory_limit:judge({"x", 101}, 100)).

a_gibibyte_is_written_as_one(_) ->
    {usage, Error} = try ertslab_memory_limit:judge({["--messages ", "7"], 3 bsl 29}, 1 bsl 30) catch throw:Thrown -> Thrown end,
    ?assertEqual(~"--messages 7: this needs about 1.5 GiB of memory, and 1.0 GiB are available; choose less",
                 ertslab_error:sentence(Error)).
