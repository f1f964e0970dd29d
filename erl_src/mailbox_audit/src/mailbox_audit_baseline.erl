%% @doc A file of findings that are known, so that only new ones fail a build.
%%
%% It holds one finding a line, by its identity: module, function, and a hash of
%% what the receive matches. It stays the same when lines shift, and changes
%% when patterns or guards do. Lines are sorted, for the sake of diffs.
-module(mailbox_audit_baseline).

-export([check/2, failed/2, write/2, read/1, new/2, format_error/1]).

-export_type([reason/0, failure/0]).

-type reason() :: {nothing_judged, mailbox_audit_static:report()} |
                  {cannot, read | write, file:filename_all(), file:posix() | badarg | terminated | system_limit}
                | {bad_line, file:filename_all(), pos_integer()}.

%% So many receives that are not known scan, or are unknown to the compiler; or of the report a part only was judged, or nothing.
-type failure() :: {new | new_unknown, pos_integer()} | {judged, mailbox_audit_static:report()}.

-define(HEADER, "# Receives that are known to scan, or that the compiler does not report, written by mailbox_audit.\n").
-define(IDENTITY, "^.*:.*/[0-9]+ [0-9a-f]+\\.[0-9]+$").

%% @doc What the option `baseline' or `write_baseline', a file, makes of a
%% report: the identities that are known (`none' without `baseline'), and the
%% report of what is to be shown, which with `baseline' is what is new.
-spec check(mailbox_audit_static:report(), #{baseline => file:name_all(), write_baseline => file:name_all(), _ => _}) ->
          {ok, [string()] | none, mailbox_audit_static:report()} | {error, reason()}.
check(#{modules := 0} = Report, #{write_baseline := _}) -> {error, {nothing_judged, Report}};
check(#{findings := Findings} = Report, #{write_baseline := File}) ->
    case write(File, Findings) of
        ok -> {ok, none, Report};
        {error, Reason} -> {error, Reason}
    end;
check(#{findings := Findings} = Report, #{baseline := File}) ->
    case read(File) of
        {ok, Known} -> {ok, Known, Report#{findings := new(Findings, Known)}};
        {error, Reason} -> {error, Reason}
    end;
check(Report, #{}) -> {ok, none, Report}.

%% @doc Why a run fails: it judged nothing; or it has a baseline (its identities are known), and
%% what is shown are receives that this does not know, or not all was judged, so that there may be more.
-spec failed([string()] | none, Shown :: mailbox_audit_static:report()) -> [failure()].
failed(none, Shown) -> [{judged, Shown} || mailbox_audit_static:coverage(Shown) =:= nothing];
failed(_Known, #{findings := New} = Shown) ->
    failure(new, [scans || #{verdict := scans} <- New]) ++ failure(new_unknown, [unknown || #{verdict := unknown} <- New])
        ++ [{judged, Shown} || mailbox_audit_static:coverage(Shown) =/= all].

failure(_Kind, []) -> [];
failure(Kind, New) -> [{Kind, length(New)}].

%% @doc Writes those of the findings that are worth a look.
-spec write(file:name_all(), [mailbox_audit_static:finding()]) -> ok | {error, reason()}.
write(File, Findings) ->
    Lines = lists:sort([Identity || #{identity := Identity} <- mailbox_audit_static:worth_a_look(Findings)]),
    Text = unicode:characters_to_binary([?HEADER | [[escaped(Line), $\n] || Line <- Lines]]),
    case file:write_file(File, Text) of
        ok -> ok;
        {error, Reason} -> {error, {cannot, write, File, Reason}}
    end.

%% @doc The identities that a file holds.
-spec read(file:name_all()) -> {ok, [string()]} | {error, reason()}.
read(File) ->
    case file:read_file(File) of
        {ok, <<"\xEF\xBB\xBF", Text/binary>>} -> identities(File, lines(Text)); % an editor's mark of UTF-8
        {ok, Text} -> identities(File, lines(Text));
        {error, Reason} -> {error, {cannot, read, File, Reason}}
    end.

lines(Text) -> lists:enumerate(binary:split(Text, [<<"\n">>, <<"\r\n">>], [global])).

identities(File, Lines) ->
    Used = [{Number, Line} || {Number, Line} <- Lines, Line =/= <<>>, binary:first(Line) =/= $#],
    case [Number || {Number, Line} <- Used, not is_identity(Line)] of
        [] -> {ok, [unescaped(unicode:characters_to_list(Line)) || {_, Line} <- Used]};
        [Number | _] -> {error, {bad_line, File, Number}}
    end.

is_identity(Line) -> is_list(unicode:characters_to_list(Line)) andalso re:run(Line, ?IDENTITY, [{capture, none}]) =:= match.

%% Names hold any characters, also those that would end their line, or make it a comment.
escaped([$# | Rest]) -> "\\#" ++ escaped(Rest);
escaped(Identity) -> lists:flatmap(fun escape/1, Identity).

escape($\\) -> "\\\\";
escape($\n) -> "\\n";
escape($\r) -> "\\r";
escape(Char) -> [Char].

unescaped("\\\\" ++ Rest) -> [$\\ | unescaped(Rest)];
unescaped("\\n" ++ Rest) -> [$\n | unescaped(Rest)];
unescaped("\\r" ++ Rest) -> [$\r | unescaped(Rest)];
unescaped("\\#" ++ Rest) -> [$# | unescaped(Rest)];
unescaped([Char | Rest]) -> [Char | unescaped(Rest)];
unescaped([]) -> [].

%% @doc Those findings worth a look that are not known.
-spec new([mailbox_audit_static:finding()], [string()]) -> [mailbox_audit_static:finding()].
new(Findings, Known) ->
    Set = maps:from_list([{Identity, true} || Identity <- Known]),
    [Finding || #{identity := Identity} = Finding <- mailbox_audit_static:worth_a_look(Findings),
                not is_map_key(Identity, Set)].

%% @doc An error as one sentence.
-spec format_error(reason() | failure()) -> string().
format_error({new, 1}) -> "1 scanning receive is not in the baseline";
format_error({new, Count}) -> integer_to_list(Count) ++ " scanning receives are not in the baseline";
format_error({new_unknown, 1}) -> "1 receive that the compiler does not report is not in the baseline";
format_error({new_unknown, Count}) -> integer_to_list(Count) ++ " receives that the compiler does not report are not in the baseline";
format_error({judged, Report}) -> lists:flatten(mailbox_audit_text:coverage(Report));
format_error({nothing_judged, Report}) ->
    lists:flatten(["no baseline is written: ", mailbox_audit_text:coverage(Report)]);
format_error({cannot, What, File, Reason}) ->
    lists:flatten(io_lib:format("cannot ~s the baseline ~ts: ~ts", [What, File, file:format_error(Reason)]));
format_error({bad_line, File, Number}) ->
    lists:flatten(io_lib:format("line ~b of ~ts is not a line of a baseline; write the file anew with --write-baseline",
                                [Number, File])).
