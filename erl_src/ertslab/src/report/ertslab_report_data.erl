%% @doc What a report is about: the result of one comparison, and the folder that it was read from.
%%
%% The result is the one that {@link ertslab_summary_file} reads. Here is only what several kinds of reports want to know of it.
-module(ertslab_report_data).

-include_lib("kernel/include/file.hrl").

-export([read/1, in_folder/2, cases/1, overall/1, params/1, points/2, floor/1, bounds/1, format_error/1]).
-export_type([data/0, shown_case/0, point/0, reason/0]).

%% A result with the name of its folder, and when it was measured.
-type data() :: #{dir := file:filename(), name := binary(), measured := binary(),
                  plan := ertslab_result:plan(), arms := [ertslab_result:arm()], cases := [ertslab_result:result_case()], _ => _}.
%% A case, or all cases together, with its number and its title.
-type shown_case() :: #{index := non_neg_integer(), title := binary(), rows := [ertslab_result:row()],
                        contrasts := [ertslab_result:contrast()]}.
%% The number of a run of the arm with that number.
-type point() :: #{arm := non_neg_integer(), run := pos_integer(), value := number(), aside := boolean(), _ => _}.

-type reason() :: {no_folder, Dir :: file:filename()} | {no_comparison, Dir :: file:filename()}
                | {unfinished, Dir :: file:filename(), Out :: file:filename(), Command :: [binary()]}
                | {older, Dir :: file:filename(), Out :: file:filename(), Command :: [binary()]}.

%% @doc Reads a folder, or returns why it cannot be reported.
-spec read(file:filename()) -> {ok, data()} | {error, ertslab_error:error()}.
read(Dir) ->
    try {ok, folder(Dir, filelib:is_regular(file(Dir, "summary.json")))}
    catch throw:{failure, Error} -> {error, Error}
    end.

file(Dir, Name) -> ertslab_session:file(Dir, Name).

folder(Dir, true) -> in_folder(Dir, ertslab_summary_file:read(Dir));
folder(Dir, false) ->
    case {filelib:is_dir(Dir), filelib:is_regular(file(Dir, "session.json"))} of
        {false, _} -> ertslab_error:failure(?MODULE, {no_folder, Dir});
        {true, false} -> ertslab_error:failure(?MODULE, {no_comparison, Dir});
        {true, true} -> unfinished(Dir)
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_folder, Dir}) -> [Dir, ": there is no such folder."];
format_error({no_comparison, Dir}) ->
    [Dir, " is not the folder of a comparison: it has neither summary.json nor session.json. Name only folders of comparisons."];
format_error({unfinished, Dir, Out, Words}) ->
    [Dir, " is a comparison that is not finished; finish it with: ", again(Out, Words, [])];
%% Runs that an older ertslab made cannot be mixed with runs of this one.
format_error({older, Dir, Out, Words}) ->
    [Dir, " is a comparison that an older ertslab did not finish; begin it anew with: ", again(Out, Words, [<<"--force">>])].

again(Out, Words, More) -> ertslab_report_value:command(Words, [<<"--out">>, ertslab_text:binary(Out) | More]).

%% @doc A result with the folder that its summary is in.
-spec in_folder(file:filename(), ertslab_result:summary()) -> data().
in_folder(Dir, Summary) ->
    Summary#{dir => Dir, name => ertslab_text:binary(ertslab_paths:name(Dir)),
             measured => modified(file(Dir, "summary.json"))}.

modified(File) ->
    {ok, #file_info{mtime = {{Y, Mo, D}, {H, Mi, _}}}} = file:read_file_info(File, [{time, universal}]),
    ertslab_text:binary(io_lib:format("~4..0b-~2..0b-~2..0b ~2..0b:~2..0b", [Y, Mo, D, H, Mi])).

-spec unfinished(file:filename()) -> no_return().
unfinished(Dir) ->
    Current = ertslab_session:format(),
    File = file(Dir, "session.json"),
    Session = ertslab_summary_file:supported(ertslab_summary_file:decoded(File), File, Current),
    Words = case Session of
                #{<<"command">> := Command} when is_list(Command) -> [Word || Word <- Command, is_binary(Word)];
                #{} -> []
            end,
    Out = ertslab_paths:absolute(Dir),
    case maps:get(<<"format">>, Session, Current) of
        Older when Older < Current -> ertslab_error:failure(?MODULE, {older, Dir, Out, Words});
        _ -> ertslab_error:failure(?MODULE, {unfinished, Dir, Out, Words})
    end.

%% @doc The cases with their numbers and titles.
-spec cases(#{cases := [ertslab_result:result_case()], _ => _}) -> [shown_case()].
cases(#{cases := Cases}) ->
    [#{index => Index, title => params(Params), rows => Rows, contrasts => Contrasts}
     || {Index, #{params := Params, rows := Rows, contrasts := Contrasts}} <- lists:enumerate(0, Cases)].

%% @doc The results over all cases as one more case, if there are any.
-spec overall(#{cases := [ertslab_result:result_case()], overall := [ertslab_result:row()], _ => _}) -> [shown_case()].
overall(#{overall := []}) -> [];
overall(#{cases := Cases, overall := Rows}) ->
    [#{index => length(Cases), title => ertslab_report_value:format("overall, the geometric mean over ~b cases", [length(Cases)]),
       rows => Rows, contrasts => []}].

%% @doc Parameters on one line.
-spec params(ertslab_result:params()) -> binary().
params(Params) ->
    ertslab_text:binary(lists:join("  ", [[Name, "=", ertslab_report_value:value(Value)]
                                         || {Name, Value} <- lists:sort(maps:to_list(Params))])).

%% @doc The numbers of all runs for a metric of a case, in the order of the runs.
-spec points(#{arms := [ertslab_result:arm()], _ => _}, {shown_case(), Metric :: binary()}) -> [point()].
points(#{arms := Arms}, {#{rows := Rows}, Metric}) ->
    Indexes = maps:from_list([{Label, Arm} || {Arm, #{label := Label}} <- lists:enumerate(0, Arms)]),
    lists:sort(fun(#{run := A}, #{run := B}) -> A =< B end,
               [Number#{arm => maps:get(Label, Indexes)}
                || #{metric := M, label := Label, numbers := Numbers} <- Rows, M =:= Metric, is_map_key(Label, Indexes),
                   Number <- Numbers]).

%% @doc What noise looks like in a row: the interval of the control's ratio, if it is known.
-spec floor(ertslab_result:row()) -> {number(), number()} | none.
floor(#{floor := #{low := Low, high := High}}) when is_number(Low), is_number(High) -> {Low, High};
floor(#{role := control, ratio := #{low := Low, high := High}}) when is_number(Low), is_number(High) -> {Low, High};
floor(#{}) -> none.

%% @doc The bounds of a ratio's interval, `none' if there is no interval.
-spec bounds(ertslab_result:ratio()) -> {number(), number()} | {none, none}.
bounds(#{low := Low, high := High}) when is_number(Low), is_number(High) -> {Low, High};
bounds(#{}) -> {none, none}.
