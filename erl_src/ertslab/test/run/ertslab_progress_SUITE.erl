%% What a terminal shows while something is done.
-module(ertslab_progress_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, progress_is_one_live_line/1, no_terminal_shows_no_progress/1]).

all() -> [progress_is_one_live_line, no_terminal_shows_no_progress].

progress_is_one_live_line(_) ->
    {ok, {"", Said}} = live(fun() ->
                                    Runs = ertslab_progress:new(),
                                    ok = Runs(0, 12, #{pair => 1}, ~"stock"),
                                    ok = Runs(3, 12, #{pair => 2}, ~"tuned"),
                                    ok = Runs(12, 12, finished, ~""),
                                    Counted = ertslab_progress:counted("modules"),
                                    ok = Counted(1, 2),
                                    ok = Counted(2, 2),
                                    Gate = ertslab_progress:gate(),
                                    ok = Gate(0, 2),
                                    7 = ertslab_progress:while("building", fun() -> 7 end),
                                    ok
                            end),
    ?assertEqual(["", "\e[Krun 1 of 12  pair 1  stock  TIME", "\e[Krun 4 of 12  pair 2  tuned  TIME  of about TIME", "\e[K",
                  "\e[Kmodules 1 of 2  TIME  of about TIME", "\e[K", "\e[Kcomparing the outputs of case 1 of 2", "\e[Kbuilding", "\e[K"],
                 string:split(re:replace(Said, "[0-9]+:[0-9]{2}", "TIME", [global, {return, list}]), "\r", all)).

live(Fun) ->
    true = os:putenv("ERTSLAB_LIVE", "yes"),
    try command_line:printed(Fun) after os:unsetenv("ERTSLAB_LIVE") end.

no_terminal_shows_no_progress(_) ->
    ?assertEqual({7, {"", ""}}, command_line:printed(fun() ->
                                                             ok = (ertslab_progress:new())(0, 12, #{pair => 1}, ~"stock"),
                                                             ok = (ertslab_progress:counted("modules"))(1, 2),
                                                             ok = (ertslab_progress:gate())(0, 2),
                                                             ertslab_progress:while("building", fun() -> 7 end)
                                                     end)).
