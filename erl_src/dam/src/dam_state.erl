%% @doc The state of a dam's process as a map of its fields, as it is while sys handles the process. A
%% version with other fields takes the ones that it knows. A field that it adds has its default.
-module(dam_state).

-export([fields/1, of_fields/1]).
-export_type([fields/0]).

-include("dam_state.hrl").

-type fields() :: #{atom() => term()}.

-spec fields(#dam{}) -> fields().
fields(Dam) -> maps:from_list(lists:zip(record_info(fields, dam), values(Dam))).

-spec of_fields(fields()) -> #dam{}.
of_fields(#{parent := Parent, options := Options, watch := Watch, window := Window, queue := Queue, credit := Credit} = Fields) ->
    Fresh = #dam{parent = Parent, options = Options, watch = Watch, window = Window, queue = Queue, credit = Credit},
    Named = lists:zip(record_info(fields, dam), values(Fresh)),
    list_to_tuple([dam | [maps:get(Name, Fields, Default) || {Name, Default} <- Named]]).

values(Dam) -> tl(tuple_to_list(Dam)).
