%% @doc What a comparison comes to: the contents of summary.json, as types.
-module(ertslab_result).

-export_type([summary/0, row/0, other/0, contrast/0]).

%% `plan' is that of the session without what only a run needs. `overall' are rows over all cases, `memory' what the
%% VMs held, `crashed' the closing lines of runs that ended badly, `speeds' those of the machine.
-type summary() :: #{format := pos_integer(), plan := #{atom() => term()},
                     arms := [#{label := binary(), variant := binary(), params := ertslab_experiment:params(),
                                build_id := binary(), builds := [binary()]}],
                     cases := [#{params := ertslab_experiment:params(), rows := [row()], contrasts := [contrast()]}],
                     overall := [row()], void := [binary()], warnings := [binary()],
                     speeds := ertslab_speeds:speeds(), steady := [#{atom() => term()}],
                     disturbed := [ertslab_disturbed:replacement()], memory := [ertslab_run_memory:row()],
                     crashed := [ertslab_session:run_line()], paths => #{atom() => binary()}}.
-type contrast() :: #{name := atom(), says := binary(), label := binary(), ratio := map() | none}.
%% `value' is by the experiment's estimator, and so is `ratio', which is to the
%% baseline arm: below 1 is faster. It is `none' for the baseline itself and where
%% too few pairs are left. `other' is the same by the other estimator, and says
%% whether the two disagree: their intervals have nothing in common. `slope' is the interval of
%% a slope, its bounds the medians of those of the runs, and `points' the medians of
%% the values at each N. `floor' is the interval
%% of the control's ratio. `void' holds a sentence for each metric in which the
%% control differs from the baseline; then every verdict is `void'. `builds'
%% is there where the pairs took several builds in turn, with the p value of
%% those being alike.
-type row() :: #{metric := binary(), label := binary(), value := float() | none,
                 other => other(),
                 slope => #{low := ertslab_stats:limit(), high := ertslab_stats:limit()},
                 points => [[number()]],
                 unit := atom(), runs := non_neg_integer(), ratio := map() | none,
                 floor := map() | none,
                 builds => [ertslab_layout_luck:by_build()], builds_p => float(),
                 verdict := atom(), more_pairs := term()}.

-type other() :: #{estimator := ertslab_estimator:name(), value := float() | none,
                   ratio := map() | none, disagrees := boolean()}.
