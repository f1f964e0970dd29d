%% @doc `ertslab cachegrind': instructions, cache misses, branches and their
%% mispredictions in each function of the emulator, counted by valgrind on the
%% interpreter of one variant or two.
-module(ertslab_cachegrind).

-export([run/1, format_error/1]).
-export_type([reason/0]).

%% `Base': the path of valgrind's log without its extension.
-type reason() :: {no_counts, Base :: file:filename()} | {failed, Experiment :: string(), Name :: binary(), Why :: binary()}
                | {too_slow, Experiment :: string(), Name :: binary()} | {valgrind_failed, Base :: file:filename()}.

-define(DEFAULT_RUNS, 3).
%% Fixed sizes in place of the machine's own, so that counts are the same everywhere.
-define(CACHES, ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=2097152,16,64"]).
%% One thread of each kind, without busy waiting, so that counts repeat.
-define(STEADY, ["+S", "1:1", "+SDcpu", "1:1", "+SDio", "1", "+A", "1",
                 "+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"]).
-define(SLOWER, 100).
-define(LINES_OF_TABLE, 25).

%% @doc The command: counts, and prints and stores the results.
-spec run(map()) -> ok.
run(Given) ->
    #{experiment := Name, vm := Names} = Options = ertslab_experiment_source:named(Given),
    Module = ertslab_parameters:module(Name),
    #{timeout_ms := Timeout} = Info = ertslab_parameters:info(Module),
    Params = ertslab_parameters:one_case(Info, counted, maps:get(param, Options, [])),
    VMs = ertslab_inventory:one_or_two(Names, ertslab_inventory:release(Options)),
    Interpreters = [ertslab_inventory:interpreter(VM) || VM <- VMs],
    Valgrind = ertslab_os_command:find("valgrind", "valgrind"),
    Dir = ertslab_results:dir(["cachegrind-", Name], Options),
    ok = ertslab_results:new(Dir),
    Work = #{valgrind => Valgrind, dir => Dir, experiment => Name, module => Module,
             params => Params, timeout_ms => ?SLOWER * Timeout,
             runs => maps:get(runs, Options, ?DEFAULT_RUNS)},
    report(Options, Work, VMs,
           [counted(VM, Interpreter, Work) || {VM, Interpreter} <- lists:zip(VMs, Interpreters)]).

counted(#{name := Name} = VM, Interpreter, #{runs := Runs} = Work) ->
    io:format(standard_error, "Counting ~ts, ~b times (valgrind is about 50 times slower)...~n",
              [Name, Runs]),
    [one_run(VM, Interpreter, Run, Work) || Run <- lists:seq(1, Runs)].

one_run(#{name := Name} = VM, Interpreter, Run, #{dir := Dir, timeout_ms := Timeout} = Work) ->
    #{valgrind := Valgrind, module := Module, params := Params} = Work,
    Base = filename:join(Dir, lists:flatten(io_lib:format("~ts-~b", [Name, Run]))),
    {Words, Env} = ertslab_vm:emulator_call(VM, ?STEADY ++ ertslab_cachegrind_run:words(Module, Params)),
    Ended = ertslab_os_command:run([Valgrind, "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes" | ?CACHES]
                             ++ ["--cachegrind-out-file=" ++ literal(Base ++ ".cachegrind"),
                                 "--log-file=" ++ literal(Base ++ ".log"), Interpreter | Words],
                             Base ++ ".log", #{env => Env, timeout_ms => Timeout}),
    ended(Ended, Base, VM, Work).

%% In these options valgrind expands a percent sign, so it is doubled.
literal(Path) -> lists:flatten(string:replace(Path, "%", "%%", all)).

ended({ok, _}, Base, _VM, _Work) ->
    Parsed = case file:read_file(Base ++ ".cachegrind") of
                 {ok, Text} -> ertslab_cachegrind_out:parse(Text);
                 {error, _} -> error
             end,
    case Parsed of
        {ok, Functions, Whole} -> {Functions, Whole};
        error -> ertslab_error:failure(?MODULE, {no_counts, Base})
    end;
ended({error, {status, 1, Why}}, _Base, #{name := Name}, #{experiment := Experiment})
  when Why =/= <<>> ->
    ertslab_error:failure(?MODULE, {failed, Experiment, Name, Why});
ended({error, timeout}, _Base, #{name := Name}, #{experiment := Experiment}) ->
    ertslab_error:failure(?MODULE, {too_slow, Experiment, Name});
ended({error, _}, Base, _VM, _Work) ->
    ertslab_error:failure(?MODULE, {valgrind_failed, Base}).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_counts, Base}) -> ["valgrind wrote no counts; its output is in ", Base, ".log."];
format_error({failed, Experiment, Name, Why}) -> [Experiment, " failed on ", Name, " under valgrind: ", Why, "."];
format_error({too_slow, Experiment, Name}) ->
    [Experiment, " on ", Name, " did not end in time under valgrind; give it less work by --param."];
format_error({valgrind_failed, Base}) -> ["valgrind failed; its output is in ", Base, ".log."].

report(Options, #{dir := Dir} = Work, VMs, RunsOfVMs) ->
    Rows = ertslab_cachegrind_counts:rows(RunsOfVMs),
    Whole = ertslab_cachegrind_counts:whole(RunsOfVMs),
    Table = ertslab_text:binary(table(Work, VMs, Whole, Rows)),
    Json = json:format(as_json(Work, VMs, Whole, Rows)),
    Files = [{"table.txt", Table}, {"summary.json", Json}],
    Write = fun() -> [ok = ertslab_results:write(filename:join(Dir, Name), Text) || {Name, Text} <- Files] end,
    ertslab_results:told(Write, Options, Json,
                         [Table, "\nAll functions, and valgrind's own files: ", Dir, $\n]).

table(#{experiment := Name, params := Params, runs := Runs}, VMs, Whole, Rows) ->
    [#{version := Version} | _] = VMs,
    [io_lib:format("~ts on OTP ~ts, interpreter: counts of a whole VM, each metric once~n~ts~n~n",
                   [Name, Version, ertslab_text:params(Params)]),
     ertslab_text:columns(ertslab_cachegrind_counts:columns([VM || #{name := VM} <- VMs],
                                                  [Whole | lists:sublist(Rows, ?LINES_OF_TABLE)])),
     io_lib:format("~n~b of ~b functions have the same counts in each of ~b runs.~n",
                   [length(lists:filter(fun ertslab_cachegrind_counts:is_exact/1, Rows)), length(Rows), Runs]),
     [["! ", Note, $\n] || Note <- notes(Runs)]].

notes(Runs) ->
    ["A count with ~ is the median of runs that vary: a VM has threads and a clock.",
     "Caches: I1 and D1 of 32 KiB, LL of 2 MiB. The simulation knows no prefetching, neither"
     " by the processor nor by instructions, so misses that prefetching hides are counted.",
     "Branches are conditional and indirect ones. Their predictor is valgrind's, and simpler than a"
     " processor's, so compare mispredictions with each other only."]
        ++ ["Fewer than 3 runs do not show which counts are exact." || Runs < 3].

as_json(#{experiment := Name, params := Params, runs := Runs, dir := Dir}, VMs, Whole, Rows) ->
    #{format => 1, experiment => ertslab_text:binary(Name), params => Params, runs => Runs,
      vms => [maps:with([name, version], VM) || VM <- VMs],
      events => ertslab_cachegrind_events:names(),
      whole => row_json(Whole), functions => [row_json(Row) || Row <- Rows],
      notes => [ertslab_text:binary(Note) || Note <- notes(Runs)],
      paths => #{folder => ertslab_text:binary(Dir)}}.

row_json(#{counts := Counts, spread := Spread} = Row) ->
    Row#{counts := [ertslab_cachegrind_events:values(C) || C <- Counts], spread := ertslab_cachegrind_events:values(Spread),
         exact => ertslab_cachegrind_counts:is_exact(Row)}.
