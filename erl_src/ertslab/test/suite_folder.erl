%% Folders for what a case writes.
-module(suite_folder).

-export([dir/1]).

%% A new one below the private folder of the suite.
-spec dir(Config :: [{atom(), term()}]) -> file:filename().
dir(Config) ->
    Dir = filename:join(proplists:get_value(priv_dir, Config), integer_to_list(erlang:unique_integer([positive]))),
    ok = filelib:ensure_path(Dir),
    Dir.
