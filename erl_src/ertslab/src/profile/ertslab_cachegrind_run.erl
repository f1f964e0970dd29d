%% @doc A whole VM for one run of an experiment, each metric once, to run under valgrind. It prints nothing but the
%% reason of a failure.
-module(ertslab_cachegrind_run).

-export([words/2, params/2, main/1]).

%% @doc The arguments with which a VM starts `main/1'.
-spec words(module(), ertslab_experiment:params()) -> [string()].
words(Module, Params) ->
    ["-noinput", "-kernel", "logger_level", "emergency",
     "-run", atom_to_list(?MODULE), "main", atom_to_list(Module)
     | [ertslab_option_types:written(ertslab_option_types:assignment(), One) || One <- ertslab_parameters:assignments(Params)]].

%% @doc The parameters in such arguments. Only names and values that the experiment declares are accepted, so no new
%% atom is created.
-spec params(module(), [string()]) -> ertslab_experiment:params().
params(Module, Words) ->
    Given = [Assignment || Word <- Words, {ok, Assignment} <- [ertslab_option_types:read(ertslab_option_types:assignment(), Word)]],
    ertslab_parameters:one_case(ertslab_parameters:info(Module), counted, Given).

%% @doc Runs the experiment that the arguments name, and ends the VM. The name was looked up by the caller, because
%% that is too slow under valgrind.
-spec main([string()]) -> no_return().
main([Name | Words]) ->
    try
        Module = list_to_atom(Name),
        {ok, _} = ertslab_paused_run:start(Module, params(Module, Words), #{warm_up => 0, iterations => 1}),
        ok = ertslab_paused_run:finish(),
        halt(0)
    catch
        _:Reason ->
            io:put_chars(ertslab_crash:says(Reason)),
            halt(1)
    end.
