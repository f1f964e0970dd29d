%% @doc Copies of a module at other places.
%%
%% The JIT places the functions of a module one after another, so every added or removed instruction
%% moves all that follow. The place of a loop within a cache line changes its
%% speed by up to a fifth. So code of the JIT is timed at several places.
-module(placed_module).

-export([copies/2]).

%% @doc `Number' copies of a module. The first has its own functions only; each other has one small function more before
%% them than the copy before. A copy calls itself where the module calls
%% itself by name. The module must have its abstract code (`debug_info').
-spec copies(module(), pos_integer()) -> [module(), ...].
copies(Module, Number) -> [copy(Module, Before) || Before <- lists:seq(0, Number - 1)].

copy(Module, Before) ->
    Name = list_to_atom(lists:concat([Module, "_", Before])),
    _ = code:is_loaded(Name) =/= false orelse
        begin
            {ok, Name, Beam} = compile:forms(forms(Module, Name, fillers(Before)), []),
            {module, Name} = code:load_binary(Name, atom_to_list(Name), Beam)
        end,
    Name.

forms(Module, Name, Fillers) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}]}} =
        beam_lib:chunks(code:which(Module), [abstract_code]),
    {Attributes, Functions} =
        lists:splitwith(fun(Form) -> element(1, Form) =:= attribute end,
                        [renamed(Module, Name, Form) || Form <- Forms, not is_about_types(Form)]),
    Attributes ++ [{attribute, 1, export, [{Filler, 1} || {function, _, Filler, 1, _} <- Fillers]}] ++ Fillers
        ++ Functions.

is_about_types({attribute, _, About, _}) -> lists:member(About, [spec, type, export_type, file]);
is_about_types(_) -> false.

renamed(Module, Name, {attribute, At, module, Module}) -> {attribute, At, module, Name};
renamed(Module, Name, {atom, At, Module}) -> {atom, At, Name};
renamed(Module, Name, Form) when is_tuple(Form) -> list_to_tuple(renamed(Module, Name, tuple_to_list(Form)));
renamed(Module, Name, [Form | Forms]) -> [renamed(Module, Name, Form) | renamed(Module, Name, Forms)];
renamed(_, _, Other) -> Other.

fillers(Number) ->
    [{function, 1, list_to_atom(lists:concat(["filler_", N])), 1,
      [{clause, 1, [{var, 1, 'X'}], [], [{tuple, 1, [{var, 1, 'X'}, {integer, 1, N}]}]}]}
     || N <- lists:seq(1, Number)].
