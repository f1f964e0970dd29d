%% One program at a time in a folder.
-module(ertslab_folder_lock_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, a_file_has_one_writer/1, result_is_the_functions/1, second_one_is_refused/1, other_folder_is_free/1,
         is_free_after_a_failure/1,
         is_free_after_a_kill/1]).

all() ->
    [a_file_has_one_writer, result_is_the_functions, second_one_is_refused, other_folder_is_free, is_free_after_a_failure,
     is_free_after_a_kill].

result_is_the_functions(Config) -> ?assertEqual(7, ertslab_folder_lock:in(dir(Config), fun() -> 7 end)).

%% Also by another name of the same folder.
second_one_is_refused(Config) ->
    Dir = dir(Config),
    Link = Dir ++ "_link",
    ok = file:make_symlink(Dir, Link),
    ertslab_folder_lock:in(Dir, fun() ->
                                  ?assertThrow({failure, {ertslab_folder_lock, {measuring_into, Link}}}, in(Link))
                          end),
    ?assertEqual(ok, in(Link)).

%% Also by a link to it, before it exists, and after it was replaced. Another file in that folder is free.
a_file_has_one_writer(Config) ->
    Dir = dir(Config),
    File = filename:join(Dir, "looks.jsonl"),
    Link = filename:join(dir(Config), "link"),
    ok = file:make_symlink(filename:join(["..", filename:basename(Dir), "looks.jsonl"]), Link),
    On = fun(Name) -> ertslab_folder_lock:on(Name, fun() -> ok end) end,
    Refused = fun(Name) ->
                      ?assertThrow({failure, {ertslab_folder_lock, {writing_into, Name}}}, On(Name))
              end,
    ertslab_folder_lock:on(File, fun() ->
                                         Refused(File),
                                         Refused(Link),
                                         ok = file:write_file(File ++ ".part", "new"),
                                         ok = file:rename(File ++ ".part", File),
                                         Refused(File),
                                         ?assertEqual(ok, On(File ++ "2")),
                                         ?assertEqual(ok, in(Dir))
                                 end),
    ?assertEqual(ok, On(Link)),
    ?assertEqual(ok, On(filename:join([Dir, "nowhere", "looks.jsonl"]))).

other_folder_is_free(Config) ->
    ?assertEqual(ok, ertslab_folder_lock:in(dir(Config), fun() -> in(dir(Config)) end)).

is_free_after_a_failure(Config) ->
    Dir = dir(Config),
    ?assertThrow(no_more, ertslab_folder_lock:in(Dir, fun() -> throw(no_more) end)),
    ?assertEqual(ok, in(Dir)).

is_free_after_a_kill(Config) ->
    Dir = dir(Config),
    Self = self(),
    {Holder, Monitor} = spawn_monitor(fun() ->
                                              ertslab_folder_lock:in(Dir, fun() -> Self ! inside, timer:sleep(infinity) end)
                                      end),
    receive inside -> exit(Holder, kill) end,
    receive {'DOWN', Monitor, process, Holder, killed} -> ok end,
    ?assertEqual(ok, until_free(Dir, 100)).

%% The socket is closed a moment after its owner has ended.
until_free(_Dir, 0) -> still_taken;
until_free(Dir, Left) ->
    try in(Dir)
    catch throw:{failure, _} -> timer:sleep(20), until_free(Dir, Left - 1)
    end.

in(Dir) -> ertslab_folder_lock:in(Dir, fun() -> ok end).
