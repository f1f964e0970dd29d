%% @doc OTP's compiler at work on OTP's own modules: a real program that makes many
%% lists, tuples and maps, and much garbage.
%%
%% The sources are those of the stdlib that is installed with the VM. Compiling them
%% must give exactly the installed code.
-module(exp_compile_stdlib).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

%% Modules of different kinds that compile within a second or so.
-define(MODULES, [array, gb_sets, gen_server, io_lib_pretty, lists, proplists, queue, rand, sofs, zip]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "the compiler, compiling modules of stdlib",
      shows => "the effect of a change to the VM on a program that was not written for measuring",
      origin => "OTP's compiler and stdlib, as installed",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => module, 'of' => [all | ?MODULES], quick => [gb_sets, gen_server, queue],
             full => [array, gb_sets, gen_server, lists, rand, zip],
             doc => "the module of stdlib to compile, or all of them, which takes a minute"}],
      metrics => [#{name => compile, doc => "from source to code, in a process for each module"}],
      contrasts => [],
      overall => true,
      estimator => floor,
      rounds => none,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 600_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{module := Module}) ->
    ok = program_packages:whole_otp(),
    {module, _} = code:ensure_loaded(ertslab_experiment),
    Files = files(Module),
    #{files => Files, expected => [installed(File) || File <- Files]}.

files(all) -> [filename:join(sources(), File) || File <- lists:sort(filelib:wildcard("*.erl", sources()))];
files(Module) -> [filename:join(sources(), atom_to_list(Module) ++ ".erl")].

sources() -> filename:join(code:lib_dir(stdlib), "src").

%% The module, and the digest of its code.
installed(File) ->
    Name = filename:basename(File, ".erl"),
    {ok, {Module, Digest}} = beam_lib:md5(filename:join([code:lib_dir(stdlib), "ebin", Name])),
    {Module, Digest}.

-spec prepare(atom(), map()) -> map().
prepare(compile, State) -> State.

-spec run(atom(), map()) -> {integer(), [{module(), Digest :: binary()}]}.
run(compile, #{files := Files}) ->
    {Nanoseconds, Codes} = ertslab_experiment:timed(fun() -> [in_own_process(File) || File <- Files] end),
    {Nanoseconds, [digest(Code) || Code <- Codes]}.

%% A process for each module, so that no module pays for the garbage of the one before.
in_own_process(File) ->
    Parent = self(),
    Child = spawn_link(fun() -> Parent ! {self(), compiled(File)} end),
    receive {Child, Code} -> Code end.

compiled(File) ->
    {ok, _, Code} = compile:file(File, [binary, deterministic, return_errors | includes()]),
    Code.

includes() -> [{i, filename:join(code:lib_dir(Library), "include")} || Library <- [kernel, stdlib]].

digest(Code) ->
    {ok, {Module, Digest}} = beam_lib:md5(Code),
    {Module, Digest}.

-spec verify(atom(), [{module(), binary()}], map()) -> ok | {wrong, term()}.
verify(compile, Expected, #{expected := Expected}) -> ok;
verify(compile, Other, #{expected := Expected}) ->
    {wrong, #{not_as_installed => [Module || {Module, _} = Installed <- Expected, not lists:member(Installed, Other)]}}.

-spec teardown(map()) -> ok.
teardown(_) -> ok.
