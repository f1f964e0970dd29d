%% @doc Whether a machine has the memory that the cases of an experiment need.
-module(ertslab_memory_needs).

-export([check/3, judge/3]).

%% @doc Fails if an experiment reports that the cases of one run need more bytes than are
%% available on the machine of that VM. `Runs' lists the cases that are in memory at once. Most experiments report nothing.
-spec check(module(), Runs :: [[ertslab_experiment:params(), ...], ...], ertslab_inventory:vm()) -> ok.
check(Module, Runs, VM) ->
    case erlang:function_exported(Module, needs, 1) of
        true -> judge(Module, Runs, ertslab_vm:on_its_machine(VM, ertslab_memory_limit, available, []));
        false -> ok
    end.

%% @doc The same with a given number of available bytes, `null' if that is unknown.
-spec judge(module(), Runs :: [[ertslab_experiment:params(), ...], ...], non_neg_integer() | null) -> ok.
judge(Module, Runs, Available) ->
    {Bytes, Cases} = lists:max([{lists:sum([Module:needs(Case) || Case <- Cases]), Cases} || Cases <- Runs]),
    ertslab_memory_limit:judge({held(Cases), Bytes}, Available).

held([Case]) -> ertslab_text:params(Case);
held([Case | _] = Cases) -> [ertslab_text:params(Case), io_lib:format(" and ~b more beside it", [length(Cases) - 1])].
