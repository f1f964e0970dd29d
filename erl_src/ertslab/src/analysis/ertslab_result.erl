%% @doc The result of a comparison: the contents of summary.json, as types.
-module(ertslab_result).

-export_type([summary/0, row/0, other/0, contrast/0]).

%% `plan' is the plan of the session without the keys that only a run needs. `overall' are rows over all cases, `memory' the
%% memory of the VMs, `crashed' the closing lines of runs that ended badly, `speeds' those of the machine.
-type summary() :: #{format := pos_integer(), plan := #{atom() => term()},
                     arms := [#{label := binary(), variant := binary(), params := ertslab_experiment:params(),
                                build_id := binary(), builds := [binary()]}],
                     cases := [#{params := ertslab_experiment:params(), rows := [row()], contrasts := [contrast()]}],
                     overall := [row()], void := [binary()], warnings := [binary()],
                     speeds := ertslab_speeds:speeds(), steady := [#{atom() => term()}],
                     disturbed := [ertslab_disturbed:replacement()], memory := [ertslab_run_memory:row()],
                     crashed := [ertslab_session:run_line()], paths => #{atom() => binary()}}.
-type contrast() :: #{name := atom(), says := binary(), label := binary(), ratio := map() | none}.
%% `value' and `ratio' come from the experiment's estimator. The ratio is to the
%% baseline arm: below 1 is faster. It is `none' for the baseline itself and if
%% too few pairs are left. `other' is the same by the other estimator, and says
%% whether the two disagree, which means that their intervals do not overlap. `slope' is the interval of
%% a slope; its bounds are the medians of the runs' bounds. `points' are the medians of
%% the values at each N. `floor' is the interval
%% of the control's ratio. `void' holds a sentence for each metric in which the
%% control differs from the baseline; then every verdict is `void'. `builds'
%% is present if the pairs took several builds in turn; `builds_p' is the p value of
%% the hypothesis that the builds are alike.
-type row() :: #{metric := binary(), label := binary(), value := float() | none,
                 other => other(),
                 slope => #{low := ertslab_stats:limit(), high := ertslab_stats:limit()},
                 points => [[number()]],
                 unit := atom(), runs := non_neg_integer(), ratio := map() | none,
                 floor := map() | none,
                 builds => [ertslab_layout_luck:by_build()], builds_p => float(),
                 verdict := atom(), more_pairs := term()}.

-type other() :: #{estimator := ertslab_estimate:name(), value := float() | none,
                   ratio := map() | none, disagrees := boolean()}.
