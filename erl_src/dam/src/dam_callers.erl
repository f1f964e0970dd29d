%% @doc Senders that wait for room, in order, each with its message.
-module(dam_callers).

-export([new/0, add/4, take/2, out/1, size/1, to_list/1]).
-export_type([callers/0]).

%% order also contains references of senders that are no longer waiting; out/1 skips them.
-record(callers, {order = queue:new() :: queue:queue(reference()),
                  waiting = #{} :: #{reference() => {From :: term(), Message :: term()}}}).
-opaque callers() :: #callers{}.

-spec new() -> callers().
new() -> #callers{}.

%% @doc Adds a sender. The reference is that of its timer, or a unique one if it has no timer.
-spec add(reference(), From :: term(), Message :: term(), callers()) -> callers().
add(Ref, From, Message, #callers{order = Order, waiting = Waiting}) ->
    #callers{order = queue:in(Ref, Order), waiting = Waiting#{Ref => {From, Message}}}.

%% @doc Removes the sender with that reference, whose time is over.
-spec take(reference(), callers()) -> {From :: term(), callers()} | error.
take(Ref, #callers{waiting = Waiting} = Callers) ->
    case maps:take(Ref, Waiting) of
        {{From, _}, Others} -> {From, swept(Callers#callers{waiting = Others})};
        error -> error
    end.

swept(#callers{waiting = Waiting}) when map_size(Waiting) =:= 0 -> new();
swept(#callers{order = Order, waiting = Waiting} = Callers) ->
    case queue:len(Order) > 2 * map_size(Waiting) + 16 of
        true -> Callers#callers{order = queue:filter(fun(Ref) -> is_map_key(Ref, Waiting) end, Order)};
        false -> Callers
    end.

%% @doc Removes the sender that has waited longest.
-spec out(callers()) -> {{reference(), From :: term(), Message :: term()}, callers()} | empty.
out(#callers{order = Order, waiting = Waiting} = Callers) ->
    case queue:out(Order) of
        {empty, _} -> empty;
        {{value, Ref}, Rest} ->
            case maps:take(Ref, Waiting) of
                {{From, Message}, Others} ->
                    {{Ref, From, Message}, Callers#callers{order = Rest, waiting = Others}};
                error -> out(Callers#callers{order = Rest})
            end
    end.

-spec size(callers()) -> non_neg_integer().
size(#callers{waiting = Waiting}) -> map_size(Waiting).

%% @doc All waiting senders, in order.
-spec to_list(callers()) -> [{reference(), From :: term(), Message :: term()}].
to_list(Callers) ->
    case out(Callers) of
        {First, Rest} -> [First | to_list(Rest)];
        empty -> []
    end.
