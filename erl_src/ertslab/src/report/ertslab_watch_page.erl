%% @doc A log of looks at a node: as text, and as one page that opens offline, with a picture of each quantity over time. Pure.
-module(ertslab_watch_page).

-export([page/1, text/1]).

-import(ertslab_report_value, [format/2]).
-import(ertslab_text, [time/1]).

%% A picture has that many places in time; the looks of one place are drawn as their median and their range.
-define(PLACES, 240).
-define(HEIGHT, 150).
-define(TOP, 8).
-define(BOTTOM, 120).
-define(FROM, 14.0).
-define(TO, 99.0).

title(messages) -> <<"messages that wait in all mailboxes">>;
title(deepest) -> <<"messages in the deepest mailbox">>;
title(collections) -> <<"collections' share of the schedulers' work">>;
title(busy) -> <<"busy share of the schedulers' time">>;
title(memory) -> <<"memory of the VM">>;
title(processes) -> <<"processes">>.

value(_, none) -> <<"-">>;
value(Name, Value) when Name =:= collections; Name =:= busy -> format("~.1f %", [100.0 * Value]);
value(memory, Value) -> format("~.1f MB", [Value / 1.0e6]);
value(_, Value) when Value == trunc(Value) -> integer_to_binary(trunc(Value));
value(_, Value) -> format("~.1f", [float(Value)]).

%% @doc The text: what was looked at, and what changed.
-spec text(ertslab_watch_spans:seen()) -> iodata().
text(Seen) -> [[Sentence, $\n] || Sentence <- about(Seen)] ++ table(Seen) ++ [[Sentence, $\n] || Sentence <- found(Seen) ++ method(Seen)].

about(#{node := Node, records := Records, damaged := Damaged}) ->
    Looks = [At || #{at := At, findings := _} <- Records],
    Gone = [At || #{at := At, gone := _} <- Records],
    [format("~ts of ~ts, ~ts to ~ts.",
            [ertslab_report_wording:count(length(Looks), "look"), Node, time(hd(Looks)), time(lists:last(Looks))])]
        ++ [format("The node did not answer ~ts; the first time was ~ts.", [times(length(Gone)), time(hd(Gone))]) || Gone =/= []]
        ++ [format("Lines of the log that cannot be read: ~b.", [Damaged]) || Damaged > 0].

times(1) -> "once";
times(Number) -> [integer_to_list(Number), " times"].

table(#{changes := none}) -> [];
table(#{changes := Changes}) ->
    ertslab_text:columns([["quantity", "before", "after", "after to before", "95 % interval", "verdict"]
                          | [[title(Name) | cells(Name, Change)] || {Name, Change} <- Changes]]).

cells(Name, #{before := Before, 'after' := After} = Change) ->
    [value(Name, Before), value(Name, After), estimate(Name, Change), interval(Name, Change), verdict(Change)].

estimate(_, #{kind := none}) -> <<"-">>;
estimate(_, #{kind := ratio, estimate := Estimate}) -> format("~.3f", [Estimate]);
estimate(Name, #{kind := difference, estimate := Estimate}) -> difference(Name, Estimate).

interval(_, #{low := Low, high := High}) when not is_number(Low); not is_number(High) -> <<"-">>;
interval(_, #{kind := ratio, low := Low, high := High}) -> format("~.3f to ~.3f", [Low, High]);
interval(Name, #{low := Low, high := High}) -> format("~ts to ~ts", [difference(Name, Low), difference(Name, High)]).

difference(Name, Value) when Value >= 0 -> [$+, value(Name, Value)];
difference(Name, Value) -> [$-, value(Name, -Value)].

verdict(#{why := few}) -> <<"unsure (too few looks)">>;
verdict(#{why := alike}) -> <<"unsure (too few independent looks)">>;
verdict(#{verdict := changed, kind := ratio, estimate := Estimate}) when Estimate > 1 -> <<"changed: more">>;
verdict(#{verdict := changed, kind := difference, estimate := Estimate}) when Estimate > 0 -> <<"changed: more">>;
verdict(#{verdict := changed}) -> <<"changed: less">>;
verdict(#{verdict := Verdict}) -> atom_to_binary(Verdict).

found(#{kinds := Kinds, split := none}) ->
    [format("Found in ~b of ~b looks: ~ts.", [Found, Of, words(Kind)]) || {Kind, {Found, Of}, _} <- Kinds];
found(#{kinds := Kinds}) ->
    [format("Found in ~b of ~b looks before, and in ~b of ~b after: ~ts.", [Old, OldOf, New, NewOf, words(Kind)])
     || {Kind, {Old, OldOf}, {New, NewOf}} <- Kinds].

words(Kind) -> string:replace(Kind, "_", " ", all).

method(#{changes := none}) -> [];
method(#{split := Split}) ->
    [format("The spans meet at ~ts. Consecutive looks depend on each other, so each span was cut into blocks of equal time, as many as are"
            " independent of their neighbours. The medians of these blocks give the intervals and the p values, which are"
            " corrected for the number of quantities (Holm).", [time(Split)])].

%% @doc The page.
-spec page(ertslab_watch_spans:seen()) -> iodata().
page(#{node := Node} = Seen) ->
    Title = format("~ts over time", [Node]),
    ertslab_xml:page(
      {html, [{xmlns, "http://www.w3.org/1999/xhtml"}, {lang, "en"}],
       [{head, [],
         [{meta, [{charset, "utf-8"}], []},
          {meta, [{name, "viewport"}, {content, "width=device-width, initial-scale=1"}], []},
          {meta, [{'http-equiv', "Content-Security-Policy"}, {content, "default-src 'none'; style-src 'unsafe-inline'"}], []},
          {title, [], [Title, <<": ertslab report">>]},
          {style, [], [ertslab_report_style:css()]}]},
        {body, [],
         [{main, [{id, "main"}],
           [{section, [{class, ["verdict ", tone(Seen)]}],
             [{h1, [], [claim(Seen)]} | [{p, [{class, "about"}], [Sentence]} || Sentence <- about(Seen)]]},
            changed(Seen), findings(Seen),
            {section, [], [{h2, [], [<<"Over time">>]}, {p, [{class, "hint"}], [<<"Each line is the median of the looks at that"
                  " time, the bars are their range. A dashed line marks where the spans meet, or where the node did not answer.">>]},
                           {'div', [{class, "plots"}], [picture(Name, Seen) || Name <- ertslab_watch_log:quantities()]}]}]}]}]}).

tone(#{changes := none}) -> "same";
tone(#{changes := Changes}) ->
    case [Name || {Name, #{verdict := changed}} <- Changes] of
        [] -> "same";
        _ -> "unsure"
    end.

claim(#{node := Node, changes := none}) -> format("~ts over time", [Node]);
claim(#{node := Node, changes := Changes}) ->
    case [[title(Name), " (", estimate(Name, Change), ")"] || {Name, #{verdict := changed} = Change} <- Changes] of
        [] -> format("~ts: nothing is proven to have changed", [Node]);
        Changed -> format("~ts: changed are ~ts", [Node, lists:join(", ", Changed)])
    end.

changed(#{changes := none}) -> [];
changed(#{changes := Changes} = Seen) ->
    {section, [],
     [{h2, [], [<<"Before and after">>]},
      ertslab_report_table:render(
        <<"Medians of the looks, and their change">>,
        [<<"quantity">>, {number, <<"before">>}, {number, <<"after">>}, {number, <<"after to before">>}, <<"95 % interval">>,
         <<"verdict">>, {number, <<"blocks">>}],
        [{"", [{head, title(Name)} | row(Name, Change)]} || {Name, Change} <- Changes])
      | [{p, [{class, "hint"}], [Sentence]} || Sentence <- method(Seen)]]}.

row(Name, #{blocks := Blocks} = Change) ->
    [Before, After, Estimate, Interval, Verdict] = [ertslab_text:binary(Cell) || Cell <- cells(Name, Change)],
    [{number, Before}, {number, After}, {number, Estimate}, Interval, Verdict, {number, integer_to_binary(Blocks)}].

findings(Seen) ->
    case found(Seen) of
        [] -> {p, [], [<<"No look found anything.">>]};
        Sentences -> {section, [], [{h2, [], [<<"Findings">>]}, {ul, [], [{li, [], [Sentence]} || Sentence <- Sentences]}]}
    end.

picture(Name, #{records := Records, split := Split}) ->
    Looks = [{At, Value} || #{at := At, Name := Value} <- Records, is_number(Value)],
    {figure, [], [{figcaption, [], [title(Name), {span, [], [range(Name, Looks)]}]},
                  drawn(Name, Looks, [Split || Split =/= none] ++ [At || #{at := At, gone := _} <- Records])]}.

range(_, []) -> <<"was never seen">>;
range(Name, Looks) ->
    Values = [Value || {_, Value} <- Looks],
    format("~ts to ~ts, median ~ts", [value(Name, Of) || Of <- [lists:min(Values), lists:max(Values), ertslab_stats:median(Values)]]).

drawn(_, [], _) -> [];
drawn(Name, [{First, _} | _] = Looks, Marks) ->
    {Last, _} = lists:last(Looks),
    Top = max(1.0e-3, 1.05 * lists:max([Value || {_, Value} <- Looks])),
    X = fun(At) -> ?FROM + (?TO - ?FROM) * (At - First) / max(1, Last - First) end,
    Y = fun(Value) -> ?BOTTOM - (?BOTTOM - ?TOP) * Value / Top end,
    Places = places(First, Last, Looks),
    ertslab_report_svg:figure(
      #{id => atom_to_binary(Name), title => title(Name), desc => range(Name, Looks)}, ?HEIGHT,
      [[[ertslab_report_svg:horizontal(<<"grid">>, {?FROM, ?TO}, Y(Tick)),
         ertslab_report_svg:words(<<"tick">>, ertslab_report_svg:percent(?FROM - 1), "end", Y(Tick) + 4, value(Name, Tick))]
        || Tick <- ertslab_report_svg:ticks({0, Top}, divisor(Name))],
       {g, [{class, "trail arm1"}], [line({X(At), Y(Least)}, {X(At), Y(Most)}) || {At, Least, _, Most} <- Places, Most > Least]},
       {g, [{class, "arm1"}], trail([{X(At), Y(Middle)} || {At, _, Middle, _} <- Places])},
       [dashed(X(At)) || At <- lists:sublist(Marks, ?PLACES), At >= First, At =< Last],
       ertslab_report_svg:words(<<"tick">>, ertslab_report_svg:percent(?FROM), "start", ?BOTTOM + 18, ertslab_text:binary(time(First))),
       ertslab_report_svg:words(<<"tick">>, ertslab_report_svg:percent(?TO), "end", ?BOTTOM + 18, ertslab_text:binary(time(Last)))]).

divisor(memory) -> 1.0e6;
divisor(Name) when Name =:= collections; Name =:= busy -> 0.01;
divisor(_) -> 1.

%% The looks at each place in time: when, the least, the median, the most.
places(First, Last, Looks) ->
    Placed = maps:groups_from_list(fun({At, _}) -> (At - First) * ?PLACES div max(1, Last - First) end, Looks),
    [{round(ertslab_stats:median([At || {At, _} <- Some])), lists:min(Values), ertslab_stats:median(Values), lists:max(Values)}
     || {_, Some} <- lists:sort(maps:to_list(Placed)), Values <- [[Value || {_, Value} <- Some]]].

trail([From, To | Rest]) -> [line(From, To) | trail([To | Rest])];
trail([{X, Y}]) -> [line({X - 0.3, Y}, {X + 0.3, Y})].

line({X1, Y1}, {X2, Y2}) ->
    {line, [{x1, ertslab_report_svg:percent(X1)}, {x2, ertslab_report_svg:percent(X2)}, {y1, ertslab_report_svg:px(Y1)},
            {y2, ertslab_report_svg:px(Y2)}], []}.

dashed(X) ->
    Place = ertslab_report_svg:percent(X),
    {line, [{class, "one"}, {x1, Place}, {x2, Place}, {y1, ertslab_report_svg:px(?TOP)}, {y2, ertslab_report_svg:px(?BOTTOM)}], []}.
