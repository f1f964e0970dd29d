%% Names and cookies of nodes that cannot be. That nodes are looked at is tests/cli.bats.
-module(ertslab_live_node_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, what_is_no_name_is_refused/1, a_cookie_has_an_end/1]).

all() -> [what_is_no_name_is_refused, a_cookie_has_an_end].

what_is_no_name_is_refused(_) ->
    [?assertThrow({usage, _}, ertslab_live_node:connected(Name, #{}))
     || Name <- ["", "@", "a@", "@b", "a@b@c", "nonode", lists:duplicate(300, $a) ++ "@b", "a@" ++ lists:duplicate(300, $b)]].

a_cookie_has_an_end(_) ->
    ?assertThrow({usage, _}, ertslab_live_node:connected("a@b", #{cookie => lists:duplicate(256, $c)})).
