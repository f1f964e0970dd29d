%% Many processes have terms of all kinds copied in all ways, also by native code on dirty schedulers, for as long as
%% ERTSLAB_CHAOS_SECONDS says, while some of them are killed: each copy is as the term was.
-module(term_copies_soak).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, copies_are_as_the_terms_were/1]).

all() -> [copies_are_as_the_terms_were].

copies_are_as_the_terms_were(_) ->
    {Copies, Killed, Processes} = killed_workers:run(fun() -> term_copies:worker(0) end),
    ?assert(Copies > 0),
    {comment, lists:flatten(io_lib:format("~b s; ~b copies were as the terms, made in ~b ways; ~b of ~b processes killed",
                                          [endurance_chaos:seconds(), Copies, length(term_copies:ways()), Killed, Processes]))}.
