%% The order of the layers, and that no modules call each other in a circle, nor the applications of erl_src together.
%% Calls, types, behaviours and imports count. In ertslab, and between applications, each atom that is the name of a module
%% counts too: some are called in another VM.
-module(ertslab_architecture_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, layers_call_only_those_before_them/1, no_modules_call_each_other_in_a_circle/1, each_layer_is_known/1,
         the_worker_needs_nothing_else/1, analysis_does_not_reach_the_machine/1, what_is_named_is_found/1,
         applications_name_what_they_call/1, no_applications_name_each_other_in_a_circle/1, each_application_is_known/1]).

all() ->
    [layers_call_only_those_before_them, no_modules_call_each_other_in_a_circle, each_layer_is_known,
     the_worker_needs_nothing_else, analysis_does_not_reach_the_machine, what_is_named_is_found,
     applications_name_what_they_call, no_applications_name_each_other_in_a_circle, each_application_is_known].

%% Each may call itself and those before it. doc/architecture.md says what lives in each.
-define(LAYERS, [worker, base, stats, host, vm, session, analysis, run, report, commands, history, profile, calibration, mailbox, diagnosis,
                cli]).
-define(APPLICATIONS, [ertslab, experiments, endurance, cons_spacing, port_drivers, dam, mailbox_audit, diagnose, batch_io,
                       callbacks,
                       otp_tests]).

layers_call_only_those_before_them(_) ->
    Place = maps:from_list([{Layer, Nth} || {Nth, Layer} <- lists:enumerate(?LAYERS)]),
    Modules = modules(ertslab),
    ?assertEqual([], [{Caller, in, layer(Caller), names, Callee, in, layer(Callee)}
                      || Caller <- Modules, Callee <- named(Caller, Modules),
                         maps:get(layer(Callee), Place) > maps:get(layer(Caller), Place)]).

no_modules_call_each_other_in_a_circle(_) ->
    [?assertEqual({Application, []}, {Application, circles(modules(Application))}) || Application <- ?APPLICATIONS].

circles(Modules) -> circles_of([{Caller, Callee} || Caller <- Modules, Callee <- named(Caller, Modules)]).

circles_of(Edges) ->
    Graph = digraph:new(),
    _ = [digraph:add_vertex(Graph, Vertex) || {From, To} <- Edges, Vertex <- [From, To]],
    _ = [digraph:add_edge(Graph, From, To) || {From, To} <- Edges],
    [lists:sort(Circle) || [_, _ | _] = Circle <- digraph_utils:strong_components(Graph)].

%% A library may name an application that uses it by an atom that is only a word of its own. So far none does.
no_applications_name_each_other_in_a_circle(_) ->
    Between = between_applications(),
    ?assertEqual([], [{Circle, [Names || {{From, To}, Names} <- Between, lists:member(From, Circle), lists:member(To, Circle)]}
                      || Circle <- circles_of([Edge || {Edge, _} <- Between])]).

%% Which application names modules of which other one, and by which names.
between_applications() ->
    Of = maps:from_list([{Module, Application} || Application <- ?APPLICATIONS, Module <- modules(Application)]),
    Named = [{{From, To}, {Caller, names, Callee}} || {Caller, From} <- maps:to_list(Of), Callee <- named(Caller, maps:keys(Of), all),
                                                      To <- [maps:get(Callee, Of)], To =/= From],
    maps:to_list(maps:groups_from_list(fun({Edge, _}) -> Edge end, fun({_, Names}) -> Names end, Named)).

each_application_is_known(_) ->
    Sources = filelib:wildcard(filename:join(ertslab_paths:top(), "erl_src/*/src/*.app.src")),
    ?assertEqual(lists:sort(?APPLICATIONS), lists:sort([list_to_atom(filename:basename(File, ".app.src")) || File <- Sources])).

each_layer_is_known(_) ->
    ?assertEqual(lists:sort(?LAYERS), lists:usort([layer(Module) || Module <- modules(ertslab)])).

%% So that any Erlang can load it.
the_worker_needs_nothing_else(_) ->
    All = lists:append([modules(Application) || Application <- ?APPLICATIONS]),
    Worker = [Module || Module <- modules(ertslab), layer(Module) =:= worker],
    ?assertEqual([], [{Module, Needs -- Worker} || Module <- Worker, Needs <- [named(Module, All)], Needs -- Worker =/= []]).

%% It gets all facts by the plan and the samples.
analysis_does_not_reach_the_machine(_) ->
    Modules = modules(ertslab),
    ?assertEqual([], [{Caller, names, Callee} || Caller <- Modules, layer(Caller) =:= analysis, Callee <- named(Caller, Modules),
                                                 lists:member(layer(Callee), [vm, host])]).

%% The test would see nothing if it read the wrong files.
what_is_named_is_found(_) ->
    Named = named(ertslab_summary, modules(ertslab)),
    ?assertEqual([], [ertslab_estimate, ertslab_result, ertslab_session] -- Named),
    ?assert(lists:member(ertslab_worker, named(ertslab_runner, modules(ertslab)))),
    ?assert(lists:member(dam_types, named(dam, modules(dam)))),
    Between = maps:from_list(between_applications()),
    ?assert(lists:member({exp_length, names, ertslab_experiment}, maps:get({experiments, ertslab}, Between))),
    %% An atom, in neither a call nor a type.
    ?assert(lists:member({ertslab_diagnose, names, cons_spacing}, maps:get({ertslab, cons_spacing}, Between))).

%% In a release an application that is not named is not there.
applications_name_what_they_call(_) ->
    Of = maps:from_list([{Module, Application} || Application <- ?APPLICATIONS ++ [kernel, stdlib, crypto, compiler],
                                                  Module <- modules(Application)]),
    [begin
         {ok, Named} = application:get_key(Application, applications),
         {ok, Optional} = application:get_key(Application, optional_applications),
         Called = lists:usort([maps:get(Callee, Of) || Module <- modules(Application), is_source(Module),
                                                       {ok, {_, [{imports, Imports}]}} <- [beam_lib:chunks(code:which(Module), [imports])],
                                                       {Callee, _, _} <- Imports, is_map_key(Callee, Of)]),
         ?assertEqual({Application, []}, {Application, (Called -- [Application]) -- (Named ++ Optional)})
     end || Application <- ?APPLICATIONS].

%% Modules of the tests are among those of an application.
is_source(Module) -> lists:member("src", filename:split(proplists:get_value(source, Module:module_info(compile)))).

modules(Application) ->
    _ = application:load(Application),
    {ok, Modules} = application:get_key(Application, modules),
    [Module || Module <- Modules, not lists:suffix("_SUITE", atom_to_list(Module))].

%% The folder that its source lies in.
layer(Module) ->
    Source = proplists:get_value(source, Module:module_info(compile)),
    list_to_atom(filename:basename(filename:dirname(Source))).

%% Those of the modules that another one names, but for itself.
%% Within a library an atom may be a word of its own, such as the name of an event.
named(Module, Modules) ->
    named(Module, Modules, case lists:member(layer(Module), ?LAYERS) of
                               true -> all;
                               false -> used
                           end).

%% Those by any atom, or only those that are called, or whose types or callbacks are used.
named(Module, Modules, Which) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    Names = maps:from_keys(lists:flatten(atoms([Form || Form <- Forms, element(3, Form) =/= module], Which =:= all)), true),
    [Other || Other <- Modules, Other =/= Module, is_map_key(Other, Names)].

atoms({remote, _, {atom, _, Module}, Function}, All) -> [Module | atoms(Function, All)];
atoms({remote_type, _, [{atom, _, Module} | Rest]}, All) -> [Module | atoms(Rest, All)];
atoms({attribute, _, Attribute, Module}, _) when Attribute =:= behaviour; Attribute =:= behavior -> [Module];
atoms({attribute, _, import, {Module, _}}, _) -> [Module];
atoms({atom, _, Name}, true) -> [Name];
atoms(Form, All) when is_tuple(Form) -> [atoms(Element, All) || Element <- tuple_to_list(Form)];
atoms([Head | Tail], All) -> [atoms(Head, All) | atoms(Tail, All)];
atoms(_, _) -> [].
