%% The log of looks: what it keeps when it grows, when its writer is killed, and when the file is no log.
-module(ertslab_watch_log_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_file_that_is_replaced_gets_a_header/1, a_file_that_is_replaced_by_no_log_is_refused/1,
         parts_that_were_put_together_are_one_log/1, no_text_of_a_log_commands_a_terminal/1, a_line_that_cannot_be_written_is_a_failure/1,
         only_a_regular_file_is_a_log/1, what_is_no_look_makes_room/1, two_watches_do_not_share_a_log/1,
         what_was_written_is_read/1, it_never_exceeds_its_bound/1, looks_of_one_time_are_bounded_too/1,
         a_clock_that_is_set_back_for_once_removes_nothing/1, logs_of_two_nodes_are_no_log/1,
         a_line_that_was_cut_off_is_removed/1, a_mark_of_utf8_in_front_is_skipped/1,
         damaged_lines_are_counted/1, another_file_is_refused/1]).

-define(NODE_NAME, ~"shop@host").

all() ->
    [a_file_that_is_replaced_gets_a_header, a_file_that_is_replaced_by_no_log_is_refused,
     parts_that_were_put_together_are_one_log, no_text_of_a_log_commands_a_terminal,
     a_line_that_cannot_be_written_is_a_failure, only_a_regular_file_is_a_log,
     what_is_no_look_makes_room, two_watches_do_not_share_a_log,
     what_was_written_is_read, it_never_exceeds_its_bound, a_clock_that_is_set_back_for_once_removes_nothing,
     logs_of_two_nodes_are_no_log, looks_of_one_time_are_bounded_too, a_line_that_was_cut_off_is_removed,
     damaged_lines_are_counted, a_mark_of_utf8_in_front_is_skipped,
     another_file_is_refused].

what_was_written_is_read(Config) ->
    File = file(Config),
    Gone = #{at => 3, gone => ~"node shop@host is gone"},
    _ = appended(open(File), [look(1), look(2), Gone]),
    _ = appended(open(File), [look(4)]),
    ?assertEqual(#{node => ?NODE_NAME, records => [look(1), look(2), Gone, look(4)], damaged => 0}, ertslab_watch_log:read(File)).

%% Two writers would remove each other's lines.
two_watches_do_not_share_a_log(Config) ->
    File = file(Config),
    ertslab_folder_lock:on(File, fun() ->
                                         ?assertThrow({failure, {ertslab_folder_lock, {writing_into, File}}},
                                                      ertslab_diagnose_log:watch(File, #{node => node(), connect => ~""}, #{}))
                                 end),
    ?assertNot(filelib:is_file(File)).

%% The newest looks are complete. The older looks are, the sparser they are, and some are from the beginning.
it_never_exceeds_its_bound(Config) ->
    File = file(Config),
    Most = 20_000,
    lists:foldl(fun(At, Log) ->
                        Next = ertslab_watch_log:append(Log, look(At)),
                        ?assert(filelib:file_size(File) =< Most),
                        Next
                end, open(File, Most), lists:seq(1, 2000)),
    #{records := Records, damaged := 0} = ertslab_watch_log:read(File),
    Times = [At || #{at := At} <- Records],
    ?assertEqual(lists:seq(1980, 2000), [At || At <- Times, At >= 1980]),
    Gaps = lists:zipwith(fun(A, B) -> B - A end, lists:droplast(Times), tl(Times)),
    {Older, Newer} = lists:split(length(Gaps) div 2, Gaps),
    ?assert(hd(Times) < 1000 andalso lists:sum(Older) > 3 * lists:sum(Newer), Times),
    ?assertEqual(Times, lists:usort(Times)).

%% A look at the wrong time does not remove what was before it.
a_clock_that_is_set_back_for_once_removes_nothing(Config) ->
    File = file(Config),
    Times = lists:seq(100_000, 100_100) ++ [1] ++ lists:seq(100_101, 100_400),
    _ = lists:foldl(fun(At, Log) -> ertslab_watch_log:append(Log, look(At)) end, open(File, 20_000), Times),
    #{records := Records} = ertslab_watch_log:read(File),
    ?assertNotEqual([], [At || #{at := At} <- Records, At >= 100_000, At < 100_100]).

logs_of_two_nodes_are_no_log(Config) ->
    [One, Other] = [File || Name <- ["one", "other"], File <- [file(Config) ++ Name]],
    _ = appended(open(One), [look(1)]),
    _ = appended(ertslab_watch_log:open(Other, #{node => ~"other@host"}), [look(2)]),
    {ok, More} = file:read_file(Other),
    ok = file:write_file(One, More, [append]),
    ?assertThrow({failure, {ertslab_watch_log, {two_nodes, One, ?NODE_NAME, ~"other@host"}}}, ertslab_watch_log:read(One)).

%% For example because the clock was put back.
looks_of_one_time_are_bounded_too(Config) ->
    Log = lists:foldl(fun(_, Log) -> ertslab_watch_log:append(Log, look(5)) end, open(file(Config), 2000), lists:seq(1, 100)),
    ?assertMatch(#{}, ertslab_watch_log:append(Log, look(1))).

%% Reading a pipe would never end.
only_a_regular_file_is_a_log(Config) ->
    Pipe = file(Config) ++ "-pipe",
    _ = os:cmd("mkfifo '" ++ Pipe ++ "'"),
    [?assertThrow({failure, {ertslab_watch_log, {no_regular_file, File}}}, open(File))
     || File <- [Pipe, "/dev/null", proplists:get_value(priv_dir, Config)]].

%% For example because another program wrote into the file.
what_is_no_look_makes_room(Config) ->
    [begin
         File = file(Config),
         _ = open(File),
         ok = file:write_file(File, [[Line, $\n] || _ <- lists:seq(1, 100)], [append]),
         _ = ertslab_watch_log:append(open(File, 1000), look(7)),
         ?assertMatch(#{records := [#{at := 7}], damaged := 0}, ertslab_watch_log:read(File)),
         ok = file:delete(File)
     end || Line <- [~"this is no JSON", ~"{\"at\":\"noon\",\"findings\":[]}", ~"[1, 2, 3]"]].

%% The log is cut at each place where a killed program may have stopped.
a_line_that_was_cut_off_is_removed(Config) ->
    File = file(Config),
    _ = appended(open(File), [look(1), look(2)]),
    {ok, Text} = file:read_file(File),
    [_, {End, 1}, _] = binary:matches(Text, ~"\n"),
    [begin
         ok = file:write_file(File, binary:part(Text, 0, Bytes)),
         #{records := Read} = ertslab_watch_log:read(File),
         ?assertEqual([look(1)], [Record || #{at := 1} = Record <- Read]),
         _ = appended(open(File), [look(3)]),
         ?assertMatch(#{records := [#{at := 1}, #{at := 3}], damaged := 0}, ertslab_watch_log:read(File))
     end || Bytes <- lists:seq(End + 1, byte_size(Text) - 1)].

%% As some editors save a text.
a_mark_of_utf8_in_front_is_skipped(Config) ->
    File = file(Config),
    _ = appended(open(File), [look(1)]),
    {ok, Text} = file:read_file(File),
    ok = file:write_file(File, [16#EF, 16#BB, 16#BF, Text]),
    ?assertEqual(#{node => ?NODE_NAME, records => [look(1)], damaged => 0}, ertslab_watch_log:read(File)),
    _ = appended(open(File), [look(2)]),
    ?assertMatch(#{records := [#{at := 1}, #{at := 2}], damaged := 0}, ertslab_watch_log:read(File)).

damaged_lines_are_counted(Config) ->
    File = file(Config),
    _ = appended(open(File), [look(1)]),
    ok = file:write_file(File, ~B|{"at":"x"}
[]
{"at":1,"findings":[],"memory":-5}
{"at":1,"findings":[3]}
{"at":-1,"findings":[]}
{"at":253402300800,"gone":"x"}
{"at":1,"findings":[],"memory":1e300}
no JSON
|, [append]),
    _ = appended(open(File), [look(2)]),
    ?assertMatch(#{records := [#{at := 1}, #{at := 2}], damaged := 8}, ertslab_watch_log:read(File)).

%% For example on a full disk.
a_line_that_cannot_be_written_is_a_failure(Config) ->
    File = file(Config),
    Log = open(File),
    ok = file:delete(File),
    ok = file:del_dir(filename:dirname(File)),
    {failure, Error} = thrown(fun() -> ertslab_watch_log:append(Log, look(1)) end),
    ?assertEqual({ertslab_results, {cannot_write, File, enoent, anew}}, Error),
    ?assertEqual(unicode:characters_to_binary(["cannot write ", File, ": no such file or directory."]),
                 ertslab_error:sentence(Error)).

%% As logrotate does, or a person. Each part is a log, which the same watch continues, and a later one.
a_file_that_is_replaced_gets_a_header(Config) ->
    File = file(Config),
    Whole = #{node => ?NODE_NAME, records => [look(3), look(4), look(5)], damaged => 0},
    [begin
         Log = appended(open(File), [look(1), look(2)]),
         ok = Replace(File, File ++ ".1"),
         _ = appended(Log, [look(3), look(4)]),
         _ = appended(open(File), [look(5)]),
         ?assertEqual({Name, Whole}, {Name, ertslab_watch_log:read(File)}),
         ok = file:delete(File),
         case filelib:is_file(File ++ ".1") of
             true ->
                 ?assertMatch(#{records := [#{at := 1}, #{at := 2}], damaged := 0}, ertslab_watch_log:read(File ++ ".1")),
                 ok = file:delete(File ++ ".1");
             false -> ok
         end
     end || {Name, Replace} <-
                [{moved, fun file:rename/2},
                 {removed, fun(From, _) -> file:delete(From) end},
                 {truncated, fun(From, _) -> file:write_file(From, "") end},
                 {copied_and_truncated, fun(From, To) -> {ok, _} = file:copy(From, To), file:write_file(From, "") end},
                 {moved_and_created, fun(From, To) -> ok = file:rename(From, To), file:write_file(From, "") end}]].

%% What another program has put there is not written into.
a_file_that_is_replaced_by_no_log_is_refused(Config) ->
    File = file(Config),
    Log = appended(open(File), [look(1)]),
    Diary = binary:copy(~"x", filelib:file_size(File)),
    ok = file:rename(File, File ++ ".1"),
    ok = file:write_file(File, Diary),
    ?assertEqual({failure, {ertslab_watch_log, {no_log, File}}}, thrown(fun() -> ertslab_watch_log:append(Log, look(2)) end)),
    ?assertEqual({ok, Diary}, file:read_file(File)),
    ok = file:delete(File),
    ok = file:make_dir(File),
    ?assertEqual({failure, {ertslab_watch_log, {no_regular_file, File}}}, thrown(fun() -> ertslab_watch_log:append(Log, look(2)) end)),
    ok = file:del_dir(File).

%% `cat looks.jsonl.1 looks.jsonl'.
parts_that_were_put_together_are_one_log(Config) ->
    File = file(Config),
    Parts = [begin
                 _ = appended(open(File), [look(At)]),
                 {ok, Part} = file:read_file(File),
                 ok = file:delete(File),
                 Part
             end || At <- [2, 1]],
    ok = file:write_file(File, Parts),
    ?assertEqual(#{node => ?NODE_NAME, records => [look(1), look(2)], damaged => 0}, ertslab_watch_log:read(File)).

%% Another program may have written the file.
no_text_of_a_log_commands_a_terminal(Config) ->
    File = file(Config),
    ok = file:write_file(File, ~B"""
                               {"log":"x","format":1,"node":"shop\u001b[31m@host"}
                               {"at":1,"findings":["deep\u0007\nmailbox"],"process":"\u001b]0;x"}
                               {"at":2,"gone":"it\u009b is gone"}

                               """),
    ?assertEqual(#{node => ~"shop [31m@host", damaged => 0,
                   records => [(maps:map(fun(_, _) -> null end, look(1)))#{at := 1, findings := [~"deep  mailbox"], process := ~" ]0;x"},
                               #{at => 2, gone => ~"it  is gone"}]},
                 ertslab_watch_log:read(File)),
    ?assertThrow({failure, {ertslab_watch_log, {other_node, File, ~"shop [31m@host", ?NODE_NAME}}}, open(File)).

%% The file stays unchanged.
another_file_is_refused(Config) ->
    File = file(Config),
    [begin
         ok = file:write_file(File, Text),
         ?assertEqual({failure, {ertslab_watch_log, Reason}}, thrown(fun() -> open(File) end), Text),
         ?assertEqual({ok, Text}, file:read_file(File))
     end || {Text, Reason} <- [{~"my diary\n", {no_log, File}}, {~"{}\n", {no_log, File}}, {binary:copy(~"x", 100_000), {no_log, File}},
                               {~B|{"log":"x","format":2,"node":"a"}|, {newer, File}},
                               {~B|{"log":"x","format":1,"node":"other@host"}|, {other_node, File, ~"other@host", ~"shop@host"}}]],
    ?assertMatch({failure, {ertslab_results, {cannot_read, _, enoent}}}, thrown(fun() -> ertslab_watch_log:read(File ++ ".missing") end)),
    ?assertMatch({failure, {ertslab_results, {cannot_read, _, enotdir}}}, thrown(fun() -> open(filename:join(File, "below_a_file")) end)).

thrown(Fun) ->
    try Fun()
    catch throw:Thrown -> Thrown
    end.

file(Config) -> filename:join(suite_folder:dir(Config), "looks.jsonl").

open(File) -> ertslab_watch_log:open(File, #{node => ?NODE_NAME}).

open(File, Most) -> ertslab_watch_log:open(File, #{node => ?NODE_NAME, most => Most}).

appended(Log, Records) -> lists:foldl(fun(Record, Before) -> ertslab_watch_log:append(Before, Record) end, Log, Records).

look(At) ->
    #{at => At, process => ~"<0.1.0>", findings => [~"deep_mailbox"], messages => 5, deepest => 3, collections => 0.25, busy => null,
      memory => 1000, processes => 46}.
