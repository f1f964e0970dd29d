%% @doc `ertslab bisect EXPERIMENT --git PATH --good A --bad B': finds the commit that changed a metric, a time or a count.
%% Each commit is built and measured against the good one; {@link ertslab_bisection} chooses the next one. Each
%% reading has a folder of its own, so an interrupted call can continue.
-module(ertslab_bisect).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {does_not_build, Id :: string()} | {no_ratio, Dir :: file:filename()}.

-define(BUILD_S, 90).
-define(MEASURE_S, 90).
%% Smaller changes are not reported, as in a comparison.
-define(BOUND, 0.01).

%% @doc Measures, and reports what was found.
-spec run(map()) -> ok.
run(#{git := Repository, good := Good, bad := Bad, experiment := Experiment} = Options0) ->
    Commits = ertslab_history:between(Repository, Good, Bad),
    Options = (ertslab_history_folder:checked(Options0))#{good := ertslab_history:id(Repository, Good)},
    Dir = ertslab_results:dir(["bisect-", filename:basename(Experiment, ".erl")], Options),
    ok = ertslab_history_folder:prepare(Dir, question(Options, Commits)),
    ertslab_folder_lock:in(Dir, fun() -> answer(Dir, Options, Commits) end).

%% The purpose of a folder: another question needs another folder.
question(#{git := _, good := Good} = Options, Commits) ->
    #{command => <<"bisect">>, good => ertslab_text:binary(Good), bad => ertslab_text:binary(maps:get(id, lists:last(Commits))),
      options => ertslab_history_folder:recorded(Options)}.

answer(Dir, #{good := Good, git := Repository} = Options, Commits) ->
    built = must_build(Repository, Good),
    built = must_build(Repository, maps:get(id, lists:last(Commits))),
    State = #{commits => length(Commits), measured => kept(Dir, Options, Commits),
              left_out => maps:from_keys(ertslab_history_folder:unbuildable(Dir), does_not_build), built => [],
              build_s => ?BUILD_S, measure_s => ?MEASURE_S, bound => ?BOUND, limit => limit(length(Commits))},
    {Answer, Belief, Last} = go_on(Dir, Options, Commits, State),
    said(Dir, Options, ertslab_bisect_report:of_answer(with_proof(Dir, Options, Commits, Answer), Belief, Last, Commits)).

must_build(Repository, Id) ->
    ertslab_revision_build:build(Repository, Id) =:= built orelse ertslab_error:failure(?MODULE, {does_not_build, Id}),
    built.

-spec format_error(reason()) -> unicode:chardata().
format_error({does_not_build, Id}) -> [ertslab_history:short(Id), " does not build, and without it there is nothing to compare with."];
format_error({no_ratio, Dir}) -> 
    ["the bad commit has no ratio to the good one: too few runs succeeded, or a count is 0 or differs from run to run; see the runs in ",
     Dir, "."].

%% The readings that earlier calls finished.
kept(Dir, #{good := Good} = Options, Commits) ->
    [Reading#{commit => Nth}
     || {Nth, #{id := Id}} <- lists:enumerate(Commits),
        Place <- ertslab_history_folder:readings(Dir, Id),
        {ok, Reading} <- [ertslab_revision_reading:read(Options, Good, Id, Place)]].

%% Three times the readings of plain bisection, and a few more to tell a step from chance.
limit(Commits) -> 8 + 3 * ceil(math:log2(Commits + 1)).

go_on(Dir, Options, Commits, #{left_out := LeftOut} = State) ->
    Built = [Nth || {Nth, #{id := Id}} <- lists:enumerate(Commits), ertslab_revision_build:is_built(Id)],
    case ertslab_bisection:next((maps:remove(left_out, State))#{built := Built, unbuildable => maps:keys(LeftOut)}) of
        {{measure, Nth}, Belief} ->
            io:format(standard_error, "~ts~n", [ertslab_bisect_report:progress(Belief, State, Nth, lists:nth(Nth, Commits))]),
            go_on(Dir, Options, Commits, measured(Dir, Options, lists:nth(Nth, Commits), Nth, State));
        {Answer, Belief} -> {Answer, Belief, State}
    end.

measured(Dir, #{git := Repository} = Options, #{id := Id}, Nth, #{measured := Measured} = State) ->
    Times = length([again || #{commit := Commit} <- Measured, Commit =:= Nth]),
    case ertslab_revision_build:build(Repository, Id) of
        failed ->
            ok = ertslab_history_folder:unbuildable(Dir, Nth),
            left_out(Nth, does_not_build, State);
        built -> with_reading(Dir, Options, Id, Nth, State, ertslab_history_folder:reading(Dir, Id, Times))
    end.

with_reading(Dir, #{good := Good} = Options, Id, Nth, #{measured := Measured, commits := Last} = State, Place) ->
    case ertslab_revision_reading:read(Options, Good, Id, Place) of
        {ok, Reading} -> State#{measured := [Reading#{commit => Nth} | Measured]};
        {error, no_ratio} when Nth =:= Last -> ertslab_error:failure(?MODULE, {no_ratio, Dir});
        {error, {fails, Error}} when Nth =:= Last -> ertslab_error:several(failure, [Error]);
        {error, no_ratio} ->
            io:format(standard_error, "~ts gives no ratio, and is left out~n", [ertslab_history:short(Id)]),
            left_out(Nth, no_ratio, State);
        {error, {fails, Error}} ->
            io:format(standard_error, "~ts ~ts is left out~n", [ertslab_error:sentence(Error, Options), ertslab_history:short(Id)]),
            left_out(Nth, fails, State)
    end.

left_out(Nth, Why, #{left_out := LeftOut} = State) -> State#{left_out := LeftOut#{Nth => Why}}.

%% Measures the culprit against its parent. Without this proof the model's answer is not reported.
with_proof(Dir, #{git := Repository, good := Good} = Options, Commits, {found, #{parent := Parent, culprit := Culprit} = Found}) ->
    Ids = list_to_tuple([Good | [Id || #{id := Id} <- Commits]]),
    [Before, After] = [element(Nth + 1, Ids) || Nth <- [Parent, Culprit]],
    built = must_build(Repository, Before),
    {found, Found#{proof => ertslab_revision_reading:read(Options, Before, After, filename:join(Dir, "proof"))}};
with_proof(_, _, _, Answer) -> Answer.

said(Dir, Options, Report) ->
    Json = json:format(Report),
    Text = ertslab_bisect_report:render(Report),
    Write = fun() ->
                    ok = ertslab_results:write(filename:join(Dir, "bisect.json"), Json),
                    ok = ertslab_results:write(filename:join(Dir, "bisect.txt"), ertslab_text:binary(Text)),
                    ertslab_history_plot:draw(Dir, Report)
            end,
    ertslab_results:told(Write, Options, Json, [Text, "\nAll of it is in ", Dir, $\n]).
