%% @doc Starting a virtual machine, calling it and ending it.
%%
%% A started VM is known by the file that it runs: `system_info(emu_type)' says `opt' for every variant.
-module(ertslab_vm).

-export([libraries/0, command/2, emulator_call/2]).
-export([start/1, start/3, start_padded/2, call/5, stop/1, in_fresh/6, on_its_machine/4, must_answer/1]).
-export_type([running/0]).

-type running() :: #{vm := ertslab_inventory:vm(), peer := pid(), os_pid := string()}.

%% With the time warp mode that OTP has by default, a step of the machine's clock
%% lets erlang:monotonic_time/0 run 1 % fast or slow for hours, so as to catch up.
%% Paths are UTF-8 also where the locale does not say so, and the user's own
%% .erlang shapes no VM that is measured.
-define(WORDS, ["-boot", "no_dot_erlang", "+sbtu", "+C", "multi_time_warp", "+fnu", "-kernel", "logger_level", "emergency"]).
-define(WORD_PADDING, 64).
%% Whose compiler compiled this.
-define(OWN_RELEASE, ?OTP_RELEASE).
-define(START_TIMEOUT_MS, 30_000).
-define(STOP_TIMEOUT_MS, 5_000).

%% @doc The words that start this VM with the project's libraries on its path.
-spec command(ertslab_inventory:vm(), [string()]) -> [string(), ...].
command(VM, Args) ->
    [program(VM) | emulator_type(VM) ++ own_modules(VM) ++ library_path(VM) ++ code_path(VM) ++ flags(VM) ++ Args].

program(#{program := Program}) -> Program;
program(#{root := Root}) -> filename:join([Root, "bin", "erl"]).

%% An Erlang that was installed starts what it starts.
emulator_type(#{program := _}) -> [];
emulator_type(#{executable := File}) ->
    ["beam", Type, _Flavour] = string:lexemes(filename:basename(File), "."),
    ["-emu_type", Type].

%% The code that is compared comes before the project's own.
code_path(#{code := #{folders := Folders}}) -> ["-pa" | Folders];
code_path(#{}) -> [].

flags(#{flags := Flags}) -> Flags;
flags(#{}) -> [].

%% Before the path of the boot script, so that also kernel and stdlib take them from there.
own_modules(#{modules := _, root := Root, name := Name}) ->
    ["-pa", filename:join([Root, "modules", binary_to_list(Name)])];
own_modules(#{}) -> [].

%% @doc What `erl' would give the interpreter of this VM, words and environment,
%% for a program that is to start the emulator itself.
-spec emulator_call(ertslab_inventory:vm(), [string()]) -> {[string()], [{string(), string()}]}.
emulator_call(#{root := Root} = VM, Args) ->
    Words = command(VM, ["-emu_flavor", "emu", "-emu_args_exit" | Args]),
    {ok, Lines} = ertslab_os_command:run(Words, "/dev/null", #{}),
    {string:lexemes(unicode:characters_to_list(Lines), "\n"),
     [{"ROOTDIR", Root}, {"BINDIR", filename:dirname(ertslab_inventory:interpreter(VM))},
      {"EMU", "beam"}, {"PROGNAME", "erl"}]}.

library_path(#{host := #{libraries := Dirs}}) -> ["-pa" | Dirs];
library_path(#{release := Release}) ->
    case libraries() of
        [] -> [];
        Dirs -> ["-pa" | [loadable(Dir, Release >= ?OWN_RELEASE) || Dir <- Dirs]]
    end.

%% A release that is older than the compiler's has code of its own: that of rebar3's profile `oldest', and of an
%% experiment that lies elsewhere a folder within its folder. Elixir's own libraries have none, and are as they are.
loadable(Dir, true) -> Dir;
loadable(Dir, false) ->
    case string:split(Dir, "/default/lib/", trailing) of
        [Before, After] -> Before ++ "/oldest/lib/" ++ After;
        [_] -> older(Dir, filename:join(Dir, "oldest"))
    end.

older(Dir, Oldest) ->
    case filelib:is_dir(Oldest) of
        true -> Oldest;
        false -> Dir
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
-spec start(ertslab_inventory:vm()) -> {ok, running()} | {error, term()}.
start(VM) -> start(VM, [], []).

%% @doc The same with more words for the emulator and more in its environment.
-spec start(ertslab_inventory:vm(), [string()], [{string(), string()}]) -> {ok, running()} | {error, term()}.
start(VM, More, Environment) ->
    Words = command(VM, More ++ ?WORDS),
    Tag = make_ref(),
    Options = (launch(VM, Words, Environment))#{connection => standard_io, wait_boot => {self(), Tag}},
    case peer:start(Options) of
        {ok, Peer} -> started(VM, Peer, Tag);
        {error, Reason} -> {error, Reason}
    end.

launch(#{host := Host}, Words, Environment) ->
    {[Ssh | Args], Quoting} = ertslab_ssh:wrap(Host, Environment, Words),
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

%% @doc The same with an environment and words that are longer by a padding.
%%
%% `Padding' makes its environment longer by so many bytes, and its words by up to 63: the one moves the stacks of
%% its threads, the other what it keeps of its words. Else each arm would have the luck of its own name's length for a
%% whole session: under a name one letter longer the same emulator hibernated 0.5 % faster, in ten sessions of ten.
-spec start_padded(ertslab_inventory:vm(), Padding :: non_neg_integer()) -> {ok, running()} | {error, term()}.
start_padded(VM, Padding) ->
    Words = ["-ertslab_padding" | [lists:duplicate(Padding rem ?WORD_PADDING, $x) || Padding rem ?WORD_PADDING > 0]],
    start(VM, Words, [{"ERTSLAB_PADDING", lists:duplicate(Padding, $x)}]).

%% @doc Calls a function in a VM that is started for it, with a padding, and ended after it.
-spec in_fresh(ertslab_inventory:vm(), Padding :: non_neg_integer(), module(), atom(), [term()], timeout()) ->
          {ok, term()} | {error, term()}.
in_fresh(VM, Padding, Module, Function, Args, Timeout) ->
    case start_padded(VM, Padding) of
        {ok, Running} ->
            try call(Running, Module, Function, Args, Timeout)
            after stop(Running)
            end;
        {error, Reason} -> {error, Reason}
    end.

%% @doc Calls a function on the machine of a VM: here, or in that VM started for it there.
-spec on_its_machine(ertslab_inventory:vm(), module(), atom(), [term()]) -> term().
on_its_machine(#{host := Host} = VM, Module, Function, Args) ->
    case in_fresh(VM, 0, Module, Function, Args, ?START_TIMEOUT_MS) of
        {ok, Result} -> Result;
        {error, Reason} ->
            must_answer(VM),
            ertslab_error:failure("~ts: no VM starts there: ~ts.",
                                  [maps:get(address, Host), ertslab_error:reason_text(Reason)])
    end;
on_its_machine(#{}, Module, Function, Args) -> apply(Module, Function, Args).

%% @doc Fails where the machine of a VM is gone.
-spec must_answer(ertslab_inventory:vm()) -> ok.
must_answer(#{host := Host}) ->
    case ertslab_ssh:answers(Host) of
        true -> ok;
        false -> ertslab_ssh:lost(Host)
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
    ok = ertslab_os_command:kill(OsPid),
    try peer:stop(Peer) catch _:_ -> ok end,
    await_end(filename:join("/proc", OsPid), ?STOP_TIMEOUT_MS).

await_end(_ProcDir, Left) when Left =< 0 -> ok;
await_end(ProcDir, Left) ->
    case filelib:is_dir(ProcDir) of
        true -> timer:sleep(2), await_end(ProcDir, Left - 2);
        false -> ok
    end.
