%% What is compiled is what is installed.
-module(exp_compile_stdlib_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, compiles_what_is_installed/1, every_module_is_there/1, all_are_all_sources/1, other_code_is_noticed/1]).

all() -> [compiles_what_is_installed, every_module_is_there, all_are_all_sources, other_code_is_noticed].

compiles_what_is_installed(_) ->
    #{samples := Samples} = ertslab_worker:run(exp_compile_stdlib, #{module => proplists}),
    ?assertMatch([{compile, [_, _]}], Samples),
    State = exp_compile_stdlib:setup(#{module => queue}),
    {_, Result} = exp_compile_stdlib:run(compile, State),
    ?assertEqual([{queue, queue:module_info(md5)}], Result).

every_module_is_there(_) ->
    #{parameters := [#{'of' := [all | Modules], full := Full, quick := Quick}]} = exp_compile_stdlib:info(),
    [?assertMatch(#{files := [_], expected := [{Module, <<_:16/binary>>}]}, exp_compile_stdlib:setup(#{module => Module}))
     || Module <- Modules],
    ?assertEqual({[], []}, {Full -- Modules, Quick -- Modules}).

all_are_all_sources(_) ->
    #{files := Files, expected := Expected} = exp_compile_stdlib:setup(#{module => all}),
    ?assertEqual(length(filelib:wildcard(filename:join(code:lib_dir(stdlib), "ebin/*.beam"))), length(Files)),
    ?assertEqual(lists:sort(Expected), lists:usort(Expected)),
    ?assert(length(Files) > 80).

other_code_is_noticed(_) ->
    #{expected := [{queue, Digest}] = Expected} = State = exp_compile_stdlib:setup(#{module => queue}),
    ?assertEqual(ok, exp_compile_stdlib:verify(compile, Expected, State)),
    <<First, Rest/binary>> = Digest,
    [?assertEqual({wrong, #{not_as_installed => [queue]}}, exp_compile_stdlib:verify(compile, Other, State))
     || Other <- [[{queue, <<(First bxor 1), Rest/binary>>}], []]].
