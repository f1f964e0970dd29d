%% @doc A whole VM for one run of an experiment, each metric once: what runs
%% under valgrind. Why it failed is all that it prints.
-module(ertslab_cachegrind_run).

-export([words/2, params/2, main/1]).

%% @doc The words that let a VM start `main/1'.
-spec words(module(), ertslab_experiment:params()) -> [string()].
words(Module, Params) ->
    ["-noinput", "-kernel", "logger_level", "emergency",
     "-run", atom_to_list(?MODULE), "main", atom_to_list(Module) | ertslab_parameters:words(Params)].

%% @doc The parameters in such words. Their names and values are those that the
%% experiment knows, so that no word becomes an atom.
-spec params(module(), [string()]) -> ertslab_experiment:params().
params(Module, Words) -> ertslab_parameters:one_case(ertslab_parameters:info(Module), counted, Words).

%% @doc Runs the experiment that the words name, and ends the VM. Its name was
%% looked up where the words were made, which costs too much under valgrind.
-spec main([string()]) -> no_return().
main([Name | Words]) ->
    try
        Module = list_to_atom(Name),
        ok = ertslab_paused_run:start(Module, params(Module, Words), #{warm_up => 0, iterations => 1}),
        ok = ertslab_paused_run:finish(),
        halt(0)
    catch
        _:Reason ->
            io:put_chars(ertslab_error:reason_text(Reason)),
            halt(1)
    end.
