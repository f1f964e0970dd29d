%% Each error that a function may return, by its type, has a sentence.
-module(mailbox_audit_errors_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, errors_have_sentences/1, module_is_not_named/1, other_reasons_have_sentences/1]).

all() -> [errors_have_sentences, module_is_not_named, other_reasons_have_sentences].

errors_have_sentences(_) ->
    Reasons = [Reason || Function <- [{static, 1}, {static, 2}, {module, 1}, {module, 2}, {timed, 2}],
                         {type, _, tuple, [{atom, _, error}, Type]} <- returned(mailbox_audit, Function),
                         Reason <- some(mailbox_audit, Type)],
    [?assert(lists:member(Reason, Reasons), Reason)
     || Reason <- [not_a_beam, takes_too_long, enoent, special_file, {bad_depths, some}, {bad_targets, some}, "9.0"]],
    [says(fun mailbox_audit:format_error/1, Reason) || Reason <- Reasons].

%% Only its bytes are known.
module_is_not_named(_) ->
    [?assertEqual({Reason, Said}, {Reason, mailbox_audit:format_error(Reason)})
     || {Reason, Said} <- [{not_a_beam, "the module is not a .beam file, or is incomplete"},
                           {no_debug_info, "the module has no readable debug_info; compile it with +debug_info"},
                           {takes_too_long, "judging the module takes longer than its limit"},
                           {"illegal guard", "the compiler refuses the module: illegal guard"},
                           {enoent, "cannot read the module: no such file or directory"}]].

other_reasons_have_sentences(_) ->
    [begin
         Reasons = some(Module, taken(Module, {Function, 1})),
         ?assertMatch({_, [_, _ | _]}, {Module, Reasons}),
         [says(fun Module:Function/1, Reason) || Reason <- Reasons]
     end || {Module, Function} <- [{mailbox_audit, format_error}, {mailbox_audit_baseline, format_error},
                                   {mailbox_audit_project, format_error}, {mailbox_audit_prv, format_error},
                                   {mailbox_audit_text, why_skipped}]].

says(Fun, Reason) ->
    Text = try unicode:characters_to_list(Fun(Reason))
           catch error:Error -> {Error, Reason}
           end,
    ?assertMatch([_ | _], Text),
    ?assertEqual({Reason, nomatch}, {Reason, string:find(Text, "unknown POSIX error")}).

%% Terms of a type: one at least for each of its alternatives.
some(_Module, {Literal, _, Value}) when Literal =:= atom; Literal =:= integer -> [Value];
some(Module, {type, _, union, Types}) -> [Term || Type <- Types, Term <- some(Module, Type)];
some(Module, {type, _, tuple, Types}) when is_list(Types) -> [list_to_tuple(Terms) || Terms <- each(Module, Types)];
some(Module, {type, _, List, [Type]}) when List =:= list; List =:= nonempty_list -> [[hd(some(Module, Type))]];
some(Module, {type, _, map, Fields}) when is_list(Fields) ->
    [maps:from_list([{Key, hd(some(Module, Type))} || {type, _, _, [{atom, _, Key}, Type]} <- Fields])];
some(_Module, {type, _, Number, []}) when Number =:= integer; Number =:= pos_integer; Number =:= non_neg_integer; Number =:= arity -> [2];
some(_Module, {type, _, Chars, []}) when Chars =:= string; Chars =:= iolist -> ["9.0"]; % also the version of a compiler
some(_Module, {type, _, binary, []}) -> [~"bytes"];
some(_Module, {type, _, boolean, []}) -> [true];
some(_Module, {type, _, mfa, []}) -> [{some, name, 1}];
some(_Module, {type, _, Any, []}) when Any =:= term; Any =:= any; Any =:= atom; Any =:= module -> [some];
some(Module, {ann_type, _, [_, Type]}) -> some(Module, Type);
some(Module, {user_type, _, Name, []}) -> some(Module, type(Module, Name));
some(_Module, {remote_type, _, [{atom, _, file}, {atom, _, posix}, []]}) -> [enoent];
some(_Module, {remote_type, _, [{atom, _, file}, {atom, _, _Name}, []]}) -> ["name", ~"name"];
some(_Module, {remote_type, _, [{atom, _, Module}, {atom, _, Name}, []]}) -> some(Module, type(Module, Name)).

each(_Module, []) -> [[]];
each(Module, [Type | Types]) -> [[Term | Terms] || Term <- some(Module, Type), Terms <- each(Module, Types)].

type(Module, Name) ->
    [Type] = [Type || {attribute, _, Kind, {Given, Type, []}} <- forms(Module), Kind =:= type orelse Kind =:= opaque, Given =:= Name],
    Type.

taken(Module, Function) ->
    {[Type], _} = spec(Module, Function),
    Type.

%% The alternatives.
returned(Module, Function) ->
    case spec(Module, Function) of
        {_, {type, _, union, Types}} -> Types;
        {_, Type} -> [Type]
    end.

spec(Module, Function) ->
    [{type, _, 'fun', [{type, _, product, Takes}, Returns]}] =
        [Type || {attribute, _, spec, {Given, [Type]}} <- forms(Module), Given =:= Function],
    {Takes, Returns}.

forms(Module) ->
    {ok, {_, [{abstract_code, {_, Forms}}]}} = beam_lib:chunks(code:which(Module), [abstract_code]),
    Forms.
