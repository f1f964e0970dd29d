%% @doc An Erlang that this checkout did not build: the one of the distribution, of kerl, asdf or mise, or an
%% OTP source tree that was built in place. It reports its own version.
-module(ertslab_installation).

-export([is_path/1, find/1, oldest_target/0, format_error/1]).
-export_type([reason/0]).

-type reason() :: {ended, Program :: file:filename(), Status :: integer()} | {silent, Program :: file:filename()}
                | {no_erlang, Path :: string()} | {says_something_else, Program :: file:filename()}
                | {too_old, Program :: file:filename(), Release :: integer(), Oldest :: pos_integer()}
                | {below_target, Program :: file:filename(), Release :: integer(), Own :: string(), Target :: pos_integer()}
                | {no_release, Program :: file:filename(), Text :: binary()}.

%% The oldest release that the code of this checkout is compiled for.
-define(OLDEST, 25).
-define(TIMEOUT_MS, 30_000).
%% Uses only functions that each release has. In source trees the file with the version is missing.
-define(QUESTION,
        "Release = erlang:system_info(otp_release), Root = code:root_dir(),"
        " Version = case file:read_file(filename:join([Root, \"releases\", Release, \"OTP_VERSION\"])) of"
        " {ok, Text} -> string:trim(Text); {error, _} -> Release end,"
        " {ok, Emulator} = file:read_link(\"/proc/self/exe\"),"
        " Runs = case file:read_link(\"/proc/thread-self/exe\") of {ok, File} -> File; {error, _} -> Emulator end,"
        " io:put_chars(lists:join(\"\\n\", [\"ertslab\", Release, Version, Root, Emulator, Runs])), halt().").

%% @doc Whether the name of a VM is a path, and not the name of a variant.
-spec is_path(string()) -> boolean().
is_path([$~, $/ | _]) -> true;
is_path("." ++ _) -> true;
is_path(Word) -> lists:member($/, Word).

%% @doc The VM of a folder with `bin/erl' in it, or of an `erl' itself. Fails if it is missing, does not start or is too old.
-spec find(string()) -> ertslab_inventory:vm().
find(Path) ->
    Program = program(Path, ertslab_paths:absolute(Path)),
    case ertslab_os_command:run([Program, "-noshell", "-boot", "no_dot_erlang", "+fnu", "-eval", ?QUESTION], "/dev/null",
                                #{timeout_ms => ?TIMEOUT_MS}) of
        {ok, Answer} -> judged(Path, Program, Answer);
        {error, {status, Status, _}} -> ertslab_error:failure(?MODULE, {ended, Program, Status});
        {error, timeout} -> ertslab_error:failure(?MODULE, {silent, Program})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({ended, Program, Status}) ->
    io_lib:format("~ts: this is not an Erlang that starts (it ended with status ~b).", [Program, Status]);
format_error({silent, Program}) -> [Program, ": this is not an Erlang that starts (no answer in time)."];
format_error({no_erlang, Path}) -> [Path, ": no Erlang is there; name a folder with bin/erl in it, or an erl."];
format_error({says_something_else, Program}) -> [Program, ": this is not an Erlang (its answer was not understood)."];
format_error({too_old, Program, Release, Oldest}) ->
    io_lib:format("~ts is OTP ~b; the oldest that experiments run on is OTP ~b.", [Program, Release, Oldest]);
format_error({below_target, Program, Release, Own, Target}) ->
    io_lib:format("~ts is OTP ~b, and the compiler of OTP ~ts writes for OTP ~b and later; have an older Erlang first in PATH.",
                  [Program, Release, Own, Target]);
format_error({no_release, Program, Text}) -> [Program, ": '", Text, "' is not a release of OTP."].

program(Path, Absolute) ->
    InFolder = filename:join([Absolute, "bin", "erl"]),
    case {filelib:is_regular(InFolder), filelib:is_regular(Absolute)} of
        {true, _} -> InFolder;
        {false, true} -> Absolute;
        {false, false} -> ertslab_error:failure(?MODULE, {no_erlang, Path})
    end.

judged(Path, Program, Answer) ->
    case binary:split(Answer, <<"\n">>, [global]) of
        [<<"ertslab">>, Release, Version, Root, Emulator, Runs] ->
            emulated(vm(Path, Program, release(Program, Release), {Version, Root, unicode:characters_to_list(Emulator)}),
                     unicode:characters_to_list(Runs));
        _ -> ertslab_error:failure(?MODULE, {says_something_else, Program})
    end.

vm(Path, Program, Release, {Version, Root, File}) ->
    {ok, Bytes} = file:read_file(File),
    Sha = ertslab_sha256:hex(Bytes),
    #{name => ertslab_text:binary(Path), release => Release, version => Version,
      root => unicode:characters_to_list(Root), program => Program, executable => File, interpreter => none,
      build_id => build_id(File, Sha), sha256 => Sha, description => ertslab_text:binary(["the Erlang in ", Root])}.

%% Why these files differ is said at ertslab_host:emulated_by/0.
emulated(#{executable := File} = VM, File) -> VM;
emulated(VM, By) -> VM#{emulated_by => By}.

release(Program, Text) ->
    {_, Target} = oldest_target(),
    try binary_to_integer(Text) of
        Release when Release >= Target -> Release;
        Release when Release >= ?OLDEST ->
            ertslab_error:failure(?MODULE, {below_target, Program, Release, erlang:system_info(otp_release), Target});
        Release -> ertslab_error:failure(?MODULE, {too_old, Program, Release, ?OLDEST})
    catch error:badarg -> ertslab_error:failure(?MODULE, {no_release, Program, Text})
    end.

%% @doc The compiler's option for the oldest release that experiments run on, or else for the oldest one that this Erlang
%% compiles for, with that release. (A compiler marks its modules so that older releases refuse them.)
-spec oldest_target() -> {atom(), pos_integer()}.
oldest_target() ->
    Own = list_to_integer(erlang:system_info(otp_release)),
    hd([{Option, Release}
        || Release <- lists:seq(?OLDEST, Own), Option <- [list_to_atom(lists:concat([r, Release]))], is_supported(Option)]).

%% Where there is no compiler, nothing is compiled.
is_supported(Option) ->
    code:which(compile) =:= non_existing orelse
        case compile:noenv_forms([{attribute, erl_anno:new(1), module, m}], [Option, return]) of
            {ok, m, _, _} -> true;
            {error, _, _} -> false
        end.

%% The ELF note with the build id; if the emulator was built without one, a part of its SHA-256.
build_id(File, Sha) ->
    case ertslab_os_command:run(["readelf", "-n", File], "/dev/null", #{timeout_ms => ?TIMEOUT_MS}) of
        {ok, Notes} ->
            case re:run(Notes, "Build ID: ([0-9a-f]+)", [{capture, all_but_first, binary}]) of
                {match, [Id]} -> Id;
                nomatch -> binary:part(Sha, 0, 40)
            end;
        {error, _} -> binary:part(Sha, 0, 40)
    end.
