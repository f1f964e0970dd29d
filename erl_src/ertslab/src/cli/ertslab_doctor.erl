%% @doc `ertslab doctor': reports what is built, what this machine can measure, what is missing, and which command
%% fixes it.
-module(ertslab_doctor).

-export([run/1, speed/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {missing, pos_integer()}.

%% `speeds': the measurements behind the finding on the machine's speed.
-type finding() :: #{what := unicode:chardata(), state := ok | missing | limited,
                     remedy := unicode:chardata(), required := boolean(),
                     speeds => ertslab_speeds:speeds()}.

%% Long enough to notice the change of a speed that lasts for a second.
-define(SPEED_MS, 3000).

-spec run(map()) -> ok.
run(Options) ->
    Findings = findings(),
    case Options of
        #{json := true} -> io:put_chars(ertslab_json:format([as_json(F) || F <- Findings]));
        #{} -> io:put_chars([line(F) || F <- Findings])
    end,
    case [F || #{state := missing, required := true} = F <- Findings] of
        [] -> ok;
        Missing -> ertslab_error:failure(?MODULE, {missing, length(Missing)})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({missing, Number}) -> io_lib:format("~b things that are needed are missing.", [Number]).

-spec findings() -> [finding()].
findings() ->
    case ertslab_paths:is_checkout() of
        true -> emulators(ertslab_inventory:installed()) ++ tools() ++ machine() ++ [speed(speeds())];
        false ->
            Lab = finding("a clone of ertslab, which builds patched VMs and measures on them", missing, ertslab_advice:remedy(lab)),
            own() ++ [Lab]
    end.

%% The requirements of the single-file program on the Erlang that runs it.
own() ->
    Release = erlang:system_info(otp_release),
    [finding(["OTP ", Release, " in ", code:root_dir(), ", for diagnose, try and advise"], ok, "")
     | [application(Name, For) || {Name, For} <- [{compiler, "audit, time and compare, and to name the receive that scans"},
                                                  {ssl, "nodes that are reached over TLS"}]]].

application(Name, For) ->
    What = io_lib:format("~ts, for ~ts", [Name, For]),
    case code:lib_dir(Name) of
        {error, bad_name} -> finding(What, missing, "use the 'escript' of a complete installation of OTP instead of the release's own");
        _ -> finding(What, ok, "")
    end.

emulators([]) -> [needed(finding("OTP", missing, ertslab_advice:remedy(otp)))];
emulators(VMs) -> [emulator(VM) || VM <- VMs].

emulator(#{name := Name, version := Version, executable := File, sha256 := Sha,
           release := Release}) ->
    What = io_lib:format("OTP ~ts, ~ts", [Version, Name]),
    case file:read_file(File) of
        {ok, Bytes} ->
            case ertslab_sha256:hex(Bytes) of
                Sha -> finding(What, ok, "");
                _ -> needed(finding([What, ": the file is not the one that was built"], missing, ertslab_advice:remedy({otp, Release})))
            end;
        {error, _} -> needed(finding([What, ": the emulator is gone"], missing, ertslab_advice:remedy({otp, Release})))
    end.

tools() ->
    [tool("gnuplot", "pictures", tool), tool("perf", "where time goes", tool),
     tool("valgrind", "exact counts of instructions and misses", tool), flame_graphs(), tool("docker", "the image", docker)].

tool(Name, For, Kind) ->
    What = io_lib:format("~ts, for ~ts", [Name, For]),
    case os:find_executable(Name) of
        false -> finding(What, missing, ertslab_advice:remedy(Kind));
        _ -> finding(What, ok, "")
    end.

flame_graphs() ->
    case ertslab_flame:tool() of
        none -> finding("a program that draws flame graphs", missing, ertslab_advice:remedy(flame_graphs));
        Tool -> finding([filename:basename(Tool), ", for flame graphs"], ok, "")
    end.

machine() ->
    [finding([What, ": ", Says], state(State), "") || #{what := What, state := State, says := Says}
                                                          <- ertslab_preflight:check()].

state(ok) -> ok;
state(_) -> limited.

%% Measured in this VM, which has nothing else to do. The machine's speed is the same in every VM, and this works even
%% if no built emulator does.
speeds() ->
    Points = ertslab_progress:while("Looking at the machine's speed for 3 s...",
                                    fun() -> ertslab_speed_probe:repeated(?SPEED_MS) end),
    ertslab_speeds:found(Points).

%% @doc The finding on how fast the machine was.
-spec speed(ertslab_speeds:speeds()) -> finding().
speed(#{speeds := Number} = Speeds) ->
    {State, Remedy} = judged(Number =:= 2 orelse ertslab_speeds:is_wide(Speeds), Number),
    (finding([case Number of unknown -> "the machine's speed: "; _ -> "the machine has " end,
              ertslab_speeds:says(Speeds)], State, Remedy))#{speeds => Speeds}.

judged(true, _) ->
    {limited, "each run gets one of them by chance; experiments with the estimator floor cope with it, because they compare the"
              " lowest of many short runs"};
judged(false, 1) -> {ok, ""};
judged(false, unknown) -> {limited, ""}.

finding(What, State, Remedy) -> #{what => What, state => State, remedy => Remedy, required => false}.

needed(Finding) -> Finding#{required := true}.

as_json(#{what := What, state := State, remedy := Remedy} = Finding) ->
    (maps:with([speeds], Finding))#{what => ertslab_text:binary(What), state => State,
                                    remedy => ertslab_text:binary(Remedy)}.

line(#{what := What, state := ok}) -> io_lib:format("  ok       ~ts~n", [What]);
line(#{what := What, state := State, remedy := ""}) -> io_lib:format("  ~-8ts ~ts~n", [State, What]);
line(#{what := What, state := State, remedy := Remedy}) ->
    io_lib:format("  ~-8ts ~ts~n             -> ~ts~n", [State, What, Remedy]).
