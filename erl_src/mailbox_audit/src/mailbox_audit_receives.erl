%% @doc What a module's abstract code says of its receives and calls.
%%
%% A receive that has a clause for everything takes the first message whatever
%% it is. Whether a variable alone in a pattern is such a clause depends on
%% whether it has a value already, so the walk carries the variables that do.
%%
%% All functions are pure.
-module(mailbox_audit_receives).

-export([of_forms/2, in_source/1]).
-export_type([seen/0, received/0, clause/0, function_name/0]).

-type function_name() :: {atom(), arity()}.
-type clause() :: #{line := non_neg_integer(), takes_any := boolean(), pins := [atom()], guarded := boolean()}.
%% pins: the variables with a value before the receive that a message must hold: in the pattern, or by a guard that says so.
%% guarded: its guard asks more of them, such as that they differ.
-type received() :: #{function := function_name(), file := file:filename(), line := non_neg_integer(),
                      mark := mailbox_audit_marks:mark(), clauses := [clause()], timeout := none | zero | some,
                      spawned := boolean(), loops := boolean(), nested := boolean(), shape := non_neg_integer()}.
%% spawned: in a fun that is given to a function that starts a process. loops: in a fun that calls itself by its name.
%% nested: in a clause of another receive, so it is reached only after a message of that clause.
%% shape: a hash of patterns and guards, the same wherever they stand, and whatever the function does before.
-type seen() :: #{receives := [received()], exports := [function_name()],
                  calls := [{function_name(), mfa()}]}.

-record(walk, {lines, module, file = "", imports = #{}, function, spawned = false, loops = false, nested = false}).

-define(SPAWNS, [spawn, spawn_link, spawn_monitor, spawn_opt, spawn_request]).

%% @doc The receives, the exported functions and the static calls of a module,
%% in the order of its lines. A call inside a fun counts as one of the function
%% around it, unless the fun is given to `spawn' or its kin. The options are those given to the compiler.
-spec of_forms(mailbox_audit_marks:marked(), [compile:option()]) -> seen().
of_forms({Forms, Lines}, Options) ->
    {_, Found} = lists:foldl(fun form/2, {#walk{lines = Lines}, []}, Forms),
    InOrder = lists:reverse(Found),
    #{receives => [Received || {received, Received} <- InOrder],
      exports => exports(Forms, Options),
      calls => lists:usort([{Caller, Callee} || {call, Caller, Callee} <- InOrder])}.

exports(Forms, Options) ->
    case lists:member(export_all, Options) orelse lists:any(fun is_export_all/1, Forms) of
        true -> [{Name, Arity} || {function, _, Name, Arity, _} <- Forms];
        false -> [Function || {attribute, _, export, Functions} <- Forms, {Name, Arity} = Function <- Functions,
                              is_atom(Name), is_integer(Arity)]
    end.

is_export_all({attribute, _, compile, Options}) -> lists:member(export_all, lists:flatten([Options]));
is_export_all(_) -> false.

form({attribute, _, module, Module}, {Walk, Found}) -> {Walk#walk{module = Module}, Found};
form({attribute, _, file, {File, _}}, {Walk, Found}) ->
    [_ | _] = Name = unicode:characters_to_list([File, $/]), % which fails on what is no name
    {Walk#walk{file = lists:droplast(Name)}, Found};
form({attribute, _, import, {Module, Names}}, {#walk{imports = Imports} = Walk, Found}) ->
    {Walk#walk{imports = maps:merge(Imports, maps:from_list([{Name, Module} || Name <- Names]))}, Found};
form({function, _, Name, Arity, Clauses}, {Walk, Found}) when is_atom(Name), is_integer(Arity) ->
    {_, More} = walk(Clauses, #{}, Walk#walk{function = {Name, Arity}}, Found),
    {Walk, More};
form(Function, _State) when element(1, Function) =:= function -> error({unknown_form, Function});
form(_, State) -> State.

%% Goes through an expression in the order of evaluation. Bound has the
%% variables with a value, before and, in what is returned, after it.
walk({var, _, Name}, Bound, _Walk, Found) -> {Bound#{Name => true}, Found};
walk({'receive', Anno, Clauses}, Bound, Walk, Found) ->
    walk(Clauses, Bound, Walk#walk{nested = true}, [{received, received(Anno, Clauses, none, Bound, Walk)} | Found]);
walk({'receive', Anno, Clauses, Timeout, Body}, Bound, Walk, Found) ->
    Received = {received, received(Anno, Clauses, timeout(Timeout), Bound, Walk)},
    {AfterTimeout, More} = walk(Timeout, Bound, Walk, [Received | Found]),
    {AfterBody, InBody} = walk(Body, AfterTimeout, Walk, More),
    {AfterClauses, InClauses} = walk(Clauses, AfterTimeout, Walk#walk{nested = true}, InBody),
    {maps:merge(AfterBody, AfterClauses), InClauses};
walk({Match, _, Pattern, Value}, Bound, Walk, Found)
  when Match =:= match; Match =:= maybe_match; Match =:= generate; Match =:= b_generate; Match =:= m_generate;
       Match =:= generate_strict; Match =:= b_generate_strict; Match =:= m_generate_strict ->
    walk([Value, Pattern], Bound, Walk, Found);
%% None of its generators sees what another one binds.
walk({zip, _, Generators}, Bound, Walk, Found) ->
    {Patterns, Values} = lists:unzip([{Pattern, Value} || {_Generate, _, Pattern, Value} <- Generators]),
    walk([Values, Patterns], Bound, Walk, Found);
walk({'fun', _, {clauses, Clauses}}, Bound, Walk, Found) -> inner(Clauses, Bound, Walk, Found);
walk({named_fun, _, Name, Clauses}, Bound, #walk{loops = Loops} = Walk, Found) ->
    inner(Clauses, Bound#{Name => true}, Walk#walk{loops = Loops orelse is_called(Name, Clauses)}, Found);
walk({'fun', _, {function, _, _}} = Fun, Bound, Walk, Found) -> {Bound, fun_of(Fun, Walk) ++ Found};
walk({'fun', _, {function, _, _, _}} = Fun, Bound, Walk, Found) -> {Bound, fun_of(Fun, Walk) ++ Found};
walk({Comprehension, _, Value, Qualifiers}, Bound, Walk, Found)
  when Comprehension =:= lc; Comprehension =:= bc; Comprehension =:= mc ->
    inner([Qualifiers, Value], Bound, Walk, Found);
walk({call, _, Called, Args}, Bound, Walk, Found) -> call(Called, Args, Bound, Walk, Found);
walk([{clause, _, _, _, _} | _] = Clauses, Bound, Walk, Found) ->
    branches([[Patterns, Guards, Body] || {clause, _, Patterns, Guards, Body} <- Clauses],
             Bound, Walk, Found);
walk([First | Rest], Bound, Walk, Found) ->
    {After, More} = walk(First, Bound, Walk, Found),
    walk(Rest, After, Walk, More);
walk(Node, Bound, Walk, Found) when tuple_size(Node) > 2 ->
    [_Type, _Anno | Parts] = tuple_to_list(Node),
    walk(Parts, Bound, Walk, Found);
walk(_, Bound, _Walk, Found) -> {Bound, Found}.

%% Each begins with what was bound before all of them.
branches(Branches, Bound, Walk, Found) ->
    lists:foldl(fun(Branch, {All, Sofar}) ->
                        {After, More} = walk(Branch, Bound, Walk, Sofar),
                        {maps:merge(All, After), More}
                end, {Bound, Found}, Branches).

%% Whether a fun of that name is called somewhere in there.
is_called(Name, {call, _, {var, _, Name}, _}) -> true;
is_called(Name, Node) when is_tuple(Node) -> is_called(Name, tuple_to_list(Node));
is_called(Name, [First | Rest]) -> is_called(Name, First) orelse is_called(Name, Rest);
is_called(_, _) -> false.

%% What is bound in a fun or a comprehension stays there, and it has a frame of its own on the stack.
inner(Parts, Bound, Walk, Found) ->
    {_, More} = walk(Parts, Bound, Walk#walk{nested = false}, Found),
    {Bound, More}.

call(Called, Args, Bound, Walk, Found) ->
    Callee = callee(Called, length(Args), Walk),
    {After, More} = walk(parts(Called), Bound, Walk, edge(Callee, Walk) ++ Found),
    case starts_process(Callee) of
        true -> given_to_process(Args, After, Walk, More);
        false -> walk(Args, After, Walk, More)
    end.

%% The name of a function is no expression to look into.
parts({atom, _, _}) -> [];
parts({remote, _, Module, Function}) -> [Module, Function];
parts(Fun) -> Fun.

callee({atom, _, Name}, Arity, #walk{module = Module, imports = Imports}) ->
    {maps:get({Name, Arity}, Imports, Module), Name, Arity};
callee({remote, _, {atom, _, Module}, {atom, _, Name}}, Arity, _Walk) -> {Module, Name, Arity};
callee(_, _, _) -> unknown.

edge(unknown, _Walk) -> [];
edge(_Callee, #walk{spawned = true}) -> [];
edge(Callee, #walk{function = Caller}) -> [{call, Caller, Callee}].

%% A local call of such a name is one of the BIF, or as good as one.
starts_process({_Module, Name, _Arity}) -> lists:member(Name, ?SPAWNS);
starts_process(unknown) -> false.

given_to_process(Args, Bound, Walk, Found) ->
    Elsewhere = Walk#walk{spawned = true, loops = false},
    {Funs, Others} = lists:partition(fun(Arg) -> lists:member(element(1, Arg), ['fun', named_fun]) end, Args),
    {After, More} = walk(Others, Bound, Walk, Found),
    inner(Funs, After, Elsewhere, More).

fun_of({'fun', _, {function, Name, Arity}}, Walk) -> edge(callee({atom, 0, Name}, Arity, Walk), Walk);
fun_of({'fun', _, {function, {atom, _, Module}, {atom, _, Name}, {integer, _, Arity}}}, Walk) ->
    edge({Module, Name, Arity}, Walk);
fun_of(_, _Walk) -> [].

received(Anno, Clauses, Timeout, Bound, #walk{function = Function, file = File, spawned = Spawned, loops = Loops,
                                                nested = Nested, lines = Lines}) ->
    Mark = erl_anno:line(Anno),
    #{function => Function, file => File, line => maps:get(Mark, Lines), mark => Mark, timeout => Timeout,
      spawned => Spawned, loops => Loops, nested => Nested, clauses => [clause(Clause, Bound) || Clause <- Clauses],
      shape => shape(Clauses, Bound)}.

timeout({integer, _, 0}) -> zero;
timeout({atom, _, infinity}) -> none;
timeout(_) -> some.

clause({clause, Anno, [Pattern], Guards, _Body}, Bound) ->
    #{line => erl_anno:line(Anno),
      takes_any => is_free(Pattern, Bound) andalso is_true(Guards),
      pins => lists:usort([Name || Name <- variables(Pattern), is_map_key(Name, Bound)] ++ guarded(Guards, Bound)),
      guarded => lists:any(fun(Name) -> is_map_key(Name, Bound) end, variables(Guards))}.

is_free({var, _, '_'}, _Bound) -> true;
is_free({var, _, Name}, Bound) -> not is_map_key(Name, Bound);
is_free({match, _, One, Other}, Bound) -> is_free(One, Bound) andalso is_free(Other, Bound);
is_free(_, _Bound) -> false.

is_true([]) -> true;
is_true([[{atom, _, true}]]) -> true;
is_true(_) -> false.

%% Of a pattern or a guard. How many bits there are is nothing that a message holds.
variables({var, _, '_'}) -> [];
variables({var, _, Name}) -> [Name];
variables({bin_element, _, Value, _Size, _Types}) -> variables(Value);
variables(Node) when tuple_size(Node) > 2 -> variables(tl(tl(tuple_to_list(Node))));
variables([First | Rest]) -> variables(First) ++ variables(Rest);
variables(_) -> [].

%% Alternatives must all say it.
guarded([], _Bound) -> [];
guarded(Alternatives, Bound) ->
    [First | Others] = [lists:append([equal(Test, Bound) || Test <- Tests]) || Tests <- Alternatives],
    [Name || Name <- First, lists:all(fun(Names) -> lists:member(Name, Names) end, Others)].

%% What a guard compares with a variable of the message, and no more than that.
equal({op, _, And, One, Other}, Bound) when And =:= 'andalso'; And =:= 'and' -> equal(One, Bound) ++ equal(Other, Bound);
equal({op, _, Equals, {var, _, One}, {var, _, Other}}, Bound) when Equals =:= '=:='; Equals =:= '==' ->
    case {is_map_key(One, Bound), is_map_key(Other, Bound)} of
        {true, false} -> [One];
        {false, true} -> [Other];
        _ -> []
    end;
equal(_, _Bound) -> [].

%% @doc A variable as its source has it. Elixir calls its variable `port' `_port@1', and numbers all of that name.
-spec in_source(atom()) -> string().
in_source(Name) -> re:replace(atom_to_list(Name), "^_(.+)@[0-9]+$", "\\1", [unicode, {return, list}]).

shape(Clauses, Bound) ->
    erlang:phash2([unnumbered(head(Clause), Bound) || Clause <- Clauses]).

%% The number of a variable is its place in the whole function. That it has a value, which Elixir pins, is what the pattern says of it.
unnumbered({var, Anno, Name} = Var, Bound) ->
    case in_source(Name) =:= atom_to_list(Name) of
        true -> Var;
        false -> {var, Anno, {in_source(Name), is_map_key(Name, Bound)}}
    end;
unnumbered(Node, Bound) when is_tuple(Node) -> list_to_tuple(unnumbered(tuple_to_list(Node), Bound));
unnumbered([First | Rest], Bound) -> [unnumbered(First, Bound) | unnumbered(Rest, Bound)];
unnumbered(Node, _Bound) -> Node.

head({clause, Anno, Patterns, Guards, _Body}) ->
    erl_parse:map_anno(fun(_) -> 0 end, {clause, Anno, Patterns, Guards, [{atom, Anno, body}]}).
