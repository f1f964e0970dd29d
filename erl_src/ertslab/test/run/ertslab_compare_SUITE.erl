%% How a comparison ends when its results are there, with the smallest that can be measured.
-module(ertslab_compare_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, results_without_a_page_are_told/1, edited_notes_do_no_harm/1]).

all() -> [results_without_a_page_are_told, edited_notes_do_no_harm].

%% The folder is then finished, so the same words would not go on.
results_without_a_page_are_told(Config) ->
    #{out := Dir} = Options = options(Config, ?FUNCTION_NAME),
    ok = ertslab_compare:compare(Options),
    Page = ertslab_session:file(Dir, "report.html"),
    ok = file:delete(Page),
    ok = file:delete(ertslab_session:file(Dir, "summary.json")),
    ok = file:make_dir(Page),
    ?assertEqual({failure, ertslab_error:text(["the results are in ", Dir, ", but no page; write it with: ./ertslab report '", Dir, "'"])},
                 catch ertslab_compare:compare(Options)),
    ?assert(ertslab_session:is_finished(Dir)).

edited_notes_do_no_harm(Config) ->
    #{out := Dir} = Options = options(Config, ?FUNCTION_NAME),
    ok = ertslab_compare:compare(Options),
    File = ertslab_session:file(Dir, "session.json"),
    [begin
         {ok, Text} = file:read_file(File),
         ok = file:write_file(File, json:encode((json:decode(Text))#{~"notes" => Notes})),
         ok = file:delete(ertslab_session:file(Dir, "summary.json")),
         ?assertEqual(ok, ertslab_compare:compare(Options))
     end || Notes <- [5, [5, ~"a note"], null]].

options(Config, Name) ->
    #{command => compare, experiment => "toy", vm => ["stock", "stock_copy"], quick => true, silent => true,
      out => filename:join([proplists:get_value(priv_dir, Config), "a b", Name])}.
