%% @doc A whole VM for one run of an experiment, each metric once: what runs
%% under valgrind. Why it failed is all that it prints.
-module(ertslab_counted).

-export([words/2, main/1]).

%% @doc The words that let a VM start `main/1'.
-spec words(module(), ertslab_experiment:params()) -> [string()].
words(Module, Params) ->
    ["-noinput", "-kernel", "logger_level", "emergency",
     "-run", atom_to_list(?MODULE), "main", atom_to_list(Module)
     | [lists:flatten(io_lib:format("~ts=~b", [Name, Value]))
        || {Name, Value} <- maps:to_list(maps:iterator(Params, ordered))]].

%% @doc Runs the experiment that the words name, and ends the VM.
-spec main([string()]) -> no_return().
main([Module | Params]) ->
    try
        ok = ertslab_held:start(list_to_atom(Module), maps:from_list([param(P) || P <- Params]),
                                #{warm_up => 0, iterations => 1}),
        ok = ertslab_held:finish(),
        halt(0)
    catch
        error:Reason ->
            io:put_chars(ertslab_runner:reason_text(Reason)),
            halt(1)
    end.

param(Word) ->
    [Name, Value] = string:split(Word, "="),
    {list_to_atom(Name), list_to_integer(Value)}.
