%% @doc The report on a node as one HTML page in the style of a comparison's report, without scripts or anything to
%% fetch. Pure.
-module(ertslab_diagnose_page).

-export([page/1]).

%% @doc The page.
-spec page(diagnose:report()) -> iodata().
page(#{findings := Findings, place := Place} = Report) ->
    Title = ertslab_text:binary(diagnose_text:title(Report)),
    {Claim, Bounds} = claim(Report),
    ertslab_xml:page(
      {html, [{xmlns, "http://www.w3.org/1999/xhtml"}, {lang, "en"}],
       [{head, [],
         [{meta, [{charset, "utf-8"}], []},
          {meta, [{name, "viewport"}, {content, "width=device-width, initial-scale=1"}], []},
          {meta, [{'http-equiv', "Content-Security-Policy"}, {content, "default-src 'none'; style-src 'unsafe-inline'"}], []},
          {title, [], [Title, <<": ertslab diagnose">>]},
          {style, [], [ertslab_report_style:css()]}]},
        {body, [],
         [{main, [{id, "main"}],
           [{section, [{class, ["verdict ", tone(Findings)]}],
             [{h1, [], [Claim]} | [{p, [], [Bounds]} || Bounds =/= <<>>] ++ [{p, [{class, "about"}], [Title]}]]}
            | [finding(Finding, Place) || Finding <- Findings] ++ [section(Facts) || Facts <- diagnose_text:facts(Report)]]}]}]}).

tone([]) -> "same";
tone(_) -> "slower".

%% What a reader looks for first, and what it is bound to.
claim(Report) ->
    Line = ertslab_text:binary(diagnose_text:last_line(Report)),
    {match, [Claim, Bounds]} = re:run(Line, "^([^.:]+)[.:] *(.*)$", [{capture, all_but_first, binary}, dotall, unicode]),
    {Claim, ertslab_text:binary(string:titlecase(Bounds))}.

section({Title, Facts}) ->
    {section, [],
     [{h2, [], [ertslab_text:binary(Title)]},
      {ul, [], [{li, [], [ertslab_text:binary([Fact, "."])]} || Fact <- Facts]}]}.

finding(#{subject := Subject, signs := Signs}, Place) ->
    {section, [], [{h2, [], [ertslab_text:binary(diagnose_wording:subject(Subject))]} | [sign(Sign, Place) || Sign <- Signs]]}.

sign(#{kind := Kind, advice := Advice} = Sign, Place) ->
    {section, [],
     [{h3, [], [ertslab_text:binary(string:replace(atom_to_list(Kind), "_", " ", all))]},
      {p, [], [ertslab_text:binary([diagnose_wording:sentence(Sign), "."])]},
      {p, [], [<<"To do: ">>, Advice]}
      | lists:append([shown(ertslab_text:binary(Title), ertslab_text:binary(Text))
                      || {Title, Text} <- diagnose_text:proofs(Sign, Place)])]}.

shown(<<"Measured">> = Title, Text) -> [{p, [], [Title, <<": ">>, Text]}];
shown(Title, Command) -> [{p, [], [Title, <<":">>]}, {pre, [], [Command]}].
