%% @doc Dialyzer at work on OTP's own applications.
%%
%% Its table of stdlib and kernel (the PLT) is made once for each release, and kept below build/programs.
-module(exp_dialyzer).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "dialyzer, checking an application of OTP",
        shows => "the effect of a change to the VM on a program that works on large maps, sets and tables",
        origin => "OTP's own dialyzer and applications",
        parameters =>
            [#{name => work, 'of' => [sasl, os_mon, eunit, plt], quick => [os_mon], full => [sasl],
               doc => "the application that is checked, or plt: stdlib and kernel are read, which takes a minute"}],
        metrics => [#{name => cpu, doc => "processor time of the check"},
                    #{name => time, doc => "the time"}],
        warm_up => 0,
        timeout_ms => 600_000}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{work := Work}) ->
    ok = program_packages:whole_otp(),
    Place = program_place:new("dialyzer"),
    #{place => Place, options => options(Work, Place), beside => round_notes:new()}.

options(plt, Place) -> plt_options(filename:join(program_place:folder(Place), "new.plt"));
options(Application, _) ->
    [{analysis_type, succ_typings}, {init_plt, plt()}, {check_plt, false}, {files_rec, ebins([Application])}].

plt_options(File) -> [{analysis_type, plt_build}, {output_plt, File}, {files_rec, ebins([stdlib, kernel])}].

%% Written under another name first, so that a half-written PLT is never read.
plt() ->
    File = filename:join([program_packages:build(), "dialyzer-" ++ version() ++ ".plt"]),
    case filelib:is_regular(File) of
        true -> File;
        false ->
            Part = File ++ "." ++ os:getpid(),
            ok = filelib:ensure_dir(Part),
            _ = run_dialyzer(plt_options(Part)),
            ok = file:rename(Part, File),
            File
    end.

run_dialyzer(Options) -> program_library:call(dialyzer, run, [Options]).

version() ->
    {ok, Version} = file:read_file(filename:join([code:root_dir(), "releases", erlang:system_info(otp_release), "OTP_VERSION"])),
    binary_to_list(string:trim(Version)).

ebins(Applications) -> [filename:join(code:lib_dir(Application), "ebin") || Application <- Applications].

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {integer(), [string()] | none}.
run(cpu, #{options := Options, beside := Beside}) ->
    {Cpu, Warnings} = judge_turns:taken_here(Beside, fun() -> run_dialyzer(Options) end),
    {Cpu, lists:sort([program_library:call(dialyzer, format_warning, [Warning]) || Warning <- Warnings])};
run(time, #{beside := Beside}) -> {round_notes:noted(Beside, time), none}.

%% The comparison checks that all VMs give the same warnings.
-spec verify(atom(), [string()] | none, map()) -> ok.
verify(_, _, _) -> ok.

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
