%% @doc A round of numbered messages through a program: which of them came, and how long they took.
-module(program_messages).

-export([round/3]).
-export_type([counts/0]).

%% `twice': the number of messages that had already come before.
-type counts() :: #{messages := non_neg_integer(), twice := non_neg_integer()}.

%% @doc Sends the messages 1 to `Messages', and waits for those that come, as numbers and native times. The result has the
%% total time and the 99th percentile of a message's latency, in nanoseconds.
-spec round(Messages :: pos_integer(), Send :: fun((pos_integer()) -> ok),
            Came :: fun(() -> [{Number :: pos_integer(), Native :: integer()}])) ->
          {counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(Messages, Send, Came) ->
    Before = erlang:monotonic_time(),
    lists:foreach(Send, lists:seq(1, Messages)),
    Taken = Came(),
    Time = erlang:monotonic_time() - Before,
    {counts([Number || {Number, _} <- Taken]),
     #{time => nanoseconds(Time), p99 => nanoseconds(program_latency:p99([Took || {_, Took} <- Taken]))}}.

counts(Numbers) ->
    Distinct = length(lists:usort(Numbers)),
    #{messages => Distinct, twice => length(Numbers) - Distinct}.

nanoseconds(Native) -> erlang:convert_time_unit(Native, native, nanosecond).
