%% The compiler on the VM that this runs in, over OTP's own modules, in a random order, for as
%% long as ERTSLAB_CHAOS_SECONDS says: it makes the code that OTP was installed with.
-module(otp_compile_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, modules_compile_to_the_same_code/1]).

%% What says where a result goes, who hears of warnings, and what was done before the
%% abstract code was kept.
-define(OTHER, [outdir, i, parse_transform, warnings_as_errors, report, report_errors, report_warnings, verbose,
                warn_missing_spec, warn_missing_spec_all]).

%% The others name the place of the source and how it was compiled, or, as the table of funs,
%% a checksum over that.
-define(CODE, ["AtU8", "Code", "StrT", "ImpT", "ExpT", "LocT", "LitT", "Line", "Type"]).

%% OTP makes it of assembly that was mended by hand.
-define(ASSEMBLED, "prim_eval.beam").

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [modules_compile_to_the_same_code].

modules_compile_to_the_same_code(_) ->
    Installed = [File || File <- filelib:wildcard(filename:join(code:lib_dir(), "*/ebin/*.beam")),
                         filename:basename(File) =/= ?ASSEMBLED],
    {_, Files} = lists:unzip(lists:sort([{rand:uniform(), File} || File <- Installed])),
    Compiled = compile_until(erlang:monotonic_time(second) + endurance_chaos:seconds(), Files),
    ?assertMatch([_ | _], Compiled),
    ?assertEqual([], [File || {File, false} <- Compiled]),
    {comment, lists:concat([length(Compiled), " of ", length(Files), " modules compile to the same code"])}.

compile_until(_, []) -> [];
compile_until(End, [File | Files]) ->
    case erlang:monotonic_time(second) < End of
        true -> [{File, is_same(File)} | compile_until(End, Files)];
        false -> []
    end.

is_same(File) ->
    {ok, {Module, [{abstract_code, {raw_abstract_v1, Forms}}, {compile_info, Info}]}} =
        beam_lib:chunks(File, [abstract_code, compile_info]),
    Options = [Option || Option <- proplists:get_value(options, Info, []), not lists:member(name(Option), ?OTHER)],
    {ok, Module, Compiled} = compile:noenv_forms(Forms, Options),
    code(Compiled) =:= code(File).

code(Beam) ->
    {ok, _, Chunks} = beam_lib:all_chunks(Beam),
    [lists:keyfind(Id, 1, Chunks) || Id <- ?CODE].

name(Option) when is_tuple(Option) -> element(1, Option);
name(Option) -> Option.
