%% @doc The laws of callbacks, by random programs of them.
-module(prop_callbacks).

-include_lib("proper/include/proper.hrl").

-export([prop_every_callback_ends_once_or_waits/0]).

-define(HELD_MS, 25).
-define(TIMEOUT_MS, 10_000).

%% A program is a list of callbacks, each a list of steps, and how many messages each is
%% sent. What each does is known beforehand: the messages that it takes, in order, and
%% how it ends, or that it waits for one more message.
prop_every_callback_ends_once_or_waits() ->
    ?FORALL(Program, non_empty(list({steps(), range(0, 8)})),
            begin
                Before = counts(),
                Expected = [outcome(Steps, Messages) || {Steps, Messages} <- Program],
                Run = [start(Callback) || Callback <- Program],
                Seen = [seen(One, Outcome) || {One, Outcome} <- lists:zip(Run, Expected)],
                [callbacks:exit(Id, over) || {{Id, _}, {_, waits}} <- lists:zip(Run, Expected)],
                Told = [told(Reference) || {{_, Reference}, {_, waits}} <- lists:zip(Run, Expected)],
                ?WHENFAIL(io:format("~p~nexpected ~p~nseen ~p~n", [Program, Expected, Seen]),
                          conjunction([{outcomes, equals(Expected, Seen)},
                                       {waiting_end_too, lists:all(fun(Reason) -> Reason =:= over end, Told)},
                                       {once, equals([], rest())},
                                       {counts, equals(sums(Expected), differences(Before, counts()))},
                                       {nothing_stays, equals(0, maps:get(alive, callbacks:info()))}]))
            end).

steps() -> list(frequency([{8, wait}, {4, next}, {2, {sleep, range(0, 2)}}, {2, patient}, {1, done}, {1, error},
                           {1, nonsense}, {1, self_exit}])).

%% Sometimes one is left alone in its worker.
start({Steps, Messages}) ->
    Owner = self(),
    {Id, Reference} = callbacks:spawn_monitor(fun() -> hold(Steps), step(Steps, Owner, callbacks:self()) end),
    [callbacks:send(Id, N) || N <- lists:seq(1, Messages)],
    {Id, Reference}.

hold([wait, next, wait | _]) -> timer:sleep(?HELD_MS);
hold(_) -> ok.

step([wait | Steps], Owner, Id) -> {wait, fun(N) -> took(N, Steps, Owner, Id) end};
step([patient | Steps], Owner, Id) ->
    {wait, fun(N) -> took(N, Steps, Owner, Id) end, 60_000, fun() -> step(Steps, Owner, Id) end};
step([next | Steps], Owner, Id) -> {next, fun() -> step(Steps, Owner, Id) end};
step([{sleep, Ms} | Steps], Owner, Id) -> {sleep, Ms, fun() -> step(Steps, Owner, Id) end};
step([error | _], _, _) -> error(planned);
step([self_exit | _], _, _) -> exit(planned);
step([nonsense | _], _, _) -> nonsense;
step(_, _, _) -> done.

took(N, Steps, Owner, Id) ->
    Owner ! {took, Id, N},
    step(Steps, Owner, Id).

%% The model: {how many messages it takes, how it ends or that it waits}.
outcome(Steps, Messages) -> outcome(Steps, Messages, 0).

outcome([Wait | _], Messages, Messages) when Wait =:= wait; Wait =:= patient -> {Messages, waits};
outcome([Wait | Steps], Messages, Taken) when Wait =:= wait; Wait =:= patient -> outcome(Steps, Messages, Taken + 1);
outcome([error | _], _, Taken) -> {Taken, failed};
outcome([self_exit | _], _, Taken) -> {Taken, failed};
outcome([nonsense | _], _, Taken) -> {Taken, failed};
outcome([done | _], _, Taken) -> {Taken, done};
outcome([_ | Steps], Messages, Taken) -> outcome(Steps, Messages, Taken);
outcome([], _, Taken) -> {Taken, done}.

%% What it took comes in order, before its end.
seen({Id, Reference}, {Taken, End}) ->
    {length([N || N <- lists:seq(1, Taken), receive {took, Id, N} -> true after ?TIMEOUT_MS -> false end]),
     case End of
         waits -> waits;
         _ -> ended(told(Reference))
     end}.

ended(normal) -> done;
ended(planned) -> failed;
ended({planned, [_ | _]}) -> failed;
ended({bad_return, nonsense}) -> failed;
ended(Other) -> Other.

told(Reference) ->
    receive {{callback_down, _}, Reference, process, _, Reason} -> Reason
    after ?TIMEOUT_MS -> not_told
    end.

%% Those that waited were ended by a reason of the property's.
sums(Outcomes) ->
    Ends = [End || {_, End} <- Outcomes],
    #{spawned => length(Ends), done => length([done || done <- Ends]),
      failed => length([End || End <- Ends, End =/= done])}.

counts() -> maps:with([spawned, done, failed], callbacks:info()).

differences(Before, After) -> maps:map(fun(Key, Count) -> Count - maps:get(Key, Before) end, After).

rest() ->
    receive Message -> [Message | rest()]
    after 0 -> []
    end.
