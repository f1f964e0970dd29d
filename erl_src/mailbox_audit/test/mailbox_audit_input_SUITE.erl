%% What is given to be judged: modules of other languages and newer releases, projects, archives, sources, copies.
-module(mailbox_audit_input_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_testcase/2, end_per_testcase/2]).
-export([elixir_is_judged/1, code_path_stays_where_nothing_is_searched/1, compressed_modules/1]).
-export([backend_of_the_release_around/1, backend_beside_the_module/1, backend_in_the_same_archive/1, backend_that_is_nowhere/1,
         backend_that_fails/1, abstract_code_beside_other_debug_info/1, atoms_of_newer_releases/1, code_that_no_compiler_here_knows/1,
         newest_compiler_of_all/1, releases_of_compilers/1, encrypted_debug_info/1, project_of_mix_or_rebar3_in_any_profile/1,
         project_of_erlang_mk/1, mix_env_goes_first/1, application_of_an_umbrella/1, archives_and_escripts/1, damaged_archives/1,
         sources/1, source_of_elixir/1,
         sources_that_do_not_compile/1, folders_of_any_name/1, copies_are_judged_once/1, copy_with_debug_info_is_taken/1,
         other_versions_are_told/1, bytes_under_a_name/1]).
-export([what_cannot_be_looked_into_is_told/1, folder_without_permission/1, links_of_no_application/1, profile_with_a_dead_link/1,
         names_that_are_no_characters/1,
         names_in_capitals/1, archives_that_hide/1, special_files/1, damaged_beams/1, debug_info_of_another_module/1,
         odd_forms_can_be_shown/1, source_that_makes_no_module/1, programs_end_in_time/1, headers_that_have_no_end/1,
         compilations_end_in_time/1, own_application_that_is_not_built/1, own_application_beside_its_dependencies/1]).
-export([own_application_by_another_name/1, own_application_of_mix_is_built/1, headers_in_a_circle/1, applications_that_are_no_atoms/1,
         modules_that_unpack_to_much/1, atoms_without_room/1, atoms_of_all_terms_are_found/1, without_a_compiler/1]).
-export([same_bytes_in_two_encodings/1, counting_ends_with_the_room/1, atoms_of_many_modules/1, identity_of_elixir/1,
         compilations_end_with_their_caller/1, modules_whose_compiler_says_much/1, reading_a_module_is_limited/1,
         archives_that_unpack_to_much/1, archives_damaged_within/1, compiler_prints_nothing/1,
         own_application_with_links/1, own_application_that_is_built_in_part/1, sources_newer_than_their_modules/1,
         headers_newer_than_a_module/1, header_in_a_relative_folder/1, source_of_a_module_of_another_release/1, sources_of_any_time/1,
         grammars_newer_than_a_module/1, grammar_with_a_header/1, made_from_another_file/1, sources_of_a_folder_of_modules/1,
         sources_of_a_release/1, modules_of_one_name_in_two_applications/1]).

-define(SCANS, "f(X) -> receive {X, A} -> A end.").
%% A backend as another language has it: what it is given is the code.
-define(BACKEND, "debug_info(erlang_v1, _, Forms, _) -> {ok, Forms}.").

all() ->
    [without_a_compiler, elixir_is_judged, code_path_stays_where_nothing_is_searched, compressed_modules, backend_of_the_release_around,
     backend_beside_the_module, backend_in_the_same_archive, backend_that_is_nowhere, backend_that_fails,
     abstract_code_beside_other_debug_info, atoms_of_newer_releases, code_that_no_compiler_here_knows, compiler_prints_nothing,
     newest_compiler_of_all,
     releases_of_compilers, encrypted_debug_info, project_of_mix_or_rebar3_in_any_profile, project_of_erlang_mk,
     mix_env_goes_first, application_of_an_umbrella, archives_and_escripts, damaged_archives, sources, source_of_elixir,
     sources_that_do_not_compile, folders_of_any_name,
     copies_are_judged_once, copy_with_debug_info_is_taken, other_versions_are_told, bytes_under_a_name,
     what_cannot_be_looked_into_is_told, folder_without_permission, links_of_no_application, profile_with_a_dead_link,
     names_that_are_no_characters, names_in_capitals, archives_that_hide, special_files, damaged_beams,
     debug_info_of_another_module, odd_forms_can_be_shown, source_that_makes_no_module, programs_end_in_time, headers_that_have_no_end,
     compilations_end_in_time, compilations_end_with_their_caller, own_application_that_is_not_built,
     own_application_beside_its_dependencies, own_application_by_another_name, own_application_of_mix_is_built,
     own_application_with_links, own_application_that_is_built_in_part, headers_in_a_circle, applications_that_are_no_atoms,
     modules_that_unpack_to_much, archives_that_unpack_to_much, archives_damaged_within, modules_whose_compiler_says_much,
     reading_a_module_is_limited, atoms_without_room, atoms_of_all_terms_are_found, same_bytes_in_two_encodings,
     counting_ends_with_the_room, atoms_of_many_modules, identity_of_elixir, sources_newer_than_their_modules,
     headers_newer_than_a_module, header_in_a_relative_folder, source_of_a_module_of_another_release, sources_of_any_time,
     grammars_newer_than_a_module, grammar_with_a_header, made_from_another_file, sources_of_a_folder_of_modules,
     sources_of_a_release, modules_of_one_name_in_two_applications].

init_per_testcase(Case, Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), Case),
    ok = filelib:ensure_path(Dir),
    [{dir, Dir}, {path, code:get_path()} | Config].

end_per_testcase(_Case, Config) ->
    true = code:set_path(proplists:get_value(path, Config)),
    true = os:unsetenv("MIX_ENV"),
    ok.

%% All of Elixir's own modules have debug_info, most in Elixir's own form.
elixir_is_judged(_) ->
    {ok, Ebin} = mailbox_audit_elixir:ebin(),
    {ok, #{modules := Modules, findings := Findings, skipped := Skipped}} = mailbox_audit:static([Ebin]),
    ?assertEqual([], Skipped),
    ?assertEqual(length(filelib:wildcard(Ebin ++ "/*.beam")), Modules),
    ?assertMatch([_ | _], [F || #{module := 'Elixir.System', verdict := scans} = F <- Findings]).

%% As where a node looks at itself.
code_path_stays_where_nothing_is_searched(_) ->
    {ok, Ebin} = mailbox_audit_elixir:ebin(),
    {ok, Beam} = file:read_file(filename:join(Ebin, "Elixir.System.beam")),
    _ = code:purge(elixir_erl),
    _ = code:delete(elixir_erl),
    true = code:set_path([Dir || Dir <- code:get_path(), filename:basename(filename:dirname(Dir)) =/= "elixir"]),
    Path = code:get_path(),
    ?assertMatch({error, {no_backend, elixir_erl, _}}, mailbox_audit:module(Beam, #{search => false})),
    ?assertEqual(Path, code:get_path()),
    ?assertMatch({ok, [_ | _]}, mailbox_audit:module(Beam)).

compressed_modules(_) ->
    ?assertMatch({ok, [#{verdict := scans}]}, mailbox_audit:module(zlib:gzip(compiled(shop, ?SCANS, [debug_info])))).

backend_of_the_release_around(Config) ->
    Release = dir(Config, "release"),
    write([Release, "lib/around-1/ebin/around_backend.beam"], compiled(around_backend, ?BACKEND, [])),
    write([Release, "lib/shop-1/ebin/shop.beam"], foreign(around_backend)),
    ?assertMatch({ok, #{modules := 1, skipped := [], findings := [#{verdict := scans}]}},
                 mailbox_audit:static([filename:join(Release, "lib/shop-1/ebin/shop.beam")])).

backend_beside_the_module(Config) ->
    write([dir(Config), "beside_backend.beam"], compiled(beside_backend, ?BACKEND, [])),
    Beam = write([dir(Config), "shop.beam"], foreign(beside_backend)),
    ?assertMatch({ok, #{modules := 1, skipped := []}}, mailbox_audit:static([Beam])).

backend_in_the_same_archive(Config) ->
    Archive = archive(dir(Config, "shop.ez"), [{"other-1/ebin/zipped_backend.beam", compiled(zipped_backend, ?BACKEND, [debug_info])},
                                               {"shop-1/ebin/shop.beam", foreign(zipped_backend)}]),
    ?assertMatch({ok, #{modules := 2, skipped := [], findings := [#{verdict := scans}]}}, mailbox_audit:static([Archive])).

backend_that_is_nowhere(Config) ->
    Beam = write([dir(Config), "shop.beam"], foreign(no_such_backend)),
    {ok, #{modules := 0, skipped := [{Beam, shop, {no_backend, no_such_backend, _}} = Skipped]}} = mailbox_audit:static([Beam]),
    says("no_such_backend, which reads the debug_info of shop, is not found", mailbox_audit_text:why_skipped(Skipped)).

backend_that_fails(Config) ->
    Beam = write([dir(Config), "shop.beam"], foreign(failing_backend)),
    write([dir(Config), "failing_backend.beam"], compiled(failing_backend, "debug_info(_, _, _, _) -> error(other_version).", [])),
    ?assertMatch({ok, #{skipped := [{_, failing_backend, no_debug_info}, {Beam, shop, {backend_fails, failing_backend}}]}},
                 mailbox_audit:static([dir(Config)])).

abstract_code_beside_other_debug_info(_) ->
    Abstract = {<<"Abst">>, term_to_binary({raw_abstract_v1, forms(shop, ?SCANS)})},
    ?assertMatch({ok, [#{verdict := scans, function := {f, 1}}]}, mailbox_audit:module(changed(foreign(no_such_backend), [Abstract]))).

%% As OTP 28 and later write them: their number negative, and their lengths in the way of the instructions' numbers.
atoms_of_newer_releases(_) ->
    [begin
         Newer = with_newer_atoms(compiled(Module, ?SCANS, [debug_info])),
         {ok, #{findings := [#{module := Module, verdict := scans}]}} = mailbox_audit:static([{"newer.beam", Newer}])
     end || Module <- [shop, 'a_module_with_more_than_fifteen_characters', list_to_atom(lists:duplicate(250, $x))]].

%% As on the Erlang of a release. Only receives need it.
without_a_compiler(_) ->
    {ok, Peer, _} = peer:start(#{connection => standard_io, args => ["-pa", filename:dirname(code:which(mailbox_audit))]}),
    true = peer:call(Peer, code, del_path, [compiler]),
    Judged = fun(Text, Options) -> peer:call(Peer, mailbox_audit, module, [compiled(shop, Text, Options)]) end,
    ?assertEqual({error, no_compiler}, Judged(?SCANS, [debug_info])),
    ?assertEqual({error, no_debug_info}, Judged(?SCANS, [])),
    ?assertEqual({ok, []}, Judged("f(X) -> X.", [debug_info])),
    says("this Erlang has no compiler", mailbox_audit_text:why_skipped({"shop.beam", shop, no_compiler})),
    peer:stop(Peer).

%% A pass that fails on crafted code would. A caller that is judged in has its group leader again.
compiler_prints_nothing(_) ->
    {Others, [{function, Line, f, 1, [{clause, Line, Args, [], Body}]}]} = lists:split(3, forms(shop, ?SCANS)),
    Fails = Others ++ [{function, Line, f, 1, [{clause, Line, Args, [], [{block, Line, []} | Body]}]}],
    Crafted = changed(compiled(shop, ?SCANS, [debug_info]), [{<<"Dbgi">>, debug_info(erl_abstract_code, {Fails, []})}]),
    Test = self(),
    Device = spawn_link(fun() -> heard(Test) end),
    [begin
         {Pid, Monitor} = spawn_monitor(fun() ->
                                                true = group_leader(Device, self()),
                                                {error, [_ | _]} = mailbox_audit:module(Crafted, #{in_caller => InCaller}),
                                                exit({group_leader, group_leader()})
                                        end),
         receive {'DOWN', Monitor, process, Pid, Ended} -> ?assertEqual({InCaller, {group_leader, Device}}, {InCaller, Ended}) end
     end || InCaller <- [false, true]],
    true = unlink(Device),
    true = exit(Device, kill),
    ?assertEqual({messages, []}, process_info(self(), messages)).

heard(Test) ->
    receive
        {io_request, From, As, Request} ->
            Test ! {heard, Request},
            From ! {io_reply, As, ok},
            heard(Test)
    end.

%% It is the compiler's word where it is of this release, and the release's where that is newer. It never ends the audit.
code_that_no_compiler_here_knows(_) ->
    Unknown = [{function, 1, f, 1, [{clause, 1, [{var, 1, 'X'}], [], [{'receive', 1, [{clause, 1, [{var, 1, 'X'}], [], [{newly, 1}]}]}]}]}],
    DebugInfo = debug_info(erl_abstract_code, {forms(shop, ?SCANS) ++ Unknown, []}),
    Beam = changed(compiled(shop, ?SCANS, [debug_info]), [{<<"Dbgi">>, DebugInfo}]),
    {error, [_ | _] = Words} = mailbox_audit:module(Beam),
    ?assertEqual(nomatch, string:find(Words, "\n")),
    Newer = changed(Beam, [{<<"CInf">>, term_to_binary([{version, "99.1"}])}]),
    ?assertMatch({error, {newer_compiler, "99.1", _}}, mailbox_audit:module(Newer)),
    {ok, #{skipped := [Skipped]}} = mailbox_audit:static([{"shop.beam", Newer}]),
    says("shop was compiled by OTP 118", mailbox_audit_text:why_skipped(Skipped)).

newest_compiler_of_all(_) ->
    Made = fun(Version) -> {"m.beam", changed(compiled(shop, ?SCANS, []), [{<<"CInf">>, term_to_binary([{version, Version}])}])} end,
    ?assertEqual({ok, 29}, mailbox_audit_static:newest_compiler([Made("8.2.3"), Made("10.0.4"), Made("9.0")])),
    ?assertEqual({ok, 0}, mailbox_audit_static:newest_compiler([Made(strange), Made("1,5"), {"none", <<"no beam">>}])),
    ?assertMatch({error, {unknown, _}}, mailbox_audit_static:newest_compiler(["nothing_of_that_name"])).

releases_of_compilers(_) ->
    [?assertEqual({Version, Release}, {Version, mailbox_audit_compiler:release(Version)})
     || {Version, Release} <- [{"8.2", 25}, {"8.2.6.4", 25}, {"8.3.2", 26}, {"8.4", 26},
                               {"8.5", 27}, {"8.6.1", 27}, {"9.0", 28}, {"10.0.6", 29}]],
    _ = application:load(compiler),
    {ok, Own} = application:get_key(compiler, vsn),
    ?assertEqual([older, same, newer, unknown], [mailbox_audit_compiler:age(Version) || Version <- ["8.0", Own, "99.1", unknown]]),
    ?assertEqual(erlang:system_info(otp_release), integer_to_list(mailbox_audit_compiler:release(Own))).

encrypted_debug_info(_) ->
    ?assertEqual({error, encrypted}, mailbox_audit:module(compiled(shop, ?SCANS, [debug_info, {debug_info_key, "key"}]))).

project_of_mix_or_rebar3_in_any_profile(Config) ->
    [begin
         Dir = dir(Config, Profile),
         write([Dir, File], <<>>),
         write([Dir, "_build", Profile, Kind, "shop/ebin/shop.beam"], compiled(shop, ?SCANS, [debug_info])),
         [?assertMatch({Target, {ok, #{modules := 1, findings := [_]}}}, {Target, mailbox_audit:static([Target])})
          || Target <- [Dir, Dir ++ "/_build", Dir ++ "/_build/" ++ Profile]]
     end || {File, Profile, Kind} <- [{"mix.exs", "dev", "lib"}, {"mix.exs", "prod", "lib"}, {"mix.exs", "rpi4_dev", "lib"},
                                      {"rebar.config", "prod", "lib"}, {"rebar.config", "default", "checkouts"}]],
    Unbuilt = dir(Config, "unbuilt"),
    write([Unbuilt, "mix.exs"], <<>>),
    {error, Reason} = mailbox_audit:static([Unbuilt]),
    says("'mix compile'", mailbox_audit:format_error(Reason)).

mix_env_goes_first(Config) ->
    [write([dir(Config), "_build", Env, "lib/shop/ebin/", Name ++ ".beam"], compiled(list_to_atom(Name), ?SCANS, [debug_info]))
     || {Env, Name} <- [{"dev", "in_dev"}, {"test", "in_test"}]],
    Module = fun() -> {ok, #{findings := [#{module := Module}]}} = mailbox_audit:static([dir(Config)]), Module end,
    ?assertEqual(in_dev, Module()),
    true = os:putenv("MIX_ENV", "test"),
    ?assertEqual(in_test, Module()),
    true = os:putenv("MIX_ENV", "prod"),
    ?assertEqual(in_dev, Module()).

project_of_erlang_mk(Config) ->
    [write([dir(Config), Path], compiled(Module, ?SCANS, [debug_info]))
     || {Module, Path} <- [{own, "ebin/own.beam"}, {dependency, "deps/dependency/ebin/dependency.beam"}]],
    ?assertMatch({ok, #{modules := 2}}, mailbox_audit:static([dir(Config)])).

application_of_an_umbrella(Config) ->
    [write([dir(Config), "_build/dev/lib", Name, "ebin", Name ++ ".beam"], compiled(list_to_atom(Name), ?SCANS, [debug_info]))
     || Name <- ["one", "two"]],
    write([dir(Config), "apps/two/mix.exs"], <<>>),
    ?assertMatch({ok, #{findings := [#{module := two}]}}, mailbox_audit:static([dir(Config, "apps/two")])).

archives_and_escripts(Config) ->
    Entries = [{"shop-1/ebin/shop.beam", compiled(shop, ?SCANS, [debug_info])}, {"shop-1/priv/readme", <<"text">>}],
    Archive = archive(dir(Config, "plugins/shop.ez"), Entries),
    Scripts = [escript(dir(Config, Name), Section)
               || {Name, Section} <- [{"of_archive", {archive, Entries, []}}, {"of_beam", {beam, element(2, hd(Entries))}},
                                      {"of_source", {source, list_to_binary(["main(_) -> f(x).\n", ?SCANS, "\n"])}}]],
    [?assertMatch({Target, {ok, #{modules := 1, skipped := [], findings := [#{verdict := scans, function := {f, 1}}]}}},
                  {Target, mailbox_audit:static([Target])})
     || Target <- [Archive, dir(Config), dir(Config, "plugins") | Scripts]],
    {ok, #{findings := [#{identity := Identity}]}} = mailbox_audit:static([dir(Config, "of_source")]),
    ?assertMatch("of_source:f/1 " ++ _, Identity). % and not the name that escript makes up each time

damaged_archives(Config) ->
    Archive = archive(dir(Config, "shop.ez"), [{"shop-1/ebin/shop.beam", compiled(shop, ?SCANS, [debug_info])}]),
    {ok, Bytes} = file:read_file(Archive),
    Damaged = write([dir(Config), "damaged.ez"], binary:part(Bytes, 0, byte_size(Bytes) div 2)),
    ?assertMatch({ok, #{modules := 1, skipped := [{Damaged, none, no_archive}]}}, mailbox_audit:static([dir(Config)])),
    ?assertMatch({error, {not_a_beam, Damaged}}, mailbox_audit:static([Damaged])),
    Script = write([dir(Config), "script"], <<"#!/usr/bin/env escript\nmain( ->">>),
    ?assertMatch({error, {refused, Script, [_ | _]}}, mailbox_audit:static([Script])),
    Empty = archive(dir(Config, "empty.ez"), [{"shop-1/priv/readme", <<"text">>}]),
    ?assertMatch({error, {nothing_in, Empty}}, mailbox_audit:static([Empty])).

sources(Config) ->
    write([dir(Config), "include/shop.hrl"], <<"-define(TAG, tag).\n">>),
    write([dir(Config), "src/own.hrl"], <<"-define(OWN, own).\n">>),
    Source = write([dir(Config), "src/shop.erl"],
                   ["-module(shop).\n-compile(warnings_as_errors).\n-export([f/1]).\n-include(\"shop.hrl\").\n-include(\"own.hrl\").\n"
                    "f(X) -> receive {?TAG, ?OWN, X} -> ok end.\n"]),
    ?assertMatch({ok, #{findings := [#{verdict := scans, line := 6, module := shop}]}}, mailbox_audit:static([Source])).

source_of_elixir(Config) ->
    Source = write([dir(Config), "shop.ex"], <<"defmodule Shop do\n  def wait(p), do: receive(do: ({^p, a} -> a))\nend\n">>),
    process_flag(trap_exit, true),
    {ok, #{modules := 1, findings := [#{verdict := scans, line := 2, reason := Reason}]}} = mailbox_audit:static([Source]),
    ?assertEqual({messages, []}, process_info(self(), messages)),
    ?assertEqual("all clauses match p, but the compiler sees no fresh reference in it", Reason).

%% Its variables are numbered by their place in the function. A pin is of the pattern.
identity_of_elixir(Config) ->
    Identity = fun(Body, Pattern) ->
                       Source = write([dir(Config), "shop.ex"], ["defmodule Shop do\n  def wait(p, x) do\n    ", Body, "\n    receive do\n",
                                                                "      {", Pattern, "} -> {p, x}\n    end\n  end\nend\n"]),
                       {ok, #{findings := [#{verdict := scans, identity := Found}]}} = mailbox_audit:static([Source]),
                       Found
               end,
    Known = Identity("send(p, x)", "^p, x"),
    [?assertEqual({Body, Known}, {Body, Identity(Body, "^p, x")})
     || Body <- ["x = self()\n    send(p, x)", "p = hd(p)\n    x = hd(p)\n    x = [x]\n    send(p, x)"]],
    Others = [Identity("send(p, x)", Pattern) || Pattern <- ["^p, ^x", "^x, p", "p, x", "^p, y", "^p, x, 1"]],
    ?assertEqual(6, length(lists:usort([Known | Others]))).

sources_that_do_not_compile(Config) ->
    [begin
         Source = write([dir(Config), Name], Text),
         {error, {refused, Source, _} = Reason} = mailbox_audit:static([Source]),
         Words = mailbox_audit:format_error(Reason),
         says("does not compile", Words),
         ?assertEqual(nomatch, string:find(Words, "\n"))
     end || {Name, Text} <- [{"bad.erl", <<"f(">>}, {"bad.ex", <<"defmodule X do">>}]].

folders_of_any_name(Config) ->
    [begin
         Dir = dir(Config, Name),
         write([Dir, "rebar.config"], <<>>),
         write([Dir, "_build/default/lib/shop/ebin/shop.beam"], compiled(shop, ?SCANS, [debug_info])),
         Ebin = Dir ++ "/_build/default/lib/shop/ebin",
         [?assertMatch({Target, {ok, #{modules := 1}}}, {Target, mailbox_audit:static([Target])}) || Target <- [Dir, Ebin]],
         None = write([Dir, "none"], <<>>),
         ?assertMatch({error, {new, 1}}, mailbox_audit_project:audit([Ebin], #{baseline => None}, fun(_) -> ok end))
     end || Name <- ["br[1]", "{a}", "{a,b}", "back\\slash", "st*r", "wh?t", "bl nk", "new\nline", "-dash", [16#e4, 16#1f600]]].

copies_are_judged_once(Config) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    [write([dir(Config), Name], Beam) || Name <- ["shop.beam", "copy.beam", "lib/shop-1/ebin/shop.beam"]],
    ?assertMatch({ok, #{modules := 1, findings := [_], skipped := []}},
                 mailbox_audit:static([dir(Config), dir(Config, "lib/shop-1"), dir(Config)])).

copy_with_debug_info_is_taken(Config) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    {ok, {shop, Stripped}} = beam_lib:strip(Beam),
    [write([dir(Config), Name], Bytes) || {Name, Bytes} <- [{"a.beam", Stripped}, {"b.beam", Beam}]],
    ?assertMatch({ok, #{modules := 1, findings := [_], skipped := []}}, mailbox_audit:static([dir(Config)])).

other_versions_are_told(Config) ->
    [First, Second] = [write([dir(Config), Name], compiled(shop, Text, [debug_info]))
                       || {Name, Text} <- [{"a.beam", ?SCANS}, {"b.beam", "f(X) -> receive {X, new, A} -> A end."}]],
    {ok, #{modules := 1, findings := [_], skipped := [{Second, shop, {another_version, First}} = Skipped]}} =
        mailbox_audit:static([dir(Config)]),
    says("has other code of shop than " ++ First, mailbox_audit_text:why_skipped(Skipped)).

bytes_under_a_name(_) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    ?assertMatch({ok, #{modules := 1, findings := [_], skipped := [{"elsewhere", none, no_file}]}},
                 mailbox_audit:static([{"here", Beam}, {"elsewhere", {unread, no_file}}])).

%% Beside an application that is judged, another one whose modules nobody sees.
what_cannot_be_looked_into_is_told(Config) ->
    [begin
         Release = dir(Config, integer_to_list(Nth)),
         write([Release, "lib/quiet-1/ebin/quiet.beam"], compiled(quiet, "f(X) -> X.", [debug_info])),
         Link = filename:join(Release, Place),
         ok = filelib:ensure_dir(Link),
         ok = make(Link, Made),
         [?assertMatch({Made, Target, {ok, #{modules := 1, skipped := [{Link, none, Why}]}}},
                       {Made, Target, mailbox_audit:static([Target])})
          || Target <- [Release, Release ++ "/lib"]]
     end || {Nth, {Place, Made, Why}} <- lists:enumerate([{"lib/other-1", {link, "/no/such"}, enoent},
                                                          {"lib/other-1", {link, "other-1"}, eloop},
                                                          {"lib/other-1/ebin", {link, "ebin"}, eloop},
                                                          {"lib/other-1/ebin", {link, "/no/such"}, enoent},
                                                          {"lib/other-1/ebin", file, enotdir},
                                                          {"lib/other-1/ebin/other.beam", {link, "other.beam"}, eloop}])].

make(Path, {link, To}) -> file:make_symlink(To, Path);
make(Path, file) -> file:write_file(Path, "").

folder_without_permission(Config) ->
    [write([dir(Config), Path], compiled(Module, ?SCANS, [debug_info]))
     || {Module, Path} <- [{shop, "lib/shop-1/ebin/shop.beam"}, {other, "lib/other-1/ebin/other.beam"}]],
    Ebin = dir(Config, "lib/other-1/ebin"),
    ok = file:change_mode(Ebin, 0),
    Listed = file:list_dir(Ebin),
    Judged = mailbox_audit:static([dir(Config)]),
    ok = file:change_mode(Ebin, 8#755),
    case Listed of
        {error, eacces} -> ?assertMatch({ok, #{modules := 1, skipped := [{Ebin, none, eacces}]}}, Judged);
        {ok, _} -> {skip, "this user may read all"}
    end.

%% As rebar3 leaves them, and as of a release's logs.
links_of_no_application(Config) ->
    Project = dir(Config, "project"),
    write([Project, "rebar.config"], <<>>),
    [begin
         write([Place, "ebin/shop.beam"], compiled(shop, ?SCANS, [debug_info])),
         ok = file:make_symlink("/no/such", filename:join(Top, Name)),
         [?assertMatch({Target, {ok, #{modules := 1, skipped := []}}}, {Target, mailbox_audit:static([Target])}) || Target <- Targets]
     end || {Place, Top, Name, Targets} <-
                [{Project ++ "/_build/default/lib/shop", Project ++ "/_build/default/lib/shop", "priv",
                  [Project, Project ++ "/_build/default", Project ++ "/_build/default/lib/shop"]},
                 {dir(Config, "release/lib/shop-1"), dir(Config, "release"), "log", [dir(Config, "release")]}]].

profile_with_a_dead_link(Config) ->
    Lib = dir(Config, "_build/default/lib"),
    write([dir(Config), "rebar.config"], <<>>),
    write([Lib, "shop/ebin/shop.beam"], compiled(shop, ?SCANS, [debug_info])),
    ok = file:make_symlink("/no/such", filename:join(Lib, "other")),
    Other = filename:join(Lib, "other"),
    [?assertMatch({Target, {ok, #{modules := 1, skipped := [{Other, none, enoent}]}}}, {Target, mailbox_audit:static([Target])})
     || Target <- [dir(Config), dir(Config, "_build"), dir(Config, "_build/default"), Lib]].

%% They are judged; a byte is shown as the character of its number.
names_that_are_no_characters(Config) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    [begin
         Release = dir(Config, integer_to_list(Nth)),
         Raw = filename:join(list_to_binary(Release), Path),
         ok = filelib:ensure_dir(Raw),
         ok = file:write_file(Raw, Bytes),
         {ok, #{modules := Modules, findings := Findings, skipped := Skipped} = Report} = mailbox_audit:static([Release]),
         ?assertEqual({Path, Modules, Shown}, {Path, length(Findings), [filename:basename(File) || {File, _, _} <- Skipped]}),
         [?assert(iolist_size(Text) > 0)
          || Text <- [unicode:characters_to_binary(mailbox_audit_text:report(Report)), mailbox_audit_json:report(Report)]]
     end || {Nth, {Path, Bytes, Shown}} <- lists:enumerate([{<<"lib/b", 255, "/ebin/shop.beam">>, Beam, []},
                                                            {<<"lib/b/ebin/sh", 255, "op.beam">>, Beam, []},
                                                            {<<"lib/b/ebin/sh", 255, "op.beam">>, <<"no beam">>,
                                                             [[$s, $h, 255 | "op.beam"]]},
                                                            {<<"plugins/sh", 255, ".ez">>, <<"no archive">>, [[$s, $h, 255 | ".ez"]]}])],
    ?assertMatch({ok, #{modules := 1}}, mailbox_audit:static([filename:join(list_to_binary(dir(Config, "1/lib")), <<"b", 255>>)])),
    [begin
         {error, Reason} = mailbox_audit:static([Target]),
         says(Words, mailbox_audit:format_error(Reason))
     end || {Target, Words} <- [{<<255>>, [$', 255, $']}, {[255, 16#d800], "cannot read [255,55296]"}]].

names_in_capitals(Config) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    write([dir(Config), "folder/shop.BEAM"], Beam),
    archive(dir(Config, "archive/shop.EZ"), [{"shop-1/ebin/shop.BEAM", Beam}]),
    [?assertMatch({ok, #{modules := 1, findings := [_]}}, mailbox_audit:static([dir(Config, Name)])) || Name <- ["folder", "archive"]].

%% One in another, and one that lists nothing of what it holds.
archives_that_hide(Config) ->
    {ok, {_, Bytes}} = zip:create("inner", [{"shop-1/ebin/shop.beam", compiled(shop, ?SCANS, [debug_info])}], [memory]),
    Outer = archive(dir(Config, "outer.ez"), [{"shop-1/priv/inner.ez", Bytes}]),
    Inner = filename:join(Outer, "shop-1/priv/inner.ez"),
    {ok, #{modules := 0, skipped := [{Inner, none, inner_archive} = Skipped]}} = mailbox_audit:static([Outer]),
    says("archive in an archive", mailbox_audit_text:why_skipped(Skipped)),
    [Files, _Listed] = binary:split(Bytes, <<"PK", 1, 2>>),
    Empty = write([dir(Config, "empty.ez")], [Files, <<"PK", 5, 6, 0:96, (byte_size(Files)):32/little, 0:16>>]),
    {ok, #{skipped := Unread}} = mailbox_audit:static([dir(Config)]),
    ?assertEqual([{Empty, none, no_archive}, {Inner, none, inner_archive}], Unread).

%% Whose reading would never end.
special_files(Config) ->
    write([dir(Config), "shop.beam"], compiled(shop, ?SCANS, [debug_info])),
    [Beam, Archive, Source] = Pipes = [dir(Config, Name) || Name <- ["pipe.beam", "pipe.ez", "pipe.erl"]],
    [] = os:cmd(lists:append(["mkfifo" | [[$\s, $' | Pipe] ++ "'" || Pipe <- Pipes]])),
    ?assertMatch({ok, #{modules := 1, skipped := [{Beam, none, special_file}, {Archive, none, special_file}]}},
                 mailbox_audit:static([dir(Config)])),
    [begin
         {error, {unreadable, Target, special_file} = Reason} = mailbox_audit:static([Target]),
         says("it is a pipe, a device or a socket", mailbox_audit:format_error(Reason))
     end || Target <- [Beam, Source, "/dev/zero"]].

%% None of them ends the judging of the others.
damaged_beams(Config) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    {ok, {_, [{"AtU8", Atoms}]}} = beam_lib:chunks(Beam, ["AtU8"]),
    write([dir(Config), "good.beam"], compiled(good, ?SCANS, [debug_info])),
    [begin
         Damaged = write([dir(Config), "damaged.beam"], changed(Beam, [{Chunk, Bytes}])),
         ?assertMatch({_, {ok, #{modules := 1, findings := [#{module := good}], skipped := [{Damaged, _, _}]}}},
                      {{Chunk, Bytes}, mailbox_audit:static([dir(Config)])}),
         ?assertMatch({_, {error, _}}, {{Chunk, Bytes}, mailbox_audit:module(element(2, file:read_file(Damaged)))})
     end || {Chunk, Bytes} <-
                [{<<"AtU8">>, binary:replace(Atoms, <<"shop">>, <<255, 254, 253, 252>>)}, {<<"AtU8">>, <<>>}, {<<"AtU8">>, <<(-1):32, 9>>},
                 {<<"CInf">>, term_to_binary([{options, foo}])}, {<<"CInf">>, term_to_binary([{options, [inline | foo]}])},
                 {<<"CInf">>, term_to_binary([x | y])}, {<<"CInf">>, <<131>>}, {<<"Dbgi">>, <<131, 111, -1:32, 0>>}]
                ++ [{<<"Dbgi">>, debug_info(erl_abstract_code, {Forms, []})}
                    || Forms <- [x, [], [a | b], [{attribute, 1, module, shop} | b], [{attribute, 1, module, shop}, {function, 1, f}],
                                [{attribute, 1, module, shop}, {function, 1, "f", 0, []}],
                                forms(shop, ?SCANS) ++ [{attribute, 1, export, foo}],
                                 [{attribute, 1, file, {[16#d800], 1}} | forms(shop, ?SCANS)]]]],
    ?assertMatch({ok, [_]}, mailbox_audit:module(changed(Beam, [{<<"CInf">>, term_to_binary([{version, [a | b]}])}]))).

debug_info_of_another_module(_) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    [begin
         Other = changed(Beam, [{<<"Dbgi">>, debug_info(erl_abstract_code, {Forms, []})}]),
         {ok, #{modules := 0, skipped := [{_, shop, other_debug_info} = Skipped]}} = mailbox_audit:static([{"shop.beam", Other}]),
         says("the debug_info of shop is that of another module", mailbox_audit_text:why_skipped(Skipped))
     end || Forms <- [forms(quiet, "f(X) -> X."), [x]]].

odd_forms_can_be_shown(_) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    [begin
         Forms = [{attribute, 1, file, {File, 1}} | tl(forms(shop, ?SCANS))],
         Odd = changed(Beam, [{<<"Dbgi">>, debug_info(erl_abstract_code, {Forms, []})}]),
         {ok, #{findings := [#{file := Shown}]} = Report} = mailbox_audit:static([{"shop.beam", Odd}]),
         [?assert(iolist_size(Text) > 0)
          || Text <- [unicode:characters_to_binary(mailbox_audit_text:report(Report)), mailbox_audit_json:report(Report)]]
     end || {File, Shown} <- [{<<"b.erl">>, "b.erl"}, {["a", "b"], "ab"}, {"", ""}]].

source_that_makes_no_module(Config) ->
    Source = write([dir(Config), "listing.erl"], <<"-module(listing).\n-compile(strong_validation).\n">>),
    ?assertMatch({error, {refused, Source, _}}, mailbox_audit:static([Source])).

%% Also where it prints again and again; and nothing of it runs on, or stays in a mailbox.
programs_end_in_time(_) ->
    process_flag(trap_exit, true),
    Script = "echo $$; while :; do echo more; sleep 0.01; done",
    {timeout, Said} = mailbox_audit_elixir:run("/bin/sh", ["-c", Script], 200),
    [Pid | _] = binary:split(Said, <<"\n">>),
    until_gone("/proc/" ++ binary_to_list(Pid)),
    ?assertEqual({3, <<"said\n">>}, mailbox_audit_elixir:run("/bin/sh", ["-c", "echo said; exit 3"], 60_000)),
    ?assertEqual({messages, []}, process_info(self(), messages)).

%% As its own reading would: the header of a source, or of its header, of its application or of another one, and what its documentation is.
headers_that_have_no_end(Config) ->
    Pipe = dir(Config, "include/pipe.hrl"),
    ok = filelib:ensure_dir(Pipe),
    [] = os:cmd("mkfifo '" ++ Pipe ++ "'"),
    write([dir(Config), "include/more.hrl"], "-include(\"pipe.hrl\").\n"),
    [begin
         Source = write([dir(Config), Name], [Before, Text, "\nmain(_) -> ok.\n"]),
         {error, {refused, Source, _} = Reason} = mailbox_audit:static([Source]),
         says("pipe.hrl: it is a pipe", mailbox_audit:format_error(Reason))
     end || {Name, Before} <- [{"src/shop.erl", "-module(shop).\n-export([main/1]).\n"}, {"include/script", "#!/usr/bin/env escript\n"}],
            Text <- ["-include(\"pipe.hrl\").", " - include( \"more.hrl\" ).", "-include(\"" ++ Pipe ++ "\").",
                     "-include_lib(\"kernel/../../../../../../../../../../../../../../../" ++ Pipe ++ "\").",
                     "-moduledoc {file, \"../include/pipe.hrl\"}."]],
    Source = write([dir(Config), "src/ends.erl"], "-module(ends).\n-include(\"ends.hrl\").\n"),
    write([dir(Config), "include/ends.hrl"],
          "-include_lib(\"kernel/include/file.hrl\").\n-ifdef(AGAIN).\n-include(\"ends.hrl\").\n-endif.\n"),
    ?assertMatch({ok, #{modules := 1}}, mailbox_audit:static([Source])).

%% By ever longer paths, of which there are more than can be looked at.
headers_in_a_circle(Config) ->
    Source = write([dir(Config), "src/circle.erl"], "-module(circle).\n-include(\"circle.hrl\").\n"),
    write([dir(Config), "src/circle.hrl"],
          "-ifndef(ONCE).\n-define(ONCE, 1).\n-include(\"../src/circle.hrl\").\n-include(\"./../src/circle.hrl\").\n-endif.\n"),
    ?assertMatch({ok, #{modules := 1}}, mailbox_audit:static([Source])).

%% In Latin-1, or too long.
applications_that_are_no_atoms(Config) ->
    [begin
         Source = write([dir(Config), "lost.erl"], ["%% coding: latin-1\n-module(lost).\n-include_lib(\"", Application, "/lost.hrl\").\n"]),
         ?assertMatch({error, {refused, Source, _}}, mailbox_audit:static([Source]))
     end || Application <- [<<233>>, lists:duplicate(300, $a)]].

%% As of a parse transform that does not return. Nothing of it stays.
compilations_end_in_time(_) ->
    Test = self(),
    ?assertMatch({error, "its compilation takes longer than" ++ _},
                 mailbox_audit_source:in_time(fun() -> Test ! {it, self()}, timer:sleep(infinity) end, 10)),
    Pid = receive {it, It} -> It end,
    ?assertNot(is_process_alive(Pid)),
    ?assertEqual({error, "it does not compile"},
                 mailbox_audit_source:in_time(fun() -> exit(self(), kill), timer:sleep(infinity) end, 60_000)),
    ?assertEqual({ok, made}, mailbox_audit_source:in_time(fun() -> {ok, made} end, 60_000)),
    ?assertEqual({messages, []}, process_info(self(), messages)).

%% Whatever ends that, also where the source's own code does not return.
compilations_end_with_their_caller(Config) ->
    Transform = compiled(waiting_transform, "parse_transform(_, _) -> register(waiting_transform, self()), receive never -> ok end.", []),
    {module, waiting_transform} = code:load_binary(waiting_transform, "waiting_transform.beam", Transform),
    Uses = "-compile({parse_transform, waiting_transform}).\n",
    [begin
         Source = write([dir(Config), Name], Text),
         {Asks, Asked} = spawn_monitor(fun() -> mailbox_audit:static([Source]) end),
         Waiting = monitor(process, until_registered(waiting_transform)),
         true = exit(Asks, kill),
         receive {'DOWN', Asked, process, _, killed} -> ok end,
         ?assertEqual({Name, ended}, {Name, receive {'DOWN', Waiting, process, _, killed} -> ended after 5000 -> lives end})
     end || {Name, Text} <- [{"waits.erl", ["-module(waits).\n", Uses]},
                             {"script", ["#!/usr/bin/env escript\n", Uses, "main(_) -> ok.\n"]}]].

until_registered(Name) ->
    case whereis(Name) of
        undefined -> timer:sleep(1), until_registered(Name);
        Pid -> Pid
    end.

%% What it depends on is built, and it alone is judged: that is said, and a baseline fails.
own_application_that_is_not_built(Config) ->
    Quiet = compiled(quiet, "f(X) -> X.", [debug_info]),
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         [write([Project, File], Text) || {File, Text} <- [{"_build/default/lib/quiet/ebin/quiet.beam", Quiet} | Files]],
         Missing = filename:join([Project | Own]),
         [begin
              {ok, #{skipped := Skipped} = Report} = mailbox_audit:static([Target]),
              ?assertMatch({_, [{Missing, none, not_built}], [_]}, {{Files, Target}, Skipped, mailbox_audit_baseline:failed([], Report)}),
              says("is not built; run 'rebar3 compile'", mailbox_audit_text:report(Report))
          end || Target <- [Project, Project ++ "/_build", Project ++ "/_build/default"]]
     end || {Nth, {Own, Files}} <-
                lists:enumerate([{[], [{"rebar.config", ""}, {"src/shop.app.src", ""}, {"src/shop.erl", ""}]},
                                 {[], [{"rebar.config", "{deps, [quiet]}."}, {"src/shop.app.src", ""}, {"src/deeper/shop.erl", ""},
                                       {"_build/default/lib/shop/ebin/shop.app", ""}]},
                                 {[], [{"rebar.config", ""}, {"src/shop.erl", ""}]},
                                 {["apps", "shop"], [{"rebar.config", ""}, {"apps/shop/src/shop.app.src.script", ""},
                                                     {"apps/shop/src/shop.erl", ""}]},
                                 {["here", "shop"], [{"rebar.config", "%% \n{erl_opts, [debug_info]}.\n{project_app_dirs, [\"here/*\"]}."},
                                                     {"here/shop/src/shop.app.src", ""}, {"here/shop/src/shop.erl", ""}]},
                                 {["apps", "shop"], [{"rebar.config", "{project_app_dirs, [\"here\" | there]}. {erl_opts, [a | b]}."
                                                                      " {src_dirs, [c | d]}."},
                                                     {"apps/shop/src/shop.app.src", ""}, {"apps/shop/src/shop.erl", ""}]},
                                 {[], [{"rebar.config", "{src_dirs, [\"sources\"]}."}, {"sources/shop.app.src", ""},
                                       {"sources/shop.erl", ""}]},
                                 {["apps", "shop"], [{"rebar.config", ""},
                                                     {"apps/shop/rebar.config", "{erl_opts, [{src_dirs, [{\"the/sources\", []}]}]}."},
                                                     {"apps/shop/the/sources/shop.app.src", ""}, {"apps/shop/the/sources/shop.erl", ""}]},
                                 {[], [{"mix.exs", "@app :shop\ndef project, do: [app: @app]"},
                                       {"lib/shop.ex", "defmodule Shop do\nend\n"}]},
                                 {[], [{"mix.exs", "[app: :shop, elixirc_paths: [\"sources\"]]"}, {"sources/shop.ex", ""}]},
                                 {[], [{"mix.exs", "def project, do: [app: :shop]"}, {"lib/shop.ex", ""}]},
                                 {["apps", "shop"], [{"mix.exs", "[apps_path: \"apps\"]"}, {"apps/shop/mix.exs", "[app: :shop]"},
                                                     {"apps/shop/lib/shop/deeper.ex", ""}]},
                                 {[], [{"mix.exs", "[app: :shop]"}, {"lib/shop/the/very/deepest.ex", ""}]},
                                 {[], [{"mix.exs", "[app: :shop, erlc_paths: [\"erlang\"]]"}, {"erlang/shop.erl", ""}]},
                                 {[], [{"mix.exs", "[app: @app, erlc_paths: [\"erlang\"]]"}, {"erlang/deeper/shop.erl", ""}]},
                                 {[], [{"rebar.config", ""}, {"src/the/very/deepest.erl", ""}]}
                                 | [{[], [{"rebar.config", "{src_dirs, [\"src\", \"other\"]}."}, {"src/shop.app.src", ""},
                                          {Source, ""}]}
                                    || Source <- ["src/the/very/deepest.erl", "src/shop.lfe", "src/shop.gleam", "asn1/SHOP.asn1",
                                                  "other/the/very/deepest.hrl.new"]]])].

%% Wherever its modules are; and one without any is none.
own_application_beside_its_dependencies(Config) ->
    Beams = [{Name, compiled(list_to_atom(Name), ?SCANS, [debug_info])} || Name <- ["quiet", "shop"]],
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         [write([Project, File], "") || File <- ["rebar.config", "src/" ++ Application ++ ".app.src"] ++ Sources],
         [write([Project, Ebin, Name ++ ".beam"], Beam)
          || {Ebin, {Name, Beam}} <- lists:zip(["_build/default/lib/quiet/ebin", Own], Beams)],
         ?assertMatch({_, {ok, #{modules := 2, skipped := []}}}, {Nth, mailbox_audit:static([Project])})
     end || {Nth, {Application, Own, Sources}} <-
                lists:enumerate([{"shop", "_build/default/lib/shop/ebin", ["src/shop.erl"]},
                                 {"shop", "ebin", ["src/shop.erl"]},
                                 {"empty", "_build/default/lib/shop/ebin", []},
                                 {"empty", "_build/default/lib/shop/ebin",
                                  ["src/shop.hrl", "src/deeper/README.md", "src/Makefile", "src/.gitkeep", "src/.#shop.erl",
                                   "test/shop.erl"]}])].

%% A link may lead back. It is not followed, and a source all the same.
own_application_with_links(Config) ->
    [write([dir(Config), File], "") || File <- ["rebar.config", "src/shop.app.src", "elsewhere.erl", "folder/other.erl"]],
    write([dir(Config), "_build/default/lib/quiet/ebin/quiet.beam"], compiled(quiet, ?SCANS, [debug_info])),
    Project = dir(Config),
    [begin
         Link = dir(Config, From),
         ok = file:make_symlink(To, Link),
         {ok, #{modules := 1, skipped := Skipped}} = mailbox_audit:static([Project]),
         ?assertEqual({From, Expected}, {From, Skipped}),
         ok = file:delete(Link)
     end || {From, To, Expected} <- [{"src/shop.erl", "../elsewhere.erl", [{Project, none, not_built}]},
                                     {"src/folder", "../folder", []},
                                     {"src/loop", ".", []}]].

%% Each source of Erlang has a module of its name, in whatever folder. What is no source of the project's need not have one.
own_application_that_is_built_in_part(Config) ->
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         [write([Project, File], Text) || {File, Text} <- Files],
         [write([Project, "_build/default/lib/shop/ebin", Name ++ ".beam"], compiled(list_to_atom(Name), ?SCANS, [debug_info]))
          || Name <- ["shop", "till"]],
         Sources = [{filename:join(Project, Name), none, not_compiled} || Name <- Expected],
         {ok, #{modules := 2, skipped := Skipped} = Report} = mailbox_audit:static([Project]),
         ?assertEqual({Files, Sources}, {Files, Skipped}),
         ?assertEqual(case Sources of [] -> all; _ -> part end, mailbox_audit_static:coverage(Report#{outdated := []})),
         [says("source " ++ Source ++ " is not compiled; run", mailbox_audit_text:why_skipped(One)) || {Source, _, _} = One <- Skipped]
     end || {Nth, {Files, Expected}} <-
                lists:enumerate([{[{"rebar.config", ""}, {"src/shop.app.src", ""}, {"src/shop.erl", ""}, {"src/a/b/c/till.erl", ""},
                                   {"src/.#shelf.erl", ""}, {"test/shelf.erl", ""}, {"src/shelf.erl.orig", ""}], []},
                                 {[{"rebar.config", ""}, {"src/shop.app.src", ""}, {"src/shop.erl", ""}, {"src/a/b/c/shelf.erl", ""},
                                   {"src/price.yrl", ""}], ["src/a/b/c/shelf.erl", "src/price.yrl"]},
                                 {[{"rebar.config", "{yrl_opts, [verbose, {parserfile, \"src/till.erl\"}]}."}, {"src/shop.app.src", ""},
                                   {"src/shop.erl", ""}, {"src/price.yrl", ""}], []},
                                 {[{"rebar.config", "{yrl_opts, [{parserfile, \"src/list.erl\"}, {parserfile, x} | y]}."},
                                   {"src/shop.app.src", ""}, {"src/shop.erl", ""}, {"src/till.xrl", ""}, {"src/price.yrl", ""}],
                                  ["src/price.yrl"]},
                                 {[{"rebar.config", "{erl_opts, [{src_dirs, [\"lib\", {\"gen\", [{recursive, false}]}]}]}."},
                                   {"lib/shop.app.src", ""}, {"lib/shop.erl", ""}, {"gen/shelf.erl", ""}, {"gen/a/price.erl", ""},
                                   {"src/old.erl", ""}], ["gen/shelf.erl"]},
                                 {[{"mix.exs", "[app: :shop]"}, {"lib/shop.ex", ""}, {"src/shelf.erl", ""}], ["src/shelf.erl"]},
                                 {[{"rebar.config", ""}, {"src/shop.erl", ""}, {"src/shelf.erl", ""}], ["src/shelf.erl"]}])].

%% A time alone is no change: it is later in a fresh checkout, too. Nor is a difference that may come from something else.
sources_newer_than_their_modules(Config) ->
    Head = "-module(shop).\n-export([f/1]).\n",
    Same = Head ++ ?SCANS,
    Other = Head ++ "f(X) -> receive {X, A, A} -> A end.",
    OfDep = Head ++ "-include_lib(\"dep/include/dep.hrl\").\nf(X) -> receive {X, ?DEP} -> X end.",
    Named = Head ++ "-include(\"named.hrl\").\nf(X) -> receive {X, ?NAMED} -> X end.",
    If = Head ++ "-ifdef(WITH).\n-export([g/1]).\ng(X) -> X.\n-endif.\n" ++ ?SCANS,
    Transform = "-module(changes).\n-export([parse_transform/2]).\nparse_transform([File, Module | Forms], _) -> [File, Module",
    Transformed = Head ++ "-compile({parse_transform, changes}).\n" ++ ?SCANS,
    Changes = [{"src/changes.erl", Transform ++ " | Forms]."}],
    Rebar3 = {"_build/default/lib", "_build/default/lib/shop/ebin"},
    Deps = {"deps", "ebin"},
    Gone = "_build/default/lib/dep/include/dep.hrl",
    Without = "compiled with 'deterministic'",
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         Source = newer_source(Project, Layout, Text, Options, Files),
         _ = [case New of deleted -> ok = file:delete(filename:join(Project, File)); _ -> write([Project, File], New) end
              || {File, New} <- After],
         later(Source),
         {ok, #{modules := 1, skipped := [], outdated := Outdated, perhaps_outdated := Perhaps} = Report} =
             mailbox_audit:static([Project]),
         case Expected of
             same -> ?assertEqual({Text, [], []}, {Text, Outdated, Perhaps});
             outdated -> ?assertEqual({Text, [{Source, none, outdated}], []}, {Text, Outdated, Perhaps});
             _ ->
                 ?assertMatch({Text, [], [{Source, none, {not_compared, _}}]}, {Text, Outdated, Perhaps}),
                 says("may not be what its module was compiled from: ", mailbox_audit_text:why_skipped(hd(Perhaps))),
                 says(Expected, mailbox_audit_text:why_skipped(hd(Perhaps)))
         end,
         ?assertEqual(case Expected of outdated -> part; _ -> all end, mailbox_audit_static:coverage(Report))
     end || {Nth, {Layout, Text, Options, Files, After, Expected}} <-
                lists:enumerate([{Rebar3, Same, [], [], [], same},
                                 {Rebar3, Same, [], [], [{"src/shop.erl", Other}], outdated},
                                 {Rebar3, Same, [], [], [{"src/shop.erl", Same ++ "\ng(."}], outdated},
                                 {Rebar3, Same, [], [], [{"src/shop.erl", Same ++ "\ng() -> ?NONE."}], outdated},
                                 {Rebar3, Same, [deterministic], [], [{"src/shop.erl", Head ++ "f(X) -> ?NONE."}], Without},
                                 {Rebar3, OfDep, [], [], [], same},
                                 {Deps, OfDep, [], [], [], same},
                                 {Rebar3, OfDep, [deterministic], [], [], same},
                                 {Rebar3, OfDep, [], [], [{Gone, "-define(DEP, [])."}], outdated},
                                 {Rebar3, OfDep, [], [], [{Gone, deleted}], "can't find include lib \"dep/include/dep.hrl\""},
                                 {Rebar3, Named, [{i, dir(Config, "named")}], [{"include/named.hrl", "-define(NAMED, [])."}], [], same},
                                 {Rebar3, If, [{d, 'WITH'}], [], [], same},
                                 {Rebar3, If, [deterministic, {d, 'WITH'}], [], [], Without},
                                 {Rebar3, If, [deterministic], [], [], same},
                                 {Rebar3, Transformed, [], [{"src/changes.erl", Transform ++ " | Forms]."}], [], same},
                                 {Rebar3, Same, [{parse_transform, changes}], [{"src/changes.erl", Transform ++ " | Forms]."}], [], same},
                                 {Rebar3, Transformed, [],
                                  [{"src/changes.erl", Transform ++ ", {attribute, 1, import, {lists, [{seq, 2}]}} | Forms]."}], [],
                                  "a parse transform changes it"},
                                 %% What was added is a change, whatever else is not known.
                                 {Rebar3, Transformed, [], Changes, [{"src/shop.erl", Transformed ++ "\ng() -> ok."}], outdated},
                                 {Rebar3, Transformed, [], Changes, [{"src/shop.erl", "-compile({parse_transform, changes}).\n" ++ Other}],
                                  outdated},
                                 {Rebar3, Transformed, [], Changes, [{"src/shop.erl", Transformed ++ "\n-export([g/1])."}], outdated},
                                 {Rebar3, Transformed, [], Changes,
                                  [{"src/shop.erl", Head ++ "-compile({parse_transform, changes}).\nf(X) -> receive {X, A} -> [A] end."}],
                                  "a parse transform changes it"},
                                 {Rebar3, Transformed, [], Changes,
                                  [{"src/shop.erl", Transformed ++ "\n-compile({parse_transform, eunit_striptests}).\ng() -> ok."}],
                                  "a parse transform changes it"},
                                 {Rebar3, OfDep, [], [],
                                  [{Gone, deleted}, {"src/shop.erl", OfDep ++ "\ng() -> receive a -> b end."}], outdated},
                                 {Rebar3, OfDep, [], [],
                                  [{Gone, deleted}, {"src/shop.erl", OfDep ++ "\n-ifdef(DEP).\n-else.\ng() -> ok.\n-endif."}],
                                  "can't find include lib \"dep/include/dep.hrl\""},
                                 {Rebar3, Same, [deterministic], [], [{"src/shop.erl", Same ++ "\ng() -> ok."}], outdated}])].

%% The source is older, and is read again for a header of its header. One of that name that it does not mean is none.
headers_newer_than_a_module(Config) ->
    Was = "-define(WAITS(X), receive {X, A} -> A end).",
    Other = "-define(WAITS(X), receive {X, A, b} -> A end).",
    Text = "-module(shop).\n-export([f/1]).\n-include(\"waits.hrl\").\nf(X) -> ?WAITS(X).",
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         Source = newer_source(Project, {"_build/default/lib", "_build/default/lib/shop/ebin"}, Text,
                               [{i, filename:join(Project, "include")}],
                               [{"include/waits.hrl", "-include(\"below.hrl\")."}, {"include/below.hrl", Was}]),
         changed_at(Source, -60),
         changed_at(write([Project, Header], Now), Seconds),
         {ok, #{outdated := Outdated, perhaps_outdated := []}} = mailbox_audit:static([Project]),
         ?assertEqual({Nth, Expected}, {Nth, [outdated || {File, none, outdated} <- Outdated, File =:= Source]})
     end || {Nth, {Header, Now, Seconds, Expected}} <-
                lists:enumerate([{"include/below.hrl", Was, 60, []},
                                 {"include/below.hrl", Other, 60, [outdated]},
                                 {"include/waits.hrl", Other, 60, [outdated]},
                                 {"deps/below.hrl", Other, 60, []},
                                 {"include/below.hrl", Other, -60, [outdated]},
                                 %% What adds nothing counts by the time of the header alone.
                                 {"include/below.hrl", "-define(WAITS(X), X).", 60, [outdated]},
                                 {"include/below.hrl", "-define(WAITS(X), X).", -60, []},
                                 {"include/below.hrl", "-define(WAITS(X), receive {X, A} -> [A] end).", 60, [outdated]},
                                 {"include/below.hrl", "-define(WAITS(X), receive {X, A} -> [A] end).", -60, []}])].

%% As erl -make has it: begun in the folder of the project, not in that of the audit.
header_in_a_relative_folder(Config) ->
    Was = "-define(WAITS(X), receive {X, A} -> A end).",
    {ok, Here} = file:get_cwd(),
    Project = dir(Config, "project"),
    Other = dir(Config, "other"),
    ok = filelib:ensure_path(Project),
    ok = file:set_cwd(Project),
    Source = newer_source(Project, {"_build/default/lib", "_build/default/lib/shop/ebin"},
                          "-module(shop).\n-export([f/1]).\n-include(\"waits.hrl\").\nf(X) -> ?WAITS(X).", [{i, "include"}],
                          [{"include/waits.hrl", Was}]),
    changed_at(Source, -60),
    changed_at(write([Project, "include/waits.hrl"], "-define(WAITS(X), receive {X, A, b} -> A end)."), 60),
    _ = write([Other, "include/waits.hrl"], Was),
    ok = file:set_cwd(Other),
    {ok, #{outdated := Outdated}} = mailbox_audit:static([Project]),
    ok = file:set_cwd(Here),
    ?assertEqual([Source], [File || {File, none, outdated} <- Outdated]).

%% A copy may have any time. What is certain of it, and was added, is a change; and a header that is gone was there before.
sources_of_any_time(Config) ->
    Head = "-module(shop).\n-export([f/1]).\n",
    Same = Head ++ ?SCANS,
    Twice = Head ++ "-include(\"here.hrl\").\n" ++ ?SCANS,
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         Source = newer_source(Project, {"_build/default/lib", "_build/default/lib/shop/ebin"}, Text,
                               [{i, filename:join(Project, "odd")} | Options], [{"odd/here.hrl", "-define(HERE, 1)."}]),
         _ = [case New of deleted -> ok = file:delete(filename:join(Project, File)); _ -> write([Project, File], New) end
              || {File, New} <- After],
         changed_at(Source, -60),
         {ok, #{outdated := Outdated, perhaps_outdated := Perhaps}} = mailbox_audit:static([Project]),
         ?assertEqual({Nth, Expected}, {Nth, [Why || {_, none, Why} <- Outdated ++ [{File, Module, perhaps} || {File, Module, _} <- Perhaps]]})
     end || {Nth, {Text, Options, After, Expected}} <-
                lists:enumerate([{Same, [], [], []},
                                 {Same, [], [{"src/shop.erl", Same ++ "\n-export([g/1]).\ng(X) -> receive {X, a} -> X end."}], [outdated]},
                                 {Same, [], [{"src/shop.erl", Head ++ "f(X) -> receive {X, A, b} -> A end."}], [outdated]},
                                 {Same, [], [{"src/shop.erl", Head ++ "f(X) -> receive {X, A} -> [A] end."}], []},
                                 {Same, [deterministic], [{"src/shop.erl", Same ++ "\ng() -> ok."}], []},
                                 {Same, [], [{"src/shop.erl", Same ++ "\ng() -> ok."}, {"src/other/shop.erl", Same}], []},
                                 {Twice, [], [], []},
                                 {Twice, [], [{"odd/here.hrl", deleted}], [perhaps]}])].

%% Of parsers and scanners.
grammars_newer_than_a_module(Config) ->
    Yrl = "Nonterminals all.\nTerminals one.\nRootsymbol all.\nall -> one : '$1'.\nErlang code.\n-export([f/1]).\n" ++ ?SCANS ++ "\n",
    Xrl = "Definitions.\nRules.\na : {token, {a, TokenLine}}.\nErlang code.\n-export([f/1]).\n" ++ ?SCANS ++ "\n",
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         Source = write([Project, "src/shop" ++ Ending], Text),
         write([Project, "rebar.config"], ""),
         write([Project, "src/shop.app.src"], ""),
         Erlang = dir(Config, "shop.erl"),
         {ok, _} = Generator:file(Source, [{Output, Erlang}]),
         [write([Project, "src/shop.erl"], Made) || IsKept, {ok, Made} <- [file:read_file(Erlang)]],
         Out = filename:join(Project, "_build/default/lib/shop/ebin"),
         ok = filelib:ensure_path(Out),
         {ok, shop} = compile:file(Erlang, [debug_info, {outdir, Out}]),
         write([Source], After),
         changed_at(Source, Seconds),
         {ok, #{modules := 1, skipped := [], outdated := Outdated, perhaps_outdated := []}} = mailbox_audit:static([Project]),
         ?assertEqual({Nth, [{Source, none, outdated} || Expected =:= outdated]}, {Nth, Outdated})
     end || {Nth, {{Generator, Output, Ending, Text}, IsKept, After, Seconds, Expected}} <-
                lists:enumerate([{Kind, IsKept, iolist_to_binary([Text, More]), Seconds, Expected}
                                 || {_, _, _, Text} = Kind <- [{yecc, parserfile, ".yrl", Yrl}, {leex, scannerfile, ".xrl", Xrl}],
                                    IsKept <- [true, false],
                                    {More, Seconds, Expected} <- [{"", 60, same}, {"g(X) -> receive {X, a} -> X end.", 60, outdated},
                                                                  {"g(X) -> receive {X, a} -> X end.", -60, outdated}]])],
    %% What another release made of it may differ.
    File = dir(Config, "1/_build/default/lib/shop/ebin/shop.beam"),
    {ok, Beam} = file:read_file(File),
    write([File], changed(Beam, [{<<"CInf">>, term_to_binary([{version, "99.1"}, {options, []}])}])),
    Changed = write([dir(Config, "1"), "src/shop.yrl"], Yrl ++ "g() -> ok."),
    later(Changed),
    {ok, #{outdated := [], perhaps_outdated := [{Changed, none, {not_compared, Words}}]}} = mailbox_audit:static([dir(Config, "1")]),
    says("another release of OTP", Words).

%% What is made of a grammar is of its header, too, which is not known here.
grammar_with_a_header(Config) ->
    Grammar = write([dir(Config), "src/shop.yrl"], "Nonterminals all.\nTerminals one.\nRootsymbol all.\nall -> one : '$1'.\n"),
    _ = [write([dir(Config), File], "") || File <- ["rebar.config", "src/shop.app.src"]],
    {ok, Original} = file:read_file(filename:join(code:lib_dir(parsetools), "include/yeccpre.hrl")),
    Header = write([dir(Config), "include/own.hrl"], [Original, "\nown(X) -> X.\n"]),
    Erlang = dir(Config, "shop.erl"),
    {ok, _} = yecc:file(Grammar, [{parserfile, Erlang}, {includefile, Header}]),
    Out = dir(Config, "_build/default/lib/shop/ebin"),
    ok = filelib:ensure_path(Out),
    {ok, shop} = compile:file(Erlang, [debug_info, nowarn_unused_function, {outdir, Out}]),
    [begin
         changed_at(Grammar, Seconds),
         {ok, #{outdated := [], perhaps_outdated := Perhaps}} = mailbox_audit:static([dir(Config)]),
         ?assertEqual([{Grammar, none, {not_compared, "its source was not made with the header of OTP"}} || Seconds > 0], Perhaps)
     end || Seconds <- [-60, 60]].

%% A source that says by -file what it was made from, which may be of any kind.
made_from_another_file(Config) ->
    Template = dir(Config, "priv/shop.template"),
    Text = "-module(shop).\n-export([f/1]).\n-file(\"priv/shop.template\", 3).\n" ++ ?SCANS,
    Source = newer_source(dir(Config), {"_build/default/lib", "_build/default/lib/shop/ebin"}, Text, [],
                          [{"priv/shop.template", "any"}]),
    [begin
         changed_at(Template, Seconds),
         {ok, #{outdated := [], perhaps_outdated := Perhaps}} = mailbox_audit:static([dir(Config)]),
         ?assertEqual([{Source, none, {not_compared, "its source is made from " ++ Template ++ ", which is newer"}} || Seconds > 0], Perhaps)
     end || Seconds <- [-60, 60]].

%% There are no sources below it. They lie where its modules say.
sources_of_a_folder_of_modules(Config) ->
    Source = newer_source(dir(Config), {"deps", "ebin"}, "-module(shop).\n-export([f/1]).\n" ++ ?SCANS, [], []),
    Targets = [dir(Config, "ebin"), dir(Config, "ebin/shop.beam")],
    [?assertMatch({ok, #{modules := 1, outdated := []}}, mailbox_audit:static([Target])) || Target <- Targets],
    write([Source], "-module(shop).\n-export([f/1, g/1]).\n" ++ ?SCANS ++ "\ng(X) -> receive {X, b} -> X end."),
    [?assertMatch({ok, #{modules := 1, outdated := [{Source, none, outdated}]}}, mailbox_audit:static([Target]))
     || Target <- Targets].

%% Its modules name sources, too, which are somebody else's.
sources_of_a_release(Config) ->
    Source = newer_source(dir(Config), {"deps", "rel/lib/shop-1/ebin"}, "-module(shop).\n-export([f/1]).\n" ++ ?SCANS, [], []),
    write([Source], "-module(shop).\n-export([f/1, g/1]).\n" ++ ?SCANS ++ "\ng(X) -> receive {X, b} -> X end."),
    Audit = fun(Target) -> {ok, #{modules := 1, outdated := Outdated}} = mailbox_audit:static([dir(Config, Target)]), Outdated end,
    ?assertEqual([], Audit("rel")),
    ?assertEqual([{Source, none, outdated}], Audit("rel/lib/shop-1/ebin")).

%% Each source is compared with the module of its own application.
modules_of_one_name_in_two_applications(Config) ->
    Was = "-module(w).\n-export([f/0]).\nf() -> ok.\n",
    write([dir(Config), "rebar.config"], ""),
    [A, B] = [begin
                  write([dir(Config, "apps"), App, "src", App ++ ".app.src"], ""),
                  Source = write([dir(Config, "apps"), App, "src/w.erl"], Was),
                  Out = filename:join(dir(Config, "_build/default/lib"), App ++ "/ebin"),
                  ok = filelib:ensure_path(Out),
                  {ok, w} = compile:file(Source, [debug_info, {outdir, Out}]),
                  Source
              end || App <- ["a", "b"]],
    Outdated = fun() -> {ok, #{outdated := Outdated}} = mailbox_audit:static([dir(Config)]), [File || {File, none, outdated} <- Outdated] end,
    ?assertEqual([], Outdated()),
    Changed = Was ++ "-export([g/1]).\ng(P) -> receive {P, X} -> X end.\n",
    [begin
         write([Source], Changed),
         later(Source),
         ?assertEqual([Source], Outdated()),
         write([Source], Was)
     end || Source <- [A, B]],
    %% One of them is not compiled where it lies.
    write([dir(Config), "apps/c/src/c.app.src"], ""),
    write([dir(Config), "apps/c/src/w.erl"], Changed),
    write([dir(Config), "_build/default/lib/c/ebin/c.app"], ""),
    ?assertEqual([], Outdated()).

%% The source, whose module is compiled with what the files bring. A parse transform is compiled elsewhere.
newer_source(Project, {Lib, Ebin}, Text, Options, Files) ->
    _ = [write([Project, File], Bytes) || {File, Bytes} <- Files],
    Named = [{i, Dir} || {i, Dir} <- Options],
    _ = [write([Dir, "named.hrl"], "-define(NAMED, 1).") || {i, Dir} <- Named],
    Source = write([Project, "src/shop.erl"], Text),
    write([Project, Lib, "dep/include/dep.hrl"], "-define(DEP, 1)."),
    Dep = filename:join([Project, Lib, "dep/ebin"]),
    Out = filename:join(Project, Ebin),
    _ = [ok = filelib:ensure_path(Dir) || Dir <- [Dep, Out]],
    true = code:add_pathz(Dep),
    _ = [begin
             {ok, changes, Beam} = compile:file(filename:join(Project, File), [binary]),
             {module, changes} = code:load_binary(changes, File, Beam),
             ok = file:delete(filename:join(Project, File))
         end || {"src/changes.erl" = File, _} <- Files],
    {ok, shop} = compile:file(Source, [debug_info, {outdir, Out} | Options]),
    true = code:del_path(Dep),
    _ = code:delete(changes),
    _ = code:purge(changes),
    Source.

later(File) -> changed_at(File, 60).

changed_at(File, Seconds) ->
    At = calendar:datetime_to_gregorian_seconds(calendar:local_time()) + Seconds,
    ok = file:change_time(File, calendar:gregorian_seconds_to_datetime(At)).

%% Its headers are others, and what asks for the release gets another one.
source_of_a_module_of_another_release(Config) ->
    [begin
         Source = newer_source(dir(Config), {"deps", "ebin"}, Head ++ ?SCANS, [], []),
         File = dir(Config, "ebin/shop.beam"),
         {ok, Beam} = file:read_file(File),
         write([File], changed(Beam, [{<<"CInf">>, term_to_binary([{version, Version}, {options, []}])}])),
         write([Source], Head ++ Text),
         later(Source),
         {ok, #{outdated := Outdated, perhaps_outdated := Perhaps}} = mailbox_audit:static([dir(Config)]),
         Words = "it depends on the release of OTP, and another one compiled its module",
         ?assertEqual({Version, Text, [{Source, none, outdated} || Expected =:= outdated],
                       [{Source, none, {not_compared, Words}} || Expected =:= unknown]}, {Version, Text, Outdated, Perhaps})
     end || Head <- ["-module(shop).\n-export([f/1]).\n"], Version <- ["8.0", "99.1"],
            {Text, Expected} <- [{?SCANS, same}, {"f(X) -> X.", outdated},
                                 {"f(X) -> <<<. g() -> ok.", unknown}, {?SCANS ++ "\ng() -> receive a -> <<< end.\nh() -> ok.", unknown},
                                 {"f(X) -> {X, \"\"\"\n  a\n  \"\"\"}.", unknown},
                                 {"-include_lib(\"kernel/include/file.hrl\").\nf(X) -> X.", unknown},
                                 {"-if(?OTP_RELEASE > 1).\nf(X) -> X.\n-endif.", unknown},
                                 {"-include_lib(\"kernel/include/file.hrl\").\nf(X) -> receive {X, A, b} -> A end.", outdated},
                                 {"-if(?OTP_RELEASE > 1).\nf(X) -> receive {X, A, b} -> A end.\n-endif.", unknown}]].

%% What is called almost as it is another one, where it is no version that is behind the name.
own_application_by_another_name(Config) ->
    [begin
         Project = dir(Config, Application),
         [write([Project, File], "") || File <- ["rebar.config", "src/shop.app.src", "src/other.erl" | Files]],
         write([Project, "_build/default/lib", Application, "ebin/other.beam"], compiled(other, ?SCANS, [debug_info])),
         {ok, #{modules := 1, skipped := Skipped}} = mailbox_audit:static([Project]),
         ?assertEqual({Application, IsBuilt}, {Application, Skipped =:= []})
     end || {Application, IsBuilt, Files} <- [{"shop-web", false, []}, {"shop-1.0.0-rc.1", true, []}, {"shop-v2", true, []},
                                              {"shop-git", true, ["_build/default/lib/shop-git/ebin/shop.app"]}]].

%% Whatever stands in a comment, and whether its name is a literal.
own_application_of_mix_is_built(Config) ->
    [begin
         Project = dir(Config, integer_to_list(Nth)),
         write([Project, "mix.exs"], Text),
         write([Project, "lib/shop.ex"], "# of it\ndefmodule Shop.Till do\nend\n"),
         write([Project, "_build/dev/lib/shop/ebin/Elixir.Shop.Till.beam"], compiled('Elixir.Shop.Till', ?SCANS, [debug_info])),
         ?assertMatch({Text, {ok, #{modules := 1, skipped := []}}}, {Text, mailbox_audit:static([Project])})
     end || {Nth, Text} <- lists:enumerate(["# once app: :old\n[app: :shop]",
                                            "[version: \"#{v}\", # app: :old\n app: :shop]",
                                            "@app :shop\n[app: @app]"])].

until_gone(Path) ->
    case filelib:is_file(Path) of
        true -> timer:sleep(1), until_gone(Path);
        false -> ok
    end.

dir(Config) -> proplists:get_value(dir, Config).

dir(Config, Name) -> filename:join(dir(Config), Name).

write(Path, Bytes) ->
    File = filename:join(Path),
    ok = filelib:ensure_dir(File),
    ok = file:write_file(File, Bytes),
    File.

archive(File, Entries) ->
    {ok, {_, Bytes}} = zip:create("archive", Entries, [memory]),
    write([File], Bytes).

escript(File, Section) ->
    ok = escript:create(File, [shebang, Section]),
    File.

compiled(Module, Text, Options) ->
    {ok, Module, Beam} = compile:forms(forms(Module, Text), [binary | Options]),
    Beam.

forms(Module, Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, {function, _, Name, Arity, _} = Function} = erl_parse:parse_form(Tokens),
    [{attribute, 1, file, {"shop.erl", 1}}, {attribute, 1, module, Module}, {attribute, 1, export, [{Name, Arity}]}, Function].

%% Module shop as a compiler of another language leaves it.
foreign(Backend) -> compiled(shop, ?SCANS, [{debug_info, {Backend, forms(shop, ?SCANS)}}]).

debug_info(Backend, Data) -> term_to_binary({debug_info_v1, Backend, Data}).

%% With these chunks in place of those of that name.
changed(Beam, Chunks) ->
    {ok, _, Old} = beam_lib:all_chunks(Beam),
    New = [{binary_to_list(Name), Bytes} || {Name, Bytes} <- Chunks],
    {ok, Changed} = beam_lib:build_module([Chunk || {Name, _} = Chunk <- Old, not lists:keymember(Name, 1, New)] ++ New),
    Changed.

with_newer_atoms(Beam) ->
    {ok, {_, [{"AtU8", Atoms}]}} = beam_lib:chunks(Beam, ["AtU8"]),
    changed(Beam, [{<<"AtU8">>, newer_atoms(Atoms)}]).

newer_atoms(<<Count:32, Names/binary>>) when Count < 16#80000000 ->
    iolist_to_binary([<<(-Count):32/signed>> | [[newer_length(byte_size(Name)), Name] || <<Length:8, Name:Length/binary>> <= Names]]);
newer_atoms(Newer) -> Newer.

newer_length(Length) when Length < 16 -> <<Length:4, 0:4>>;
newer_length(Length) -> <<(Length bsr 8):3, 1:2, 0:3, Length:8>>.

says(Words, Text) -> ?assertMatch({_, [_ | _]}, {Text, string:find(lists:flatten(Text), Words)}).

%% The module of a file, and its debug_info: of few bytes each. No process gets the memory for all of it.
modules_that_unpack_to_much(Config) ->
    Zeros = zlib:gzip(lists:duplicate(300, <<0:(8 * 1_048_576)>>)),
    Bomb = write([dir(Config), "bomb.beam"], Zeros),
    write([dir(Config), "shop.beam"], compiled(shop, ?SCANS, [debug_info])),
    {ok, #{modules := 1, skipped := [{Bomb, none, too_long_unpacked} = Skipped]}} = mailbox_audit:static([dir(Config)]),
    says("bomb.beam unpacks to more than 128 MiB", mailbox_audit_text:why_skipped(Skipped)),
    ?assertEqual({error, too_long_unpacked}, mailbox_audit:module(Zeros)),
    Claims = <<131, 80, (1 bsl 31):32, (zlib:compress(<<>>))/binary>>,
    [?assertEqual({error, Why}, mailbox_audit:module(changed(compiled(shop, ?SCANS, [debug_info]), [{Chunk, Claims}])))
     || {Chunk, Why} <- [{<<"Dbgi">>, too_long_unpacked}, {<<"CInf">>, not_a_beam}]].

%% Whatever size an entry says. The others are judged.
archives_that_unpack_to_much(Config) ->
    Shop = {"shop-1/ebin/shop.beam", compiled(shop, ?SCANS, [debug_info])},
    Size = 130 * 1_048_576,
    {ok, {_, Honest}} = zip:create("archive", [{"a/ebin/a.beam", <<0:(8 * Size)>>}, Shop], [memory]),
    Lying = binary:replace(Honest, <<Size:32/little>>, <<1000:32/little>>, [global]),
    ?assertEqual(byte_size(Honest), byte_size(Lying)),
    [begin
         Archive = write([dir(Config), Name, "some.ez"], Bytes),
         Large = filename:join(Archive, "a/ebin/a.beam"),
         [?assertMatch({Name, {ok, #{modules := 1, skipped := [{Large, none, too_long_unpacked}], findings := [_]}}},
                       {Name, mailbox_audit:static([Target])}) || Target <- [Archive, filename:dirname(Archive)]]
     end || {Name, Bytes} <- [{"honest", Honest}, {"lying", Lying}]],
    Script = dir(Config, "script"),
    ok = escript:create(Script, [shebang, {archive, Honest}]),
    ?assertMatch({ok, #{modules := 1, skipped := [{_, none, too_long_unpacked}]}}, mailbox_audit:static([Script])),
    %% One entry that is listed time and again.
    {ok, {_, Once}} = zip:create("archive", [{"a/ebin/a.beam", <<0:(8 * 110 * 1_048_576)>>}], [memory]),
    {Data, [Entry]} = listed(Once),
    Often = write([dir(Config), "often.ez"], listing(Data, lists:duplicate(8, Entry))),
    {ok, #{modules := 0, skipped := Skipped}} = mailbox_audit:static([Often]),
    ?assertEqual([not_a_beam, too_long_unpacked], lists:sort([Why || {_, none, Why} <- Skipped])),
    %% What is too long is unpacked as far as it may be, and counts so: after four of them nothing is.
    {Both, [Lies, Good]} = listed(Lying),
    [?assertMatch({Count, {ok, #{modules := Modules}}},
                  {Count, mailbox_audit:static([write([dir(Config), "lies.ez"], listing(Both, lists:duplicate(Count, Lies) ++ [Good]))])})
     || {Count, Modules} <- [{3, 1}, {4, 0}]].

%% The data of an archive, and the entries of its directory.
listed(Archive) ->
    [Listed, _] = binary:split(Archive, <<"PK", 5, 6>>),
    [Data | Entries] = binary:split(Listed, <<"PK", 1, 2>>, [global]),
    {Data, [<<"PK", 1, 2, Entry/binary>> || Entry <- Entries]}.

%% An archive that lists these.
listing(Data, Entries) ->
    Count = length(Entries),
    [Data, Entries, <<"PK", 5, 6, 0:32, Count:16/little, Count:16/little, (iolist_size(Entries)):32/little, (byte_size(Data)):32/little,
                      0:16>>].

%% A damaged entry keeps none of the others from being judged.
archives_damaged_within(Config) ->
    [Good, Bad] = [{Name ++ "-1/ebin/" ++ Name ++ ".beam", compiled(list_to_atom(Name), ?SCANS, [debug_info])} || Name <- ["good", "shop"]],
    [begin
         {ok, {_, Bytes}} = zip:create("archive", [Good, Bad], [memory | Options]),
         {First, _} = lists:last(binary:matches(binary:part(Bytes, 0, byte_size(Bytes) - 300), <<"shop.beam">>)),
         <<Before:(First + 100)/binary, Byte, After/binary>> = Bytes,
         Archive = write([dir(Config), "some.ez"], <<Before/binary, (Byte bxor 255), After/binary>>),
         Damaged = filename:join(Archive, element(1, Bad)),
         ?assertMatch({_, {ok, #{modules := 1, skipped := [{Damaged, none, not_a_beam}], findings := [#{module := good}]}}},
                      {Options, mailbox_audit:static([Archive])})
     end || Options <- [[], [{uncompress, all}]]],
    %% Its sum stands behind it.
    [begin
         Archive = write([dir(Config), "stream.ez"], streamed(<<"shop.beam">>, Data, Sum, Signature)),
         ?assertMatch({_, {ok, #{modules := Modules}}}, {Signature, mailbox_audit:static([Archive])})
     end || Signature <- [<<>>, <<"PK", 7, 8>>], {_, Data} <- [Good], {Modules, Sum} <- [{1, erlang:crc32(Data)}, {0, 17}]],
    {ok, {_, Outside}} = zip:create("archive", [{"x/../../../good.beam", element(2, Good)}], [memory]),
    Leaves = write([dir(Config), "leaves.ez"], Outside),
    Stripped = filename:join(Leaves, "x/good.beam"),
    ?assertMatch({ok, [{Stripped, _}]}, mailbox_audit_target:beams(Leaves)).

%% An archive of one stored entry, as a program writes it that does not go back (APPNOTE 4.4.4, bit 3).
streamed(Name, Data, Sum, Signature) ->
    [Length, Size] = [byte_size(Name), byte_size(Data)],
    Entry = <<"PK", 3, 4, 20:16/little, 8:16/little, 0:32, 33:16/little, 0:(3 * 32), Length:16/little, 0:16, Name/binary, Data/binary,
              Signature/binary, Sum:32/little, Size:32/little, Size:32/little>>,
    Listed = <<"PK", 1, 2, 20:16/little, 20:16/little, 8:16/little, 0:32, 33:16/little, Sum:32/little, Size:32/little, Size:32/little,
               Length:16/little, 0:(4 * 16), 0:64, Name/binary>>,
    <<Entry/binary, Listed/binary, "PK", 5, 6, 0:32, 1:16/little, 1:16/little, (byte_size(Listed)):32/little,
      (byte_size(Entry)):32/little, 0:16>>.

%% Beyond a megabyte it is not decoded: that takes sixteen times as much. The options of a large project are less.
modules_whose_compiler_says_much(_) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    Term = [<<108, 2_000_000:32>>, binary:copy(<<106>>, 2_000_000), 106],
    [begin
         Crafted = changed(Beam, [{<<"CInf">>, iolist_to_binary(Info)}]),
         ?assertEqual({error, not_a_beam}, mailbox_audit:module(Crafted)),
         ?assertMatch({ok, #{modules := 0, skipped := [{"shop.beam", shop, not_a_beam}]}}, mailbox_audit:static([{"shop.beam", Crafted}])),
         ?assertEqual({ok, 0}, mailbox_audit_static:newest_compiler([{"shop.beam", Crafted}]))
     end || Info <- [[131, Term], [131, 80, <<(iolist_size(Term)):32>>, zlib:compress(Term)]]],
    Many = term_to_binary([{options, lists:duplicate(10_000, {i, "_build/default/lib"})}]),
    ?assertMatch({ok, [_]}, mailbox_audit:module(changed(Beam, [{<<"CInf">>, Many}]))).

%% Before it is judged, all of it is unpacked.
reading_a_module_is_limited(_) ->
    Large = zlib:gzip(changed(compiled(shop, ?SCANS, [debug_info]), [{<<"Much">>, <<0:(8 * 100 * 1_048_576)>>}])),
    ?assertMatch({ok, #{modules := 0, skipped := [{"shop.beam", none, takes_too_long}]}},
                 mailbox_audit:static([{"shop.beam", Large}], #{limit_ms => 5})).

%% A node with them would end.
atoms_without_room(Config) ->
    Room = erlang:system_info(atom_limit) - erlang:system_info(atom_count),
    Names = [<<119, 9, (list_to_binary(io_lib:format("~9.36.0b", [(1 bsl 45) + N])))/binary>> || N <- lists:seq(1, Room)],
    DebugInfo = iolist_to_binary([131, 104, 3, 119, 13, "debug_info_v1", 119, 17, "erl_abstract_code", 108, <<Room:32>>, Names, 106]),
    Compressed = <<131, 80, (byte_size(DebugInfo) - 1):32, (zlib:compress(binary:part(DebugInfo, 1, byte_size(DebugInfo) - 1)))/binary>>,
    Before = erlang:system_info(atom_count),
    [begin
         Beam = write([dir(Config), "shop.beam"], changed(compiled(shop, ?SCANS, [debug_info]), [{<<"Dbgi">>, Chunk}])),
         {ok, #{skipped := [{Beam, shop, too_many_atoms} = Skipped]}} = mailbox_audit:static([Beam]),
         says("the debug_info of shop has more new atoms", mailbox_audit_text:why_skipped(Skipped))
     end || Chunk <- [DebugInfo, Compressed]],
    ?assert(erlang:system_info(atom_count) - Before < 1000).

%% Whatever is around them.
atoms_of_all_terms_are_found(_) ->
    Here = fun(Term) -> <<131, Bytes/binary>> = term_to_binary(Term), Bytes end,
    New = <<119, 13, "a_new_atom_xy">>,
    [?assertEqual({Term, {ok, 1}}, {Term, mailbox_audit_atoms:new(<<104, 3, (Here(Term))/binary, New/binary, New/binary>>)})
     || Term <- [1, -1, 1 bsl 40, -(1 bsl 3000), 1.5, [], "text", [1, a | b], {}, {a, {b}}, list_to_tuple(lists:seq(1, 300)), #{a => [b]},
                 <<>>, <<"bytes">>, <<1:3>>, fun lists:map/2, 'ä', '日本', list_to_atom(lists:duplicate(255, 16#65e5))]],
    [?assertEqual({Term, error}, {Term, mailbox_audit_atoms:new(Here(Term))})
     || Term <- [self(), make_ref(), hd(erlang:ports()), fun() -> New end]],
    ?assertEqual(error, mailbox_audit_atoms:new(<<104, 3, 97, 1>>)).

%% They are two atoms where not all are of ASCII, and other bytes may be the same one.
same_bytes_in_two_encodings(_) ->
    Pair = fun(Tags) -> iolist_to_binary([104, length(Tags), Tags]) end,
    Wide = <<"na", 195, 164, "me_ny">>,
    Long = fun(Tag, Name) -> [Tag, <<(byte_size(Name)):16>>, Name] end,
    Short = fun(Tag, Name) -> [Tag, byte_size(Name), Name] end,
    [?assertEqual({Atoms, {ok, New}}, {Atoms, mailbox_audit_atoms:new(Pair(Atoms))})
     || {Atoms, New} <- [{[Short(119, Wide), Short(115, Wide)], 2}, {[Long(118, Wide), Long(100, Wide)], 2},
                         {[Short(115, Wide), Long(100, Wide), Short(119, Wide), Long(118, Wide)], 2},
                         {[Short(119, Wide), Short(115, <<"na", 228, "me_ny">>)], 1},
                         {[Short(119, <<"name_nz">>), Long(100, <<"name_nz">>)], 1}]].

%% What comes behind is not looked at: it is no term here.
counting_ends_with_the_room(_) ->
    Room = erlang:system_info(atom_limit) - erlang:system_info(atom_count),
    Names = [<<119, 9, (list_to_binary(io_lib:format("~9.36.0b", [(1 bsl 45) + N])))/binary>> || N <- lists:seq(1, Room div 2 + 1)],
    ?assertEqual(too_many_atoms, mailbox_audit_atoms:new(iolist_to_binary([108, <<Room:32>>, Names, 0]))).

%% Each module takes less than half of what is left, down to one atom. A part stays for others all the same, also of a new name.
atoms_of_many_modules(_) ->
    Judged = [judged_with_atoms(Count) || Count <- [900, 100, 10, 1]],
    {ok, Peer, _} = peer:start_link(#{connection => standard_io,
                                      args => ["+t", "32768", "-pa", filename:dirname(code:which(mailbox_audit))]}),
    try
        [_ = [peer:call(Peer, mailbox_audit, module, [Module(N)], 60_000) || N <- lists:seq(1, 60)] || Module <- Judged],
        [Limit, Count] = [peer:call(Peer, erlang, system_info, [Item]) || Item <- [atom_limit, atom_count]],
        ?assert(Limit - Count > 2000),
        ?assertEqual({error, too_many_atoms}, peer:call(Peer, mailbox_audit, module, [(hd(Judged))(61)], 60_000)),
        New = binary:replace(compiled(shop, ?SCANS, [debug_info]), <<"shop">>, <<"shqp">>, [global]),
        ?assertEqual({error, too_many_atoms}, peer:call(Peer, mailbox_audit, module, [New], 60_000))
    after peer:stop(Peer)
    end,
    says("a.beam has a name that is a new atom", mailbox_audit_text:why_skipped({"a.beam", none, too_many_atoms})).

judged_with_atoms(Count) ->
    Beam = compiled(shop, ?SCANS, [debug_info]),
    fun(Nth) ->
            Names = [io_lib:format("~b_~b_~b", [Count, Nth, N]) || N <- lists:seq(1, Count)],
            Atoms = [[119, iolist_size(Name), Name] || Name <- Names],
            changed(Beam, [{<<"Dbgi">>, iolist_to_binary([131, 108, <<Count:32>>, Atoms, 106])}])
    end.
