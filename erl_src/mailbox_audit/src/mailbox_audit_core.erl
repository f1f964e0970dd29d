%% @doc A module in Core Erlang, once the compiler has inlined what it inlines. That is where its functions still have their names, and
%% a call is one of a name, however the source has it.
%%
%% All functions are pure.
-module(mailbox_audit_core).

-export([without_unused/1, with_hidden_makers/1]).

-type name() :: {atom(), arity()}.
-type facts() :: #{applies := [name()], makes := boolean(), marks := [mailbox_audit_marks:mark()], gives := [name() | here]}.
%% Of a function: which others of the module it calls, whether it makes a reference, its receives, and what its value may be: that of one
%% of those, or what a variable or the call that makes a reference has `here'.

-define(MAKERS, [make_ref, alias, monitor, spawn_monitor, spawn_request]).
-define(NO_MARK, [0, {file, ""}]).

%% @doc The module with no marks in those functions that nothing calls any more. They are not in the code, and a receive in one says nothing
%% of its inlined copies. They stay here, as the compiler drops them after it has decided on markers: also by what they call.
-spec without_unused(cerl:c_module()) -> cerl:c_module().
without_unused(Core) ->
    Functions = cerl:module_defs(Core),
    Names = maps:from_list([{cerl:var_name(Name), names(Fun)} || {Name, Fun} <- Functions]),
    Used = reached([cerl:var_name(Name) || Name <- cerl:module_exports(Core)] ++ on_load(cerl:module_attrs(Core)), Names, #{}),
    cerl:update_c_module(Core, cerl:module_name(Core), cerl:module_exports(Core), cerl:module_attrs(Core),
                         [{Name, case is_map_key(cerl:var_name(Name), Used) of true -> Fun; false -> unmarked(Fun) end}
                          || {Name, Fun} <- Functions]).

unmarked(Fun) ->
    cerl_trees:map(fun(Node) -> case is_receive(Node) of true -> cerl:set_ann(Node, ?NO_MARK); false -> Node end end, Fun).

is_receive(Node) -> cerl:is_c_primop(Node) andalso cerl:atom_val(cerl:primop_name(Node)) =:= recv_peek_message.

on_load(Attributes) ->
    lists:append([cerl:concrete(Value) || {Name, Value} <- Attributes, cerl:concrete(Name) =:= on_load]).

names(Fun) ->
    cerl_trees:fold(fun(Node, Names) -> [cerl:var_name(Node) || cerl:is_c_fname(Node)] ++ Names end, [], Fun).

reached([], _, Seen) -> Seen;
reached([Name | Rest], Names, Seen) when is_map_key(Name, Names), not is_map_key(Name, Seen) ->
    reached(map_get(Name, Names) ++ Rest, Names, Seen#{Name => true});
reached([_ | Rest], Names, Seen) -> reached(Rest, Names, Seen).

%% @doc The module twice, with other calls of those functions that give back a reference that they made, and the marks of the receives
%% of which the compiler then may know less than of the module. `none' where there is no such function.
%%
%% Where a receive matches such a reference, compilers newer than that of OTP 25 fail to say where it comes from (beam_ssa_recv:coi_is/6),
%% and with that say nothing of the whole module. In the first of the two such a function is called through the name of the module. That
%% keeps from them what the function does: of the references that it gets, and of those that it gives to whoever calls it, or gives these
%% on as its own.
%%
%% In the second, each of these calls is followed by one that makes a reference, which is its value. There each value that may be a fresh
%% reference is one. What has no marker even so, has none in the module.
-spec with_hidden_makers(cerl:c_module()) ->
          {Hidden :: cerl:c_module(), Fresh :: cerl:c_module(), [mailbox_audit_marks:mark()]} | none.
with_hidden_makers(Core) ->
    Facts = maps:from_list([{cerl:var_name(Name), facts(Fun)} || {Name, Fun} <- cerl:module_defs(Core)]),
    Callers = maps:groups_from_list(fun({Callee, _}) -> Callee end, fun({_, Caller}) -> Caller end,
                                    [{Callee, Caller} || {Caller, #{applies := Callees}} <- maps:to_list(Facts), Callee <- Callees]),
    case [Name || {Name, #{makes := true, gives := Gives}} <- maps:to_list(Facts), is_map_key(Name, Callers), lists:member(here, Gives)] of
        [] -> none;
        Makers ->
            Givers = maps:keys(givers(Makers, Callers, Facts, #{})),
            Concerned = reached(Makers ++ lists:append(maps:values(maps:with(Givers, Callers))),
                                maps:map(fun(_, #{applies := Callees}) -> Callees end, Facts), #{}),
            Module = cerl:module_name(Core),
            {cerl_trees:map(fun(Node) -> changed(Node, Makers, fun(Name) -> by_name(Node, Module, Name) end) end, Core),
             cerl_trees:map(fun(Node) -> changed(Node, Givers, fun(_) -> cerl:c_seq(Node, fresh(Node)) end) end, Core),
             lists:append([Marks || #{marks := Marks} <- maps:values(maps:with(maps:keys(Concerned), Facts))])}
    end.

%% Those that give back such a reference, and those that give back what one of these gave them.
givers([], _, _, Seen) -> Seen;
givers([Name | Rest], Callers, Facts, Seen) when is_map_key(Name, Seen) -> givers(Rest, Callers, Facts, Seen);
givers([Name | Rest], Callers, Facts, Seen) ->
    More = [Caller || Caller <- maps:get(Name, Callers, []), #{gives := Gives} <- [map_get(Caller, Facts)],
                      lists:member(Name, Gives) orelse lists:member(here, Gives)],
    givers(More ++ Rest, Callers, Facts, Seen#{Name => true}).

-spec facts(cerl:cerl()) -> facts().
facts(Fun) ->
    cerl_trees:fold(fun fact/2, #{applies => [], makes => false, marks => [], gives => gives(cerl:fun_body(Fun))}, Fun).

fact(Node, #{applies := Applies, makes := Makes, marks := Marks} = Facts) ->
    case cerl:type(Node) of
        apply -> Facts#{applies := callee(cerl:apply_op(Node)) ++ Applies};
        call -> Facts#{makes := Makes orelse makes(Node)};
        primop -> Facts#{marks := [Mark || is_receive(Node), Mark <- mark(cerl:get_ann(Node))] ++ Marks};
        _ -> Facts
    end.

callee(Called) -> [cerl:var_name(Called) || cerl:is_c_fname(Called)].

makes(Call) ->
    [Module, Name] = [cerl:is_c_atom(Part) andalso cerl:atom_val(Part) || Part <- [cerl:call_module(Call), cerl:call_name(Call)]],
    Module =:= erlang andalso lists:member(Name, ?MAKERS).

mark(Annotations) ->
    [Line || Location <- Annotations, Line <- case Location of {At, _} -> [At]; At -> [At] end, is_integer(Line)].

%% What cannot be a reference alone is left out, such as a tuple: the compiler does not follow what is in one to another function.
gives(Node) ->
    case cerl:type(Node) of
        'let' -> gives(cerl:let_body(Node));
        seq -> gives(cerl:seq_body(Node));
        letrec -> lists:append([gives(cerl:fun_body(Fun)) || {_, Fun} <- cerl:letrec_defs(Node)]) ++ gives(cerl:letrec_body(Node));
        'case' -> lists:append([gives(cerl:clause_body(Clause)) || Clause <- cerl:case_clauses(Node)]);
        'try' -> gives(cerl:try_body(Node)) ++ gives(cerl:try_handler(Node)) ++ gives(cerl:try_arg(Node));
        'catch' -> gives(cerl:catch_body(Node));
        apply -> callee(cerl:apply_op(Node));
        call -> [here || makes(Node)];
        var -> [here];
        _ -> []
    end.

%% Changes the calls of those functions.
changed(Node, Names, Change) ->
    case cerl:type(Node) =:= apply andalso [Name || Name <- callee(cerl:apply_op(Node)), lists:member(Name, Names)] of
        [Name] -> Change(Name);
        _ -> Node
    end.

by_name(Node, Module, {Name, _}) -> cerl:ann_c_call(cerl:get_ann(Node), Module, cerl:c_atom(Name), cerl:apply_args(Node)).

fresh(Node) -> cerl:ann_c_call(cerl:get_ann(Node), cerl:c_atom(erlang), cerl:c_atom(make_ref), []).
