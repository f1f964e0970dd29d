%% @doc `ertslab report FILE' for a log of `diagnose --watch --log': a page that draws it, and what changed between two spans.
-module(ertslab_watch_report).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_format, atom()} | {several, file:filename()}.

%% @doc The command, whose one argument is the file of a log.
-spec run(map()) -> ok.
run(#{format := Format}) when Format =/= html, Format =/= table ->
    ertslab_error:usage(?MODULE, {no_format, Format});
run(#{dirs := [File]} = Options) ->
    Seen = ertslab_watch_spans:seen(ertslab_watch_log:read(File), Options),
    Text = ertslab_watch_page:text(Seen),
    case Options of
        #{format := table, out := Page} -> written(Page, ertslab_text:binary(Text));
        #{format := table} -> io:put_chars(Text);
        #{} ->
            io:put_chars(Text),
            written(maps:get(out, Options, beside(File)), ertslab_watch_page:page(Seen))
    end;
run(#{dirs := Dirs}) -> ertslab_error:usage(?MODULE, {several, hd([Dir || Dir <- Dirs, filelib:is_regular(Dir)])}).

written(File, Text) ->
    ertslab_results:write(File, Text),
    io:format("~ts~n", [File]).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_format, Format}) -> io_lib:format("--format ~ts is for comparisons; a log has html or table", [Format]);
format_error({several, File}) ->
    [File, " is a file. Name one log of 'diagnose --watch --log', or only folders of comparisons"].

beside(File) ->
    case filename:extension(File) of
        ".html" -> File ++ ".html";
        _ -> filename:rootname(File) ++ ".html"
    end.
