%% @doc Puts what the default of a record's field does into each place where such a record is made, as the compiler does. So its receives
%% and calls are those of the function there, at the line there.
%%
%% All functions are pure.
-module(mailbox_audit_records).

-export([filled/1]).

%% The parts of abstract code that defaults may add to a module. Records whose defaults make others can make exponentially many, and the
%% compiler takes more than twice as long for twice as many. In OTP 25 the most are the 5,424 of erl_lint.
-define(MOST_PARTS, 20_000).

%% fields: with what they are by default, where that does something or makes a record. parts: of all of them. before:
%% the records that were defined
%% before, which a default may make.
-type records() :: #{atom() => #{fields := [{Field :: atom(), erl_parse:abstract_expr()}], parts := non_neg_integer(),
                                 before := records()}}.

%% @doc The forms with those defaults in place of what is not given, and not in the definitions any more: the compiler looks at each
%% definition with all that its defaults make, which can be exponentially much. A default that does nothing stays where it is.
-spec filled([erl_parse:abstract_form()]) -> {ok, [erl_parse:abstract_form()]} | {error, too_many_defaults}.
filled(Forms) ->
    {Known, _} = lists:mapfoldl(fun known/2, #{}, Forms),
    case lists:sum([added(Clauses, Records) || {{function, _, _, _, Clauses}, Records} <- Known]) < ?MOST_PARTS of
        true -> {ok, [form(Form, Records) || {Form, Records} <- Known]};
        false -> {error, too_many_defaults}
    end.

%% Each form with the records that are known there.
known({attribute, Anno, record, {Name, Fields}} = Form, Records) ->
    case defaults(Fields) of
        [] -> {{Form, Records}, Records};
        Defaults ->
            Parts = lists:sum([parts(Default) + added(Default, Records) || {_, Default} <- Defaults]),
            Without = {attribute, Anno, record, {Name, [without(Defaults, Field) || Field <- Fields]}},
            {{Without, Records}, Records#{Name => #{fields => Defaults, parts => Parts, before => Records}}}
    end;
known(Form, Records) -> {{Form, Records}, Records}.

form({function, Anno, Name, Arity, Clauses}, Records) when map_size(Records) > 0 ->
    {function, Anno, Name, Arity, made(Clauses, Records)};
form(Form, _Records) -> Form.

without(Defaults, {typed_record_field, Field, Type}) -> {typed_record_field, without(Defaults, Field), Type};
without(Defaults, {record_field, Anno, {atom, _, Name} = Called, _} = Field) ->
    case lists:keymember(Name, 1, Defaults) of
        true -> {record_field, Anno, Called};
        false -> Field
    end;
without(_, Field) -> Field.

-spec defaults([term()]) -> [{Field :: atom(), erl_parse:abstract_expr()}].
defaults(Fields) ->
    [{Name, Default} || Field <- Fields, {record_field, _, {atom, _, Name}, Default} <- [untyped(Field)],
                        does_something(Default)].

%% How many parts made/2 adds to a node at most.
-spec added(term(), records()) -> non_neg_integer().
added({record, _, Name, Given}, Records) when is_map_key(Name, Records) ->
    #{Name := #{parts := Parts}} = Records,
    Parts + added(Given, Records);
added(Node, Records) when is_tuple(Node) -> added(tuple_to_list(Node), Records);
added([First | Rest], Records) -> added(First, Records) + added(Rest, Records);
added(_, _) -> 0.

parts(Node) when is_tuple(Node) -> 1 + parts(tuple_to_list(Node));
parts([First | Rest]) -> parts(First) + parts(Rest);
parts(_) -> 0.

untyped({typed_record_field, Field, _Type}) -> Field;
untyped(Field) -> Field.

does_something(Node) when tuple_size(Node) > 0 ->
    lists:member(element(1, Node), ['receive', call, 'fun', named_fun, record]) orelse does_something(tuple_to_list(Node));
does_something([First | Rest]) -> does_something(First) orelse does_something(Rest);
does_something(_) -> false.

%% A record in a pattern or a guard is not made.
made({clause, Anno, Patterns, Guards, Body}, Records) -> {clause, Anno, Patterns, Guards, made(Body, Records)};
made({Kind, Anno, Pattern, Value}, Records)
  when Kind =:= match; Kind =:= maybe_match; Kind =:= generate; Kind =:= generate_strict; Kind =:= b_generate;
       Kind =:= b_generate_strict; Kind =:= m_generate; Kind =:= m_generate_strict ->
    {Kind, Anno, Pattern, made(Value, Records)};
made({record, Anno, Name, Given}, Records) when is_map_key(Name, Records) ->
    #{Name := #{fields := Defaults, before := Before}} = Records,
    {record, Anno, Name, made(Given, Records) ++ made(missing(Defaults, Given, Anno), Before)};
made(Node, Records) when is_tuple(Node) -> list_to_tuple(made(tuple_to_list(Node), Records));
made([First | Rest], Records) -> [made(First, Records) | made(Rest, Records)];
made(Other, _Records) -> Other.

%% `_ = Value' gives all that is not named.
missing(Defaults, Given, Anno) ->
    case [Field || {record_field, _, {var, _, '_'}, _} = Field <- Given] of
        [] -> [{record_field, Anno, {atom, Anno, Name}, erl_parse:map_anno(fun(_) -> Anno end, Default)}
               || {Name, Default} <- Defaults, not lists:member(Name, [Field || {record_field, _, {atom, _, Field}, _} <- Given])];
        _ -> []
    end.
