%% The order of the rooms, and that no modules call each other in a circle: of ertslab and of each library.
%% Calls, types, behaviours and imports count, and in ertslab each name of a module: some are called in another VM.
-module(ertslab_architecture_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, rooms_call_only_those_before_them/1, no_modules_call_each_other_in_a_circle/1, each_room_is_known/1,
         the_worker_needs_nothing_else/1, what_is_named_is_found/1, applications_name_what_they_call/1]).

all() ->
    [rooms_call_only_those_before_them, no_modules_call_each_other_in_a_circle, each_room_is_known,
     the_worker_needs_nothing_else, what_is_named_is_found, applications_name_what_they_call].

%% Each may call itself and those before it. doc/architecture.md says what lives in each.
-define(ROOMS, [worker, base, stats, host, vm, session, analysis, report, run, history, profile, calibration, mailbox, diagnosis, cli]).
-define(APPLICATIONS, [ertslab, experiments, endurance, cons_spacing, port_drivers, dam, mailbox_audit, diagnose, batch_io,
                       callbacks,
                       otp_tests]).

rooms_call_only_those_before_them(_) ->
    Place = maps:from_list([{Room, Nth} || {Nth, Room} <- lists:enumerate(?ROOMS)]),
    Modules = modules(ertslab),
    ?assertEqual([], [{Caller, in, room(Caller), names, Callee, in, room(Callee)}
                      || Caller <- Modules, Callee <- named(Caller, Modules),
                         maps:get(room(Callee), Place) > maps:get(room(Caller), Place)]).

no_modules_call_each_other_in_a_circle(_) ->
    [?assertEqual({Application, []}, {Application, circles(modules(Application))}) || Application <- ?APPLICATIONS].

circles(Modules) ->
    Graph = digraph:new(),
    _ = [digraph:add_vertex(Graph, Module) || Module <- Modules],
    _ = [digraph:add_edge(Graph, Caller, Callee) || Caller <- Modules, Callee <- named(Caller, Modules)],
    [lists:sort(Circle) || [_, _ | _] = Circle <- digraph_utils:strong_components(Graph)].

each_room_is_known(_) ->
    ?assertEqual(lists:sort(?ROOMS), lists:usort([room(Module) || Module <- modules(ertslab)])).

%% So that any Erlang can load it.
the_worker_needs_nothing_else(_) ->
    All = lists:append([modules(Application) || Application <- ?APPLICATIONS]),
    Worker = [Module || Module <- modules(ertslab), room(Module) =:= worker],
    ?assertEqual([], [{Module, Needs -- Worker} || Module <- Worker, Needs <- [named(Module, All)], Needs -- Worker =/= []]).

%% The test would see nothing if it read the wrong files.
what_is_named_is_found(_) ->
    Named = named(ertslab_summary, modules(ertslab)),
    ?assertEqual([], [ertslab_estimate, ertslab_result, ertslab_session] -- Named),
    ?assert(lists:member(ertslab_worker, named(ertslab_runner, modules(ertslab)))),
    ?assert(lists:member(dam_types, named(dam, modules(dam)))).

%% In a release an application that is not named is not there.
applications_name_what_they_call(_) ->
    Of = maps:from_list([{Module, Application} || Application <- ?APPLICATIONS ++ [kernel, stdlib, crypto, compiler],
                                                  Module <- modules(Application)]),
    {ok, Named} = application:get_key(ertslab, applications),
    Called = lists:usort([maps:get(Callee, Of, other) || Module <- modules(ertslab), lists:prefix("ertslab", atom_to_list(Module)),
                                                        {ok, {_, [{imports, Imports}]}} <- [beam_lib:chunks(code:which(Module), [imports])],
                                                        {Callee, _, _} <- Imports, is_map_key(Callee, Of)]),
    ?assertEqual([], (Called -- [ertslab]) -- Named).

modules(Application) ->
    _ = application:load(Application),
    {ok, Modules} = application:get_key(Application, modules),
    [Module || Module <- Modules, not lists:suffix("_SUITE", atom_to_list(Module))].

%% The folder that its source lies in.
room(Module) ->
    Source = proplists:get_value(source, Module:module_info(compile)),
    list_to_atom(filename:basename(filename:dirname(Source))).

%% Those of the modules that another one names, but for itself.
named(Module, Modules) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    Names = names([Form || Form <- Forms, element(3, Form) =/= module], room(Module)),
    [Other || Other <- Modules, Other =/= Module, is_map_key(Other, Names)].

names(Forms, Room) -> maps:from_keys(lists:flatten(atoms(Forms, lists:member(Room, ?ROOMS))), true).

%% Of a library each atom may be a word of its own, such as the name of an event.
atoms({remote, _, {atom, _, Module}, Function}, All) -> [Module | atoms(Function, All)];
atoms({remote_type, _, [{atom, _, Module} | Rest]}, All) -> [Module | atoms(Rest, All)];
atoms({attribute, _, Attribute, Module}, _) when Attribute =:= behaviour; Attribute =:= behavior -> [Module];
atoms({attribute, _, import, {Module, _}}, _) -> [Module];
atoms({atom, _, Name}, true) -> [Name];
atoms(Form, All) when is_tuple(Form) -> [atoms(Element, All) || Element <- tuple_to_list(Form)];
atoms([Head | Tail], All) -> [atoms(Head, All) | atoms(Tail, All)];
atoms(_, _) -> [].
