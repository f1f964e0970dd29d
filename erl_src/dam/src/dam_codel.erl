%% @doc CoDel (RFC 8289): sheds waiting messages by how long they have waited.
%%
%% If every message during an interval has waited longer than the target, one message is dropped.
%% Further messages are dropped after interval/sqrt(2), interval/sqrt(3) and so on, until a message
%% has waited less than the target. A burst that is processed within an interval loses nothing. All
%% times are microseconds.
-module(dam_codel).

-export([new/2, decide/4]).
-export_type([codel/0]).

-record(codel, {target :: pos_integer(), interval :: pos_integer(),
                above_at = undefined :: integer() | undefined, % dropping may start at this time
                next = 0 :: integer(), count = 0 :: non_neg_integer(),
                last_count = 0 :: non_neg_integer(), dropping = false :: boolean()}).
-opaque codel() :: #codel{}.

%% If dropping starts again within so many intervals, it continues at about the rate at which it
%% ended.
-define(RECENT, 16).

-spec new(Target :: pos_integer(), Interval :: pos_integer()) -> codel().
new(Target, Interval) -> #codel{target = Target, interval = Interval}.

%% @doc Decides whether the next message, which has waited for that time, is kept. The last waiting
%% message is always kept.
-spec decide(Now :: integer(), Waited :: integer(), Last :: boolean(), codel()) ->
          {keep | drop, codel()}.
decide(Now, Waited, Last, Codel) ->
    {TooLong, Noted} = note(Now, Waited, Last, Codel),
    act(Now, TooLong, Noted).

note(_Now, Waited, Last, #codel{target = Target} = Codel) when Last; Waited < Target ->
    {false, Codel#codel{above_at = undefined}};
note(Now, _Waited, _Last, #codel{above_at = undefined, interval = Interval} = Codel) ->
    {false, Codel#codel{above_at = Now + Interval}};
note(Now, _Waited, _Last, #codel{above_at = At} = Codel) -> {Now >= At, Codel}.

act(_Now, false, Codel) -> {keep, Codel#codel{dropping = false}};
act(Now, true, #codel{dropping = true, next = Next, count = Count} = Codel) when Now >= Next ->
    {drop, Codel#codel{count = Count + 1, next = next(Next, Count + 1, Codel)}};
act(_Now, true, #codel{dropping = true} = Codel) -> {keep, Codel};
act(Now, true, Codel) ->
    Count = first_count(Now, Codel),
    {drop, Codel#codel{dropping = true, count = Count, last_count = Count, next = next(Now, Count, Codel)}}.

first_count(Now, #codel{count = Count, last_count = Last, next = Next, interval = Interval})
  when Count - Last > 1, Now - Next < ?RECENT * Interval -> Count - Last;
first_count(_, _) -> 1.

next(From, Count, #codel{interval = Interval}) -> From + max(1, round(Interval / math:sqrt(Count))).
