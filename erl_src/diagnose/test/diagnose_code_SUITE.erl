%% The code of a node that is of a newer release than the one that asks: it is what is loaded there, or the reason is true.
-module(diagnose_code_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_suite/1, end_per_suite/1]).
-export([code_of_files/1, preloaded_code/1, code_of_an_archive/1, changed_file_is_other_code/1, code_without_a_file/1, what_is_too_large/1,
         own_code_is_not_carried/1, it_is_judged/1,
         code_that_no_compiler_here_knows/1, without_a_compiler/1]).

-import(diagnose_two_nodes, [here/4, there/4]).

-define(THERE, 'code@127.0.0.1').

all() ->
    [code_of_files, preloaded_code, code_of_an_archive, changed_file_is_other_code, code_without_a_file, what_is_too_large,
     own_code_is_not_carried, it_is_judged, code_that_no_compiler_here_knows, without_a_compiler].

init_per_suite(Config) ->
    %% The newest that is built.
    Newer = lists:last(lists:sort(filelib:wildcard(filename:join([os:getenv("ERTSLAB_TOP"), "build", "otp-*", "bin", "erl"])))),
    diagnose_two_nodes:both(Newer, #{there => "code@127.0.0.1", here => "asking@127.0.0.1", looks => [diagnose, mailbox_audit]}, Config).

end_per_suite(Config) -> diagnose_two_nodes:stopped(Config).

read(Config, Module, BytesLeft) -> here(Config, diagnose_code, of_node, [?THERE, Module, BytesLeft]).

code_of_files(Config) ->
    [?assertMatch({{ok, <<"FOR1", _/binary>>}, Carried} when Carried > 0, read(Config, Module, infinity))
     || Module <- [lists, gen_server, code]].

preloaded_code(Config) -> ?assertMatch({{ok, <<"FOR1", _/binary>>}, _}, read(Config, erts_internal, infinity)).

%% The loader of that release takes archives or does not.
code_of_an_archive(Config) ->
    Archive = filename:join(proplists:get_value(priv_dir, Config), "zipped.ez"),
    Beam = made(Config, zipped, "f() -> ok."),
    {ok, _} = zip:create(Archive, [{"zipped/ebin/zipped.beam", Beam}]),
    true = there(Config, code, add_pathz, [filename:join(Archive, "zipped/ebin")]),
    case there(Config, code, ensure_loaded, [zipped]) of
        {module, zipped} -> ?assertMatch({{ok, Beam}, _}, read(Config, zipped, infinity));
        {error, _} -> {comment, "this release loads no code from archives"}
    end.

changed_file_is_other_code(Config) ->
    _ = loaded(Config, changing, made(Config, changing, "f() -> ok.")),
    _ = written(Config, changing, made(Config, changing, "f() -> changed.")),
    ?assertMatch({{error, other_code}, _}, read(Config, changing, infinity)).

code_without_a_file(Config) ->
    {module, gone} = there(Config, code, load_binary, [gone, "", made(Config, gone, "f() -> ok.")]),
    ?assertMatch({{error, not_readable}, 0}, read(Config, gone, infinity)),
    ?assertMatch({{error, not_readable}, 0}, read(Config, never_there, infinity)).

what_is_too_large(Config) -> ?assertEqual({{error, too_large}, 0}, read(Config, lists, 1000)).

own_code_is_not_carried(_) ->
    [?assertMatch({{ok, <<"FOR1", _/binary>>}, 0}, diagnose_code:of_node(node(), Module, 0)) || Module <- [lists, erts_internal, ?MODULE]].

it_is_judged(Config) ->
    _ = loaded(Config, scanning, made(Config, scanning, "f(X) -> receive {X, A} -> A end.")),
    {{ok, Beam}, _} = read(Config, scanning, infinity),
    ?assertMatch({ok, [#{function := {f, 1}, verdict := scans}]}, here(Config, mailbox_audit, module, [Beam])).

%% dets has generators in it that OTP 27 has not: a VM of the node's installation judges it, and is gone then,
%% also where time was over.
code_that_no_compiler_here_knows(Config) ->
    {{ok, Beam}, _} = read(Config, dets, infinity),
    ?assertMatch({error, {newer_compiler, _, _}}, here(Config, mailbox_audit, module, [Beam])),
    ?assertMatch({ok, [_ | _]}, here(Config, diagnose_newer, module, [?THERE, Beam])),
    Suspect = #{pid => self(), usual_depth => 5000, samples => [{waiting, [{dets, req, 2}], 10}]},
    ?assertMatch({_, [], _}, here(Config, diagnose_receives, scans, [?THERE, [Suspect], 60_000])),
    ?assertMatch({[], [{dets, out_of_time}], _}, here(Config, diagnose_receives, scans, [?THERE, [Suspect], 1])),
    [?assertMatch({_, _, _}, here(Config, diagnose_receives, scans, [?THERE, [Suspect], Limit])) || Limit <- [200, 400, 600, 800]],
    ?assertEqual(ended, vms_end(there(Config, code, root_dir, []), 100)).

%% As in a release of rebar3.
without_a_compiler(Config) ->
    Parsed = [form(Line) || Line <- ["-module(scanning).", "-compile(export_all).", "f(X) -> receive {X, A} -> A end."]],
    {ok, scanning, Beam} = compile:forms(Parsed, [debug_info, binary]),
    File = written(Config, scanning, Beam),
    Libraries = [filename:dirname(code:which(Module)) || Module <- [diagnose, mailbox_audit]],
    {ok, Peer, _} = peer:start(#{connection => standard_io, args => lists:append([["-pa", Dir] || Dir <- Libraries])}),
    true = peer:call(Peer, code, del_path, [compiler]),
    {module, scanning} = peer:call(Peer, code, load_abs, [filename:rootname(File)]),
    Suspect = #{pid => self(), usual_depth => 5000, samples => [{waiting, [{scanning, f, 1}], 10}]},
    ?assertMatch({[], [{scanning, no_compiler}], _}, peer:call(Peer, diagnose_receives, scans, [nonode@nohost, [Suspect], 60_000], 90_000)),
    peer:stop(Peer).

%% Those that this installation runs, but for the node itself.
vms_end(_Root, 0) -> still_there;
vms_end(Root, Tries) ->
    Commands = [Command || File <- filelib:wildcard("/proc/[0-9]*/cmdline"), {ok, Command} <- [file:read_file(File)],
                           string:find(Command, Root ++ "/erts") =/= nomatch, string:find(Command, "mailbox_audit/ebin") =/= nomatch],
    case Commands of
        [] -> ended;
        _ -> timer:sleep(100), vms_end(Root, Tries - 1)
    end.

%% By the release of the node.
made(Config, Module, Text) ->
    Parsed = [form(Line) || Line <- [["-module(", atom_to_list(Module), ")."], "-compile(export_all).", Text]],
    {ok, Module, Beam} = there(Config, compile, forms, [Parsed, [debug_info, binary]]),
    Beam.

form(Line) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Line)),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

written(Config, Module, Beam) ->
    File = filename:join(proplists:get_value(priv_dir, Config), atom_to_list(Module) ++ ".beam"),
    ok = file:write_file(File, Beam),
    File.

loaded(Config, Module, Beam) -> {module, Module} = there(Config, code, load_abs, [filename:rootname(written(Config, Module, Beam))]).
