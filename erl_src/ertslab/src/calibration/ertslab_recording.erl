%% @doc Recorded noise of a real machine: measurements of identical VMs.
%%
%% A recording is a gzipped file of JSON lines. The first line describes its origin; each other line is a run, in the
%% order of the runs, with the values of a few results in the order of time. The VMs are one emulator under two names,
%% so all differences are noise. Small recordings are in priv/noise, where the self-test finds them.
-module(ertslab_recording).

-export([all/0, read/1, of_session/1, text/1, session/3, format_error/1]).
-export_type([recording/0, reason/0]).

%% `runs': for each run and each result, the values as factors of the result's median.
-type recording() :: #{name := binary(), machine := binary(), otp := binary(), date := binary(),
                       results := [binary()], runs := [ertslab_noise:run(), ...]}.
-type reason() :: {no_recording, file:filename()} | {other_format, Name :: string(), Format :: term()}.

-define(FORMAT, 1).
%% The results of a comparison of gc_shapes that are recorded: a few collections and walks.
-define(KEPT, [{Shape, Metric} || Shape <- [<<"tuples">>, <<"proplists">>],
                                  Metric <- [<<"full_sweep">>, <<"traverse">>]]).

%% @doc The recordings that come with ertslab.
-spec all() -> [recording()].
all() ->
    [read(File) || File <- ertslab_paths:matching(filename:join([code:lib_dir(ertslab), "priv", "noise"]), "*.jsonl.gz")].

%% @doc Reads a recording; fails if the file is none.
-spec read(file:filename()) -> recording().
read(File) ->
    case file:read_file(File) of
        {ok, Packed} ->
            try parsed(filename:basename(File, ".jsonl.gz"), zlib:gunzip(Packed))
            catch error:_ -> ertslab_error:failure(?MODULE, {no_recording, File})
            end;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_recording, File}) -> [File, " is not a recording of noise, or is damaged."];
format_error({other_format, Name, Format}) ->
    io_lib:format("~ts: a recording of format ~p, and this ertslab reads format ~b; record anew, or"
                  " use the version that made it.", [Name, Format, ?FORMAT]).

parsed(Name, Text) ->
    [Head | Lines] = [json:decode(Line) || Line <- binary:split(Text, <<"\n">>, [global, trim_all])],
    case Head of
        #{<<"noise">> := ?FORMAT, <<"machine">> := Machine, <<"otp">> := Otp, <<"date">> := Date, <<"results">> := Results} ->
            #{name => ertslab_text:binary(Name), machine => Machine, otp => Otp, date => Date, results => Results,
              runs => factors(shaped(length(Results), Lines))};
        #{<<"noise">> := Other} -> ertslab_error:failure(?MODULE, {other_format, Name, Other})
    end.

%% A comparison draws two metrics, so there must be two results, and each run must have values of all results.
shaped(Results, Lines) when Results >= 2 ->
    true = lists:all(fun(Run) -> length(Run) =:= Results andalso lists:all(fun([_ | _]) -> true end, Run) end, Lines),
    Lines.

%% Divides each value by the median of its result over all runs.
factors([_ | _] = Runs) ->
    Usual = [ertslab_stats:median(lists:append(Values)) || Values <- columns(Runs)],
    [[[Value / Median || Value <- Values] || {Values, Median} <- lists:zip(Run, Usual)] || Run <- Runs].

columns([[] | _]) -> [];
columns(Runs) -> [[hd(Run) || Run <- Runs] | columns([tl(Run) || Run <- Runs])].

%% @doc The recording of a finished comparison of gc_shapes, as text: its runs of the baseline and of the control, in
%% order.
-spec of_session(file:filename()) -> {Results :: [binary()], iodata()}.
of_session(Dir) ->
    #{<<"machine">> := #{<<"cpu">> := Cpu}, <<"otp">> := Otp, <<"cases">> := Cases, <<"arms">> := Arms, <<"control">> := Control} =
        ertslab_session:stored(Dir),
    Identical = [0 | [Arm || {Arm, #{<<"label">> := Label}} <- lists:enumerate(0, Arms), Label =:= Control]],
    #{samples := Samples} = ertslab_session:read(Dir),
    Kept = [{Index, Metric} || {Shape, Metric} <- ?KEPT, {Index, #{<<"shape">> := Of}} <- lists:enumerate(0, Cases), Of =:= Shape],
    ByRun = ertslab_samples:by_run(
              fun(#{<<"run">> := Run, <<"case">> := Case, <<"metric">> := Metric, <<"arm">> := Arm}) ->
                      {lists:member(Arm, Identical), Run, {Case, Metric}}
              end, Samples),
    Names = [<<(maps:get(<<"shape">>, lists:nth(Index + 1, Cases)))/binary, " ", Metric/binary>> || {Index, Metric} <- Kept],
    Runs = lists:usort([Run || {true, Run, _} <- maps:keys(ByRun)]),
    Head = #{noise => ?FORMAT, machine => Cpu, otp => Otp, date => today(), results => Names},
    {Names, text([Head | [[maps:get({true, Run, Key}, ByRun) || Key <- Kept] || Run <- Runs]])}.

today() ->
    {{Year, Month, Day}, _} = calendar:universal_time(),
    ertslab_text:binary(io_lib:format("~4..0b-~2..0b-~2..0b", [Year, Month, Day])).

%% @doc The lines of a recording in the file's format, compressed.
-spec text([json:encode_value(), ...]) -> binary().
text(Lines) -> zlib:gzip([[json:encode(Line), $\n] || Line <- Lines]).

%% @doc Draws runs of a session as {@link ertslab_noise:session/3} does: a stretch of the recording from a random
%% position on (after its end it continues at its beginning), with a different result of the recording for each
%% metric.
-spec session(recording(), ertslab_noise:shape(), rand:state()) -> {[ertslab_noise:run()], rand:state()}.
session(#{runs := Runs, results := Results}, #{runs := Wanted, metrics := Metrics}, Random0) ->
    {From, Random1} = rand:uniform_s(length(Runs), Random0),
    {Shuffled, Random} = ertslab_schedule:shuffle(lists:seq(1, length(Results)), Random1),
    Chosen = lists:sublist(Shuffled, Metrics),
    {Before, After} = lists:split(From - 1, Runs),
    {[[lists:nth(Index, Run) || Index <- Chosen] || Run <- cycled(After ++ Before, Wanted)], Random}.

cycled(Runs, Wanted) when Wanted =< length(Runs) -> lists:sublist(Runs, Wanted);
cycled(Runs, Wanted) -> Runs ++ cycled(Runs, Wanted - length(Runs)).
