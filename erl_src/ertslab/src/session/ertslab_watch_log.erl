%% @doc The log of `diagnose --watch --log FILE': JSON lines, a header and then one line a look, or one when the node is gone.
%%
%% The file is bounded. Before it would exceed its bound, half of its lines are removed: the newest quarter stays as dense as it was made,
%% older lines become the sparser the older they are, and none is altered. The time between two of them is proportional to their age,
%% so that a bounded number covers any time. A line is written whole or cut off, and the next run removes what was cut
%% off. The file with fewer lines replaces the other in one step.
-module(ertslab_watch_log).

-include_lib("kernel/include/file.hrl").

-export([open/2, append/2, read/1, quantities/0, format_error/1]).
-export_type([log/0, record/0, contents/0, reason/0]).

-opaque log() :: #{file := file:filename(), node := binary(), most := pos_integer(), bytes := non_neg_integer(),
                   inode := non_neg_integer()}.
%% `at' is in seconds since 1970, UTC. Of a look that could not see something, the value is `null'. `gone': why there is no look.
-type record() :: #{at := integer(), gone => binary(), process => binary(), findings => [binary()],
                    messages | deepest | collections | busy | memory | processes => number() | null}.
%% `damaged': lines that are no record.
-type contents() :: #{node := binary(), records := [record()], damaged := non_neg_integer()}.
-type reason() :: {other_node, file:filename(), Other :: binary(), Node :: binary()} | {newer, file:filename()} | {no_log, file:filename()}
                | {no_regular_file, file:filename()} | {two_nodes, file:filename(), Node :: binary(), Other :: binary()}.

-define(FORMAT, 1).
-define(QUANTITIES, [messages, deepest, collections, busy, memory, processes]).
%% The bytes of a file at most, and of a line.
-define(MOST_BYTES, 8_000_000).
-define(LONGEST_LINE, 4096).
%% The years 1970 to 9998, in seconds: the date of each has a form, in any time zone.
-define(IS_TIME(At), is_integer(At), At >= 0, At < 253_370_764_800).
%% Sums and ratios of values must be floats, too.
-define(TOO_LARGE, 1.0e300).
%% Where the search for the share of their age begins by which lines have to be apart.
-define(FINEST, 1.0e-6).

%% @doc Opens the log of a node, a new file or one that goes on. Fails if the file is something else. The options are
%% for tests.
-spec open(file:filename(), #{node := binary(), most => pos_integer()}) -> log().
open(File, #{node := Node} = Options) ->
    opened(#{file => File, node => Node, most => maps:get(most, Options, ?MOST_BYTES), bytes => 0, inode => 0}).

opened(#{file := File, node := Node} = Log) ->
    case read_regular(File) of
        {error, enoent} -> written(Log, [header(Node)]);
        {ok, <<>>} -> written(Log, [header(Node)]);
        {ok, Text} ->
            case header_of(File, Text) of
                Node -> going_on(Log, Text);
                Other -> ertslab_error:failure(?MODULE, {other_node, File, Other, Node})
            end;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

%% A pipe would have no end, and a device keeps nothing.
read_regular(File) ->
    case file:read_file_info(File) of
        {ok, #file_info{type = regular}} -> file:read_file(File);
        {ok, _} -> ertslab_error:failure(?MODULE, {no_regular_file, File});
        {error, Reason} -> {error, Reason}
    end.

%% @doc What a record of a look has numbers of.
-spec quantities() -> [atom(), ...].
quantities() -> ?QUANTITIES.

header(Node) -> [ertslab_json:line(#{log => <<"ertslab diagnose --watch">>, format => ?FORMAT, node => Node}), $\n].

%% An editor may have put its mark of UTF-8 in front.
unmarked(<<"\xEF\xBB\xBF", Text/binary>>) -> Text;
unmarked(Text) -> Text.

header_of(File, Text) ->
    [First | _] = binary:split(unmarked(Text), <<"\n">>),
    case byte_size(First) =< ?LONGEST_LINE andalso object(First) of
        #{<<"log">> := _, <<"format">> := ?FORMAT, <<"node">> := Node} when is_binary(Node) ->
            ertslab_text:foreign_line(Node);
        #{<<"log">> := _, <<"format">> := Format} when is_integer(Format), Format > ?FORMAT ->
            ertslab_error:failure(?MODULE, {newer, File});
        _ -> ertslab_error:failure(?MODULE, {no_log, File})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({other_node, File, Other, Node}) -> [File, " holds the looks at ", Other, "; choose another file for ", Node, "."];
format_error({two_nodes, File, Node, Other}) ->
    [File, " holds the looks at ", Node, " and at ", Other, "; give 'report' the log of one node."];
format_error({newer, File}) -> [File, " was written by a newer ertslab; read it with that one."];
format_error({no_log, File}) -> [File, " is not a log of 'diagnose --watch --log'."];
format_error({no_regular_file, File}) -> [File, " is not a regular file; choose another for the log."].

object(Line) ->
    try ertslab_json_reader:decode(Line) of
        #{} = Object -> Object;
        _ -> none
    catch error:{not_json, _} -> none
    end.

%% Lines end with a line end; what follows the last one was cut off when the program was killed.
going_on(Log, Text) ->
    case binary:matches(Text, <<"\n">>) of
        [] -> written(Log, [Text, $\n]);
        Ends ->
            {Last, 1} = lists:last(Ends),
            case Last + 1 of
                Whole when Whole =:= byte_size(Text) -> as_left(Log, Whole);
                Whole -> written(Log, binary:part(Text, 0, Whole))
            end
    end.

%% @doc Appends a record, and makes room for it first if need be. If the file is no longer the one that was left, because somebody has
%% moved, removed or truncated it, it is opened anew: a new file has a header, too.
-spec append(log(), record()) -> log().
append(Log, Record) ->
    Line = [ertslab_json:line(Record), $\n],
    #{file := File, bytes := Bytes} = Roomy = bounded(still(Log), iolist_size(Line)),
    case file:write_file(File, Line, [append]) of
        ok -> Roomy#{bytes := Bytes + iolist_size(Line)};
        {error, Reason} -> ertslab_results:cannot_write(File, Reason)
    end.

still(#{file := File, bytes := Bytes, inode := Inode} = Log) ->
    case file:read_file_info(File) of
        {ok, #file_info{type = regular, size = Bytes, inode = Inode}} -> Log;
        _ -> opened(Log)
    end.

bounded(#{bytes := Bytes, most := Most} = Log, More) when Bytes + More =< Most -> Log;
bounded(#{file := File} = Log, _) ->
    case file:read_file(File) of
        {ok, Text} ->
            [Header | Lines] = binary:split(Text, <<"\n">>, [global, trim]),
            Timed = [{At, Line} || Line <- Lines, #{<<"at">> := At} <- [object(Line)], ?IS_TIME(At)],
            written(Log, [[Line, $\n] || Line <- [Header | sparser(lists:keysort(1, Timed))]]); % a clock may have been set back
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

%% The newest quarter stays. Of the older lines at most as many stay, each a share of its age apart from the next newer one.
sparser([]) -> [];
sparser(Timed) ->
    Quarter = length(Timed) div 4,
    {Newest, Older} = lists:split(Quarter, lists:reverse(Timed)),
    {Now, _} = lists:last(Timed),
    lists:reverse([Line || {_, Line} <- Newest ++ apart(Older, Quarter, Now, ?FINEST)]).

apart(Older, Most, Now, Share) ->
    case spaced(Older, Now, Share, Now + 1) of
        Kept when length(Kept) =< Most -> Kept;
        _ -> apart(Older, Most, Now, 2 * Share)
    end.

%% From the newest to the oldest. `Last': the time of the line that was kept last.
spaced([{At, _} = Line | Older], Now, Share, Last) when Last - At >= 1, Last - At >= Share * (Now - At) ->
    [Line | spaced(Older, Now, Share, At)];
spaced([_ | Older], Now, Share, Last) -> spaced(Older, Now, Share, Last);
spaced([], _, _, _) -> [].

written(#{file := File} = Log, Text) ->
    ok = ertslab_results:write(File, Text),
    as_left(Log, iolist_size(Text)).

as_left(#{file := File} = Log, Bytes) ->
    case file:read_file_info(File) of
        {ok, #file_info{inode = Inode}} -> Log#{bytes := Bytes, inode := Inode};
        {error, _} -> Log#{bytes := Bytes}
    end.

%% @doc The records of a log, the oldest first, also while it is written. Fails with a sentence if it is none.
-spec read(file:filename()) -> contents().
read(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            Node = header_of(File, Text),
            [Header | Lines] = binary:split(unmarked(Text), <<"\n">>, [global, trim]),
            Objects = [object(Line) || Line <- Lines, Line =/= Header], % of files that were put together
            _ = [ertslab_error:failure(?MODULE, {two_nodes, File, Node, ertslab_text:foreign_line(Other)})
                 || #{<<"log">> := _, <<"node">> := Other} <- Objects, is_binary(Other)],
            Records = [record(Object) || Object <- Objects],
            Known = [Record || #{} = Record <- Records],
            #{node => Node, records => lists:sort(fun(#{at := A}, #{at := B}) -> A =< B end, Known),
              damaged => length(Records) - length(Known)};
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

%% Another program may have written it, so no text commands a terminal.
record(#{<<"at">> := At, <<"gone">> := Why}) when ?IS_TIME(At), is_binary(Why) -> #{at => At, gone => ertslab_text:foreign_line(Why)};
record(#{<<"at">> := At, <<"findings">> := Findings} = Object) when ?IS_TIME(At), is_list(Findings) ->
    Values = maps:from_list([{Name, maps:get(atom_to_binary(Name), Object, null)} || Name <- ?QUANTITIES]),
    Process = maps:get(<<"process">>, Object, <<>>),
    case lists:all(fun is_quantity/1, maps:values(Values)) andalso lists:all(fun is_binary/1, [Process | Findings]) of
        true -> Values#{at => At, findings => [ertslab_text:foreign_line(Finding) || Finding <- Findings],
                        process => ertslab_text:foreign_line(Process)};
        false -> damaged
    end;
record(_) -> damaged.

is_quantity(null) -> true;
is_quantity(Value) -> is_number(Value) andalso Value >= 0 andalso Value < ?TOO_LARGE.
