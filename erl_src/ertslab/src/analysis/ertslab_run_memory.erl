%% @doc The memory of the VMs of a comparison at the end of their runs.
%% It is reported beside time because a patch may trade one for the other.
-module(ertslab_run_memory).

-export([rows/2]).
-export_type([row/0]).

-type row() :: #{'case' := ertslab_schedule:run_case(), label := binary(), what := binary(),
                 unit := binary(), median := float(), runs := pos_integer()}.

%% Keys of {@link ertslab_memory:vm/0}, and their names here.
-define(SHOWN, [{<<"rss">>, <<"memory of the process (RSS)">>},
                {<<"pss">>, <<"its share of it (PSS)">>},
                {<<"carriers">>, <<"allocator carriers">>},
                {<<"blocks">>, <<"blocks in use">>},
                {<<"processes">>, <<"processes' heaps and mailboxes">>},
                {<<"binary">>, <<"binaries">>}]).

%% @doc The median over the runs of each case and arm that ended well. A value that no
%% run could read is left out.
-spec rows(ertslab_session:plan(), [ertslab_session:run_line()]) -> [row()].
rows(#{arms := Arms}, Runs) ->
    [#{'case' => Case, label => Label, what => What, unit => <<"bytes">>,
       median => ertslab_stats:median(Values), runs => length(Values)}
     || Case <- lists:usort([ertslab_disturbed:run_case(Case) || #{<<"case">> := Case} <- Runs]),
        {Key, What} <- ?SHOWN,
        #{label := Label} <- Arms,
        [_ | _] = Values <- [values(Case, Label, Key, Runs)]].

values(Case, Label, Key, Runs) ->
    [Bytes || #{<<"case">> := C, <<"label">> := L, <<"facts">> := #{<<"memory">> := #{Key := Bytes}}} <- Runs,
              ertslab_disturbed:run_case(C) =:= Case, L =:= Label, is_integer(Bytes)].
