%% @doc The virtual machines that were built. Each variant is found by its manifest.
-module(ertslab_inventory).

-export([installed/0, of_revisions/0, find/2, find/3, one_or_two/2, interpreter/1, release/1, releases/0, release/2, root/1, manifest/1,
         with_modules/2]).
-export([format_error/1]).
-export_type([vm/0, build/0, reason/0]).

-type vm() :: #{name := binary(), release := pos_integer(), root := file:filename(),
                version := binary(), build_id := binary(), sha256 := binary(),
                executable := file:filename(), interpreter := file:filename() | none,
                description := binary(), builds => [build()],
                modules => #{binary() => binary()},
                program => file:filename(), emulated_by => file:filename(), flags => [string()],
                code => #{folders := [file:filename(), ...], digest := binary()},
                host => ertslab_ssh:host()}.
%% `builds': the ordinary one and those of other layouts, if known.
%% `modules': names and SHA-256 of the library modules that its patches
%% change, if there are any.
%% `program': its `erl', if that is not the one of the root; the emulator is the one that it starts.
%% `emulated_by': the program that emulates its processor, if one does.
%% `flags': arguments for the emulator. `code': folders that come first in the code path, and a digest of their contents.
%% `host': the machine, if it is not this one.
-type build() :: #{build_id := binary(), sha256 := binary(), executable := file:filename()}.
-type reason() :: nothing_built | {not_built, Release :: pos_integer()}
                | {no_release, Release :: pos_integer(), Supported :: [pos_integer()]}
                | {damaged, Manifest :: file:filename(), {release, string()} | revision}
                | {no_interpreter, Name :: binary(), Release :: pos_integer()}
                | {no_variant, Name :: binary(), Release :: pos_integer(), Known :: [binary()]}
                | {not_one_or_two, Names :: string()}
                | {no_emulator, file:filename(), Release :: pos_integer()}.

%% @doc Every variant of every release that is built, stock first.
-spec installed() -> [vm()].
installed() ->
    of_roots("otp-*").

%% @doc Every revision of git repositories that is built. Each has a name of its own.
-spec of_revisions() -> [vm()].
of_revisions() -> of_roots("revisions/*/root").

of_roots(Pattern) ->
    Manifests = [File || ertslab_paths:is_checkout(),
                         File <- ertslab_paths:matching(ertslab_paths:top(), filename:join(["build", Pattern, "manifest.json"]))],
    lists:append([variants(Manifest) || Manifest <- Manifests]).

%% @doc The root of a release that is built.
-spec root(pos_integer()) -> file:filename().
root(Release) ->
    filename:absname(ertslab_paths:build("otp-" ++ integer_to_list(Release))).

%% @doc The release that the options name, else the oldest one that is built.
-spec release(#{otp => pos_integer(), _ => _}) -> pos_integer().
release(Options) -> release(Options, installed()).

%% @doc The same among the given VMs.
-spec release(#{otp => pos_integer(), _ => _}, [vm()]) -> pos_integer().
release(#{otp := Release}, _) -> Release;
release(#{}, []) -> ertslab_error:failure(?MODULE, nothing_built);
release(#{}, VMs) -> lists:min([Release || #{release := Release} <- VMs]).

%% @doc The releases that are built, in ascending order.
-spec releases() -> [pos_integer()].
releases() -> lists:usort([Release || #{release := Release} <- installed()]).

%% A file that does not match was not written by a build. A function that is missing is our own fault.
variants(ManifestFile) ->
    Text = read(ManifestFile),
    try declared(filename:absname(filename:dirname(ManifestFile)), ertslab_json_reader:decode(Text))
    catch error:Wrong when Wrong =/= undef ->
            ertslab_error:failure(?MODULE, {damaged, ManifestFile, kind(filename:basename(filename:dirname(ManifestFile)))})
    end.

kind("otp-" ++ Release) -> {release, Release};
kind(_) -> revision.

declared(Root, #{<<"release">> := Release, <<"variants">> := Variants, <<"source">> := #{<<"version">> := Version}}) ->
    VMs = [vm({Root, Release, Version}, Name, Facts) || {Name, Facts} <- maps:to_list(Variants)],
    {Stock, Patched} = lists:partition(fun is_unpatched/1, VMs),
    Stock ++ Patched.

is_unpatched(#{name := <<"stock", _/bits>>}) -> true;
is_unpatched(#{}) -> false.

read(File) ->
    case file:read_file(File) of
        {ok, Text} -> Text;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

vm({Root, Release, Version}, Name, #{<<"executable">> := Executable} = Facts) ->
    [Bin] = ertslab_paths:matching(Root, "erts-*/bin"),
    VM = #{name => Name, release => Release, root => Root, version => Version,
           build_id => maps:get(<<"build_id">>, Facts),
           sha256 => maps:get(<<"sha256">>, Facts),
           executable => filename:join(Bin, binary_to_list(Executable)),
           interpreter => interpreter_file(Bin, Facts),
           description => maps:get(<<"description">>, Facts),
           builds => [build(Bin, Build) || Build <- maps:get(<<"builds">>, Facts, [])]},
    with_modules(VM, Facts).

%% @doc The VM with its own library modules, if its description has any.
-spec with_modules(vm(), #{binary() => term()}) -> vm().
with_modules(VM, #{<<"modules">> := Modules}) when map_size(Modules) > 0 -> VM#{modules => Modules};
with_modules(VM, #{}) -> VM.

build(Bin, #{<<"executable">> := Executable, <<"build_id">> := Id, <<"sha256">> := Sha}) ->
    #{executable => filename:join(Bin, binary_to_list(Executable)), build_id => Id, sha256 => Sha}.

%% @doc What this VM and its neighbours were made from, in JSON as the build wrote it.
-spec manifest(vm()) -> binary().
manifest(#{root := Root}) -> read(filename:join(Root, "manifest.json")).

interpreter_file(Bin, #{<<"interpreter">> := #{<<"executable">> := Executable}}) ->
    filename:join(Bin, binary_to_list(Executable));
interpreter_file(_Bin, #{}) -> none.

%% @doc The interpreter of a variant, which is built on request only.
-spec interpreter(vm()) -> file:filename().
interpreter(#{interpreter := File, name := Name, release := Release}) ->
    File =/= none andalso filelib:is_regular(File) orelse
        ertslab_error:failure(?MODULE, {no_interpreter, Name, Release}),
    File.

%% @doc The variant `Name' of `Release' on this machine, its emulator present.
-spec find(binary(), pos_integer()) -> vm().
find(Name, Release) -> find(installed(), Name, Release).

%% @doc The same among the given VMs.
-spec find([vm()], binary(), pos_integer()) -> vm().
find(VMs, Name, Release) ->
    OfRelease = [VM || #{release := R} = VM <- VMs, R =:= Release],
    OfRelease =/= [] orelse not_built(Release, supported()),
    case [VM || #{name := N} = VM <- OfRelease, N =:= Name] of
        [VM] -> present(VM);
        [] -> ertslab_error:usage(?MODULE, {no_variant, Name, Release, [N || #{name := N} <- OfRelease]})
    end.

-spec not_built(pos_integer(), [pos_integer()]) -> no_return().
not_built(Release, Supported) ->
    case Supported =:= [] orelse lists:member(Release, Supported) of
        true -> ertslab_error:failure(?MODULE, {not_built, Release});
        false -> ertslab_error:usage(?MODULE, {no_release, Release, Supported})
    end.

%% The file that the scripts read, too.
supported() ->
    case file:read_file(filename:join([ertslab_paths:top(), "otp_patches", "releases"])) of
        {ok, Text} -> [Release || Line <- string:lexemes(Text, "\n"), {Release, Rest} <- [string:to_integer(Line)],
                                  is_integer(Release), string:prefix(string:trim(Rest), "|") =/= nomatch];
        {error, _} -> []
    end.

%% @doc The variants that "A" or "A,B" names, to inspect one or to compare two.
-spec one_or_two(string(), pos_integer()) -> [vm(), ...].
one_or_two(Names, Release) ->
    case lists:uniq(binary:split(ertslab_text:binary(Names), <<",">>, [global, trim_all])) of
        [_ | More] = Variants when length(More) =< 1 -> [find(Name, Release) || Name <- Variants];
        _ -> ertslab_error:usage(?MODULE, {not_one_or_two, Names})
    end.

%% erlexec aborts with a buffer overflow if an emulator is missing, so that is checked here.
present(#{host := _} = VM) -> VM;
present(#{executable := File, release := Release} = VM) ->
    filelib:is_regular(File) orelse
        ertslab_error:failure(?MODULE, {no_emulator, File, Release}),
    VM.

-spec format_error(reason()) -> unicode:chardata().
format_error(nothing_built) -> "no Erlang/OTP is built.";
format_error({not_built, Release}) -> io_lib:format("OTP ~b is not built.", [Release]);
format_error({no_release, Release, Supported}) ->
    io_lib:format("no OTP ~b is built from here; choose from: ~ts. An Erlang that is installed is named by its path, as /usr",
                  [Release, lists:join(" ", [integer_to_list(R) || R <- Supported])]);
format_error({damaged, Manifest, _}) -> [Manifest, " is damaged."];
format_error({no_interpreter, Name, _}) -> ["the interpreter of ", Name, ", which valgrind wants, is not built."];
format_error({no_variant, Name, Release, Known}) ->
    io_lib:format("there is no variant '~ts' of OTP ~b here; choose from: ~ts", [Name, Release, lists:join(" ", Known)]);
format_error({not_one_or_two, Names}) -> ["--vm ", Names, ": give one variant, or two to set side by side"];
format_error({no_emulator, File, _}) -> ["the emulator ", File, " is missing."].
