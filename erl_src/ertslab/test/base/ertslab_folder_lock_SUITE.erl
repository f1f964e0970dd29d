%% One program at a time in a folder.
-module(ertslab_folder_lock_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, result_is_the_functions/1, second_one_is_refused/1, other_folder_is_free/1, is_free_after_a_failure/1,
         is_free_after_a_kill/1]).

all() ->
    [result_is_the_functions, second_one_is_refused, other_folder_is_free, is_free_after_a_failure,
     is_free_after_a_kill].

result_is_the_functions(Config) -> ?assertEqual(7, ertslab_folder_lock:in(dir(Config), fun() -> 7 end)).

%% Also by another name of the same folder.
second_one_is_refused(Config) ->
    Dir = dir(Config),
    Link = Dir ++ "_link",
    ok = file:make_symlink(Dir, Link),
    ertslab_folder_lock:in(Dir, fun() ->
                                  ?assertThrow({failure, {ertslab_folder_lock, {locked, Link}}}, in(Link))
                          end),
    ?assertEqual(ok, in(Link)).

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

dir(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), integer_to_list(erlang:unique_integer([positive]))),
    ok = filelib:ensure_path(Dir),
    Dir.
