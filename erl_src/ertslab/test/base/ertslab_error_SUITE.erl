%% What ends a call, and in which order that is told.
-module(ertslab_error_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, what_was_put_off_is_told_at_last/1, a_failure_hides_no_result/1, what_others_write_is_text/1,
         a_missing_function_is_named/1]).

all() -> [what_was_put_off_is_told_at_last, a_failure_hides_no_result, what_others_write_is_text, a_missing_function_is_named].

what_was_put_off_is_told_at_last(_) ->
    ?assertEqual([], ertslab_error:put_off(fun() -> [ok] end)),
    Failures = ertslab_error:put_off(fun() -> ertslab_error:failure(?MODULE, no_page) end),
    ?assertEqual([{?MODULE, no_page}], Failures),
    Several = [{?MODULE, no_page}, {?MODULE, no_table}],
    ?assertEqual(Several, ertslab_error:put_off(fun() -> ertslab_error:several(failure, Several) end)),
    ?assertEqual([[{?MODULE, no_page}], Several], [ertslab_error:each(Thrown) || Thrown <- [{?MODULE, no_page}, Several]]),
    ?assertEqual(ok, ertslab_error:at_last([], fun() -> ok end)),
    ?assertThrow({failure, Failures}, ertslab_error:at_last(Failures, fun() -> ok end)).

a_failure_hides_no_result(_) ->
    [?assertThrow({Kind, [{?MODULE, no_page}, {?MODULE, slower}]},
                  ertslab_error:at_last([{?MODULE, no_page}], fun() -> ertslab_error:Kind(?MODULE, slower) end))
     || Kind <- [beyond, failure, incomplete]].

%% Bytes of any encoding, and nothing that a terminal would obey.
what_others_write_is_text(_) ->
    [?assertEqual(Text, ertslab_text:foreign(Bytes))
     || {Bytes, Text} <- [{~"größer", ~"größer"}, {<<"gr", 16#f6, 16#df, "er">>, ~"größer"},
                          {<<"a", 27, "[2Jb", 7, "\n\tc">>, ~"a [2Jb \n\tc"},
                          {<<>>, <<>>}, {<<16#c3>>, ~"Ã"}]],
    ?assertEqual(~"a [2Jb   c", ertslab_text:foreign_line(<<"a", 27, "[2Jb", 7, "\n\tc">>)),
    ?assertEqual(~"erl: 'Ã' is not a release of OTP.", ertslab_error:sentence({ertslab_installation, {no_release, "erl", <<16#c3>>}})).

a_missing_function_is_named(_) ->
    [?assertEqual(~"there is no function x:y/2", ertslab_crash:says(Reason))
     || Arguments <- [2, [a, b]], Stack <- [[{x, y, Arguments, []}, {m, f, 1, []}]], Reason <- [{undef, Stack}, {exception, undef, Stack}]].
