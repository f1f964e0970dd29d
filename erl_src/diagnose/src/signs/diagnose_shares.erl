%% @doc What to say of a process that has most of the work of its kind. Pure.
-module(diagnose_shares).

-export([with_share/3]).

-include("../diagnose_bounds.hrl").

%% @doc The sign of a process, with its part of the work of those alike if that is most of it. If they look like shards, a key divides the
%% work badly. One busy room of a chat is no shard.
-spec with_share(diagnose_types:sign(), diagnose_types:suspect(), diagnose_types:look()) -> diagnose_types:sign().
with_share(#{kind := Kind, evidence := Evidence, advice := Advice} = Sign, #{pid := Pid}, #{shares := Shares})
  when Kind =:= deep_mailbox; Kind =:= busy_process ->
    case [Share || #{pid := P} = Share <- Shares, P =:= Pid, has_most(Share)] of
        [] -> Sign;
        [#{label := Label, count := Count, of_messages := OfMessages, of_reductions := OfReductions} = Share | _] ->
            Sign#{evidence := Evidence#{share => #{label => diagnose_wording:label(Label), count => Count,
                                                   of_messages => OfMessages, of_reductions => OfReductions}},
                  advice := unicode:characters_to_binary([Advice, [[" ", share_advice()] || is_chosen_by_a_key(Share)]])}
    end;
with_share(Sign, _Suspect, _Look) -> Sign.

%% A worker of a pool that has one long job looks like a shard, but nothing waits for it.
is_chosen_by_a_key(#{shards := AreShards, messages := Messages}) -> AreShards andalso Messages >= ?BEHIND.

%% Most of the messages alone may wait for one that hangs.
has_most(#{messages := Messages, of_messages := OfMessages, reductions := Reductions, of_reductions := OfReductions}) ->
    OfReductions >= ?MOST_OF_WORK
        andalso (Messages >= ?BEHIND andalso OfMessages >= ?MOST_OF_WORK orelse Reductions >= ?COPYING_REDUCTIONS).

share_advice() ->
    "The others of its kind have hardly any work. If a key divides the work among them, most of it has the same key or hash: choose a key"
    " that differs more, or give the most frequent key several processes. More processes help only if several frequent keys"
    " share one.".
