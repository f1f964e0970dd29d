%% @doc Builds revisions with `./build.sh otp --git'.
-module(ertslab_revision_build).

-export([is_built/1, build/2]).

%% @doc Whether the commit is built.
-spec is_built(Id :: string()) -> boolean().
is_built(Id) -> ertslab_revision:built(ertslab_text:binary([$g | ertslab_history:short(Id)])) =/= [].

%% @doc Builds the commit unless it is built already. The output of the build goes to a log.
-spec build(file:filename(), Id :: string()) -> built | failed.
build(Repository, Id) ->
    case is_built(Id) of
        true -> built;
        false -> built_now(Repository, Id)
    end.

built_now(Repository, Id) ->
    Log = ertslab_paths:log("revisions.log"),
    ok = ertslab_results:make(filename:dirname(Log)),
    io:format(standard_error, "Building ~ts~n", [ertslab_history:short(Id)]),
    Words = [filename:join(ertslab_paths:top(), "build.sh"), "otp", "--git", Repository, "--rev", Id],
    Ended = ertslab_progress:while("building " ++ ertslab_history:short(Id) ++ ", a minute or two",
                                   fun() -> ertslab_os_command:run(Words, Log, #{}) end),
    case {Ended, is_built(Id)} of
        {{ok, _}, true} -> built;
        _ ->
            io:format(standard_error, "~ts does not build (~ts says why)~n", [ertslab_history:short(Id), Log]),
            failed
    end.
