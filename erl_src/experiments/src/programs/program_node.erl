%% @doc Another Erlang that an experiment starts: the measured program, or its load.
%%
%% The measured program runs on the same emulator as the experiment, with its flags and its modules. The load
%% runs on the stock emulator of the checkout, whatever is measured. Each has cores of its own if there are two or more.
-module(program_node).

-export([start/2, call/4, call/5, os_pid/1]).
-export_type([program/0]).

-type options() :: #{emulator := measured | fixed, environment => [{string(), string()}], words => [string()]}.
-opaque program() :: #{peer := pid(), os_pid := pos_integer(), log := file:filename()}.

%% A scheduler that busy-waits for work would add to the measured processor time.
-define(WAITING, ["-sbwt", "none", "-sbwtdcpu", "none", "-sbwtdio", "none"]).
-define(START_TIMEOUT_MS, 30_000).
-define(CALL_TIMEOUT_MS, 120_000).

%% @doc Starts a VM over a pipe, without distribution. It ends with the place, and its output goes to the place's log.
-spec start(program_place:place(), options()) -> program().
start(Place, #{emulator := Which} = Options) ->
    Words = program_cores:pinned(Which, emulator(Which, maps:get(words, Options, []))),
    Environment = [{"HOME", program_place:folder(Place)} | maps:get(environment, Options, [])],
    case started(Words, Environment, program_place:log(Place)) of
        {ok, Peer, _NoNode} ->
            OsPid = list_to_integer(peer:call(Peer, os, getpid, [])),
            ok = program_place:guard(Place, OsPid),
            #{peer => Peer, os_pid => OsPid, log => program_place:log(Place)};
        {error, Reason} -> error({cannot_run, io_lib:format("no VM starts for the program: ~0tp", [Reason])})
    end.

%% The VM prints through the group leader of its peer process, which inherits it from this process.
started(Words, Environment, Log) ->
    {ok, Output} = file:open(Log, [append, {encoding, utf8}]),
    Own = group_leader(),
    true = group_leader(Output, self()),
    try peer:start(#{connection => standard_io, wait_boot => ?START_TIMEOUT_MS, exec => {hd(Words), tl(Words)}, env => Environment})
    after true = group_leader(Own, self())
    end.

%% The command line that started this VM, without the arguments after the emulator's flags.
emulator(measured, Words) ->
    {ok, Line} = file:read_file("/proc/self/cmdline"),
    {ok, File} = file:read_link("/proc/self/exe"),
    [_Name | All] = [unicode:characters_to_list(Word) || Word <- binary:split(Line, <<0>>, [global, trim])],
    {Flags, ["--" | _]} = lists:splitwith(fun(Word) -> Word =/= "--" end, All),
    [File | ?WAITING] ++ Flags
        ++ ["--", "-root", code:root_dir(), "-bindir", os:getenv("BINDIR"), "-progname", "erl", "--", "-home", "/", "--"]
        ++ paths() ++ own_modules() ++ Words;
emulator(fixed, Words) ->
    [fixed(), "-emu_type", "stock", "-boot", "no_dot_erlang", "+sbwt", "none"] ++ own_modules() ++ Words.

fixed() ->
    Top = filename:absname(os:getenv("ERTSLAB_TOP", ".")),
    case filelib:wildcard("build/otp-*/bin/erl", Top) of
        [Erl | _] -> filename:join(Top, Erl);
        [] -> error({cannot_run, "what gives the program work needs a VM of this clone; './build.sh otp' builds one"})
    end.

own_modules() -> ["-pa", filename:dirname(code:which(?MODULE))].

%% A variant keeps the modules that it patches in folders of their own.
paths() -> lists:append([["-pa" | Dirs] || {pa, Dirs} <- init:get_arguments()]).

%% @doc Calls a function there.
-spec call(program(), module(), atom(), [term()]) -> term().
call(Program, Module, Function, Args) -> call(Program, Module, Function, Args, ?CALL_TIMEOUT_MS).

%% @doc The same within that many milliseconds. If the program has ended, or does not answer in time, the error names its log.
-spec call(program(), module(), atom(), [term()], timeout()) -> term().
call(#{peer := Peer, log := Log}, Module, Function, Args, Timeout) ->
    try peer:call(Peer, Module, Function, Args, Timeout)
    catch
        exit:{timeout, _} -> error({cannot_run, ["the program does not answer in time; its log is ", Log]});
        exit:_ -> error({cannot_run, ["the program has ended; its log is ", Log]})
    end.

%% @doc The process of the operating system.
-spec os_pid(program()) -> pos_integer().
os_pid(#{os_pid := OsPid}) -> OsPid.
