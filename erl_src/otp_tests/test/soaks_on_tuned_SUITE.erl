%% What scripts/soak.sh has done for long, done for a moment on `tuned' of each release that is built: it
%% would end stock, which mistakes rows of compressed tables, and so the VM that this suite runs in.
-module(soaks_on_tuned_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, suite/0, rows_are_read_as_they_were_written/1, copies_are_as_the_terms_were/1, calls_are_answered_whatever_is_loaded/1]).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [rows_are_read_as_they_were_written, copies_are_as_the_terms_were, calls_are_answered_whatever_is_loaded].

rows_are_read_as_they_were_written(Config) ->
    [on_tuned(Release, term_tables_soak, ?FUNCTION_NAME, Config) || Release <- releases()].

copies_are_as_the_terms_were(Config) ->
    [on_tuned(Release, term_copies_soak, ?FUNCTION_NAME, Config) || Release <- releases()].

calls_are_answered_whatever_is_loaded(Config) ->
    [begin
         Folder = filename:join(proplists:get_value(priv_dir, Config), integer_to_list(Release)),
         ok = both_modules(ertslab_inventory:root(Release), Folder),
         on_tuned(Release, library_load_soak, ?FUNCTION_NAME, [{priv_dir, Folder}])
     end || Release <- releases()].

releases() ->
    Releases = ertslab_inventory:releases(),
    ?assertMatch([_ | _], Releases),
    Releases.

on_tuned(Release, Module, Case, Config) ->
    Paths = [filename:dirname(code:which(Which)) || Which <- [proper, Module, endurance_chaos, term_graph]],
    {ok, Running} = ertslab_vm:start(ertslab_inventory:find(~"tuned", Release), ["-pa" | Paths], []),
    try ?assertMatch({ok, {comment, _}}, ertslab_vm:call(Running, Module, Case, [Config], infinity))
    after ertslab_vm:stop(Running)
    end.

%% As scripts/soak.sh puts them there.
both_modules(Root, Folder) ->
    Patched = filelib:wildcard(filename:join(Root, "modules/tuned/*.beam")),
    ?assertMatch([_ | _], Patched),
    Copies = [{File, filename:join([Folder, Kind, filename:basename(File)])}
              || Own <- Patched,
                 {Kind, Files} <- [{"patched", [Own]},
                                   {"stock", filelib:wildcard(filename:join([Root, "lib/*/ebin", filename:basename(Own)]))}],
                 File <- Files],
    _ = [{ok, _} = {filelib:ensure_dir(Copy), element(2, file:copy(File, Copy))} || {File, Copy} <- Copies],
    ok.
