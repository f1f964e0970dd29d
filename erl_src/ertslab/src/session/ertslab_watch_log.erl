%% @doc The log of `diagnose --watch --log FILE': JSON lines, a header and then one line a look, or one when the node is gone.
%%
%% The file is bounded. When it reaches its bound, every second line of its older half is removed: recent looks stay as dense as they
%% were made, older ones become sparser, and none is altered. A line is written whole or cut off, and the next run removes what was cut
%% off. The file with fewer lines replaces the other in one step.
-module(ertslab_watch_log).

-export([open/2, append/2, read/1]).
-export_type([log/0, record/0, contents/0]).

-opaque log() :: #{file := file:filename(), most := pos_integer(), bytes := non_neg_integer()}.
%% `at' is in seconds since 1970, UTC. Of a look that could not see something, the value is `null'. `gone': why there is no look.
-type record() :: #{at := integer(), gone => binary(), process => binary(), findings => [binary()],
                    messages | deepest | collections | busy | memory | processes => number() | null}.
%% `damaged': lines that are no record.
-type contents() :: #{node := binary(), records := [record()], damaged := non_neg_integer()}.

-define(FORMAT, 1).
-define(QUANTITIES, [messages, deepest, collections, busy, memory, processes]).
%% The bytes of a file at most, and of a line.
-define(MOST_BYTES, 8_000_000).
-define(LONGEST_LINE, 4096).

%% @doc Opens the log of a node, a new file or one that goes on. Fails with a sentence if the file is something else. The options are
%% for tests.
-spec open(file:filename(), #{node := binary(), most => pos_integer()}) -> log().
open(File, #{node := Node} = Options) ->
    Log = #{file => File, most => maps:get(most, Options, ?MOST_BYTES), bytes => 0},
    case file:read_file(File) of
        {error, enoent} -> written(Log, [header(Node)]);
        {ok, <<>>} -> written(Log, [header(Node)]);
        {ok, Text} ->
            case header_of(File, Text) of
                Node -> going_on(Log, Text);
                Other -> ertslab_error:failure("~ts holds the looks at ~ts; choose another file for ~ts.", [File, Other, Node])
            end;
        {error, Reason} -> cannot_read(File, Reason)
    end.

header(Node) -> [ertslab_json:line(#{log => <<"ertslab diagnose --watch">>, format => ?FORMAT, node => Node}), $\n].

header_of(File, Text) ->
    [First | _] = binary:split(Text, <<"\n">>),
    case byte_size(First) =< ?LONGEST_LINE andalso object(First) of
        #{<<"log">> := _, <<"format">> := ?FORMAT, <<"node">> := Node} when is_binary(Node) -> Node;
        #{<<"log">> := _, <<"format">> := Format} when is_integer(Format), Format > ?FORMAT ->
            ertslab_error:failure("~ts was written by a newer ertslab; read it with that one.", [File]);
        _ -> ertslab_error:failure("~ts is no log of 'diagnose --watch --log'.", [File])
    end.

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
                Whole when Whole =:= byte_size(Text) -> bounded(Log#{bytes := Whole});
                Whole -> written(Log, binary:part(Text, 0, Whole))
            end
    end.

%% @doc Appends a record, and makes the file smaller if it is too large then.
-spec append(log(), record()) -> log().
append(#{file := File, bytes := Bytes} = Log, Record) ->
    Line = [ertslab_json:line(Record), $\n],
    case file:write_file(File, Line, [append]) of
        ok -> bounded(Log#{bytes := Bytes + iolist_size(Line)});
        {error, Reason} -> ertslab_results:cannot_write(File, Reason)
    end.

bounded(#{bytes := Bytes, most := Most} = Log) when Bytes =< Most -> Log;
bounded(#{file := File} = Log) ->
    case file:read_file(File) of
        {ok, Text} ->
            [Header | Lines] = binary:split(Text, <<"\n">>, [global, trim]),
            {Older, Newer} = lists:split((length(Lines) + 1) div 2, Lines),
            thinned(Log, [[Line, $\n] || Line <- [Header | every_second(Older)] ++ Newer], length(Lines));
        {error, Reason} -> cannot_read(File, Reason)
    end.

%% One line that is larger than the bound alone stays.
thinned(Log, Text, Lines) ->
    Left = written(Log, Text),
    case Lines > 1 of
        true -> bounded(Left);
        false -> Left
    end.

every_second([_, Kept | Lines]) -> [Kept | every_second(Lines)];
every_second(_) -> [].

written(#{file := File} = Log, Text) ->
    ok = ertslab_results:write(File, Text),
    Log#{bytes := iolist_size(Text)}.

%% @doc The records of a log, the oldest first, also while it is written. Fails with a sentence if it is none.
-spec read(file:filename()) -> contents().
read(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            Node = header_of(File, Text),
            [_ | Lines] = binary:split(Text, <<"\n">>, [global, trim]),
            Records = [record(object(Line)) || Line <- Lines],
            Known = [Record || #{} = Record <- Records],
            #{node => Node, records => lists:sort(fun(#{at := A}, #{at := B}) -> A =< B end, Known),
              damaged => length(Records) - length(Known)};
        {error, Reason} -> cannot_read(File, Reason)
    end.

record(#{<<"at">> := At, <<"gone">> := Why}) when is_integer(At), is_binary(Why) -> #{at => At, gone => Why};
record(#{<<"at">> := At, <<"findings">> := Findings} = Object) when is_integer(At), is_list(Findings) ->
    Values = maps:from_list([{Name, maps:get(atom_to_binary(Name), Object, null)} || Name <- ?QUANTITIES]),
    case lists:all(fun(Value) -> Value =:= null orelse is_number(Value) andalso Value >= 0 end, maps:values(Values))
        andalso lists:all(fun is_binary/1, [maps:get(<<"process">>, Object, <<>>) | Findings]) of
        true -> Values#{at => At, findings => Findings, process => maps:get(<<"process">>, Object, <<>>)};
        false -> damaged
    end;
record(_) -> damaged.

-spec cannot_read(file:filename(), file:posix() | badarg | terminated | system_limit) -> no_return().
cannot_read(File, Reason) -> ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)]).
