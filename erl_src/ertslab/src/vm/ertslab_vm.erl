%% @doc Starts a virtual machine, calls it and ends it.
%%
%% A started VM is identified by the file that it runs, since `system_info(emu_type)' is `opt' for every variant.
-module(ertslab_vm).

-export([libraries/0, command/2, emulator_call/2]).
-export([start/1, start/3, start_padded/2, call/5, stop/1, in_fresh/6, on_its_machine/4, must_answer/1, format_error/1]).
-export_type([running/0, reason/0]).

-type running() :: #{vm := ertslab_inventory:vm(), peer := pid(), os_pid := string()}.
-type reason() :: {no_vm_starts, Address :: string(), Why :: term()}.

%% In OTP's default time warp mode, a step of the machine's clock
%% makes erlang:monotonic_time/0 run 1 % fast or slow for hours, so as to catch up.
%% Paths are UTF-8 whatever the locale says, and the user's own
%% .erlang must not affect a VM that is measured.
-define(WORDS, ["-boot", "no_dot_erlang", "+sbtu", "+C", "multi_time_warp", "+fnu", "-kernel", "logger_level", "emergency"]).
-define(WORD_PADDING, 64).
%% The release whose compiler compiled this module.
-define(OWN_RELEASE, ?OTP_RELEASE).
-define(START_TIMEOUT_MS, 30_000).
-define(STOP_TIMEOUT_MS, 5_000).

%% @doc The command line that starts this VM with the project's libraries on its path.
-spec command(ertslab_inventory:vm(), [string()]) -> [string(), ...].
command(VM, Args) ->
    [program(VM) | emulator_type(VM) ++ own_modules(VM) ++ library_path(VM) ++ code_path(VM) ++ flags(VM) ++ Args].

program(#{program := Program}) -> Program;
program(#{root := Root}) -> filename:join([Root, "bin", "erl"]).

%% An installed Erlang starts its own emulator, whichever that is.
emulator_type(#{program := _}) -> [];
emulator_type(#{executable := File}) ->
    ["beam", Type, _Flavour] = string:lexemes(filename:basename(File), "."),
    ["-emu_type", Type].

%% The code that is compared comes before the project's own.
code_path(#{code := #{folders := Folders}}) -> ["-pa" | Folders];
code_path(#{}) -> [].

flags(#{flags := Flags}) -> Flags;
flags(#{}) -> [].

%% They come before the path of the boot script, so that they also replace modules of kernel and stdlib.
own_modules(#{modules := _, root := Root, name := Name}) ->
    ["-pa", filename:join([Root, "modules", binary_to_list(Name)])];
own_modules(#{}) -> [].

%% @doc The arguments and the environment that `erl' would give the interpreter of this VM,
%% for a program that starts the emulator itself.
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
        Dirs -> ["-pa" | [loadable(Dir, Release) || Dir <- Dirs]]
    end.

%% Releases older than the compiler's need separately compiled code. For the project it is that of rebar3's profile `oldest'. For
%% an experiment elsewhere, which the running release compiled, it is in the folder `oldest' within its folder. Elixir's own
%% libraries have no such code and stay as they are.
loadable(Dir, Release) ->
    case string:split(Dir, "/default/lib/", trailing) of
        [Before, After] when Release < ?OWN_RELEASE -> Before ++ "/oldest/lib/" ++ After;
        [_, _] -> Dir;
        [_] -> older(Dir, filename:join(Dir, "oldest"), list_to_integer(erlang:system_info(otp_release)) > Release)
    end.

older(Dir, Oldest, IsOlder) ->
    case IsOlder andalso filelib:is_dir(Oldest) of
        true -> Oldest;
        false -> Dir
    end.

%% @doc The folders of the project's compiled libraries.
-spec libraries() -> [file:filename()].
libraries() -> [filename:absname(Dir) || Dir <- code:get_path(), is_project_library(Dir)].

is_project_library(Dir) ->
    not lists:prefix(code:lib_dir(), Dir) andalso filelib:is_dir(Dir) andalso Dir =/= ".".

%% @doc Starts a fresh VM over a pipe, without distribution, and checks that
%% it runs the file of the variant. Its output goes to standard error, since
%% standard output may be JSON (`--json'). Its log is silenced; the line of a run says what ended it.
-spec start(ertslab_inventory:vm()) -> {ok, running()} | {error, term()}.
start(VM) -> start(VM, [], []).

%% @doc The same with more arguments for the emulator and more environment variables.
-spec start(ertslab_inventory:vm(), [string()], [{string(), string()}]) -> {ok, running()} | {error, term()}.
start(VM, More, Environment) ->
    Words = command(VM, More ++ ?WORDS),
    Tag = make_ref(),
    Options = (launch(VM, Words, Environment))#{connection => standard_io, wait_boot => {self(), Tag}},
    case printing_to_errors(fun() -> peer:start(Options) end) of
        {ok, Peer} -> started(VM, Peer, Tag);
        {error, Reason} -> {error, Reason}
    end.

%% The process that stands for a VM prints the VM's output through its group leader, which it inherits from its starter.
printing_to_errors(Start) ->
    Own = group_leader(),
    Printer = spawn(fun() -> prints(Own, whereis(standard_error)) end),
    true = group_leader(Printer, self()),
    try Start() of
        {ok, Peer} ->
            Printer ! {of_vm, Peer},
            {ok, Peer};
        Error ->
            exit(Printer, kill),
            Error
    catch
        Class:Reason:Stack ->
            exit(Printer, kill),
            erlang:raise(Class, Reason, Stack)
    after group_leader(Own, self())
    end.

%% Output goes to standard error. Other requests go to our own group leader: standard error has no
%% options, and Elixir starts only if it can set them.
prints(Own, Errors) ->
    receive
        {io_request, _, _, Request} = Message ->
            _ = case is_output(Request) andalso is_pid(Errors) of
                    true -> Errors ! Message;
                    false -> Own ! Message
                end,
            prints(Own, Errors);
        {of_vm, Peer} ->
            _ = monitor(process, Peer),
            prints(Own, Errors);
        {'DOWN', _, process, _, _} -> ok
    end.

is_output({requests, Requests}) when is_list(Requests) -> lists:all(fun is_output/1, Requests);
is_output(Request) -> is_tuple(Request) andalso tuple_size(Request) > 0 andalso element(1, Request) =:= put_chars.

launch(#{host := Host}, Words, Environment) ->
    {[Ssh | Args], Quoting} = ertslab_ssh:wrap(Host, Environment, Words),
    #{exec => {Ssh, Args}, post_process_args => Quoting};
launch(#{}, [Erl | Args], Environment) -> #{exec => {Erl, Args}, env => no_crash_dump() ++ Environment}.

%% A VM that does not start would leave one in the current folder.
no_crash_dump() -> [{"ERL_CRASH_DUMP_SECONDS", "0"} || os:getenv("ERL_CRASH_DUMP") =:= false].

started(VM, Peer, Tag) ->
    case os_pids(Peer) of
        [OsPid] -> booted(#{vm => VM, peer => Peer, os_pid => integer_to_list(OsPid)}, Tag);
        [] -> {error, normal}
    end.

%% The process id of the program at the other end of the pipe, which becomes the emulator (or is
%% ssh); empty if it has already ended.
os_pids(Peer) ->
    case process_info(Peer, links) of
        {links, Links} ->
            [OsPid || Port <- Links, is_port(Port), {os_pid, OsPid} <- [erlang:port_info(Port, os_pid)]];
        undefined -> []
    end.

%% A VM that hangs before it has booted is ended too: it would not end by itself, and
%% would disturb all later measurements.
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
    catch
        error:undef:Stack -> {error, {undef, Stack}};    % the stack names the missing function
        exit:{Why, {gen_server, call, [Peer | _]}} -> {error, Why};
        exit:Why -> {error, {exited, Why}};              % by the function, and not since the VM is gone
        _:Reason -> {error, Reason}
    end.

%% @doc The same with an environment and arguments that are longer by a padding.
%%
%% `Padding' makes its environment longer by that many bytes, and its arguments by up to 63. The first moves the stacks of
%% its threads, the second the memory where it keeps its arguments. Without padding, the length of each arm's name would fix
%% its layout for a whole session: under a name one letter longer the same emulator hibernated 0.5 % faster, in ten sessions
%% of ten.
-spec start_padded(ertslab_inventory:vm(), Padding :: non_neg_integer()) -> {ok, running()} | {error, term()}.
start_padded(VM, Padding) ->
    Words = ["-ertslab_padding" | [lists:duplicate(Padding rem ?WORD_PADDING, $x) || Padding rem ?WORD_PADDING > 0]],
    start(VM, Words, [{"ERTSLAB_PADDING", lists:duplicate(Padding, $x)}]).

%% @doc Starts a VM with a padding, calls a function in it, and ends the VM.
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

%% @doc Calls a function on the machine of a VM: in this VM if that is the same machine, else in that VM, which is started for it.
-spec on_its_machine(ertslab_inventory:vm(), module(), atom(), [term()]) -> term().
on_its_machine(#{host := Host} = VM, Module, Function, Args) ->
    case in_fresh(VM, 0, Module, Function, Args, ?START_TIMEOUT_MS) of
        {ok, Result} -> Result;
        {error, Reason} ->
            must_answer(VM),
            ertslab_error:failure(?MODULE, {no_vm_starts, maps:get(address, Host), Reason})
    end;
on_its_machine(#{}, Module, Function, Args) -> apply(Module, Function, Args).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_vm_starts, Address, Why}) -> [Address, ": no VM starts there: ", ertslab_crash:says(Why), "."].

%% @doc Fails if the machine of a VM is gone.
-spec must_answer(ertslab_inventory:vm()) -> ok.
must_answer(#{host := Host}) ->
    case ertslab_ssh:answers(Host) of
        true -> ok;
        false -> ertslab_ssh:lost(Host)
    end;
must_answer(#{}) -> ok.

%% @doc Ends the VM, even if it hangs: on this machine by a signal, on another one by a request, and by closing the
%% connection if that does not help. Returns when its process is gone, since freeing a large heap takes a while, and that
%% must not disturb the next run.
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
