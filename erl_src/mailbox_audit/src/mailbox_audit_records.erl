%% @doc Puts what the default of a record's field does into each place where such a record is made, as the compiler does. So its receives
%% and calls are those of the function there, at the line there.
%%
%% All functions are pure.
-module(mailbox_audit_records).

-export([filled/1]).

-type defaults() :: [{Field :: atom(), erl_parse:abstract_expr()}].

%% @doc The forms with those defaults in place of what is not given. Where a default does nothing, it stays where it is.
-spec filled([erl_parse:abstract_form()]) -> [erl_parse:abstract_form()].
filled(Forms) ->
    {Filled, _} = lists:mapfoldl(fun form/2, #{}, Forms),
    Filled.

%% A default may make records that were defined before.
form({attribute, _, record, {Name, Fields}} = Form, Records) ->
    case defaults(Fields, Records) of
        [] -> {Form, Records};
        Defaults -> {Form, Records#{Name => Defaults}}
    end;
form({function, Anno, Name, Arity, Clauses}, Records) when map_size(Records) > 0 ->
    {{function, Anno, Name, Arity, made(Clauses, Records)}, Records};
form(Form, Records) -> {Form, Records}.

-spec defaults([term()], #{atom() => defaults()}) -> defaults().
defaults(Fields, Records) ->
    [{Name, Made} || Field <- Fields, {record_field, _, {atom, _, Name}, Default} <- [untyped(Field)],
                     Made <- [made(Default, Records)], does_something(Made)].

untyped({typed_record_field, Field, _Type}) -> Field;
untyped(Field) -> Field.

does_something(Node) when tuple_size(Node) > 0 ->
    lists:member(element(1, Node), ['receive', call, 'fun', named_fun]) orelse does_something(tuple_to_list(Node));
does_something([First | Rest]) -> does_something(First) orelse does_something(Rest);
does_something(_) -> false.

%% A record in a pattern or a guard is not made.
made({clause, Anno, Patterns, Guards, Body}, Records) -> {clause, Anno, Patterns, Guards, made(Body, Records)};
made({Kind, Anno, Pattern, Value}, Records)
  when Kind =:= match; Kind =:= maybe_match; Kind =:= generate; Kind =:= generate_strict; Kind =:= b_generate;
       Kind =:= b_generate_strict; Kind =:= m_generate; Kind =:= m_generate_strict ->
    {Kind, Anno, Pattern, made(Value, Records)};
made({record, Anno, Name, Given}, Records) when is_map_key(Name, Records) ->
    {record, Anno, Name, made(Given, Records) ++ missing(maps:get(Name, Records), Given, Anno)};
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
