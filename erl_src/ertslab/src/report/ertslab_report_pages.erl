%% @doc The tables of measurements on pages, made from the results that are kept beside them, so that no figure is typed.
%%
%% A page says in a comment what a table shows, and the table follows:
%% ```
%% <!-- table: stock, control, tuned
%% cowboy | cpu | data/2026-11-26-epyc/web-27
%% -->
%% | | stock | control | tuned |
%% ...
%% <!-- end of table -->
%% '''
%% The first line names the columns: arms, or `control' for the interval of the baseline's second run. Each other line is a
%% row: its text, a metric, and the folder of a comparison, relative to the page; if it has several cases, also a parameter of the
%% case (`bytes=100'), or `mean' for the geometric mean over all. After `<!-- commands' each line
%% is a folder, and the commands follow that measured them. After `<!-- kinds' each line is a text and the folder of a profile
%% (`ertslab perf'), and the shares of the kinds of work follow. scripts/results.sh starts {@link main/0}.
-module(ertslab_report_pages).

-export([main/0, filled/2, format_error/1]).
-export_type([reason/0]).

-import(ertslab_report_value, [format/2]).

-type reason() :: {stale, Page :: file:filename()} | {no_end, Page :: file:filename(), Line :: binary()}
                | {no_row, Page :: file:filename(), Line :: binary()}
                | {not_measured, Folder :: file:filename(), Metric :: binary(), Column :: binary()}
                | {no_profile, Page :: file:filename(), Line :: binary()}
                | {several_cases, Folder :: file:filename()} | {no_case, Folder :: file:filename(), Which :: binary()}.

%% @doc Writes the tables into the pages that the arguments after `-extra' name, and ends the VM. The first argument is
%% `write', or `check': then nothing is written, and a page that would change is an error.
-spec main() -> no_return().
main() ->
    _ = io:setopts(standard_error, [{encoding, unicode}]),
    [Mode | Pages] = init:get_plain_arguments(),
    Failures = lists:append([ertslab_error:put_off(fun() -> page(Mode, Page) end) || Page <- Pages]),
    [io:format(standard_error, "ertslab results: ~ts~n", [ertslab_error:sentence(Error)]) || Error <- Failures],
    halt(min(1, length(Failures))).

page(Mode, Page) ->
    Text = text(Page),
    case {Mode, filled(Text, Page)} of
        {_, Text} -> ok;
        {"check", _} -> ertslab_error:failure(?MODULE, {stale, Page});
        {"write", New} -> ertslab_results:write(Page, New)
    end.

text(Page) ->
    case file:read_file(Page) of
        {ok, Text} -> Text;
        {error, Reason} -> ertslab_results:cannot_read(Page, Reason)
    end.

%% @doc A page with its tables as the results give them.
-spec filled(binary(), Page :: file:filename()) -> binary().
filled(Text, Page) ->
    iolist_to_binary(lists:join($\n, lines(binary:split(Text, <<"\n">>, [global]), Page))).

lines([<<"<!-- table: ", Columns/binary>> = Line | Rest], Page) ->
    block(Line, <<"<!-- end of table -->">>, fun(Rows) -> table(words(Columns, <<",">>), Rows, Page) end, Rest, Page);
lines([<<"<!-- commands">> = Line | Rest], Page) ->
    block(Line, <<"<!-- end of commands -->">>, fun(Folders) -> [measured(result(Folder, Page)) || Folder <- Folders] end, Rest, Page);
lines([<<"<!-- kinds">> = Line | Rest], Page) ->
    block(Line, <<"<!-- end of kinds -->">>, fun(Profiles) -> kinds(lists:append([profiles(P, Page) || P <- Profiles])) end, Rest, Page);
lines([Line | Rest], Page) -> [Line | lines(Rest, Page)];
lines([], _) -> [].

block(Line, End, Shown, Rest, Page) ->
    {Asked, Old} = until(<<"-->">>, Rest, Line, Page),
    {_, After} = until(End, Old, Line, Page),
    [Line] ++ Asked ++ [<<"-->">>] ++ Shown(Asked) ++ [End | lines(After, Page)].

until(End, Lines, Line, Page) ->
    case lists:splitwith(fun(L) -> L =/= End end, Lines) of
        {Before, [End | After]} -> {Before, After};
        {_, []} -> ertslab_error:failure(?MODULE, {no_end, Page, Line})
    end.

table(Columns, Rows, Page) ->
    ertslab_report_markdown:table_lines([<<>> | [heading(Column) || Column <- Columns]],
                                        [row(words(Row, <<"|">>), Columns, Row, Page) || Row <- Rows]).

heading(<<"control">>) -> <<"control">>;
heading(Arm) -> <<"`", Arm/binary, "`">>.

row([Text, Metric, Folder | Which], Columns, _, Page) when length(Which) =< 1 ->
    Result = of_case(Which, result(Folder, Page)),
    [Text | [cell(Column, Metric, Result) || Column <- Columns]];
row(_, _, Line, Page) -> ertslab_error:failure(?MODULE, {no_row, Page, Line}).

kinds(Profiles) ->
    {Headings, Kinds} = lists:unzip(Profiles),
    ertslab_report_markdown:table_lines([<<"kind of work">> | Headings], ertslab_time_kinds:rows(Kinds)).

profiles(Line, Page) ->
    case words(Line, <<"|">>) of
        [Text, Folder] ->
            case ertslab_summary_file:decoded(filename:join([filename:dirname(Page), Folder, "summary.json"])) of
                #{<<"vms">> := [#{<<"kinds">> := _} | _] = VMs} ->
                    [{format("~ts, `~ts`", [Text, Name]), Kinds} || #{<<"name">> := Name, <<"kinds">> := Kinds} <- VMs];
                _ -> ertslab_error:failure(?MODULE, {no_profile, Page, Line})
            end;
        _ -> ertslab_error:failure(?MODULE, {no_profile, Page, Line})
    end.

result(Folder, Page) ->
    Dir = filename:join(filename:dirname(Page), Folder),
    case ertslab_report_data:read(Dir) of
        {ok, Data} -> Data;
        {error, Error} -> ertslab_error:several(failure, [Error])
    end.

of_case([<<"mean">>], #{overall := [_ | _] = Rows} = Data) -> Data#{cases := [#{rows => Rows}]};
of_case([], #{cases := [_]} = Data) -> Data;
of_case([], #{dir := Dir}) -> ertslab_error:failure(?MODULE, {several_cases, Dir});
of_case([Which], #{cases := Cases, dir := Dir} = Data) ->
    case [Case || #{params := Params} = Case <- Cases, {Name, Value} <- maps:to_list(Params),
                  format("~ts=~ts", [Name, ertslab_report_value:value(Value)]) =:= Which] of
        [Case] -> Data#{cases := [Case]};
        _ -> ertslab_error:failure(?MODULE, {no_case, Dir, Which})
    end.

cell(Column, Metric, #{plan := Plan, cases := [#{rows := Rows}], dir := Dir}) ->
    Label = case Column of
                <<"control">> -> maps:get(control, Plan);
                Arm -> Arm
            end,
    case [Row || #{metric := M, label := L} = Row <- Rows, M =:= Metric, L =:= Label] of
        [#{ratio := Ratio}] when Column =:= <<"control">> -> ertslab_report_wording:interval(Ratio);
        [#{role := baseline} = Row] -> ertslab_report_wording:amount(Row);
        [#{ratio := Ratio} = Row] -> format("~ts (~ts)", [ertslab_report_wording:ratio_text(Row), ertslab_report_wording:interval(Ratio)]);
        [] -> ertslab_error:failure(?MODULE, {not_measured, Dir, Metric, Column})
    end.

measured(#{plan := #{otp := Version, pairs := Pairs}} = Data) ->
    format("- `~ts`: OTP ~ts, ~ts", [ertslab_report_wording:reproduce(Data), Version, ertslab_report_wording:count(Pairs, "pair")]).

words(Text, Separator) -> [string:trim(Word) || Word <- binary:split(Text, Separator, [global])].

-spec format_error(reason()) -> unicode:chardata().
format_error({stale, Page}) -> [Page, ": a table is not what its results give."];
format_error({no_end, Page, Line}) -> [Page, ": nothing ends what begins with: ", Line];
format_error({no_row, Page, Line}) -> [Page, ": a row is TEXT | METRIC | FOLDER, and this is none: ", Line];
format_error({not_measured, Folder, Metric, Column}) -> [Folder, " has no ", Metric, " of ", Column, "."];
format_error({no_profile, Page, Line}) ->
    [Page, ": a profile is TEXT | FOLDER, with a folder of ertslab perf that has kinds of work, and this is none: ", Line];
format_error({several_cases, Folder}) -> [Folder, " has several cases, and a row shows one: name a parameter of it."];
format_error({no_case, Folder, Which}) -> [Folder, " has no case, or several, with ", Which, "."].
