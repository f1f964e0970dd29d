%% @doc The report on a node as one page of HTML, in the style of a comparison's: no script, nothing that is fetched. Pure.
-module(ertslab_diagnose_page).

-export([page/1]).

%% @doc The page.
-spec page(diagnose:report()) -> iodata().
page(#{findings := Findings} = Report) ->
    Title = ertslab_error:text(diagnose_text:title(Report)),
    ertslab_xml:page(
      {html, [{xmlns, "http://www.w3.org/1999/xhtml"}, {lang, "en"}],
       [{head, [],
         [{meta, [{charset, "utf-8"}], []},
          {meta, [{name, "viewport"}, {content, "width=device-width, initial-scale=1"}], []},
          {meta, [{'http-equiv', "Content-Security-Policy"}, {content, "default-src 'none'; style-src 'unsafe-inline'"}], []},
          {title, [], [Title, ~": ertslab diagnose"]},
          {style, [], [ertslab_report_style:css()]}]},
        {body, [],
         [{main, [{id, "main"}],
           [{section, [{class, ["verdict ", tone(Findings)]}],
             [{h1, [], [claim(Findings)]}, {p, [{class, "about"}], [Title]}]}
            | [section(Section) || Section <- diagnose_text:sections(Report)]]}]}]}).

tone([]) -> "same";
tone(_) -> "slower".

claim([]) -> ~"Nothing found";
claim([_]) -> ~"1 finding";
claim(Findings) -> ertslab_error:text(io_lib:format("~b findings", [length(Findings)])).

section({Title, Facts, Findings}) ->
    {section, [],
     [{h2, [], [ertslab_error:text(Title)]},
      [{ul, [], [{li, [], [ertslab_error:text([Fact, "."])]} || Fact <- Facts]} || Facts =/= []],
      [finding(Finding) || Finding <- Findings]]}.

finding(#{kind := Kind, process := Process, advice := Advice, command := Command} = Finding) ->
    {section, [],
     [{h3, [], [ertslab_error:text([diagnose_wording:subject(Process), ": ", string:replace(atom_to_list(Kind), "_", " ", all)])]},
      {p, [], [ertslab_error:text([diagnose_wording:sentence(Finding), "."])]},
      {p, [], [~"To do: ", Advice]},
      {pre, [], [Command]}]}.
