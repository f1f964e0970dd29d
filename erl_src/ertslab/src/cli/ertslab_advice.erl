%% @doc What an error is for the user: its sentence, with advice on what to do. Only here commands such as `./build.sh otp'
%% are named. The single file that is made of a checkout has no `./build.sh', and so other advice.
-module(ertslab_advice).

-export([sentence/1, sentence/2, argument/1, remedy/1]).

-type place() :: checkout | single_file.

%% @doc The sentence with the advice for where this runs.
-spec sentence(ertslab_error:error()) -> binary().
sentence(Error) ->
    sentence(Error, case ertslab_paths:is_checkout() of true -> checkout; false -> single_file end).

%% @doc The sentence with the advice for that place.
-spec sentence(ertslab_error:error(), place()) -> binary().
sentence(Error, Place) -> with(advice(Place, Error), ertslab_error:sentence(Error)).

%% Advice is the end of the sentence, before its full stop, or stands behind the words that it is about.
with(none, Sentence) -> Sentence;
with({behind, Words, Advice}, Sentence) -> ertslab_text:binary(string:replace(Sentence, Words, [Words, Advice]));
with(Advice, Sentence) ->
    {Words, Stop} = case string:split(Sentence, ".", trailing) of
                        [Before, <<>>] -> {Before, "."};
                        _ -> {Sentence, ""}
                    end,
    ertslab_text:binary([Words, Advice, Stop]).

%% @doc An argument, its help with advice.
-spec argument(ertslab_arguments:argument()) -> ertslab_arguments:argument().
argument(#{name := builds, help := Help} = Argument) ->
    {Before, ")"} = lists:split(length(Help) - 1, Help),
    Argument#{help := Before ++ "; './build.sh otp --builds N' makes them)"};
argument(Argument) -> Argument.

%% @doc What to do about something that is missing.
-spec remedy(lab | otp | {otp, pos_integer()} | tool | flame_graphs | docker) -> unicode:chardata().
remedy(lab) -> "clone ertslab, and run './build.sh demo' in it";
remedy(otp) -> "./build.sh otp";
remedy({otp, Release}) -> io_lib:format("./build.sh otp --otp ~b", [Release]);
remedy(tool) -> "./build.sh deps";
remedy(flame_graphs) -> "./build.sh deps (Debian package libdevel-nytprof-perl), or inferno-flamegraph in PATH";
remedy(docker) -> "./build.sh deps --docker".

advice(checkout, Error) -> of_checkout(Error);
advice(single_file, Error) -> of_single_file(Error).

of_checkout({ertslab_os_command, {missing, _, Package}}) ->
    ["; './build.sh deps' installs it (Debian package ", Package, ")"];
of_checkout({ertslab_paths, {wants_the_lab, _}}) -> " in which './build.sh demo', './build.sh native' and './build.sh erl' have run";
of_checkout({ertslab_inventory, Reason}) -> of_inventory(Reason);
of_checkout({ertslab_builds, {too_few, _, Release, Wanted}}) ->
    io_lib:format("; './build.sh otp --otp ~b --builds ~b' does that", [Release, Wanted]);
of_checkout({ertslab_revision, {not_built, _, Path, Revision}}) ->
    ["; this builds it: ./build.sh otp --git ", ertslab_text:shell_word(Path), " --rev ", ertslab_text:shell_word(Revision)];
of_checkout({ertslab_flood, {not_loaded, _, _}}) -> "; './build.sh native' builds it";
of_checkout({ertslab_gnuplot, missing}) -> "; './build.sh deps' installs it";
of_checkout({ertslab_flame, no_tool}) -> [": ", remedy(flame_graphs)];
of_checkout({ertslab_arms, {not_built, _}}) ->
    "; './build.sh otp' builds it, with --otp N for another release. An Erlang that is installed is named by its path, as /usr";
of_checkout({ertslab_declared, {none, _}}) -> "; './build.sh erl' compiles those of this clone";
of_checkout({ertslab_judges, {failed, _, Error}}) -> of_checkout(Error);
of_checkout({ertslab_plan, {other_code, _, _}}) -> "; bring both to one commit and run './build.sh erl'";
of_checkout({_, Reason}) -> of_crash(Reason).

of_inventory(nothing_built) -> "; run './build.sh otp'";
of_inventory({not_built, Release}) -> io_lib:format("; run './build.sh otp --otp ~b'", [Release]);
of_inventory({no_release, _, _}) -> none;
of_inventory({damaged, _, Kind}) -> ["; remove it, and './build.sh otp ", words_for(Kind), "' writes it anew"];
of_inventory({no_interpreter, Name, Release}) ->
    io_lib:format("; './build.sh otp --otp ~b --interpreter ~ts' builds it", [Release, Name]);
of_inventory({no_variant, _, Release, _}) -> io_lib:format(" ('./build.sh otp --otp ~b' builds all that are declared)", [Release]);
of_inventory({no_emulator, _, Release}) -> io_lib:format("; './build.sh otp --otp ~b' builds it", [Release]);
of_inventory({not_one_or_two, _}) -> none.

words_for({release, Release}) -> ["--otp ", Release];
words_for(revision) -> "--git PATH --rev REVISION".

%% Where a VM or a call in it ended, its reason is the last element.
of_crash(Reason) when is_tuple(Reason), tuple_size(Reason) > 0 ->
    Why = element(tuple_size(Reason), Reason),
    case ertslab_crash:cause(Why) of
        {does_not_load, _} -> {behind, ertslab_crash:says(Why), " ('./build.sh native' builds native code)"};
        _ -> none
    end;
of_crash(_) -> none.

of_single_file({ertslab_os_command, {missing, _, Package}}) -> ["; it is in Debian's package ", Package];
of_single_file({ertslab_paths, {wants_the_lab, _}} = Error) -> of_checkout(Error);
of_single_file(_) -> none.
