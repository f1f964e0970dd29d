%% @doc What a round says beside the metric that it is timed for, kept for the visits of the metrics that come next.
-module(round_notes).

-export([new/0, note/2, noted/2]).
-export_type([notes/0]).

-opaque notes() :: ets:table().

%% @doc Nothing yet.
-spec new() -> notes().
new() -> ets:new(?MODULE, [public]).

%% @doc Values by their names, in place of those of the round before.
-spec note(notes(), #{atom() => term()}) -> ok.
note(Notes, Values) ->
    true = ets:insert(Notes, maps:to_list(Values)),
    ok.

%% @doc What the last round said. Fails with badarg where none said it.
-spec noted(notes(), atom()) -> term().
noted(Notes, Name) -> ets:lookup_element(Notes, Name, 2).
