%% @doc The result of a bisection, as text and as JSON. Pure.
-module(ertslab_bisect_report).

-export([of_answer/4, render/1, progress/4, left_out/1]).
-export_type([report/0, left_out/0]).

%% `answer': found, not_confirmed, no_change, several or unsure. `chance' of a commit: the probability that a step is
%% there. `left_out': why it has no reading, if it was to have one. `proof': the culprit measured against its parent.
-type report() :: #{answer := atom(), belief := #{atom() => float()}, commits := [commit()], among := [binary()],
                    builds := non_neg_integer(), readings := non_neg_integer(),
                    proof := null | ertslab_revision_reading:reading()}.
-type commit() :: #{id := binary(), date := binary(), subject := binary(), chance := float(), left_out := left_out(),
                    readings := [ertslab_revision_reading:reading()]}.

-type left_out() :: null | does_not_build | no_ratio | fails.

-define(SURE, 0.95).

%% @doc The report. The model's culprit is an answer only if it also changed against its parent.
-spec of_answer(term(), ertslab_step_model:belief(), map(), [ertslab_history:commit(), ...]) -> report().
of_answer(Answer, Belief, #{measured := Measured, left_out := LeftOut}, Commits) ->
    {Kind, Among, Proof} = kind(Answer),
    Chances = ertslab_step_model:chances(Belief),
    Ids = list_to_tuple([ertslab_text:binary(Id) || #{id := Id} <- Commits]),
    #{answer => Kind, among => [element(Nth, Ids) || Nth <- Among], proof => Proof,
      belief => maps:with([none, one, two, drift], Belief),
      builds => 1 + length(lists:uniq([Nth || #{commit := Nth} <- Measured])), readings => length(Measured),
      commits => [Commit#{id := ertslab_text:binary(Id), chance => proplists:get_value(Nth, Chances, 0.0),
                          left_out => maps:get(Nth, LeftOut, null),
                          readings => [maps:remove(commit, Reading) || #{commit := N} = Reading <- Measured, N =:= Nth]}
                  || {Nth, #{id := Id} = Commit} <- lists:enumerate(Commits)]}.

kind({found, #{among := Among, proof := {ok, #{verdict := changed, void := false} = Proof}}}) -> {found, Among, Proof};
kind({found, #{among := Among, proof := {ok, Proof}}}) -> {not_confirmed, Among, Proof};
kind({found, #{among := Among}}) -> {not_confirmed, Among, null};
kind({unsure, Among}) -> {unsure, Among, null};
kind(Answer) -> {Answer, [], null}.

%% @doc A line before the next reading.
-spec progress(ertslab_step_model:belief(), map(), pos_integer(), ertslab_history:commit()) -> iodata().
progress(Belief, #{measured := Measured, commits := Commits}, Nth, #{id := Id, subject := Subject}) ->
    [case Measured of
         [] -> "The last one first";
         [#{estimate := Ratio} | _] ->
             io_lib:format("~.3f; no change ~b %, one step ~b % (among ~b commits)",
                           [Ratio, percent(maps:get(none, Belief)), percent(maps:get(one, Belief)),
                            length(ertslab_step_model:credible(Belief, ?SURE))])
     end,
     io_lib:format(". Next: ~ts, ~b of ~b: ~ts", [ertslab_history:short(Id), Nth, Commits, Subject])].

percent(Chance) -> round(100 * Chance).

%% @doc The report as text.
-spec render(report()) -> iodata().
render(#{commits := Commits, builds := Builds, readings := Readings} = Report) ->
    [[line(Commit) || Commit <- Commits], "\n", sentence(Report),
     io_lib:format("~b builds, ~b readings of ~b commits.~n", [Builds, Readings, length(Commits)])].

line(#{id := Id, subject := Subject, chance := Chance} = Commit) ->
    io_lib:format("~ts  ~-26ts ~4b %  ~ts~n",
                  [short(Id), reading(Commit), percent(Chance), string:slice(Subject, 0, 60)]).

reading(#{left_out := null, readings := []}) -> "";
reading(#{left_out := null, readings := [Reading | _]}) -> ertslab_revision_reading:told(Reading);
reading(#{left_out := Why}) -> left_out(Why).

%% @doc Why a commit has no reading.
-spec left_out(does_not_build | no_ratio | fails) -> string().
left_out(does_not_build) -> "does not build";
left_out(no_ratio) -> "no ratio";
left_out(fails) -> "fails the experiment".

short(Id) -> ertslab_history:short(binary_to_list(Id)).

sentence(#{answer := found, among := [Id], proof := Proof} = Report) ->
    ["It is ", short(Id), " (", subject(Id, Report), "). Compared with its parent: ", proof(Proof), ".\n"];
sentence(#{answer := found, among := Among, proof := Proof}) ->
    ["It is one of ", lists:join(", ", [short(Id) || Id <- Among]), ". All but the last of them could not be measured. The last compared"
                                                                    " with the commit before them: ", proof(Proof), ".\n"];
sentence(#{answer := not_confirmed, among := Among, proof := Proof}) ->
    ["It seems to be ", lists:join(", ", [short(Id) || Id <- Among]), ", but compared with its parent the change is not certain: ",
     proof(Proof), ". Measure those two with more pairs.\n"];
sentence(#{answer := no_change}) -> "Nothing changed between the good and the bad commit.\n";
sentence(#{answer := several}) -> "More than one commit is responsible: two steps, or a drift. Bisect a part of the history.\n";
sentence(#{answer := unsure, among := Among}) ->
    io_lib:format("These readings cannot tell which commit it is: 95 % of the probability is spread over ~b commits. Measure with"
                  " more --pairs.~n",
                  [length(Among)]).

proof(null) -> "no ratio";
proof(#{metric := Metric} = Reading) -> [Metric, $\s, ertslab_revision_reading:told(Reading)].

subject(Wanted, #{commits := Commits}) -> hd([Subject || #{id := Id, subject := Subject} <- Commits, Id =:= Wanted]).
