%% @doc Lets a repeated call keep what an earlier call measured completely. If a call measures in several places, only
%% those that did not finish are measured again.
-module(ertslab_finished).

-export([or_else/4]).

%% @doc Calls the last function, unless the folder holds a finished comparison of the plan that the first function
%% makes: one with the same options, the same code and the same emulators. Such a comparison is only checked against
%% `--fail-if'.
-spec or_else(file:filename(), map(), fun(() -> ertslab_session:plan()), fun(() -> Result)) -> before | Result.
or_else(Dir, Options, Plan, Fun) ->
    case not maps:get(force, Options, false) andalso ertslab_session:is_finished(Dir) andalso ertslab_session:is_of(Dir, Plan()) of
        true ->
            io:format(standard_error, "~ts was measured before~n", [Dir]),
            ok = ertslab_fail_if:check(Options, ertslab_summary_file:read(Dir)),
            before;
        false -> Fun()
    end.
