%% The report on a log of looks: its page, its text, the spans that are asked for.
-module(ertslab_watch_report_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, the_page_is_well_formed/1, a_split_says_what_changed/1, spans_bound_the_looks/1, without_looks_it_is_a_sentence/1,
         times_are_read/1, a_look_becomes_a_record/1]).

all() ->
    [the_page_is_well_formed, a_split_says_what_changed, spans_bound_the_looks, without_looks_it_is_a_sentence, times_are_read,
     a_look_becomes_a_record].

%% Also of a single look, of looks that saw nothing, and of names that could be markup.
the_page_is_well_formed(_) ->
    [begin
         Page = iolist_to_binary(ertslab_watch_page:page(seen(Records, Spans))),
         {_, _} = xmerl_scan:string(unicode:characters_to_list(binary:replace(Page, ~"<!DOCTYPE html>", ~"")), [{quiet, true}]),
         ?assertNotEqual(nomatch, binary:match(Page, ~"Over time"))
     end || {Records, Spans} <- [{looks(400), #{split => 200}},
                                 {looks(400), #{}},
                                 {[look(1, 5)], #{}},
                                 {[look(1, 0), gone(2), look(3, 0)], #{split => 2}},
                                 {[(look(1, 5))#{messages := null, memory := null, findings := [~"<b>&"]}], #{}}]].

a_split_says_what_changed(_) ->
    Text = text(looks(400), #{split => 200}),
    [?assertNotEqual(nomatch, binary:match(Text, Says), {Says, Text})
     || Says <- [~"399 looks of shop@host", ~"did not answer once", ~"changed: more"]],
    ?assertNotEqual(nomatch, binary:match(Text, ~"Found in 0 of 198 looks before, and in 201 of 201 after: deep mailbox")),
    %% A number that grows from look to look, after looks without messages: the medians differ, and no verdict follows.
    Growing = text([(look(At, 1.0e7))#{messages := max(0, 20_000 * min(1, At div 200) + 9 * (At - 200))} || At <- lists:seq(1, 400)],
                   #{split => 200}),
    ?assertMatch({match, _}, re:run(Growing, "messages that wait in all mailboxes +0 +20900 .*unsure .too few independent looks.")),
    Drawn = text(looks(400), #{}),
    ?assertEqual(nomatch, binary:match(Drawn, ~"verdict")),
    ?assertNotEqual(nomatch, binary:match(Drawn, ~"Found in 201 of 399 looks: deep mailbox")).

spans_bound_the_looks(_) ->
    #{records := Records} = seen(looks(400), #{from => 100, until => 150}),
    ?assertEqual({100, 150, 51}, {maps:get(at, hd(Records)), maps:get(at, lists:last(Records)), length(Records)}).

without_looks_it_is_a_sentence(_) ->
    [?assertThrow({failure, {ertslab_watch_spans, Reason}}, seen(Records, Spans))
     || {Reason, Records, Spans} <- [{no_look, [], #{}}, {no_look, [gone(1)], #{}}, {none_between, looks(10), #{from => 11}},
                                     {none_between, looks(10), #{until => 0}}, {{none_before, 1}, looks(10), #{split => 1}},
                                     {{none_from, 11}, looks(10), #{split => 11}},
                                     {{none_before, 5}, looks(10), #{from => 5, split => 5}}]].

times_are_read(_) ->
    Type = ertslab_option_types:time(),
    [?assertEqual({ok, Seconds}, ertslab_option_types:read(Type, Text))
     || {Text, Seconds} <- [{"1970-01-01Z", 0}, {"2026-11-26T14:05:30Z", 1795701930}, {"2026-11-26 14:05Z", 1795701900}]],
    {ok, Local} = ertslab_option_types:read(Type, "2026-11-26 14:05"),
    ?assertEqual({{2026, 11, 26}, {14, 5, 0}}, calendar:system_time_to_local_time(Local, second)),
    ?assertEqual({ok, Local}, ertslab_option_types:read(Type, ertslab_option_types:written(Type, Local))),
    [?assertMatch({error, _}, ertslab_option_types:read(Type, Text))
     || Text <- ["", "yesterday", "2026-02-30", "2026-11-26 24:00", "2026-11-26 14:60", "2026-11-26 14", "0000-01-01",
                 "2026-11-26 14:05 "]].

a_look_becomes_a_record(_) ->
    {ok, Report} = diagnose:node(#{collect => false, budget => 2000}),
    #{at := 7, processes := Processes, memory := Memory, findings := Findings} = Record = ertslab_diagnose_watch:record(7, Report),
    ?assert(is_integer(Processes) andalso Processes > 10 andalso Memory > 1_000_000 andalso lists:all(fun is_binary/1, Findings)),
    ?assert(iolist_size(ertslab_json:line(Record)) < 1000).

text(Records, Spans) -> ertslab_text:binary(ertslab_watch_page:text(seen(Records, Spans))).

seen(Records, Spans) -> ertslab_watch_spans:seen(#{node => ~"shop@host", records => Records, damaged => 0}, Spans).

%% From look 200 on the memory is twice as large.
looks(Number) ->
    _ = rand:seed(exsss, 40),
    [case At of
         13 -> gone(At);
         _ -> look(At, 1.0e7 * (1 + 0.1 * rand:uniform()) * case At < 200 of true -> 1; false -> 2 end)
     end || At <- lists:seq(1, Number)].

gone(At) -> #{at => At, gone => ~"it is gone"}.

look(At, Memory) ->
    #{at => At, process => ~"<0.1.0>", findings => [~"deep_mailbox" || At >= 200], messages => 0, deepest => 0,
      collections => 0.01, busy => 0.2,
      memory => Memory, processes => 46}.
