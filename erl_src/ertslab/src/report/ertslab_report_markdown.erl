%% @doc A report as Markdown, for a pull request: the verdict, the caveats, the results, and how to reproduce them.
%% Pure.
-module(ertslab_report_markdown).

-export([page/2, table_lines/2]).

-import(ertslab_report_value, [format/2]).

%% @doc The text for one or more folders. `Refused' has a sentence for each folder that could not be read.
-spec page([ertslab_report_data:data(), ...], Refused :: [binary()]) -> iodata().
page([Data], Refused) -> [folder(Data, "##"), left_out(Refused)];
page(Folders, Refused) ->
    Sorted = ertslab_report_series:by_date(Folders),
    ["## ", escape(ertslab_report_series:title(Folders)), "\n\n", over(Sorted), left_out(Refused),
     [["\n", folder(Data, "###")] || Data <- Sorted]].

left_out([]) -> [];
left_out(Refused) -> ["\nLeft out:\n\n", [["- ", escape(Sentence), $\n] || Sentence <- Refused]].

over(Folders) ->
    Series = ertslab_report_series:series(lists:enumerate(Folders)),
    table([<<"result">>, <<"folder">>, <<"measured">>, <<"machine">>, <<"OTP">>, <<"ratio">>, <<"95 % interval">>, <<"verdict">>],
          [[format("~ts, ~ts, ~ts", [Result, Arms, Params]), maps:get(name, Data),
            maps:get(measured, Data), ertslab_report_provenance:machine(Data),
            ertslab_report_value:value(maps:get(otp, maps:get(plan, Data))),
            ertslab_report_wording:ratio_text(Row), ertslab_report_wording:interval(maps:get(ratio, Row)),
            ertslab_report_wording:outcome_text(maps:get(plan, Data), Row)]
           || {{Result, Arms, Params}, Entries} <- Series, {_, Data, Row} <- Entries]).

folder(#{warnings := Warnings, plan := Plan} = Data, Heading) ->
    Cases = ertslab_report_data:cases(Data),
    #{claim := Claim, evidence := Evidence} = ertslab_report_wording:verdict(Data),
    [Heading, " ", escape(Claim), "\n\n",
     lists:join(" ", [escape(Sentence) || Sentence <- Evidence]), "\n",
     [["\n> **Warning:** ", escape(Warning), "\n"] || Warning <- Warnings],
     [results(Data, Case, maps:get(labelled, Plan)) || Case <- ertslab_report_data:overall(Data) ++ Cases],
     contrasts(Cases),
     how(Data)].

results(Data, #{title := Title, rows := Rows}, Label) ->
    ["\n", escape(Title), "\n\n",
     table([<<"metric">>, Label, ertslab_report_wording:heading(Data), <<"ratio">>, <<"95 % interval">>, <<"control">>, <<"verdict">>],
           [result(Data, Row) || Row <- Rows])].

result(#{plan := Plan}, #{metric := Metric, label := Label, ratio := Ratio} = Row) ->
    [Metric, Label, ertslab_report_wording:amount(Row), ertslab_report_wording:ratio_text(Row),
     ertslab_report_wording:interval(Ratio), ertslab_report_wording:floor_text(Row),
     lists:join("; ", [Text || Text <- [ertslab_report_wording:outcome_text(Plan, Row), ertslab_report_wording:disagreement(Row)],
                               Text =/= <<"">>])].

contrasts(Cases) ->
    case [[Says, Label, ertslab_report_wording:ratio(E), ertslab_report_wording:interval(Ratio), Title]
          || #{title := Title, contrasts := Contrasts} <- Cases,
             #{label := Label, says := Says, ratio := #{estimate := E} = Ratio} <- Contrasts] of
        [] -> [];
        Lines -> ["\nWithin one VM:\n\n", table([<<"what">>, <<"arm">>, <<"ratio">>, <<"95 % interval">>, <<"parameters">>], Lines)]
    end.

%% Collapsed on the page of a pull request.
how(#{plan := #{pairs := Pairs, seed := Seed}, arms := Arms} = Data) ->
    ["\n<details><summary>How this was measured</summary>\n\n",
     escape(format("~ts. ~ts, seed ~ts, ~ts UTC.",
                   [ertslab_report_provenance:machine(Data), ertslab_report_wording:count(Pairs, "pair"),
                    ertslab_report_value:value(Seed), maps:get(measured, Data)])), "\n\n",
     [["- ", escape(Term), ": ", escape(Text), $\n] || {Term, Text} <- ertslab_report_provenance:build(Data)],
     [["- ", escape(format("~ts: variant ~ts, build id ~ts", [Label, Variant, ertslab_report_value:value(Id)])), $\n]
      || #{label := Label, variant := Variant, build_id := Id} <- Arms],
     "\nTo measure it again:\n\n", fenced(ertslab_report_wording:reproduce(Data)), "\n</details>\n"].

%% A fence longer than any run of backquotes inside.
fenced(Code) ->
    Runs = case re:run(Code, "`+", [global, {capture, first, binary}]) of
               {match, Found} -> [byte_size(Run) || [Run] <- Found];
               nomatch -> []
           end,
    Fence = lists:duplicate(lists:max([2 | Runs]) + 1, $`),
    [Fence, "sh\n", Code, "\n", Fence, "\n"].

table(Heads, Lines) -> [[Line, $\n] || Line <- table_lines(Heads, [[escape(Cell) || Cell <- Cells] || Cells <- Lines])].

%% @doc The lines of a table, without their ends. The cells are Markdown.
-spec table_lines([iodata()], [[iodata()]]) -> [iolist()].
table_lines(Heads, Rows) -> [["| ", lists:join(" | ", Cells), " |"] || Cells <- [Heads, [<<"---">> || _ <- Heads] | Rows]].

%% No text may become markup, HTML, another cell or a line of its own. An underscore within a word is not escaped: it
%% is no markup, and many names have one. A number at the beginning followed by a dot and a blank would begin a list.
escape(Text0) ->
    Text = re:replace(Text0, "[\\x{0}-\\x{1f}\\x{7f}]+", " ", [global, unicode, {return, binary}]),
    Inner = re:replace(Text, "[\\\\`*\\[\\]|~#!$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+=]|^[0-9]+\\K[.)](?= |$)", "\\\\&",
                       [global, unicode, {return, binary}]),
    Entities = [{<<"&">>, <<"&amp;">>}, {<<"<">>, <<"&lt;">>}, {<<">">>, <<"&gt;">>}, {<<"@">>, <<"@<!-- -->">>}],
    lists:foldl(fun({From, To}, Acc) -> binary:replace(Acc, From, To, [global]) end, Inner, Entities).
