%% @doc Talks to the processes that hold what an experiment measures, and
%% makes sure that one is gone before the next is made.
-module(term_owner).

-export([ask/2, stop/1]).

%% @doc Sends `{self(), What}' and waits for `{Owner, Answer}'.
-spec ask(pid(), term()) -> Answer :: term().
ask(Owner, What) ->
    Owner ! {self(), What},
    receive {Owner, Answer} -> Answer end.

%% @doc Kills a linked owner, and returns when it is gone.
-spec stop(pid() | none) -> ok.
stop(none) -> ok;
stop(Owner) ->
    Monitor = monitor(process, Owner),
    unlink(Owner),
    exit(Owner, kill),
    receive {'DOWN', Monitor, process, Owner, _} -> ok end.
