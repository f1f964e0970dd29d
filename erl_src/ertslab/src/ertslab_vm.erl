%% @doc The virtual machines that were built, and starting one of them.
%%
%% A variant is known by its manifest, and a started VM is known by the file
%% that it runs: `system_info(emu_type)' says `opt' for every variant.
-module(ertslab_vm).

-export([installed/0, find/2, find/3, one_or_two/2, interpreter/1, release/1, releases/0, release/2, root/1, manifest/1,
         libraries/0, command/2, emulator_call/2, with_modules/2]).
-export([start/1, start/3, call/5, stop/1, in_fresh/6, on_its_machine/4, must_answer/1]).
-export_type([vm/0, running/0]).

-type vm() :: #{name := binary(), release := pos_integer(), root := file:filename(),
                version := binary(), build_id := binary(), sha256 := binary(),
                executable := file:filename(), interpreter := file:filename() | none,
                description := binary(), builds => [ertslab_builds:build()],
                modules => #{binary() => binary()},
                host => ertslab_remote:host()}.
%% `builds': the ordinary one and those of other link orders, where known.
%% `modules': name and SHA-256 of those of OTP's libraries that its patches
%% change, where there are some.
%% `host' where it is not on this machine.
-type running() :: #{vm := vm(), peer := pid(), os_pid := string()}.

%% With the time warp mode that OTP has unless told, a step of the machine's clock
%% lets erlang:monotonic_time/0 run 1 % fast or slow for hours, so as to catch up.
%% Paths are UTF-8 also where the locale does not say so, and the user's own
%% .erlang shapes no VM that is measured.
-define(WORDS, ["-boot", "no_dot_erlang", "+sbtu", "+C", "multi_time_warp", "+fnu", "-kernel", "logger_level", "emergency"]).
-define(START_TIMEOUT_MS, 30_000).
-define(STOP_TIMEOUT_MS, 5_000).

%% @doc Every variant of every release that is built, stock first.
-spec installed() -> [vm()].
installed() ->
    lists:append([variants(Root) || Root <- lists:sort(filelib:wildcard(pattern()))]).

pattern() -> filename:join([top(), "build", "otp-*", "manifest.json"]).

top() -> os:getenv("ERTSLAB_TOP", ".").

%% @doc The root of a release that is built.
-spec root(pos_integer()) -> file:filename().
root(Release) ->
    filename:join([filename:absname(top()), "build", "otp-" ++ integer_to_list(Release)]).

%% @doc The release that the options name, else the oldest that is built.
-spec release(#{otp => pos_integer(), _ => _}) -> pos_integer().
release(Options) -> release(Options, installed()).

%% @doc The same of those VMs.
-spec release(#{otp => pos_integer(), _ => _}, [vm()]) -> pos_integer().
release(#{otp := Release}, _) -> Release;
release(#{}, []) -> ertslab_error:failure("no Erlang/OTP is built; run './build.sh otp'.", []);
release(#{}, VMs) -> lists:min([Release || #{release := Release} <- VMs]).

%% @doc The releases that are built, in ascending order.
-spec releases() -> [pos_integer()].
releases() -> lists:usort([Release || #{release := Release} <- installed()]).

%% Whatever does not match is not what a build writes.
variants(ManifestFile) ->
    Text = read(ManifestFile),
    try declared(json:decode(Text))
    catch error:_ ->
            ertslab_error:failure("~ts is damaged; remove it, and './build.sh otp --otp ~ts' writes it anew.",
                                  [ManifestFile, string:prefix(filename:basename(filename:dirname(ManifestFile)), "otp-")])
    end.

declared(#{<<"release">> := Release, <<"variants">> := Variants, <<"source">> := #{<<"version">> := Version}}) ->
    VMs = [vm(Release, Version, Name, Facts) || {Name, Facts} <- maps:to_list(Variants)],
    {Stock, Patched} = lists:partition(fun is_unpatched/1, VMs),
    Stock ++ Patched.

is_unpatched(#{name := <<"stock", _/binary>>}) -> true;
is_unpatched(#{}) -> false.

read(File) ->
    case file:read_file(File) of
        {ok, Text} -> Text;
        {error, Reason} -> ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)])
    end.

vm(Release, Version, Name, #{<<"executable">> := Executable} = Facts) ->
    Root = root(Release),
    [Bin] = filelib:wildcard(filename:join([Root, "erts-*", "bin"])),
    VM = #{name => Name, release => Release, root => Root, version => Version,
           build_id => maps:get(<<"build_id">>, Facts),
           sha256 => maps:get(<<"sha256">>, Facts),
           executable => filename:join(Bin, binary_to_list(Executable)),
           interpreter => interpreter_file(Bin, Facts),
           description => maps:get(<<"description">>, Facts),
           builds => [build(Bin, Build) || Build <- maps:get(<<"builds">>, Facts, [])]},
    with_modules(VM, Facts).

%% @doc The VM with its own modules of OTP's libraries, where such are among what is said of it.
-spec with_modules(vm(), #{binary() => term()}) -> vm().
with_modules(VM, #{~"modules" := Modules}) when map_size(Modules) > 0 -> VM#{modules => Modules};
with_modules(VM, #{}) -> VM.

build(Bin, #{<<"executable">> := Executable, <<"build_id">> := Id, <<"sha256">> := Sha}) ->
    #{executable => filename:join(Bin, binary_to_list(Executable)), build_id => Id, sha256 => Sha}.

%% @doc What this VM and its neighbours were made from: JSON, as the build wrote it.
-spec manifest(vm()) -> binary().
manifest(#{root := Root}) -> read(filename:join(Root, "manifest.json")).

interpreter_file(Bin, #{<<"interpreter">> := #{<<"executable">> := Executable}}) ->
    filename:join(Bin, binary_to_list(Executable));
interpreter_file(_Bin, #{}) -> none.

%% @doc The interpreter of a variant, which is built only where it is asked for.
-spec interpreter(vm()) -> file:filename().
interpreter(#{interpreter := File, name := Name, release := Release}) ->
    File =/= none andalso filelib:is_regular(File) orelse
        ertslab_error:failure("the interpreter of ~ts, which valgrind wants, is not built;"
                              " './build.sh otp --otp ~b --interpreter ~ts' builds it.",
                              [Name, Release, Name]),
    File.

%% @doc The variant `Name' of `Release' on this machine, its emulator present.
-spec find(binary(), pos_integer()) -> vm().
find(Name, Release) -> find(installed(), Name, Release).

%% @doc The same among those VMs.
-spec find([vm()], binary(), pos_integer()) -> vm().
find(VMs, Name, Release) ->
    OfRelease = [VM || #{release := R} = VM <- VMs, R =:= Release],
    OfRelease =/= [] orelse
        ertslab_error:failure("OTP ~b is not built; run './build.sh otp --otp ~b'.",
                              [Release, Release]),
    case [VM || #{name := N} = VM <- OfRelease, N =:= Name] of
        [VM] -> present(VM);
        [] ->
            ertslab_error:usage("there is no variant '~ts' of OTP ~b here; choose from: ~ts ('./build.sh otp --otp ~b'"
                                " builds all that are declared)",
                                [Name, Release, lists:join(" ", [N || #{name := N} <- OfRelease]), Release])
    end.

%% @doc The variants that "A" or "A,B" names, to look at one or to set two side by side.
-spec one_or_two(string(), pos_integer()) -> [vm(), ...].
one_or_two(Names, Release) ->
    case lists:uniq(binary:split(ertslab_error:text(Names), ~",", [global, trim_all])) of
        [_ | More] = Variants when length(More) =< 1 -> [find(Name, Release) || Name <- Variants];
        _ -> ertslab_error:usage("--vm ~ts: one variant is wanted, or two to set side by side",
                                 [Names])
    end.

%% erlexec aborts with a buffer overflow where an emulator is missing, so that is checked here.
present(#{host := _} = VM) -> VM;
present(#{executable := File, release := Release} = VM) ->
    filelib:is_regular(File) orelse
        ertslab_error:failure("the emulator ~ts is missing; './build.sh otp --otp ~b' mends it.",
                              [File, Release]),
    VM.

%% @doc The words that start this VM with the project's libraries on its path.
-spec command(vm(), [string()]) -> [string(), ...].
command(#{root := Root, executable := File} = VM, Args) ->
    ["beam", Type, _Flavour] = string:lexemes(filename:basename(File), "."),
    [filename:join([Root, "bin", "erl"]), "-emu_type", Type | own_modules(VM) ++ library_path(VM) ++ Args].

%% Before the path of the boot script, so that also kernel and stdlib take them from there.
own_modules(#{modules := _, root := Root, name := Name}) ->
    ["-pa", filename:join([Root, "modules", binary_to_list(Name)])];
own_modules(#{}) -> [].

%% @doc What `erl' would give the interpreter of this VM, words and environment,
%% for a program that is to start the emulator itself.
-spec emulator_call(vm(), [string()]) -> {[string()], [{string(), string()}]}.
emulator_call(#{root := Root} = VM, Args) ->
    Words = command(VM, ["-emu_flavor", "emu", "-emu_args_exit" | Args]),
    {ok, Lines} = ertslab_tool:run(Words, "/dev/null", #{}),
    {string:lexemes(unicode:characters_to_list(Lines), "\n"),
     [{"ROOTDIR", Root}, {"BINDIR", filename:dirname(interpreter(VM))},
      {"EMU", "beam"}, {"PROGNAME", "erl"}]}.

library_path(#{host := #{libraries := Dirs}}) -> ["-pa" | Dirs];
library_path(#{}) ->
    case libraries() of
        [] -> [];
        Dirs -> ["-pa" | Dirs]
    end.

%% @doc Where the project's compiled libraries are.
-spec libraries() -> [file:filename()].
libraries() -> [filename:absname(Dir) || Dir <- code:get_path(), is_project_library(Dir)].

is_project_library(Dir) ->
    not lists:prefix(code:lib_dir(), Dir) andalso filelib:is_dir(Dir) andalso Dir =/= ".".

%% @doc Starts a fresh VM over a pipe, without distribution, and checks that
%% the file it runs is the one of the variant. Its log is silenced, since what
%% it prints comes out here, where `--json' may be wanted; what ends a run is
%% in the line of that run.
-spec start(vm()) -> {ok, running()} | {error, term()}.
start(VM) -> start(VM, [], []).

%% @doc The same with more words for the emulator and more in its environment.
-spec start(vm(), [string()], [{string(), string()}]) -> {ok, running()} | {error, term()}.
start(VM, More, Environment) ->
    Words = command(VM, More ++ ?WORDS),
    Tag = make_ref(),
    Options = (launch(VM, Words, Environment))#{connection => standard_io, wait_boot => {self(), Tag}},
    case peer:start(Options) of
        {ok, Peer} -> started(VM, Peer, Tag);
        {error, Reason} -> {error, Reason}
    end.

launch(#{host := Host}, Words, Environment) ->
    {[Ssh | Args], Quoting} = ertslab_remote:wrap(Host, Environment, Words),
    #{exec => {Ssh, Args}, post_process_args => Quoting};
launch(#{}, [Erl | Args], Environment) -> #{exec => {Erl, Args}, env => Environment}.

started(VM, Peer, Tag) ->
    case os_pids(Peer) of
        [OsPid] -> booted(#{vm => VM, peer => Peer, os_pid => integer_to_list(OsPid)}, Tag);
        [] -> {error, normal}
    end.

%% Of the program at the other end of the pipe, which becomes the emulator (or is
%% ssh); none where it has ended already.
os_pids(Peer) ->
    case process_info(Peer, links) of
        {links, Links} ->
            [OsPid || Port <- Links, is_port(Port), {os_pid, OsPid} <- [erlang:port_info(Port, os_pid)]];
        undefined -> []
    end.

%% One that hangs before it is up is ended too: it would not end by itself, and
%% disturb all that is measured after it.
booted(#{peer := Peer} = Running, Tag) ->
    Monitor = monitor(process, Peer),
    Booted = receive
                 {Tag, {started, _Node, Peer}} -> ok;
                 {Tag, {boot_failed, Why, Peer}} -> {error, Why};
                 {'DOWN', Monitor, process, Peer, Why} -> {error, Why}
             after ?START_TIMEOUT_MS -> {error, timeout}
             end,
    demonitor(Monitor, [flush]),
    case Booted of
        ok -> identified(Running);
        {error, _} ->
            stop(Running),
            Booted
    end.

identified(#{vm := #{executable := Wanted}} = Running) ->
    case call(Running, file, read_link, ["/proc/self/exe"], ?START_TIMEOUT_MS) of
        {ok, {ok, Wanted}} -> {ok, Running};
        Answer ->
            stop(Running),
            {error, not_wanted(Answer)}
    end.

not_wanted({ok, {_, Other}}) -> {wrong_emulator, Other};
not_wanted({error, Reason}) -> Reason.

%% @doc Calls a function in the VM. A crash of the VM and a time-out (in
%% milliseconds) are errors, as is an exception of the function.
-spec call(running(), module(), atom(), [term()], timeout()) -> {ok, term()} | {error, term()}.
call(#{peer := Peer}, Module, Function, Args, Timeout) ->
    try {ok, peer:call(Peer, Module, Function, Args, Timeout)}
    catch _:Reason -> {error, Reason}
    end.

%% @doc Calls a function in a VM that is started for it, with that environment,
%% and ended after it.
-spec in_fresh(vm(), [{string(), string()}], module(), atom(), [term()], timeout()) ->
          {ok, term()} | {error, term()}.
in_fresh(VM, Environment, Module, Function, Args, Timeout) ->
    case start(VM, [], Environment) of
        {ok, Running} ->
            try call(Running, Module, Function, Args, Timeout)
            after stop(Running)
            end;
        {error, Reason} -> {error, Reason}
    end.

%% @doc Calls a function on the machine of a VM: here, or in that VM started for it there.
-spec on_its_machine(vm(), module(), atom(), [term()]) -> term().
on_its_machine(#{host := Host} = VM, Module, Function, Args) ->
    case in_fresh(VM, [], Module, Function, Args, ?START_TIMEOUT_MS) of
        {ok, Result} -> Result;
        {error, Reason} ->
            must_answer(VM),
            ertslab_error:failure("~ts: no VM starts there: ~ts.",
                                  [maps:get(address, Host), ertslab_runner:reason_text(Reason)])
    end;
on_its_machine(#{}, Module, Function, Args) -> apply(Module, Function, Args).

%% @doc Fails where the machine of a VM is gone.
-spec must_answer(vm()) -> ok.
must_answer(#{host := Host}) ->
    case ertslab_remote:answers(Host) of
        true -> ok;
        false -> ertslab_remote:lost(Host)
    end;
must_answer(#{}) -> ok.

%% @doc Ends the VM, hung or not: here a signal reaches also one that no longer
%% answers; one on another machine is told to, and loses its connection. Returns when its process is gone, since a large heap takes a while
%% to be given back, and the next run must not see that.
-spec stop(running()) -> ok.
stop(#{vm := #{host := _}, peer := Peer}) ->
    Monitor = monitor(process, Peer),
    ok = peer:cast(Peer, erlang, halt, [0, [{flush, false}]]),
    receive {'DOWN', Monitor, process, _, _} -> ok
    after ?STOP_TIMEOUT_MS ->
            demonitor(Monitor, [flush]),
            try peer:stop(Peer) catch _:_ -> ok end
    end;
stop(#{peer := Peer, os_pid := OsPid}) ->
    ok = ertslab_tool:kill(OsPid),
    try peer:stop(Peer) catch _:_ -> ok end,
    await_end(filename:join("/proc", OsPid), ?STOP_TIMEOUT_MS).

await_end(_ProcDir, Left) when Left =< 0 -> ok;
await_end(ProcDir, Left) ->
    case filelib:is_dir(ProcDir) of
        true -> timer:sleep(2), await_end(ProcDir, Left - 2);
        false -> ok
    end.
