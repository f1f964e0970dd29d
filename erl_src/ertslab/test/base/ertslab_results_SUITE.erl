%% Folders and files of results, and paths that a user gave.
-module(ertslab_results_SUITE).

-include_lib("stdlib/include/assert.hrl").

-import(suite_folder, [dir/1]).

-export([all/0, a_folder_is_named_or_after_the_command/1, a_folder_must_be_empty/1, a_file_is_written_whole_or_not_at_all/1,
         what_is_no_file_is_written_to/1, what_cannot_be_written_is_named/1, what_cannot_be_written_is_told/1,
         a_path_is_absolute_from_here_or_home/1, paths_are_of_the_checkout/1]).

all() ->
    [a_folder_is_named_or_after_the_command, a_folder_must_be_empty, a_file_is_written_whole_or_not_at_all,
     what_is_no_file_is_written_to, what_cannot_be_written_is_named, what_cannot_be_written_is_told,
     a_path_is_absolute_from_here_or_home, paths_are_of_the_checkout].

a_folder_is_named_or_after_the_command(_) ->
    ?assertEqual("/there", ertslab_results:dir("length", #{out => "/there"})),
    Dir = ertslab_results:dir(["bisect-", "length"], #{}),
    ?assertEqual(filename:absname(filename:join(ertslab_paths:top(), "results")), filename:dirname(Dir)),
    ?assertMatch({match, _}, re:run(filename:basename(Dir), "^bisect-length-[0-9]{8}-[0-9]{6}$")).

a_folder_must_be_empty(Config) ->
    Dir = filename:join(dir(Config), "a/b"),
    ok = ertslab_results:new(Dir),
    ok = ertslab_results:new(Dir),
    ok = file:write_file(filename:join(Dir, "notes"), "mine"),
    ?assertEqual(iolist_to_binary([Dir, " holds other files; choose an empty folder as --out."]),
                 failure(fun() -> ertslab_results:new(Dir) end)).

a_file_is_written_whole_or_not_at_all(Config) ->
    File = filename:join(dir(Config), "summary.json"),
    ok = ertslab_results:write(File, ["one", $\s, ~"text"]),
    ok = ertslab_results:write(File, "another"),
    ?assertEqual({ok, ~"another"}, file:read_file(File)),
    %% A part that cannot become the file is removed.
    ok = file:delete(File),
    ok = file:make_dir(File ++ ".part"),
    _ = failure(fun() -> ertslab_results:write(File, "a third") end),
    ?assertNot(filelib:is_regular(File)).

%% A link stays one.
what_is_no_file_is_written_to(Config) ->
    Dir = dir(Config),
    [File, Link] = [filename:join(Dir, Name) || Name <- ["file", "link"]],
    ok = file:make_symlink("file", Link),
    ok = ertslab_results:write(Link, "text"),
    ?assertMatch({ok, _}, file:read_link(Link)),
    ?assertEqual({ok, ~"text"}, file:read_file(File)),
    ok = ertslab_results:write("/dev/null", "text"),
    ?assertEqual({ok, other}, {ok, filelib_type("/dev/null")}).

filelib_type(File) ->
    {ok, Info} = file:read_file_info(File),
    case element(3, Info) of
        device -> other;
        Type -> Type
    end.

what_cannot_be_written_is_named(Config) ->
    File = filename:join(dir(Config), "in_the_way"),
    ok = file:write_file(File, "a file"),
    Below = filename:join(File, "below"),
    ?assertEqual(iolist_to_binary(["cannot write ", Below, ": not a directory."]), failure(fun() -> ertslab_results:make(Below) end)),
    ?assertEqual(iolist_to_binary(["cannot write ", Below, ": not a directory; what was measured before is kept, and the same command"
                                   " with the same --out, without --force, continues."]),
                 failure(fun() -> ertslab_results:write(Below, "text", resumes) end)).

what_cannot_be_written_is_told(_) ->
    Told = fun(Write, Options) ->
                   ct:capture_start(),
                   Ended = try ertslab_results:told(Write, Options, <<"{\"name\":\"é\"}"/utf8>>, ["é", ~" is faster"])
                           catch throw:Thrown -> Thrown
                           end,
                   ct:capture_stop(),
                   {Ended, unicode:characters_to_binary(ct:capture_get())}
           end,
    Fails = fun() -> ertslab_error:failure(?MODULE, no_room) end,
    ?assertEqual({ok, <<"é is faster"/utf8>>}, Told(fun() -> ok end, #{})),
    ?assertEqual({{failure, [{?MODULE, no_room}]}, <<"é is faster"/utf8>>}, Told(Fails, #{json => false})),
    ?assertEqual({{failure, [{?MODULE, no_room}]}, <<"{\"name\":\"é\"}"/utf8>>}, Told(Fails, #{json => true})).

a_path_is_absolute_from_here_or_home(_) ->
    {ok, Here} = file:get_cwd(),
    ?assertEqual(filename:join(Here, "a/b"), ertslab_paths:absolute("a/b")),
    ?assertEqual("/a/b", ertslab_paths:absolute("/a/b")),
    ?assertEqual(filename:join(os:getenv("HOME"), "a"), ertslab_paths:absolute("~/a")).

paths_are_of_the_checkout(_) ->
    Top = os:getenv("ERTSLAB_TOP"),
    ?assertEqual({true, "./ertslab", Top}, {ertslab_paths:is_checkout(), ertslab_paths:written(), ertslab_paths:top()}),
    %% What is to be typed works from the current folder.
    {ok, Here} = file:get_cwd(),
    ?assertEqual(filename:join(Top, "ertslab"), ertslab_paths:program()),
    ok = file:set_cwd(Top),
    ?assertEqual("./ertslab", ertslab_paths:program()),
    ok = file:set_cwd(Here),
    ?assertEqual([filename:join([Top, "build", "erl"]), filename:join([Top, "build", "log", "a"]), filename:join([Top, "results", "b"])],
                 [ertslab_paths:build("erl"), ertslab_paths:log("a"), ertslab_paths:results("b")]).

failure(Fun) ->
    {failure, Error} = try Fun() catch throw:Thrown -> Thrown end,
    ertslab_error:sentence(Error).
