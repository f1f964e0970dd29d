%% @doc The messages that a dam holds: a lane for messages with priority and a lane for the others,
%% the latter with CoDel if that is the policy.
%%
%% Each lane has the whole limit for itself, so that a flood in one lane never blocks the other.
-module(dam_queue).

-export([new/1, configure/2, in/5, take/3, length/1, length/2, bytes/1, since/1, is_full/1, is_full/2,
         is_relieved/1, is_relieved/2]).
-export_type([queue/0, lane_name/0]).

-type lane_name() :: priority | normal.
-record(lanes, {priority :: dam_lane:lane(), normal :: dam_lane:lane(),
                codel = undefined :: dam_codel:codel() | undefined}).
-opaque queue() :: #lanes{}.

-spec new(dam_lane:limits()) -> queue().
new(Limits) ->
    #lanes{priority = dam_lane:new(Limits), normal = dam_lane:new(Limits), codel = codel(Limits)}.

codel(#{policy := {codel, TargetMs, IntervalMs}}) -> dam_codel:new(1000 * TargetMs, 1000 * IntervalMs);
codel(#{}) -> undefined.

%% @doc Sets other limits. Held messages stay.
-spec configure(dam_lane:limits(), queue()) -> queue().
configure(Limits, #lanes{priority = Priority, normal = Normal}) ->
    #lanes{priority = dam_lane:configure(Limits, Priority), normal = dam_lane:configure(Limits, Normal),
           codel = codel(Limits)}.

%% @doc Adds a message to a lane.
-spec in(lane_name(), term(), Since :: integer(), force | limited, queue()) ->
          {accepted, [dam_types:reason()], queue()} | {refused, dam_types:reason()}.
in(Name, Message, Since, Mode, Lanes) ->
    case dam_lane:in(Message, Since, Mode, lane(Name, Lanes)) of
        {accepted, Dropped, Lane} -> {accepted, Dropped, with(Name, Lane, Lanes)};
        {refused, _} = Refused -> Refused
    end.

lane(priority, #lanes{priority = Lane}) -> Lane;
lane(normal, #lanes{normal = Lane}) -> Lane.

with(priority, Lane, Lanes) -> Lanes#lanes{priority = Lane};
with(normal, Lane, Lanes) -> Lanes#lanes{normal = Lane}.

%% @doc Takes up to N messages, those with priority first. Also returns how many were shed because
%% they had waited too long.
-spec take(non_neg_integer(), Now :: integer(), queue()) -> {[dam_lane:entry()], Shed :: non_neg_integer(), queue()}.
take(N, Now, #lanes{priority = Priority, normal = Normal, codel = Codel} = Lanes) ->
    {First, RestPriority} = dam_lane:out(N, Priority),
    Left = N - erlang:length(First),
    {Then, Shed, RestNormal, NextCodel} = take_normal(Left, Now, Normal, Codel),
    {join(First, Then), Shed, Lanes#lanes{priority = RestPriority, normal = RestNormal, codel = NextCodel}}.

take_normal(N, _Now, Normal, undefined) ->
    {Out, Rest} = dam_lane:out(N, Normal),
    {Out, 0, Rest, undefined};
take_normal(N, Now, Normal, Codel) -> controlled(N, Now, Normal, Codel, [], 0).

controlled(0, _Now, Lane, Codel, Out, Shed) -> {lists:reverse(Out), Shed, Lane, Codel};
controlled(N, Now, Lane, Codel, Out, Shed) ->
    case dam_lane:out(Lane) of
        empty -> controlled(0, Now, Lane, Codel, Out, Shed);
        {{_, _, Since, _} = Entry, Rest} ->
            case dam_codel:decide(Now, Now - Since, dam_lane:length(Rest) =:= 0, Codel) of
                {keep, Next} -> controlled(N - 1, Now, Rest, Next, [Entry | Out], Shed);
                {drop, Next} -> controlled(N, Now, Rest, Next, Out, Shed + 1)
            end
    end.

join([], Then) -> Then;
join(First, []) -> First;
join(First, Then) -> First ++ Then.

%% @doc The number of held messages.
-spec length(queue()) -> non_neg_integer().
length(#lanes{priority = Priority, normal = Normal}) -> dam_lane:length(Priority) + dam_lane:length(Normal).

%% @doc The number of messages held in a lane.
-spec length(lane_name(), queue()) -> non_neg_integer().
length(Name, Lanes) -> dam_lane:length(lane(Name, Lanes)).

%% @doc The measured bytes of the held messages.
-spec bytes(queue()) -> non_neg_integer().
bytes(#lanes{priority = Priority, normal = Normal}) -> dam_lane:bytes(Priority) + dam_lane:bytes(Normal).

%% @doc The arrival time of the message that has been held longest.
-spec since(queue()) -> integer() | undefined.
since(#lanes{priority = Priority, normal = Normal}) ->
    %% Every number is less than the atom `undefined'.
    min(dam_lane:since(Priority), dam_lane:since(Normal)).

%% @doc Whether a lane has reached a limit.
-spec is_full(queue()) -> boolean().
is_full(Lanes) -> is_full(priority, Lanes) orelse is_full(normal, Lanes).

-spec is_full(lane_name(), queue()) -> boolean().
is_full(Name, Lanes) -> dam_lane:is_full(lane(Name, Lanes)).

%% @doc Whether no lane is more than half full.
-spec is_relieved(queue()) -> boolean().
is_relieved(Lanes) -> is_relieved(priority, Lanes) andalso is_relieved(normal, Lanes).

-spec is_relieved(lane_name(), queue()) -> boolean().
is_relieved(Name, Lanes) -> dam_lane:is_relieved(lane(Name, Lanes)).
