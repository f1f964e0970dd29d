%% What the .app files on the code path declare.
-module(ertslab_declared_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, no_folder_is_a_pattern/1, each_application_is_asked/1, what_nobody_declares_is_said/1, no_file_is_too_odd/1]).

all() -> [no_folder_is_a_pattern, each_application_is_asked, what_nobody_declares_is_said, no_file_is_too_odd].

%% A checkout may lie in a folder of any name.
no_folder_is_a_pattern(Config) ->
    Odd = lists:keyreplace(priv_dir, 1, Config, {priv_dir, filename:join(proplists:get_value(priv_dir, Config), "a[1]{b}?*")}),
    with(Odd, [{one, ~"{application, one, [{env, [{toys, [a]}]}]}."}], fun() -> ?assertEqual([[a]], ertslab_declared:all(toys)) end).

each_application_is_asked(Config) ->
    with(Config, [{one, ~"{application, one, [{env, [{toys, [a]}, {other, b}]}]}."}, {two, ~"{application, two, [{env, [{toys, [c]}]}]}."},
                  {three, ~"{application, three, []}."}],
         fun() ->
                 ?assertEqual([[a], [c]], lists:sort(ertslab_declared:all(toys))),
                 ?assertEqual(b, ertslab_declared:one(other))
         end).

what_nobody_declares_is_said(_) ->
    ?assertEqual([], ertslab_declared:all(toys)),
    ?assertThrow({failure, {ertslab_declared, {none, toys}}}, ertslab_declared:one(toys)).

no_file_is_too_odd(Config) ->
    with(Config, [{broken, ~"{application, "}, {odd, ~"odd."}, {good, ~"{application, good, [{env, [{toys, 1}]}]}."}],
         fun() -> ?assertEqual([1], ertslab_declared:all(toys)) end).

with(Config, Files, Fun) ->
    Dirs = [begin
                Dir = filename:join([proplists:get_value(priv_dir, Config), Name, "ebin"]),
                ok = filelib:ensure_path(Dir),
                ok = file:write_file(filename:join(Dir, lists:concat([Name, ".app"])), Text),
                Dir
            end || {Name, Text} <- Files],
    ok = code:add_pathsz(Dirs),
    try Fun()
    after [code:del_path(Dir) || Dir <- Dirs]
    end.
