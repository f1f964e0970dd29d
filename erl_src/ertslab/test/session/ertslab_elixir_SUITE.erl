%% Experiments in Elixir: where its modules are, and what is said if its compiler refuses a file. Programs in place of Elixir's answer
%% here; that it compiles an experiment is tests/elixir.bats.
-module(ertslab_elixir_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, init_per_testcase/2, end_per_testcase/2, its_libraries_are_on_the_path/1, the_first_error_is_told/1,
         an_elixir_that_does_not_start_is_told/1, a_missing_elixir_is_named/1]).

all() -> [its_libraries_are_on_the_path, the_first_error_is_told, an_elixir_that_does_not_start_is_told, a_missing_elixir_is_named].

%% A folder of tools, which come before those of the machine, and one with Elixir's libraries.
init_per_testcase(Case, Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), Case),
    Path = os:getenv("PATH"),
    [ok = filelib:ensure_path(filename:join(Dir, Part)) || Part <- ["bin", "lib/elixir/ebin", "lib/logger/ebin", "out"]],
    true = os:putenv("PATH", filename:join(Dir, "bin") ++ ":" ++ Path),
    [{dir, Dir}, {path, Path}, {code, code:get_path()} | Config].

end_per_testcase(_, Config) ->
    true = code:set_path(proplists:get_value(code, Config)),
    os:putenv("PATH", proplists:get_value(path, Config)).

its_libraries_are_on_the_path(Config) ->
    Dir = proplists:get_value(dir, Config),
    elixir(Config, "echo \"$@\" >\"${4}/asked\"; echo \"$ERL_COMPILER_OPTIONS\" >>\"${4}/asked\""),
    ?assertEqual(ok, compile(Config)),
    [?assert(lists:member(filename:join([Dir, "lib", Name, "ebin"]), code:get_path())) || Name <- ["elixir", "logger"]],
    {ok, Asked} = file:read_file(filename:join(Dir, "out/asked")),
    Ebin = filename:dirname(code:which(ertslab_experiment)),
    ?assertEqual(iolist_to_binary(["-pa ", Ebin, " -o ", filename:join(Dir, "out"), " exp_x.exs\nr25\n"]), Asked).

%% It is on standard output, or since Elixir 1.15 on standard error.
the_first_error_is_told(Config) ->
    [begin
         elixir(Config, Script),
         {error, Error} = compile(Config),
         ?assertEqual(Sentence, ertslab_error:sentence({ertslab_elixir, Error}))
     end || {Script, Sentence} <- [{"echo 'warning: x'; echo '** (TokenMissingError) exp_x.exs:3: missing'; exit 1",
                                    ~"(TokenMissingError) exp_x.exs:3: missing"},
                                   {"echo odd; exit 1", ~"the compiler does not say why"},
                                   {"echo '** (CompileError) b' >&2; exit 1", ~"(CompileError) b"}]].

an_elixir_that_does_not_start_is_told(Config) ->
    elixir(Config, "exit 0"),
    tool(Config, "elixir", "exit 1"),
    ?assertThrow({failure, {ertslab_elixir, {does_not_start, _}}}, compile(Config)).

a_missing_elixir_is_named(Config) ->
    true = os:putenv("PATH", filename:join(proplists:get_value(dir, Config), "bin")),
    ?assertThrow({failure, {ertslab_os_command, {missing, "elixirc", "elixir"}}}, compile(Config)).

compile(Config) -> ertslab_elixir:compile("exp_x.exs", filename:join(proplists:get_value(dir, Config), "out")).

%% An Elixir whose compiler does this. It tells its folder by way of its programs' one.
elixir(Config, Script) ->
    tool(Config, "elixir", ["printf %s ", filename:join(proplists:get_value(dir, Config), "bin/../lib/elixir")]),
    tool(Config, "elixirc", Script).

tool(Config, Name, Script) ->
    File = filename:join([proplists:get_value(dir, Config), "bin", Name]),
    ok = file:write_file(File, ["#!/bin/sh\n", Script, "\n"]),
    ok = file:change_mode(File, 8#755).
