#!/usr/bin/env escript
%% Writes and checks ROOT/manifest.json: what an OTP root was built from, and
%% which emulators it holds. Every emulator is started once for it, since a
%% file's name proves nothing about what runs.
-mode(compile).

main(Words) ->
    try argparse:run(Words, command(), #{progname => "otp_manifest"})
    catch throw:{fault, Text} ->
            io:format(standard_error, "~ts~n", [Text]),
            halt(1)
    end.

command() ->
    Root = #{name => root, long => "-root", required => true},
    #{commands =>
          #{"write" => #{arguments => [Root | facts()], handler => fun write/1},
            "verify" => #{arguments => [Root], handler => fun verify/1}}}.

facts() ->
    [#{name => Name, long => "-" ++ Long, required => true}
     || {Name, Long} <- [{release, "release"}, {key, "key"},
                         {version, "source-version"}, {sha256, "source-sha256"},
                         {compiler, "compiler"}, {configure, "configure"}]]
        ++ [#{name => variants, long => "-variant", action => append}].

write(#{root := Root} = Facts) ->
    File = filename:join(Root, "manifest.json"),
    Text = json:format(manifest(Facts)),
    case file:write_file(File ++ ".part", Text) of
        ok -> ok = file:rename(File ++ ".part", File);
        {error, Reason} -> fault("cannot write ~ts: ~ts", [File, file:format_error(Reason)])
    end.

manifest(#{root := Root, variants := Variants} = Facts) ->
    #{format => 1,
      key => text(maps:get(key, Facts)),
      release => list_to_integer(maps:get(release, Facts)),
      source => #{version => text(maps:get(version, Facts)),
                  sha256 => text(maps:get(sha256, Facts))},
      compiler => text(maps:get(compiler, Facts)),
      configure => text(maps:get(configure, Facts)),
      variants => maps:from_list([variant(Root, Line) || Line <- Variants])}.

%% "NAME|PATCH=SHA256,...|OPTIONS|DESCRIPTION"
variant(Root, Line) ->
    [Name, Patches, Options, Description] = string:split(Line, "|", all),
    Emulators = emulators(Root, Name),
    {list_to_binary(Name),
     Emulators#{patches => [patch(P) || P <- string:lexemes(Patches, ",")],
               modules => modules(Root, Name),
               options => text(Options),
               description => text(Description)}}.

patch(Line) ->
    [Name, Sha] = string:split(Line, "="),
    #{name => text(Name), sha256 => text(Sha)}.

%% Name and SHA-256 of the modules of OTP's libraries that the variant's patches
%% change. A VM is started to see that it takes these in place of the root's own.
modules(Root, Name) ->
    Dir = filename:join([filename:absname(Root), "modules", Name]),
    Files = filelib:wildcard(filename:join(Dir, "*.beam")),
    Files =:= [] orelse expect_loaded(Root, Name, Dir),
    #{text(filename:basename(File, ".beam")) => sha256(File) || File <- Files}.

expect_loaded(Root, Name, Dir) ->
    Erl = filename:join([Root, "bin", "erl"]),
    {0, Others} = run(Erl, ["-emu_type", Name, "-noinput", "-pa", Dir, "-eval", others(), "-extra", Dir]),
    Others =:= <<>> orelse fault("a VM of ~ts loads from another place than ~ts: ~ts", [Name, Dir, Others]).

%% Prints the modules of the folder that come from elsewhere.
others() ->
    "[Dir] = init:get_plain_arguments(), {ok, Files} = file:list_dir(Dir), "
    "[io:put_chars(File ++ \" \") || File <- Files, "
    "Module <- [list_to_atom(filename:basename(File, \".beam\"))], "
    "{module, Module} =:= code:ensure_loaded(Module), "
    "code:which(Module) =/= filename:join(Dir, File)], halt().".

%% The emulator of a variant with its builds of other layouts, and the
%% interpreter beside it where that was built.
emulators(Root, Name) ->
    Ordinary = emulator(Root, Name, "smp", <<"jit">>),
    Emulator = Ordinary#{builds => builds(Root, Name, Ordinary)},
    case filelib:wildcard(emulator_pattern(Root, Name, "emu")) of
        [] -> Emulator;
        _ -> Emulator#{interpreter => emulator(Root, Name, "emu", <<"emu">>)}
    end.

%% The ordinary emulator is the first. Two of one build id would be no two layouts.
builds(Root, Name, Ordinary) ->
    Others = [emulator(Root, Other, "smp", <<"jit">>) || Other <- other_builds(Root, Name, 2)],
    Builds = [maps:with([executable, build_id, sha256], E) || E <- [Ordinary | Others]],
    Ids = [Id || #{build_id := Id} <- Builds],
    Ids -- lists:usort(Ids) =:= [] orelse fault("two builds of ~ts bear the same build id", [Name]),
    Builds.

other_builds(Root, Name, Number) ->
    Other = Name ++ "_build" ++ integer_to_list(Number),
    case filelib:wildcard(emulator_pattern(Root, Other, "smp")) of
        [] -> [];
        _ -> [Other | other_builds(Root, Name, Number + 1)]
    end.

%% What a started emulator says of itself, and what its file is.
emulator(Root, Name, Suffix, Flavour) ->
    File = emulator_file(Root, Name, Suffix),
    Says = started(Root, Name, Suffix),
    expect(Name, "executable", text(File), maps:get(<<"executable">>, Says)),
    expect(Name, "flavour", Flavour, maps:get(<<"flavor">>, Says)),
    #{executable => text(filename:basename(File)),
      sha256 => sha256(File),
      build_id => build_id(File),
      flavor => maps:get(<<"flavor">>, Says),
      version => maps:get(<<"version">>, Says),
      compile_info => maps:get(<<"compile_info">>, Says),
      ethread_info => maps:get(<<"ethread_info">>, Says)}.

emulator_pattern(Root, Name, Suffix) ->
    filename:join([Root, "erts-*", "bin", lists:join($., ["beam", Name, Suffix])]).

emulator_file(Root, Name, Suffix) ->
    case filelib:wildcard(emulator_pattern(Root, Name, Suffix)) of
        [File] -> filename:absname(File);
        _ -> fault("the emulator of ~ts is missing from ~ts", [Name, Root])
    end.

started(Root, Name, Suffix) ->
    Erl = filename:join([Root, "bin", "erl"]),
    case run(Erl, ["-emu_type", Name, "-emu_flavor", Suffix, "-noinput", "-eval", self_report()]) of
        {0, Text} -> json:decode(Text);
        {Status, Text} ->
            fault("the emulator of ~ts does not start (status ~p): ~ts", [Name, Status, Text])
    end.

run(Executable, Args) ->
    Port = open_port({spawn_executable, Executable},
                     [{args, Args}, exit_status, binary, stderr_to_stdout]),
    collect(Port, <<>>).

self_report() ->
    "Text = fun(Term) -> iolist_to_binary(io_lib:format(\"~0tp\", [Term])) end, "
    "Flags = lists:keydelete(config_h, 1, erlang:system_info(compile_info)), "
    "ok = io:setopts(standard_io, [{encoding, unicode}]), "
    "{ok, Exe} = file:read_link(\"/proc/self/exe\"), "
    "io:put_chars(json:encode(#{executable => unicode:characters_to_binary(Exe), "
    "flavor => atom_to_binary(erlang:system_info(emu_flavor)), "
    "version => list_to_binary(erlang:system_info(version)), "
    "compile_info => Text(Flags), ethread_info => Text(erlang:system_info(ethread_info))})), "
    "halt().".

collect(Port, Text) ->
    receive
        {Port, {data, More}} -> collect(Port, <<Text/binary, More/binary>>);
        {Port, {exit_status, Status}} -> {Status, Text}
    after 30000 ->
            fault("a program that was started did not end within 30 seconds", [])
    end.

sha256(File) ->
    {ok, Bytes} = file:read_file(File),
    binary:encode_hex(crypto:hash(sha256, Bytes), lowercase).

%% The note that the linker's --build-id leaves, as readelf prints it.
build_id(File) ->
    {0, Text} = run(os:find_executable("readelf"), ["-n", File]),
    case re:run(Text, ": ([0-9a-f]{40})\\s", [{capture, all_but_first, binary}]) of
        {match, [Id]} -> Id;
        nomatch -> fault("~ts bears no build id", [File])
    end.

verify(#{root := Root}) ->
    #{<<"variants">> := Variants, <<"source">> := #{<<"version">> := Version}} = read_manifest(Root),
    maps:foreach(fun(Name, Recorded) -> verify_variant(Root, Name, Recorded) end, Variants),
    io:format("OTP ~ts: ~b emulators are what the manifest says.~n", [Version, map_size(Variants)]).

read_manifest(Root) ->
    File = filename:join(Root, "manifest.json"),
    case file:read_file(File) of
        {ok, Text} ->
            try #{<<"variants">> := #{}, <<"source">> := #{<<"version">> := _}} = json:decode(Text)
            catch error:_ ->
                    fault("~ts is damaged; remove it, and './build.sh otp' with the --otp of that folder"
                          " writes it anew", [File])
            end;
        {error, Reason} ->
            fault("cannot read ~ts: ~ts", [File, file:format_error(Reason)])
    end.

verify_variant(Root, Name, Recorded) ->
    verify_facts(Name, emulators(Root, binary_to_list(Name)), Recorded),
    modules(Root, binary_to_list(Name)) =:= maps:get(~"modules", Recorded, #{}) orelse
        fault("the library modules of ~ts are not those of the manifest", [Name]).

verify_facts(Name, Facts, Recorded) ->
    maps:foreach(
      fun(interpreter, Now) -> verify_facts(Name, Now, maps:get(~"interpreter", Recorded, #{}));
         (builds, Now) -> verify_builds(Name, Now, maps:get(~"builds", Recorded, []));
         (Key, Now) -> expect(Name, Key, maps:get(atom_to_binary(Key), Recorded, none), Now)
      end, Facts).

verify_builds(Name, Now, Recorded) ->
    expect(Name, "number of builds", integer_to_binary(length(Recorded)), integer_to_binary(length(Now))),
    lists:foreach(fun({Facts, Build}) -> verify_facts(Name, Facts, Build) end, lists:zip(Now, Recorded)).

expect(_Name, _What, Same, Same) -> ok;
expect(Name, What, Wanted, Found) ->
    fault("the ~ts of the emulator ~ts is ~ts where ~ts is expected", [What, Name, Found, Wanted]).

text(Chars) -> unicode:characters_to_binary(Chars).

-spec fault(io:format(), [term()]) -> no_return().
fault(Format, Args) -> throw({fault, io_lib:format(Format, Args)}).
