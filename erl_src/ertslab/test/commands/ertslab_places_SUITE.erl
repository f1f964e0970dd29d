%% All places that measure end in the same ways and leave the same results. A stand-in for ssh and one for sbatch run on
%% this machine what they are told to run elsewhere. What is measured are not times, but how far apart the cells of a list
%% lie that has hibernated, with small values and with large ones: three pairs show that.
-module(ertslab_places_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([suite/0, all/0, groups/0, init_per_suite/1, end_per_suite/1, init_per_group/2, end_per_group/2]).
-export([results_are_complete_and_end_by_their_bound/1, what_no_place_understands_is_misuse/1, what_fails_is_a_failure/1]).
-export([a_failure_does_not_hide_what_is_beyond/1, one_refusal_among_others_is_a_failure/1, an_unfit_node_is_replaced/1, options_agree/1,
         a_page_that_cannot_be_written_hides_nothing/1, a_page_of_several_that_cannot_be_written_hides_nothing/1]).

suite() -> [{timetrap, {minutes, 30}}].

all() -> [{group, Place} || Place <- places()]
    ++ [a_failure_does_not_hide_what_is_beyond, one_refusal_among_others_is_a_failure, an_unfit_node_is_replaced, options_agree,
        a_page_that_cannot_be_written_hides_nothing, a_page_of_several_that_cannot_be_written_hides_nothing].

groups() ->
    [{Place, [results_are_complete_and_end_by_their_bound, what_no_place_understands_is_misuse, what_fails_is_a_failure]}
     || Place <- places()].

places() -> [here, host, fleet, slurm].

%% The arguments of a place. The stand-in for ssh does not reach `gone'.
where(here, _) -> [];
where(host, _) -> ["--host", "lab"];
where(fleet, Config) -> ["--fleet", fleet(Config, ["lab"])];
where(slurm, _) -> ["--slurm", "all"].

%% The folder in which the place measures.
folder(fleet, Out) -> filename:join(Out, "lab");
folder(slurm, Out) -> filename:join(Out, "node-1");
folder(_, Out) -> Out.

init_per_suite(Config) ->
    Bin = filename:join(proplists:get_value(priv_dir, Config), "bin"),
    ok = filelib:ensure_path(Bin),
    %% Options end at --, then come the address and words for a shell.
    ok = program(Bin, "ssh", ["while [ \"$1\" != -- ]; do shift; done\n"
                              "[ \"$2\" != gone ] || { echo 'ssh: gone is gone' >&2; exit 255; }\n"
                              "shift 2\n"
                              "exec sh -c \"$*\"\n"]),
    %% Options come first, then the job. A node in UNFIT is not fit.
    ok = program(Bin, "sbatch", ["node=first\n"
                                 "while [ \"${1#--}\" != \"$1\" ]; do\n"
                                 "    case $1 in\n"
                                 "        --output=*) log=${1#--output=} ;;\n"
                                 "        --exclude=first) node=second ;;\n"
                                 "        --exclude=*) node=third ;;\n"
                                 "    esac\n"
                                 "    shift\n"
                                 "done\n"
                                 "export SLURMD_NODENAME=$node\n"
                                 "case \" ${UNFIT-} \" in *\" $node \"*)\n"
                                 "    printf 'node %s\\nertslab: this machine is not fit to measure on\\n' $node >$log; exit 1 ;;\n"
                                 "esac\n"
                                 "exec sh \"$@\" >$log 2>&1\n"]),
    Path = os:getenv("PATH"),
    true = os:putenv("PATH", Bin ++ ":" ++ Path),
    [{path, Path} | Config].

end_per_suite(Config) ->
    true = os:putenv("PATH", proplists:get_value(path, Config)),
    ok.

program(Bin, Name, Text) ->
    File = filename:join(Bin, Name),
    ok = file:write_file(File, ["#!/bin/sh\n" | Text]),
    file:change_mode(File, 8#755).

init_per_group(Place, Config) -> [{place, Place} | Config].

end_per_group(_, _) -> ok.

%% The report reads all of them in the same way, and a bound is held beside what is there. A place that stands alone does
%% not do that by itself, but only measures anew.
results_are_complete_and_end_by_their_bound(Config) ->
    {Place, Out} = here(Config, ?FUNCTION_NAME),
    Call = fun(Bound, More) -> called(sweep(where(Place, Config)) ++ ["--out", Out, "--fail-if", Bound | More]) end,
    ?assertEqual(ok, Call("changed 10000%", [])),
    Folder = folder(Place, Out),
    Files = ["manifest.json", "report.html", "samples.jsonl", "session.json", "summary.json", "table.txt"],
    ?assertEqual([], Files -- filelib:wildcard("*", Folder)),
    {ok, #{cases := [#{rows := Rows}], plan := Plan, runs := Runs, void := []}} = ertslab_report_data:read(Folder),
    ?assertEqual([~"value_words=14", ~"value_words=3"], lists:usort([Label || #{label := Label} <- Rows])),
    ?assertMatch(#{experiment := ~"spacing", pairs := 3}, Plan),
    ?assertEqual(6, length(Runs)),
    Samples = file:read_file(ertslab_session:file(Folder, "samples.jsonl")),
    case lists:member(Place, [here, host]) of
        true ->
            ?assertMatch({failure, {ertslab_session, {finished, _}}}, Call("changed 50%", [])),
            ?assertEqual(Samples, file:read_file(ertslab_session:file(Folder, "samples.jsonl"))),
            ?assertMatch({beyond, [{ertslab_fail_if, {results, _, {changed, 0.5}, #{metric := _, params := _}}}]}, Call("changed 50%", ["--force"]));
        false -> ?assertMatch({beyond, [{ertslab_fail_if, {places, [_]}}]}, Call("changed 50%", []))
    end,
    ?assertEqual(Place =:= here orelse Place =:= host, Samples =/= file:read_file(ertslab_session:file(Folder, "samples.jsonl"))).

what_no_place_understands_is_misuse(Config) ->
    {_, Out} = here(Config, ?FUNCTION_NAME),
    ?assertMatch({usage, _}, called(["sweep", "flying" | tl(tl(at(Config)))] ++ ["--out", Out])),
    ?assertMatch({usage, _}, called(at(Config) ++ ["--param", "flies=1", "--out", Out])).

what_fails_is_a_failure(Config) ->
    {Place, Out} = here(Config, ?FUNCTION_NAME),
    Foreign = filename:join(folder(Place, Out), "mine"),
    ok = filelib:ensure_dir(Foreign),
    ok = file:write_file(Foreign, ""),
    ?assertMatch({failure, _}, called(at(Config) ++ ["--out", Out])),
    ?assert(filelib:is_regular(Foreign)).

%% Both places' results are on one page.
a_failure_does_not_hide_what_is_beyond(Config) ->
    Out = out(Config, ?FUNCTION_NAME),
    Both = ["--fleet", fleet(Config, ["gone", "lab"]), "--fail-if", "changed 50%", "--out", Out],
    ?assertEqual({beyond, [{ertslab_places, {failed, ["gone"], Out}}, {ertslab_fail_if, {places, ["lab"]}}]}, called(sweep(Both))),
    ?assert(filelib:is_regular(filename:join(Out, "report.html"))),
    ?assertNot(filelib:is_dir(filename:join(Out, "gone"))).

one_refusal_among_others_is_a_failure(Config) ->
    Out = out(Config, ?FUNCTION_NAME),
    Called = fun(Addresses) -> called(sweep(["--fleet", fleet(Config, Addresses), "--out", Out])) end,
    ?assertEqual({usage, {ertslab_places, {all_failed, ["-no"]}}}, Called(["-no"])),
    ?assertEqual({failure, [{ertslab_places, {all_failed, ["-no", "gone"]}}]}, Called(["-no", "gone"])).

an_unfit_node_is_replaced(Config) ->
    Out = out(Config, ?FUNCTION_NAME),
    Log = fun() -> file:read_file(filename:join(Out, "node-1.log")) end,
    On = fun(Unfit) ->
                 true = os:putenv("UNFIT", Unfit),
                 try called(sweep(["--slurm", "all", "--out", Out, "--fail-if", "changed 50%"]))
                 after os:unsetenv("UNFIT")
                 end
         end,
    ?assertMatch({failure, [{ertslab_places, {all_failed, ["node-1"]}}]}, On("first second third")),
    ?assertNot(filelib:is_dir(filename:join(Out, "node-1"))),
    ?assertEqual({beyond, [{ertslab_fail_if, {places, ["node-1"]}}]}, On("first")),
    ?assertMatch({ok, <<"node second\n", _/binary>>}, Log()).

%% What was measured is told first, then what is beyond its bound and that there is no page.
a_page_that_cannot_be_written_hides_nothing(Config) ->
    Out = out(Config, ?FUNCTION_NAME),
    Words = sweep(["--out", Out]),
    ?assertEqual(ok, called(Words)),
    ok = file:delete(ertslab_session:file(Out, "summary.json")),
    Page = ertslab_session:file(Out, "report.html"),
    ok = file:delete(Page),
    ok = file:make_dir(Page),
    ct:capture_start(),
    Ended = called(Words ++ ["--fail-if", "changed 50%"]),
    ct:capture_stop(),
    Told = unicode:characters_to_binary(ct:capture_get()),
    ?assertMatch({beyond, [{ertslab_results, {cannot_write, Page, _, anew}}, {ertslab_fail_if, {results, _, _, _}}]}, Ended),
    ?assertMatch({_, _}, binary:match(Told, ~"spacing on OTP")),
    ok = file:delete(ertslab_session:file(Out, "summary.json")),
    ?assertMatch({failure, [{ertslab_results, {cannot_write, Page, _, _}}]}, called(Words)).

%% As where one place measures: the page that shows several side by side is but a view of what was measured.
a_page_of_several_that_cannot_be_written_hides_nothing(Config) ->
    Out = out(Config, ?FUNCTION_NAME),
    Page = filename:join(Out, "report.html"),
    ok = filelib:ensure_path(Page),
    Called = fun(Addresses, Bound) -> called(sweep(["--fleet", fleet(Config, Addresses), "--out", Out | Bound])) end,
    ?assertMatch({beyond, [{ertslab_places, {failed, ["gone"], Out}}, {ertslab_results, {cannot_write, Page, eisdir, anew}},
                           {ertslab_fail_if, {places, ["lab"]}}]},
                 Called(["gone", "lab"], ["--fail-if", "changed 50%"])),
    ?assertMatch({failure, [{ertslab_results, {cannot_write, Page, eisdir, anew}}]}, Called(["lab"], [])).

options_agree(Config) ->
    [?assertEqual({usage, {ertslab_places, Reason}}, called(["compare", "spacing", "--vm", "stock,stock_copy" | Words]), Words)
     || {Reason, Words} <- [{slurm_without_out, ["--slurm", "all"]}, {fleet_without_out, ["--fleet", fleet(Config, ["lab"])]},
                            {nodes_without_slurm, ["--nodes", "2"]}, {host_dir_without_host, ["--host-dir", "/x"]},
                            {slurm_elsewhere, ["--slurm", "all", "--out", "x", "--host", "lab"]},
                            {json_of_several, ["--slurm", "all", "--out", "x", "--json"]},
                            {fleet_and_host, ["--fleet", "none", "--out", "x", "--host", "lab"]},
                            {builds_elsewhere, ["--host", "lab", "--builds", "2"]}]].

here(Config, Name) ->
    Place = proplists:get_value(place, Config),
    {Place, out(Config, lists:concat([Place, "_", Name]))}.

out(Config, Name) -> filename:join(proplists:get_value(priv_dir, Config), Name).

fleet(Config, Addresses) ->
    File = out(Config, "machines"),
    ok = file:write_file(File, lists:join($\n, Addresses)),
    File.

at(Config) -> sweep(where(proplists:get_value(place, Config), Config)).

sweep(More) -> ["sweep", "spacing", "--vm", "stock", "--over", "value_words=3,14", "--no-control", "--param", "cells=1001" | More].

%% How the command ends: `ok', or the kind of its exit status with what is wrong.
called(Words) ->
    {ok, Options, #{handler := Handler}} = ertslab_arguments:parse(Words, ertslab_cli:command()),
    try Handler(Options#{command => list_to_atom(hd(Words))}) of
        ok -> ok
    catch throw:{Kind, Sentence} -> {Kind, Sentence}
    end.
