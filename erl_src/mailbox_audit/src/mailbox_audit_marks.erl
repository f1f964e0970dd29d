%% @doc Numbers the receives of a module, so that what the compiler says of each is told apart from what it says of others that stand
%% on the same line: of a macro, of another file of that name, or of code that a program wrote.
%%
%% The number takes the place of the line, which the compiler keeps in each copy that it makes of a receive, and says again.
%%
%% All functions are pure.
-module(mailbox_audit_marks).

-export([marked/1]).
-export_type([mark/0, marked/0]).

-type mark() :: pos_integer().
-type marked() :: {[erl_parse:abstract_form()], #{mark() => Line :: non_neg_integer()}}.

%% No file has so many lines.
-define(FIRST, 1 bsl 24).

%% @doc The forms with a mark in place of the line of each receive, and the lines of these.
-spec marked([erl_parse:abstract_form()]) -> marked().
marked(Forms) -> lists:mapfoldl(fun form/2, #{}, Forms).

%% An attribute may hold any term.
form({function, _, _, _, _} = Form, Lines) -> node(Form, Lines);
form(Form, Lines) -> {Form, Lines}.

node(Receive, Lines) when element(1, Receive) =:= 'receive', tuple_size(Receive) > 2 ->
    Anno = element(2, Receive),
    Mark = ?FIRST + map_size(Lines),
    elements(setelement(2, Receive, erl_anno:set_line(Mark, Anno)), Lines#{Mark => erl_anno:line(Anno)});
node(Node, Lines) when is_tuple(Node) -> elements(Node, Lines);
node([First | Rest], Lines) ->
    {Marked, More} = node(First, Lines),
    {Others, All} = node(Rest, More),
    {[Marked | Others], All};
node(Other, Lines) -> {Other, Lines}.

elements(Node, Lines) ->
    {Marked, All} = node(tuple_to_list(Node), Lines),
    {list_to_tuple(Marked), All}.
