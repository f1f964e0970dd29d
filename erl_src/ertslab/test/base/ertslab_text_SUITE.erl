%% How values, tables and markup are written, and reasons of errors.
-module(ertslab_text_SUITE).

-include_lib("stdlib/include/assert.hrl").
-include_lib("proper/include/proper.hrl").

-export([all/0, durations_have_a_unit/1, seconds_are_minutes/1, parameters_are_in_order/1, columns_are_aligned/1,
         text_never_becomes_markup/1, markup_is_well_formed/1, reasons_are_one_line/1, failures_tell_statuses_apart/1]).

all() ->
    [durations_have_a_unit, seconds_are_minutes, parameters_are_in_order, columns_are_aligned, text_never_becomes_markup,
     markup_is_well_formed, reasons_are_one_line, failures_tell_statuses_apart].

durations_have_a_unit(_) ->
    [?assertEqual(Text, iolist_to_binary(ertslab_text:duration(Ns)))
     || {Text, Ns} <- [{~"-", none}, {~"0.0 ns", 0}, {~"999.9 ns", 999.9}, {~"1.00 us", 1000}, {~"1.50 ms", 1_500_000},
                       {~"2.00 s", 2.0e9}]].

seconds_are_minutes(_) ->
    [?assertEqual(Text, iolist_to_binary(ertslab_text:clock(Seconds)))
     || {Text, Seconds} <- [{~"0:00", 0}, {~"0:59", 59}, {~"1:00", 60}, {~"61:01", 3661}]].

parameters_are_in_order(_) ->
    ?assertEqual(~"cells=7  kind=a", iolist_to_binary(ertslab_text:params(#{kind => a, cells => 7}))),
    ?assertEqual(~"", iolist_to_binary(ertslab_text:params(#{}))).

columns_are_aligned(_) ->
    ?assertEqual(~"metric  ratio\nü       1.00\n",
                 unicode:characters_to_binary(ertslab_text:columns([[~"metric", "ratio"], [~"ü", ["1", ".00"]]]))).

text_never_becomes_markup(_) ->
    ?assertEqual(~"<p class=\"a&quot;b\">&lt;b&gt; &amp; \x{FFFD}</p>",
                 unicode:characters_to_binary(ertslab_xml:render({p, [{class, "a\"b"}], [~"<b> & \x{7}"]}))).

%% Whatever the text is, an XML parser reads it.
markup_is_well_formed(_) ->
    true = proper:quickcheck(
             ?FORALL(Chars, list(oneof([char_of_xml(), $<, $&, $", $'])),
                     begin
                         Text = unicode:characters_to_binary(Chars),
                         Page = unicode:characters_to_binary(ertslab_xml:render({html, [{lang, Chars}], [{br, [], []}, {p, [], [Text]}]})),
                         {Read, []} = xmerl_scan:string(binary_to_list(Page), [{quiet, true}]),
                         element(1, Read) =:= xmlElement
                     end), [{numtests, 100}, quiet]),
    ?assertMatch(<<"<!DOCTYPE html>\n<p></p>\n">>, iolist_to_binary(ertslab_xml:page({p, [], []}))).

char_of_xml() -> oneof([integer(0, 16#2FF), integer(16#E000, 16#10FFFF)]).

reasons_are_one_line(_) ->
    [?assertEqual(Text, ertslab_crash:says(Reason))
     || {Text, Reason} <- [{~"no answer in time", timeout}, {~"the VM ended", {exit_status, 3}}, {~"the VM ended", noproc},
                           {~"badarg", {exception, badarg, [{m, f, 1, []}]}}, {~"badarg", {badarg, [{m, f, 1, []}]}},
                           {~"badarg", {{badarg, [{m, f, 1, []}]}, {gen_server, call, [a]}}},
                           {~"it says so", {cannot_run, "it says so"}}, {~"{wrong_result,7}", {wrong_result, 7}}]],
    ?assertMatch({_, _}, binary:match(ertslab_crash:says({does_not_load, a_nif}),
                                      ~"a_nif, which the experiment needs, does not load there")).

failures_tell_statuses_apart(_) ->
    [?assertThrow({Kind, {?MODULE, of_seven}}, ertslab_error:Kind(?MODULE, of_seven)) || Kind <- [usage, failure, beyond, incomplete]],
    ?assertThrow({usage, {ertslab_paths, {wants_the_lab, "--nif"}}}, ertslab_paths:wants_the_lab("--nif")).
