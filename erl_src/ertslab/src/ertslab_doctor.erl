%% @doc `ertslab doctor': what is built, what this machine can measure, what
%% is missing and which command mends it.
-module(ertslab_doctor).

-export([run/1]).

-type finding() :: #{what := unicode:chardata(), state := ok | missing | limited,
                     remedy := unicode:chardata(), required := boolean()}.

-spec run(map()) -> ok.
run(Options) ->
    Findings = findings(),
    case Options of
        #{json := true} -> io:put_chars(json:format([as_json(F) || F <- Findings]));
        #{} -> io:put_chars([line(F) || F <- Findings])
    end,
    case [F || #{state := missing, required := true} = F <- Findings] of
        [] -> ok;
        Missing -> ertslab_error:failure("~b things that are needed are missing.", [length(Missing)])
    end.

-spec findings() -> [finding()].
findings() -> emulators() ++ tools() ++ machine().

emulators() ->
    [emulator(VM) || VM <- ertslab_vm:installed()].

emulator(#{name := Name, version := Version, executable := File, sha256 := Sha,
           release := Release}) ->
    What = io_lib:format("OTP ~ts, ~ts", [Version, Name]),
    case file:read_file(File) of
        {ok, Bytes} ->
            case binary:encode_hex(crypto:hash(sha256, Bytes), lowercase) of
                Sha -> finding(What, ok, "");
                _ -> needed(finding([What, ": the file is not the one that was built"], missing,
                                    otp_remedy(Release)))
            end;
        {error, _} -> needed(finding([What, ": the emulator is gone"], missing, otp_remedy(Release)))
    end.

otp_remedy(Release) -> io_lib:format("./build.sh otp --otp ~b", [Release]).

tools() ->
    [tool("gnuplot", "pictures", "./build.sh deps"),
     tool("perf", "where time goes", "./build.sh deps"),
     tool("valgrind", "exact counts of instructions and misses", "./build.sh deps"),
     flame_graphs(),
     tool("docker", "the image", "./build.sh deps --docker")].

tool(Name, For, Remedy) ->
    What = io_lib:format("~ts, for ~ts", [Name, For]),
    case os:find_executable(Name) of
        false -> finding(What, missing, Remedy);
        _ -> finding(What, ok, "")
    end.

flame_graphs() ->
    case ertslab_flame:tool() of
        none -> finding("a program that draws flame graphs", missing, ertslab_flame:remedy());
        Tool -> finding([filename:basename(Tool), ", for flame graphs"], ok, "")
    end.

machine() ->
    [finding([What, ": ", Says], state(State), "") || #{what := What, state := State, says := Says}
                                                          <- ertslab_preflight:check()].

state(ok) -> ok;
state(_) -> limited.

finding(What, State, Remedy) -> #{what => What, state => State, remedy => Remedy, required => false}.

needed(Finding) -> Finding#{required := true}.

as_json(#{what := What, state := State, remedy := Remedy}) ->
    #{what => ertslab_error:text(What), state => State, remedy => ertslab_error:text(Remedy)}.

line(#{what := What, state := ok}) -> io_lib:format("  ok       ~ts~n", [What]);
line(#{what := What, state := State, remedy := ""}) -> io_lib:format("  ~-8ts ~ts~n", [State, What]);
line(#{what := What, state := State, remedy := Remedy}) ->
    io_lib:format("  ~-8ts ~ts~n             -> ~ts~n", [State, What, Remedy]).
