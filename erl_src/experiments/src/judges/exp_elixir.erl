%% @doc Elixir's compiler at work on Elixir's own libraries: a real program, much of which is not written in Erlang.
-module(exp_elixir).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(COMPILER, 'Elixir.Kernel.ParallelCompiler').

-spec info() -> ertslab_experiment:info().
info() ->
    judge_turns:info(
      #{title => "Elixir's compiler, compiling a library of Elixir",
        shows => "the effect of a change to the VM on a program written in Elixir",
        origin => "Elixir as Debian trixie packages it, and its sources",
        programs => program_packages:versions("elixir"),
        parameters =>
            [#{name => library, 'of' => [eex, ex_unit, logger], quick => [eex], full => [logger],
               doc => "the library to compile"}],
        metrics => [#{name => cpu, doc => "processor time, from sources to files of code"},
                    #{name => time, doc => "the time"}],
        warm_up => 1,
        timeout_ms => 300_000}).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{library := Library}) ->
    ok = code:add_pathsa(program_packages:files("elixir", "usr/lib/elixir/lib/*/ebin")),
    {ok, _} = application:ensure_all_started(elixir),
    _ = program_library:call('Elixir.Code', put_compiler_option, [ignore_module_conflict, true]),
    Place = program_place:new("elixir"),
    Sources = program_packages:files("elixir", filename:join(["source", "lib", Library, "lib", "**", "*.ex"])),
    #{place => Place, sources => [unicode:characters_to_binary(Source) || Source <- Sources],
      into => program_place:folder(Place), beside => round_notes:new()}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

-spec run(atom(), map()) -> {integer(), [{module(), Digest :: binary()}] | none}.
run(cpu, #{sources := Sources, into := Into, beside := Beside}) ->
    {Cpu, {ok, Modules, _}} = judge_turns:taken_here(Beside, fun() -> compile(Sources, Into) end),
    {Cpu, [digest(Into, Module) || Module <- lists:sort(Modules)]};
run(time, #{beside := Beside}) -> {round_notes:noted(Beside, time), none}.

compile(Sources, Into) -> program_library:call(?COMPILER, compile_to_path, [Sources, unicode:characters_to_binary(Into)]).

digest(Into, Module) ->
    {ok, Digest} = beam_lib:md5(filename:join(Into, atom_to_list(Module))),
    Digest.

%% The comparison checks that all VMs compile to the same code.
-spec verify(atom(), [{module(), binary()}] | none, map()) -> ok | {wrong, term()}.
verify(cpu, [_ | _], _) -> ok;
verify(cpu, [], _) -> {wrong, nothing_compiled};
verify(time, none, _) -> ok.

-spec teardown(map()) -> ok.
teardown(#{place := Place}) -> program_place:remove(Place).
