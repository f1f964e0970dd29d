%% @doc `ertslab report': presents folders of results as a page, as Markdown for a pull request or for benchstat. A
%% folder that cannot be read is left out; the others are still reported.
-module(ertslab_report).

-export([run/1, page/2, formats/0]).
-export_type([format/0]).

-type format() :: html | table | markdown | benchstat | iterations.

%% @doc The formats, and what the help says of each. The first is the default.
-spec formats() -> [{format(), string()}, ...].
formats() ->
    [{html, "html (default)"}, {table, "table"}, {markdown, "markdown"}, {benchstat, "benchstat"},
     {iterations, "or iterations (the spread of single values)"}].

%% @doc `ertslab report DIR...'.
-spec run(map()) -> ok.
run(#{dirs := Dirs} = Options) ->
    Read = [ertslab_report_data:read(Dir) || Dir <- lists:uniq([drop_slash(Dir) || Dir <- Dirs])],
    Refused = [Error || {error, Error} <- Read],
    case [Data || {ok, Data} <- Read] of
        [] -> ok;
        Folders -> deliver(Options, Folders, [ertslab_error:sentence(Error, Options) || Error <- Refused])
    end,
    refuse(Refused).

drop_slash(Dir) -> filename:join([Dir]).

%% @doc Writes the page of a result into its folder, which has its summary already.
-spec page(file:filename(), ertslab_result:summary()) -> ok.
page(Dir, Summary) -> ertslab_results:write(in_folder(Dir), ertslab_report_html:page([ertslab_report_data:in_folder(Dir, Summary)], [])).

in_folder(Dir) -> ertslab_session:file(Dir, "report.html").

deliver(Options, Folders, Refused) ->
    [{Default, _} | _] = formats(),
    Format = maps:get(format, Options, Default),
    Text = text(Format, Folders, Refused),
    case place(Format, Options, Folders) of
        standard_output -> io:put_chars(unicode:characters_to_list(Text));
        File ->
            ertslab_results:write(File, Text),
            io:format("~ts~n", [File])
    end.

text(html, Folders, Refused) -> ertslab_report_html:page(Folders, Refused);
text(Format, Folders, Refused) -> ertslab_text:foreign(ertslab_text:binary(plain(Format, Folders, Refused))).

%% Its labels may be of others, so it must command no terminal.
plain(table, Folders, _) -> lists:join($\n, [ertslab_table:render(Data) || Data <- Folders]);
plain(markdown, Folders, Refused) -> ertslab_report_markdown:page(Folders, Refused);
plain(benchstat, Folders, _) -> ertslab_benchstat:page(Folders);
plain(iterations, Folders, _) -> ertslab_report_iterations:page(Folders).

%% A page of several folders is put into none of them.
place(_, #{out := File}, _) -> File;
place(html, #{}, [#{dir := Dir}]) -> in_folder(Dir);
place(html, #{}, _) ->
    File = unicode:characters_to_list([ertslab_results:dir("report", #{}), ".html"]),
    ok = ertslab_results:make(filename:dirname(File)),
    File;
place(_, #{}, _) -> standard_output.

refuse([]) -> ok;
refuse(Errors) -> ertslab_error:several(failure, Errors).
