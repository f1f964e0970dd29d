%% The VMs that are built, here or elsewhere, and how each is started.
-module(ertslab_inventory_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, stock_is_first/1, a_release_is_that_named_or_the_oldest/1, what_is_not_built_is_refused/1, one_or_two_are_wanted/1,
         interpreter_is_there_or_refused/1, an_emulator_that_is_gone_is_named/1, a_damaged_manifest_is_named/1,
         an_installation_says_what_it_is/1, what_is_no_erlang_is_refused/1, an_emulated_processor_is_noticed/1, a_path_is_no_variant/1,
         a_command_starts_the_emulator_of_the_variant/1, an_older_release_gets_older_code/1, a_call_ends_with_its_vm/1,
         a_revision_is_written_with_its_repository/1, a_revision_that_is_not_there_is_refused/1]).

all() ->
    [stock_is_first, a_release_is_that_named_or_the_oldest, what_is_not_built_is_refused, one_or_two_are_wanted,
     interpreter_is_there_or_refused, an_emulator_that_is_gone_is_named, a_damaged_manifest_is_named, an_installation_says_what_it_is,
     what_is_no_erlang_is_refused, an_emulated_processor_is_noticed, a_path_is_no_variant, a_command_starts_the_emulator_of_the_variant, an_older_release_gets_older_code,
     a_call_ends_with_its_vm, a_revision_is_written_with_its_repository, a_revision_that_is_not_there_is_refused].

stock_is_first(_) ->
    [begin
         [#{name := First} | _] = VMs = [VM || #{release := R} = VM <- ertslab_inventory:installed(), R =:= Release],
         ?assertMatch(<<"stock", _/binary>>, First),
         [?assert(filelib:is_regular(File)) || #{executable := File} <- VMs]
     end || Release <- ertslab_inventory:releases()].

a_release_is_that_named_or_the_oldest(_) ->
    ?assertEqual(hd(ertslab_inventory:releases()), ertslab_inventory:release(#{})),
    ?assertEqual(99, ertslab_inventory:release(#{otp => 99})),
    ?assertEqual(3, ertslab_inventory:release(#{}, [#{release => 4}, #{release => 3}])),
    refused(failure, ~"no Erlang/OTP is built; run './build.sh otp'.", fun() -> ertslab_inventory:release(#{}, []) end).

what_is_not_built_is_refused(_) ->
    refused(usage, ~"no OTP 99 is built from here; choose from: ", fun() -> ertslab_inventory:find(~"stock", 99) end),
    refused(failure, ~"is not built; run './build.sh otp --otp ", fun() -> ertslab_inventory:find([], ~"stock", oldest()) end),
    refused(usage, ~"there is no variant 'fly' of OTP", fun() -> ertslab_inventory:find(~"fly", oldest()) end).

one_or_two_are_wanted(_) ->
    Names = fun(Words) -> [Name || #{name := Name} <- ertslab_inventory:one_or_two(Words, oldest())] end,
    ?assertEqual([[~"stock"], [~"stock", ~"tuned"], [~"tuned"]], [Names(Words) || Words <- ["stock", "stock,tuned", "tuned,tuned,"]]),
    [refused(usage, ~"give one variant, or two", fun() -> Names(Words) end) || Words <- ["stock,stock_copy,tuned", "", ","]].

interpreter_is_there_or_refused(_) ->
    VM = #{name => ~"mine", release => 7, interpreter => code:which(?MODULE)},
    ?assertEqual(code:which(?MODULE), ertslab_inventory:interpreter(VM)),
    [refused(failure, ~"'./build.sh otp --otp 7 --interpreter mine' builds it.",
             fun() -> ertslab_inventory:interpreter(VM#{interpreter := File}) end)
     || File <- [none, "/nowhere/beam.mine.emu"]].

an_emulator_that_is_gone_is_named(_) ->
    Gone = (ertslab_inventory:find(~"stock", oldest()))#{executable := "/nowhere/beam.stock.smp"},
    refused(failure, ~"the emulator /nowhere/beam.stock.smp is missing; './build.sh otp --otp ",
            fun() -> ertslab_inventory:find([Gone], ~"stock", oldest()) end),
    %% What is on another machine is looked at there.
    ?assertEqual(Gone#{host => #{}}, ertslab_inventory:find([Gone#{host => #{}}], ~"stock", oldest())).

a_damaged_manifest_is_named(Config) ->
    Top = os:getenv("ERTSLAB_TOP"),
    Root = filename:join(dir(Config), "build/otp-7"),
    Manifest = filename:join(Root, "manifest.json"),
    ok = filelib:ensure_path(filename:join(Root, "erts-1/bin")),
    {ok, Whole} = file:read_file(filename:join(ertslab_inventory:root(oldest()), "manifest.json")),
    true = os:putenv("ERTSLAB_TOP", filename:dirname(filename:dirname(Root))),
    try
        [begin
             ok = file:write_file(Manifest, Text),
             refused(failure, iolist_to_binary([Manifest, " is damaged; remove it, and './build.sh otp --otp 7' writes it anew."]),
                     fun ertslab_inventory:installed/0)
         end || Text <- ["", "{}", "[]", binary:part(Whole, 0, byte_size(Whole) div 2),
                         ~"{\"release\": 1, \"source\": {\"version\": \"1\"}, \"variants\": {\"stock\": {\"executable\": 1}}}"]],
        ok = file:write_file(Manifest, Whole),
        ?assertMatch([#{root := Root} | _], ertslab_inventory:installed())
    after os:putenv("ERTSLAB_TOP", Top)
    end.

an_installation_says_what_it_is(_) ->
    #{root := Root, release := Release, version := Version, executable := File, sha256 := Sha,
      build_id := Id} = Stock = ertslab_inventory:find(~"stock", oldest()),
    [begin
         VM = ertslab_installation:find(Path),
         ?assertMatch(#{release := Release, version := Version, root := Root}, VM),
         ?assertEqual(filename:join(Root, "bin/erl"), maps:get(program, VM)),
         %% Its erl starts the variant of that name, which is stock without one.
         ?assertEqual({File, Sha, Id}, {maps:get(executable, VM), maps:get(sha256, VM), maps:get(build_id, VM)}),
         ?assertEqual(ertslab_text:binary(Path), maps:get(name, VM))
     end || Path <- [Root, filename:join(Root, "bin/erl")], is_own_emulator(Stock)].

%% Whether the root's erl starts the file of stock.
is_own_emulator(#{root := Root, executable := File}) ->
    #{executable := Own} = ertslab_installation:find(Root),
    Own =:= File.

what_is_no_erlang_is_refused(Config) ->
    Dir = dir(Config),
    Erl = filename:join(Dir, "bin/erl"),
    ok = filelib:ensure_dir(Erl),
    refused(failure, ~"no Erlang is there; name a folder with bin/erl in it, or an erl.", fun() -> ertslab_installation:find(Dir) end),
    [begin
         ok = file:write_file(Erl, ["#!/bin/sh\n", Script, "\n"]),
         ok = file:change_mode(Erl, 8#755),
         refused(failure, Sentence, fun() -> ertslab_installation:find(Dir) end)
     end || {Script, Sentence} <- [{"exit 3", ~"this is not an Erlang that starts (it ended with status 3)."},
                                   {"echo hello", ~"this is not an Erlang (its answer was not understood)."},
                                   {"printf 'ertslab\\n12\\n12\\n/\\n/bin/sh\\n/bin/sh'", ~"is OTP 12; the oldest that experiments run on is OTP "},
                                   {"printf 'ertslab\\nR12\\n12\\n/\\n/bin/sh\\n/bin/sh'", ~"'R12' is not a release of OTP."}]].

an_emulated_processor_is_noticed(Config) ->
    Erl = filename:join(dir(Config), "erl"),
    Says = fun(Runs) ->
                   ok = file:write_file(Erl, ["#!/bin/sh\nprintf 'ertslab\\n", erlang:system_info(otp_release), "\\n1\\n/\\n/bin/sh\\n", Runs, "'\n"]),
                   ok = file:change_mode(Erl, 8#755),
                   ertslab_installation:find(Erl)
           end,
    ?assertNot(is_map_key(emulated_by, Says("/bin/sh"))),
    ?assertMatch(#{executable := "/bin/sh", emulated_by := "/bin/true"}, Says("/bin/true")).

a_path_is_no_variant(_) ->
    ?assertEqual([true, true, true, true, false, false],
                 [ertslab_installation:is_path(Word) || Word <- ["/usr", "~/x", "./x", "a/erl", "stock", "stock@27"]]).

a_command_starts_the_emulator_of_the_variant(_) ->
    #{root := Root} = VM = ertslab_inventory:find(~"by_reference", oldest()),
    [Erl, "-emu_type", "by_reference", "-pa", Modules,
     "-pa" | Words] = ertslab_vm:command(VM#{flags => ["+S", "1"], code => #{folders => ["/mine"]}}, ["x"]),
    ?assertEqual({filename:join(Root, "bin/erl"), filename:join(Root, "modules/by_reference")}, {Erl, Modules}),
    %% The code that is compared comes last, so that it is first in the path.
    ?assertEqual(["-pa", "/mine", "+S", "1", "x"], lists:nthtail(length(Words) - 5, Words)),
    ?assertEqual(ertslab_vm:libraries(), lists:sublist(Words, length(Words) - 5)),
    ?assertEqual(["/usr/bin/erl", "-pa" | ertslab_vm:libraries()],
                 ertslab_vm:command(#{program => "/usr/bin/erl", release => 99, executable => "/usr/lib/beam.smp"}, [])).

an_older_release_gets_older_code(_) ->
    ["/usr/bin/erl", "-pa" | Older] = ertslab_vm:command(#{program => "/usr/bin/erl", release => 1}, []),
    ?assertEqual(length(ertslab_vm:libraries()), length(Older)),
    [?assertEqual(nomatch, string:find(Dir, "/default/lib/")) || Dir <- Older].

a_call_ends_with_its_vm(_) ->
    VM = ertslab_inventory:find(~"stock", oldest()),
    {ok, OsPid} = ertslab_vm:in_fresh(VM, 70, os, getpid, [], 30_000),
    ?assertNot(filelib:is_dir("/proc/" ++ OsPid)),
    ?assertMatch({error, badarg}, ertslab_vm:in_fresh(VM, 0, erlang, list_to_atom, [7], 30_000)),
    %% On this machine no VM is needed.
    ?assertEqual(self(), ertslab_vm:on_its_machine(VM, erlang, self, [])),
    ?assertEqual(ok, ertslab_vm:must_answer(VM)).

a_revision_is_written_with_its_repository(_) ->
    ?assertEqual([true, false, false], [ertslab_revision:is_one(Word) || Word <- ["git:/x@main", "stock", "/git:x"]]),
    ?assertEqual(["git:/at/x@main", "git:/at/a@b@c+tuned", "git:x", "git:@x"],
                 [ertslab_revision:map_path(fun(Path) -> "/at/" ++ Path end, Word)
                  || Word <- ["git:x@main", "git:a@b@c+tuned", "git:x", "git:@x"]]).

a_revision_that_is_not_there_is_refused(Config) ->
    Dir = dir(Config),
    [refused(usage, ~": write git:PATH@REVISION", fun() -> ertslab_revision:find(Word) end) || Word <- ["git:x", "git:@x", "git:x@"]],
    refused(usage, ~": there is no such revision", fun() -> ertslab_revision:find("git:" ++ Dir ++ "/none@main") end),
    {ok, _} = ertslab_revision:git(Dir, ["init", "-q", "-b", "main"]),
    {ok, _} = ertslab_revision:git(Dir, ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"]),
    {ok, Commit} = ertslab_revision:git(Dir, ["rev-parse", "main"]),
    refused(failure, iolist_to_binary(["git:", Dir, "@main is not built; this builds it: ./build.sh otp --git ", Dir, " --rev main"]),
            fun() -> ertslab_revision:find("git:" ++ Dir ++ "@main") end),
    ?assertNot(ertslab_revision_build:is_built(unicode:characters_to_list(string:trim(Commit)))),
    refused(usage, ~": there is no such revision", fun() -> ertslab_revision:find("git:" ++ Dir ++ "@other") end).

oldest() -> hd(ertslab_inventory:releases()).

refused(Kind, Words, Fun) ->
    {Kind, Error} = try Fun() catch throw:Thrown -> Thrown end,
    Sentence = ertslab_advice:sentence(Error, checkout),
    ?assertMatch({_, _}, binary:match(Sentence, Words), Sentence).
