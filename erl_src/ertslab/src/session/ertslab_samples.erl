%% @doc The file samples.jsonl: one JSON object a line, appended run by run.
%%
%% A run is its samples, one line of type `run', and one line of type `end' that
%% holds the CRC-32 of the lines before it. Lines of a killed program without
%% an end are not a run. The CRC-32 reveals lines that were edited or damaged later.
%%
%% A sample holds all values of one metric of one case in one run, in the order of time.
%% In format 1, which is read too, a sample is a single value.
%%
%% The file may be larger than the memory, so it is read in pieces. Only the fields of a sample
%% that are needed for computing are kept; the others repeat what the line of the run says.
-module(ertslab_samples).

-export([text/1, run_line/1, read/1, begun/1, cut/2, by_run/2, format_error/1]).
-export_type([sample/0, run_line/0, samples/0, reason/0]).

%% The keys `run', `case', `arm', `pair', `metric' and `values', as far as they are present; in
%% format 1 `iteration' and `value' instead of the last.
-type sample() :: #{binary() => term()}.
-type run_line() :: #{binary() => term()}.
-type samples() :: #{samples := [sample()], runs := [run_line()]}.
-type reason() :: {run_twice, file:filename(), Run :: term()} | {no_sample, file:filename(), Line :: pos_integer()}
                | {edited, file:filename(), First :: pos_integer(), Last :: pos_integer(), Run :: term()}.

-define(PIECE, 1 bsl 20).
%% The longest lines are those of slopes, with a few KB.
-define(LONGEST_LINE, 1 bsl 26).
%% Bytes of memory needed for each byte of a file whose samples are kept, until the report is
%% written. Measured: at most 209 MB for 12.2 MB with 2 million values (OTP 27.3.4.1). A value of six
%% digits is 16 bytes in a list, and it is in several lists while it is sorted and grouped.
-define(MEMORY, 14).
-define(KEPT, [<<"run">>, <<"case">>, <<"arm">>, <<"pair">>, <<"metric">>, <<"iteration">>, <<"value">>, <<"values">>]).

%% @doc The text of one run's lines, which include its `run' line.
-spec text([map(), ...]) -> iodata().
text(Lines) ->
    Text = [[ertslab_json:line(Line), $\n] || Line <- Lines],
    [Run] = [Number || #{type := run, run := Number} <- Lines],
    [Text, ertslab_json:line(#{type => 'end', run => Run, crc32 => erlang:crc32(Text)}), $\n].

%% @doc The line that closes a run, as it would be read.
-spec run_line([map(), ...]) -> run_line().
run_line(Lines) ->
    [Run] = [Line || #{type := run} = Line <- Lines],
    ertslab_json_reader:decode(iolist_to_binary(ertslab_json:format(Run))).

%% @doc The complete runs of a file and their samples. A missing file
%% has none. A damaged line is a failure that names it. A file whose
%% samples do not fit in memory is a failure, too.
-spec read(file:filename()) -> samples().
read(File) ->
    ok = ertslab_memory_limit:to_read(File, ?MEMORY * filelib:file_size(File), ertslab_memory_limit:available()),
    #{samples := Samples, runs := Runs} = scanned(File, true),
    #{runs => lists:reverse(Runs), samples => lists:reverse(Samples)}.

%% @doc The complete runs without their samples, and how many bytes they fill. Every line is still checked.
-spec begun(file:filename()) -> #{runs := [run_line()], bytes := non_neg_integer()}.
begun(File) ->
    #{runs := Runs, complete := Bytes} = scanned(File, false),
    #{runs => lists:reverse(Runs), bytes => Bytes}.

%% @doc Cuts off what follows the complete runs, which fill that many bytes.
-spec cut(file:filename(), non_neg_integer()) -> ok | {error, file:posix() | badarg | terminated | system_limit}.
cut(File, Bytes) ->
    case filelib:file_size(File) > Bytes andalso file:open(File, [read, write, raw]) of
        false -> ok;
        {ok, Device} -> truncate(Device, Bytes);
        {error, Reason} -> {error, Reason}
    end.

truncate(Device, Bytes) ->
    case file:position(Device, Bytes) of
        {ok, Bytes} -> first_error([file:truncate(Device), file:close(Device)]);
        {error, Reason} ->
            _ = file:close(Device),
            {error, Reason}
    end.

first_error(Results) -> hd([Error || {error, _} = Error <- Results] ++ [ok]).

%% `bytes', `line': how much was read. `pending', `crc' and `first' belong to the run
%% whose end was not yet read. `complete': the bytes up to the last end.
scanned(File, WithSamples) ->
    Empty = #{file => File, with_samples => WithSamples, bytes => 0, line => 0, pending => [], crc => 0, first => 1,
              complete => 0, samples => [], runs => [], ended => #{}, metrics => #{}},
    case file:open(File, [read, raw, binary]) of
        {ok, Device} ->
            try pieces(Device, <<>>, Empty)
            after file:close(Device)
            end;
        {error, enoent} -> Empty;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

%% Text after the last line end is a line that was not completely written.
pieces(Device, Begun, #{file := File, line := Line} = State) ->
    case file:read(Device, ?PIECE) of
        {ok, More} when byte_size(Begun) < ?LONGEST_LINE ->
            {Lines, Rest} = whole_lines(Begun, More),
            pieces(Device, Rest, lists:foldl(fun line/2, State, Lines));
        {ok, _} -> no_sample(File, Line + 1);
        eof -> State;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

%% Only the new piece is searched for a line end, not the whole of a long line.
whole_lines(Begun, More) ->
    case binary:split(More, <<"\n">>, [global]) of
        [Part] -> {[], <<Begun/binary, Part/binary>>};
        [First | Others] -> {[<<Begun/binary, First/binary>> | lists:droplast(Others)], lists:last(Others)}
    end.

line(Text, #{file := File, line := Before, bytes := Bytes} = State0) ->
    State = State0#{line := Before + 1, bytes := Bytes + byte_size(Text) + 1},
    case decoded(File, Before + 1, Text) of
        #{<<"type">> := <<"end">>} = End -> ended(End, State);
        #{<<"type">> := <<"run">>} -> pending(Text, run(Text), State);
        #{} = Sample -> sample(Text, Sample, State)
    end.

%% A binary in a decoded term keeps its whole source alive, here a piece of the file. The copy avoids that.
run(Text) -> ertslab_json_reader:decode(binary:copy(Text)).

sample(Text, _Sample, #{with_samples := false} = State) -> passed(Text, State);
sample(Text, Sample, #{metrics := Metrics0} = State) ->
    {Kept, Metrics} = kept(Sample, Metrics0),
    pending(Text, Kept, State#{metrics := Metrics}).

%% All samples share the names of their metrics, and in this clause also their keys.
kept(#{<<"run">> := Run, <<"case">> := Case, <<"arm">> := Arm, <<"pair">> := Pair, <<"metric">> := Metric0,
       <<"iteration">> := Iteration, <<"value">> := Value}, Metrics0) ->
    {Metric, Metrics} = shared(Metric0, Metrics0),
    {#{<<"run">> => Run, <<"case">> => Case, <<"arm">> => Arm, <<"pair">> => Pair, <<"metric">> => Metric,
       <<"iteration">> => Iteration, <<"value">> => Value}, Metrics};
kept(#{<<"values">> := _, <<"metric">> := Metric0} = Sample, Metrics0) ->
    {Metric, Metrics} = shared(Metric0, Metrics0),
    {(maps:with(?KEPT, Sample))#{<<"metric">> := Metric}, Metrics};
kept(Sample, Metrics) -> {maps:with(?KEPT, Sample), Metrics}.

shared(Name, Names) ->
    case Names of
        #{Name := Known} -> {Known, Names};
        #{} when is_binary(Name) ->
            Copy = binary:copy(Name),
            {Copy, Names#{Copy => Copy}};
        #{} -> {Name, Names}
    end.

pending(Text, Object, #{pending := Pending} = State) -> passed(Text, State#{pending := [Object | Pending]}).

passed(Text, #{crc := Crc} = State) -> State#{crc := erlang:crc32(Crc, [Text, $\n])}.

ended(#{<<"run">> := Run} = End, #{file := File, line := Line, crc := Crc, first := First, ended := Ended} = State) ->
    End =:= End#{<<"crc32">> => Crc} orelse damaged(File, First, Line, Run),
    is_map_key(Run, Ended) andalso ertslab_error:failure(?MODULE, {run_twice, File, Run}),
    #{pending := Pending, samples := Samples, runs := Runs, bytes := Bytes} = State,
    {OwnRuns, OwnSamples} = lists:partition(fun is_run/1, Pending),
    State#{pending := [], crc := 0, first := Line + 1, complete := Bytes, ended := Ended#{Run => true},
           samples := OwnSamples ++ Samples, runs := OwnRuns ++ Runs}.

is_run(#{<<"type">> := <<"run">>}) -> true;
is_run(#{}) -> false.

-spec damaged(file:filename(), pos_integer(), pos_integer(), term()) -> no_return().
damaged(File, First, Last, Run) -> ertslab_error:failure(?MODULE, {edited, File, First, Last, Run}).

decoded(File, Number, Text) ->
    try ertslab_json_reader:decode(Text) of
        #{<<"type">> := _, <<"run">> := _} = Object -> Object;
        _ -> no_sample(File, Number)
    catch error:_ -> no_sample(File, Number)
    end.

-spec no_sample(file:filename(), pos_integer()) -> no_return().
no_sample(File, Number) -> ertslab_error:failure(?MODULE, {no_sample, File, Number}).

-spec format_error(reason()) -> unicode:chardata().
format_error({run_twice, File, Run}) -> io_lib:format("~ts holds run ~p more than once.", [File, Run]);
format_error({no_sample, File, Line}) -> io_lib:format("~ts, line ~b is not a sample; fix or remove that line.", [File, Line]);
format_error({edited, File, First, Last, Run}) ->
    io_lib:format("~ts, lines ~b to ~b (run ~p) are not as they were written; remove them,"
                  " and that run is measured again.", [File, First, Last, Run]).

%% @doc The values of samples, grouped by the key that the function makes of each, in the order of time.
-spec by_run(fun((sample()) -> Key), [sample()]) -> #{Key => [ertslab_experiment:value()]}.
by_run(Key, Samples) ->
    maps:map(fun(_, Values) -> lists:append(Values) end,
             maps:groups_from_list(Key, fun values/1, Samples)).

values(#{<<"values">> := Values}) -> Values;
values(#{<<"value">> := Value}) -> [Value].
