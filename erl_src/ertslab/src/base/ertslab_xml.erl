%% @doc Elements as terms, and their text as HTML that is also well-formed XML.
%%
%% Text is escaped here and nowhere else, so that no label, reason
%% or name of a machine can become markup.
-module(ertslab_xml).

-export([render/1, page/1]).
-export_type([content/0, attribute/0]).

%% A binary is text, in UTF-8.
-type content() :: binary() | {Tag :: atom(), [attribute()], [content()]} | [content()].
-type attribute() :: {atom(), unicode:chardata()}.

%% Elements without an end tag: HTML's void ones, and shapes of SVG.
-define(EMPTY, [meta, br, line, rect, path]).

%% @doc A whole page: the document type, then the element.
-spec page(content()) -> iodata().
page(Html) -> [<<"<!DOCTYPE html>\n">>, render(Html), $\n].

%% @doc The text of some content.
-spec render(content()) -> iodata().
render(Text) when is_binary(Text) -> escape(Text);
render(List) when is_list(List) -> [render(Content) || Content <- List];
render({Tag, Attributes, Content}) ->
    Name = atom_to_binary(Tag),
    Open = [$<, Name, [attribute(Attribute) || Attribute <- Attributes]],
    case Content =:= [] andalso lists:member(Tag, ?EMPTY) of
        true -> [Open, <<"/>">>];
        false -> [Open, $>, render(Content), <<"</">>, Name, $>]
    end.

attribute({Name, Value}) ->
    Text = binary:replace(escape(ertslab_text:binary(Value)), <<"\"">>, <<"&quot;">>, [global]),
    [$\s, atom_to_binary(Name), <<"=\"">>, Text, $"].

escape(Text) -> << <<(character(C))/binary>> || <<C/utf8>> <= Text >>.

%% XML does not allow most control characters, not even escaped.
character($<) -> <<"&lt;">>;
character($>) -> <<"&gt;">>;
character($&) -> <<"&amp;">>;
character(C) when C < 16#20, C =/= $\t, C =/= $\n, C =/= $\r -> <<"\x{FFFD}"/utf8>>;
character(C) when C >= 16#7F, C =< 16#9F; C =:= 16#FFFE; C =:= 16#FFFF -> <<"\x{FFFD}"/utf8>>;
character(C) -> <<C/utf8>>.
