%% What runs for days has all of its own code. That the single file goes on when it is replaced is tests/escript.bats.
-module(ertslab_own_code_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, all_of_it_is_loaded/1]).

all() -> [all_of_it_is_loaded].

%% In a VM of its own, which has called none of it.
all_of_it_is_loaded(_) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, wait_boot => 60_000, args => ["-pa" | code:get_path()]}),
    Loaded = fun() -> [Module || Module <- [ertslab_json_reader, ertslab_watch_log, diagnose_text, mailbox_audit],
                                 peer:call(Peer, code, is_loaded, [Module]) =/= false] end,
    ?assertEqual([], Loaded()),
    ok = peer:call(Peer, ertslab_own_code, keep, [], 60_000),
    ?assertEqual([ertslab_json_reader, ertslab_watch_log, diagnose_text, mailbox_audit], Loaded()),
    %% A checkout keeps its folders.
    ?assert(is_list(peer:call(Peer, code, lib_dir, [ertslab]))),
    peer:stop(Peer).
