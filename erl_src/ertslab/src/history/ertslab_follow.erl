%% @doc `ertslab follow EXPERIMENT --git PATH --good A --bad B --every N': shows how a metric developed over a
%% history. Each N-th commit is built and measured against the first one; an interrupted call can continue.
-module(ertslab_follow).

-export([run/1, report/3, render/1, csv/1, format_error/1]).
-export_type([report/0, reason/0]).

%% `changes': numbers of the commits, from 1, at which the level changed.
-type report() :: #{metric := binary(), commits := [map()], changes := [pos_integer()]}.
-type reason() :: {does_not_build, Id :: string()}.
-type outcome() :: {ok, ertslab_revision_reading:reading()} | {error, does_not_build | ertslab_revision_reading:no_reading()}.

-define(SEED, 1).

%% @doc Measures, draws, and reports what changed.
-spec run(map()) -> ok.
run(#{git := Repository, good := First, bad := Last, every := Every, experiment := Experiment} = Options0) ->
    All = ertslab_history:between(Repository, First, Last),
    Options = (ertslab_history_folder:checked(Options0))#{good := ertslab_history:id(Repository, First)},
    Dir = ertslab_results:dir(["follow-", filename:basename(Experiment, ".erl")], Options),
    ok = ertslab_history_folder:prepare(Dir, question(Options, All)),
    ertslab_folder_lock:in(Dir, fun() -> followed(Dir, Options, each(Every, All)) end).

question(#{good := Good} = Options, Commits) ->
    #{command => <<"follow">>, good => ertslab_text:binary(Good), bad => ertslab_text:binary(maps:get(id, lists:last(Commits))),
      options => ertslab_history_folder:recorded(Options)}.

%% The last commit, and every N-th one counted back from it.
each(Every, Commits) ->
    Count = length(Commits),
    [Commit || {Nth, Commit} <- lists:enumerate(Commits), (Count - Nth) rem Every =:= 0].

followed(Dir, #{git := Repository, good := Good} = Options, Commits) ->
    ertslab_revision_build:build(Repository, Good) =:= built orelse ertslab_error:failure(?MODULE, {does_not_build, Good}),
    Total = length(Commits),
    Readings = [begin
                    io:format(standard_error, "~b of ~b: ~ts ~ts~n", [Nth, Total, ertslab_history:short(Id), Subject]),
                    measured(Dir, Options, Id)
                end || {Nth, #{id := Id, subject := Subject}} <- lists:enumerate(Commits)],
    said(Dir, Options, report(Commits, Readings, ?SEED)).

-spec format_error(reason()) -> unicode:chardata().
format_error({does_not_build, Id}) -> [ertslab_history:short(Id), " does not build, and without it there is nothing to compare with."].

measured(Dir, #{git := Repository, good := Good} = Options, Id) ->
    case ertslab_revision_build:build(Repository, Id) of
        failed -> {error, does_not_build};
        built -> told_of(Id, Options, ertslab_revision_reading:read(Options, Good, Id, ertslab_history_folder:reading(Dir, Id, 0)))
    end.

told_of(Id, Options, {error, {fails, Error}} = Outcome) ->
    io:format(standard_error, "~ts ~ts is left out~n", [ertslab_error:sentence(Error, Options), ertslab_history:short(Id)]),
    Outcome;
told_of(_, _, Outcome) -> Outcome.

%% @doc The report: the commits in order with their readings, and the places at which these change.
-spec report([ertslab_history:commit()], [outcome()], integer()) -> report().
report(Commits, Readings, Seed) ->
    Rows = [Commit#{id := ertslab_text:binary(Id), left_out => left_out(Outcome), readings => [R || {ok, R} <- [Outcome]]}
            || {#{id := Id} = Commit, Outcome} <- lists:zip(Commits, Readings)],
    Measured = [{Nth, Y} || {Nth, #{readings := [#{log_ratio := Y}]}} <- lists:enumerate(Rows)],
    Changes = ertslab_change_points:find([Y || {_, Y} <- Measured], Seed),
    #{metric => hd([M || {ok, #{metric := M}} <- Readings] ++ [<<"">>]), commits => Rows,
      changes => [Nth || At <- Changes, {Nth, _} <- [lists:nth(At, Measured)]]}.

-spec left_out(outcome()) -> ertslab_bisect_report:left_out().
left_out({ok, _}) -> null;
left_out({error, {fails, _}}) -> fails;
left_out({error, Why}) -> Why.

said(Dir, Options, Report) ->
    Json = json:format(Report),
    Text = render(Report),
    Write = fun() ->
                    ok = ertslab_results:write(filename:join(Dir, "follow.json"), Json),
                    ok = ertslab_results:write(filename:join(Dir, "follow.csv"), csv(Report)),
                    ertslab_history_plot:draw(Dir, Report)
            end,
    ertslab_results:told(Write, Options, Json,
                         [Text, "\nPicture (history.svg), follow.csv for otava, and all readings: ", Dir, $\n]).

%% @doc The report as text.
-spec render(report()) -> iodata().
render(#{commits := Commits, changes := Changes}) ->
    [[line(Nth, Commit, Changes) || {Nth, Commit} <- lists:enumerate(Commits)], "\n",
     case Changes of
         [] -> "Its level does not change.\n";
         [_ | _] -> io_lib:format("Its level changes at ~b of them, marked by >.~n", [length(Changes)])
     end].

line(Nth, #{id := Id, subject := Subject} = Commit, Changes) ->
    io_lib:format("~ts ~ts  ~-26ts ~ts~n", [case lists:member(Nth, Changes) of true -> ">"; false -> " " end,
                                           ertslab_history:short(binary_to_list(Id)), reading(Commit), string:slice(Subject, 0, 60)]).

reading(#{readings := [Reading]}) -> ertslab_revision_reading:told(Reading);
reading(#{left_out := Why}) -> ertslab_bisect_report:left_out(Why).

%% @doc The format that otava reads: one line per commit, with time, commit and ratio.
-spec csv(report()) -> iodata().
csv(#{commits := Commits}) ->
    ["time,commit,ratio\n",
     [io_lib:format("~ts,~ts,~.6f~n", [Date, Id, Ratio])
      || #{id := Id, date := Date, readings := [#{estimate := Ratio}]} <- Commits]].
