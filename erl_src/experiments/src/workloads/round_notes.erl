%% @doc Further values of a round, beside the metric that is timed. They are kept for the visits of the metrics that follow.
-module(round_notes).

-export([new/0, note/2, noted/2]).
-export_type([notes/0]).

-opaque notes() :: ets:table().

%% @doc Empty notes.
-spec new() -> notes().
new() -> ets:new(?MODULE, [public]).

%% @doc Replaces the values of the round before, by name.
-spec note(notes(), #{atom() => term()}) -> ok.
note(Notes, Values) ->
    true = ets:insert(Notes, maps:to_list(Values)),
    ok.

%% @doc The value of the last round. Fails with badarg if there is none.
-spec noted(notes(), atom()) -> term().
noted(Notes, Name) -> ets:lookup_element(Notes, Name, 2).
