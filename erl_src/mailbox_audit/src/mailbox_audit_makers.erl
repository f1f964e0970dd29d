%% @doc Functions of a module that may give back a reference that they made. Where a receive matches one, compilers newer than that of
%% OTP 25 fail to say where the reference comes from (beam_ssa_recv:coi_is/6), and with that say nothing of the whole module. A call
%% through the name of the module keeps from them what the function does.
%%
%% All functions are pure.
-module(mailbox_audit_makers).

-export([hidden/1]).

-define(MAKERS, [make_ref, alias, monitor, spawn_monitor, spawn_request]).

%% @doc The forms with calls of such functions through the name of the module, and the marks of the receives of which the compiler then
%% may know less: of these functions, of those that call them, and of whatever these call. `none' where there is no such function.
-spec hidden([erl_parse:abstract_form()]) -> {[erl_parse:abstract_form()], [mailbox_audit_marks:mark()]} | none.
hidden(Forms) ->
    Calls = maps:from_list([{{Name, Arity}, calls(Clauses)} || {function, _, Name, Arity, Clauses} <- Forms]),
    Own = maps:keys(Calls),
    CalledHere = lists:append(maps:values(Calls)),
    Makers = [Function || {Function, Called} <- maps:to_list(Calls), lists:member(Function, CalledHere),
                          lists:any(fun({Name, _}) -> lists:member(Name, ?MAKERS) end, Called)],
    case {Makers, [Module || {attribute, _, module, Module} <- Forms]} of
        {[_ | _], [Module]} ->
            Callers = [Function || {Function, Called} <- maps:to_list(Calls), lists:any(fun(One) -> lists:member(One, Makers) end, Called)],
            CallsOfOwn = maps:map(fun(_, Called) -> [One || One <- Called, lists:member(One, Own)] end, Calls),
            Concerned = reached(Makers ++ Callers, CallsOfOwn, []),
            {[through(Form, Module, Makers) || Form <- Forms],
             lists:append([marks(Clauses) || {function, _, Name, Arity, Clauses} <- Forms, lists:member({Name, Arity}, Concerned)])};
        _ -> none
    end.

reached([], _Calls, Seen) -> Seen;
reached([Function | Rest], Calls, Seen) ->
    case lists:member(Function, Seen) of
        true -> reached(Rest, Calls, Seen);
        false -> reached(maps:get(Function, Calls) ++ Rest, Calls, [Function | Seen])
    end.

%% What is called by name, with or without the module erlang.
calls({call, _, Called, Args}) -> called(Called, length(Args)) ++ calls(Args);
calls(Node) -> lists:append([calls(Part) || Part <- parts(Node)]).

called({atom, _, Name}, Arity) -> [{Name, Arity}];
called({remote, _, {atom, _, erlang}, {atom, _, Name}}, Arity) -> [{Name, Arity}];
called(Other, _) -> calls(Other).

marks(Node) when element(1, Node) =:= 'receive', tuple_size(Node) > 2 ->
    [erl_anno:line(element(2, Node)) | lists:append([marks(Part) || Part <- parts(Node)])];
marks(Node) -> lists:append([marks(Part) || Part <- parts(Node)]).

parts(Node) when is_tuple(Node) -> tuple_to_list(Node);
parts([First | Rest]) -> [First | parts(Rest)];
parts(_) -> [].

through({function, Anno, Name, Arity, Clauses}, Module, Makers) -> {function, Anno, Name, Arity, by_name(Clauses, Module, Makers)};
through(Form, _, _) -> Form.

by_name({call, Anno, {atom, At, Name} = Called, Args}, Module, Makers) ->
    Through = case lists:member({Name, length(Args)}, Makers) of
                  true -> {remote, At, {atom, At, Module}, Called};
                  false -> Called
              end,
    {call, Anno, Through, by_name(Args, Module, Makers)};
by_name(Node, Module, Makers) when is_tuple(Node) -> list_to_tuple(by_name(tuple_to_list(Node), Module, Makers));
by_name([First | Rest], Module, Makers) -> [by_name(First, Module, Makers) | by_name(Rest, Module, Makers)];
by_name(Other, _, _) -> Other.
