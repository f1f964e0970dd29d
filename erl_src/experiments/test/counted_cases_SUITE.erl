%% The cases of each experiment: as cachegrind gives them to the VM that runs it, and as they are kept in a file.
-module(counted_cases_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_case_comes_back/1, what_is_counted_is_allowed/1, no_word_becomes_an_atom/1, no_value_is_a_literal_of_json/1]).

all() -> [every_case_comes_back, what_is_counted_is_allowed, no_word_becomes_an_atom, no_value_is_a_literal_of_json].

every_case_comes_back(_) ->
    Experiments = experiments(),
    ?assert(lists:member(exp_gc_shapes, Experiments)),
    [?assertEqual(Case, ertslab_cachegrind_run:params(Module, given(ertslab_cachegrind_run:words(Module, Case))))
     || Module <- Experiments, Size <- [quick, full], Case <- ertslab_parameters:cases(Module:info(), Size, [])].

%% The parser refuses what is not among a parameter's values.
what_is_counted_is_allowed(_) ->
    [begin
         Case = ertslab_parameters:one_case(Module:info(), counted, []),
         ?assertEqual(Case, ertslab_cachegrind_run:params(Module, given(ertslab_cachegrind_run:words(Module, Case))))
     end || Module <- experiments()].

no_word_becomes_an_atom(_) ->
    Word = "shape_that_nobody_" ++ "named",
    ?assertThrow({usage, {ertslab_parameters, {not_one_of, shape, Word, [_ | _]}}},
                 ertslab_cachegrind_run:params(exp_gc_shapes, ["shape=" ++ Word])),
    ?assertThrow({usage, {ertslab_parameters, {no_parameter, Word, [_ | _]}}},
                 ertslab_cachegrind_run:params(exp_gc_shapes, [Word ++ "=1"])),
    ?assertError(badarg, list_to_existing_atom(Word)).

%% A value that is called null comes back from the file of the session as unknown.
no_value_is_a_literal_of_json(_) ->
    ?assertEqual([], [{Module, Name, Value}
                      || Module <- experiments(), #{name := Name, 'of' := Values} <- maps:get(parameters, Module:info()),
                         Value <- Values, lists:member(Value, [null, true, false])]).

%% Of a VM's words those that `main/1' gets after the module.
given(Words) ->
    ["main", _Module | Given] = lists:dropwhile(fun(Word) -> Word =/= "main" end, Words),
    Given.

%% Suites are named like them, but have no `info/0'.
experiments() ->
    Modules = [ertslab_parameters:module(Name) || Name <- ertslab_parameters:names()],
    [M || M <- Modules, {module, M} =:= code:ensure_loaded(M), erlang:function_exported(M, info, 0)].
