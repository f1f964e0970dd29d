%% @doc The events that are counted for each function. This is the only list of them: all modules that read, compare
%% or show counts use it.
-module(ertslab_cachegrind_events).

-export([names/0, heading/1, of_valgrind/1, combined/2, values/1]).
-export_type([event/0, counts/0]).

-type event() :: instructions | d1_misses | ll_misses | branches | mispredictions.
-type counts() :: #{event() => non_neg_integer()}.

%% The name here, the heading in a table, and the valgrind events that it is the sum of.
-define(EVENTS, [{instructions, <<"instructions">>, [<<"Ir">>]},
                 {d1_misses, <<"D1 misses">>, [<<"D1mr">>, <<"D1mw">>]},
                 {ll_misses, <<"LL misses">>, [<<"ILmr">>, <<"DLmr">>, <<"DLmw">>]},
                 {branches, <<"branches">>, [<<"Bc">>, <<"Bi">>]},
                 {mispredictions, <<"mispredictions">>, [<<"Bcm">>, <<"Bim">>]}]).

%% @doc All events, in the order in which they are shown.
-spec names() -> [event(), ...].
names() -> [Event || {Event, _, _} <- ?EVENTS].

%% @doc The heading of an event in a table.
-spec heading(event()) -> binary().
heading(Event) ->
    {Event, Heading, _} = lists:keyfind(Event, 1, ?EVENTS),
    Heading.

%% @doc Converts valgrind's counts; an event that it did not count is 0.
-spec of_valgrind([{binary(), non_neg_integer()}]) -> counts().
of_valgrind(Counted) ->
    maps:from_list([{Event, lists:sum([N || {Name, N} <- Counted, lists:member(Name, Names)])}
                    || {Event, _, Names} <- ?EVENTS]).

%% @doc Combines several counts, event by event, with a function of their values.
-spec combined(fun(([non_neg_integer()]) -> non_neg_integer()), [counts()]) -> counts().
combined(Fun, Counts) ->
    maps:from_list([{Event, Fun([maps:get(Event, C) || C <- Counts])} || Event <- names()]).

%% @doc The values alone, in the order of `names/0'.
-spec values(counts()) -> [non_neg_integer(), ...].
values(Counts) -> [maps:get(Event, Counts) || Event <- names()].
