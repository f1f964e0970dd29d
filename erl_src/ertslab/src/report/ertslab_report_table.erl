%% @doc A table of a report. On a narrow screen it scrolls by itself, also by keyboard. Pure.
-module(ertslab_report_table).

-export([render/3]).
-export_type([row/0]).

-type cell() :: binary() | {head | number | Class :: string(), binary()}.
-type row() :: {Class :: string(), [cell()]}.

%% @doc The caption says what the table shows, also to screen readers.
-spec render(Caption :: binary(), Heads :: [binary() | {number, binary()}], [row()]) -> ertslab_xml:content().
render(Caption, Heads, Rows) ->
    {'div', [{class, "scroll"}, {tabindex, "0"}, {role, "region"}, {'aria-label', Caption}],
     [{table, [],
       [{caption, [], [Caption]},
        {thead, [], [{tr, [], [column(Head) || Head <- Heads]}]},
        {tbody, [], [{tr, [{class, Class} || Class =/= ""], [cell(Cell) || Cell <- Cells]} || {Class, Cells} <- Rows]}]}]}.

column({number, Text}) -> {th, [{scope, "col"}, {class, "number"}], [Text]};
column(Text) -> {th, [{scope, "col"}], [Text]}.

cell({head, Text}) -> {th, [{scope, "row"}], [Text]};
cell({number, Text}) -> {td, [{class, "number"}], [Text]};
cell({Class, Text}) -> {td, [{class, Class}], [Text]};
cell(Text) -> {td, [], [Text]}.
