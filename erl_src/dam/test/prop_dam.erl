%% @doc The laws of a dam: of its parts, on their own, and of a running one.
-module(prop_dam).

-include_lib("proper/include/proper.hrl").

-export([prop_window_bound/0, prop_window_opens/0, prop_lane_is_its_model/0, prop_codel_spares_the_fast/0,
         prop_codel_sheds_the_slow/0, prop_laws/0]).

%% The window

%% Whatever is answered, in whatever order, no more than `high' are under way.
prop_window_bound() ->
    ?FORALL({Marks, Steps}, {marks(), list(window_step())}, within(Steps, window(Marks))).

within([Step | Steps], {Before, _} = State) ->
    {After, High} = Next = window_step(Step, State),
    Allowed = max(High, dam_window:outstanding(Before)),
    dam_window:outstanding(After) =< Allowed andalso dam_window:grant(After) =< max(0, High - dam_window:outstanding(After))
        andalso within(Steps, Next);
within([], _) -> true.

marks() -> ?LET(High, range(1, 40), {High, range(0, High - 1)}).

window({High, Low}) -> {dam_window:new(High, Low), High}.

window_step() ->
    frequency([{6, {send, range(1, 50)}}, {3, ask}, {3, {answer, range(-3, 400)}}, {2, {ack, range(1, 20)}},
               {1, lost}, {1, again}, {1, {configure, marks()}}]).

window_step({send, N}, {Window, High}) -> {dam_window:sent(min(N, dam_window:grant(Window)), Window), High};
window_step(ask, {Window, High}) -> {element(2, dam_window:asked(Window)), High};
window_step({answer, Covered}, {Window, High}) -> {dam_window:done(Covered, Window), High};
window_step({ack, N}, {Window, High}) -> {dam_window:acknowledged(N, Window), High};
window_step(lost, {Window, High}) -> {element(2, dam_window:lost(Window)), High};
window_step(again, {Window, High}) -> {dam_window:ask_again(Window), High};
window_step({configure, {High, Low}}, {Window, _}) -> {dam_window:configure(High, Low, Window), High}.

%% When the last question that is due is answered, messages may be sent.
prop_window_opens() ->
    ?FORALL({Marks, Steps}, {marks(), list(window_step())},
            begin
                {Window, _} = lists:foldl(fun window_step/2, window(Marks), Steps),
                Full = fill(dam_window:ask_again(Window)),
                {Covered, Asked} = dam_window:asked(Full),
                dam_window:grant(Full) =:= 0 andalso dam_window:to_ask(Full)
                    andalso dam_window:grant(dam_window:done(Covered, Asked)) > 0
            end).

fill(Window) ->
    case dam_window:grant(Window) of
        0 -> Window;
        N -> fill(dam_window:sent(N, Window))
    end.

%% The lane

%% Against a list of what waits: what comes in, gives way and goes out.
prop_lane_is_its_model() ->
    ?FORALL({Limits, Steps}, {limits(), list(lane_step())},
            lane_agrees(Steps, dam_lane:new(Limits), [], Limits)).

limits() ->
    ?LET({Limit, LimitBytes, Policy},
         {oneof([infinity, range(1, 12)]), oneof([infinity, range(1, 60)]),
          oneof([{block, 0}, drop_newest, drop_oldest, {drop_key, fun key/1}, {codel, 5, 100}])},
         #{limit => Limit, limit_bytes => LimitBytes, measure => fun({_, _, Bytes}) -> Bytes end, policy => Policy}).

key({_, crash, _}) -> error(no_key);
key({_, Key, _}) -> Key.

lane_step() ->
    frequency([{6, {in, oneof([a, b, c, crash]), range(0, 12), frequency([{9, limited}, {1, force}])}},
               {3, out}, {1, {out, range(0, 9)}}]).

lane_agrees([], Lane, Model, _) -> held(Lane) =:= Model;
lane_agrees([Step | Steps], Lane, Model, Limits) ->
    {Result, NextLane} = lane_step(Step, length(Steps), Lane),
    {Expected, NextModel} = model_step(Step, length(Steps), Model, Limits),
    Result =:= Expected andalso dam_lane:length(NextLane) =:= length(NextModel)
        andalso dam_lane:bytes(NextLane) =:= model_bytes(NextModel, Limits)
        andalso lane_agrees(Steps, NextLane, NextModel, Limits).

lane_step({in, Key, Bytes, Mode}, Number, Lane) ->
    case dam_lane:in({Number, Key, Bytes}, Number, Mode, Lane) of
        {accepted, Dropped, Next} -> {{accepted, Dropped}, Next};
        {refused, _} = Refused -> {Refused, Lane}
    end;
lane_step({out, N}, _, Lane) ->
    {Entries, Next} = dam_lane:out(N, Lane),
    {messages(Entries), Next};
lane_step(out, _, Lane) ->
    case dam_lane:out(Lane) of
        {Entry, Next} -> {messages([Entry]), Next};
        empty -> {[], Lane}
    end.

messages(Entries) -> [Message || {Message, _, _, _} <- Entries].

held(Lane) -> messages(element(1, dam_lane:out(dam_lane:length(Lane), Lane))).

model_step({in, Key, Bytes, Mode}, Number, Model, #{policy := Policy} = Limits) ->
    Message = {Number, Key, Bytes},
    case {model_fits(Message, Model, Limits), Mode} of
        {never, _} -> {{refused, too_large}, Model};
        {true, _} -> {{accepted, []}, Model ++ [Message]};
        {false, force} -> {{accepted, []}, Model ++ [Message]};
        {false, limited} -> model_full(Policy, Message, Model, Limits)
    end;
model_step({out, N}, _, Model, _) -> lists:split(min(N, length(Model)), Model);
model_step(out, Number, Model, Limits) -> model_step({out, 1}, Number, Model, Limits).

model_fits({_, _, Bytes}, _, #{limit_bytes := Most}) when Bytes > Most -> never;
model_fits({_, _, Bytes}, Model, #{limit := Limit, limit_bytes := Most} = Limits) ->
    length(Model) < Limit andalso Bytes + model_bytes(Model, Limits) =< Most orelse Most =:= infinity andalso length(Model) < Limit.

model_bytes(_, #{limit_bytes := infinity}) -> 0;
model_bytes(Model, _) -> lists:sum([Bytes || {_, _, Bytes} <- Model]).

model_full(drop_oldest, Message, Model, Limits) ->
    Kept = drop_while_full(Message, Model, Limits),
    {{accepted, [oldest || _ <- lists:seq(1, length(Model) - length(Kept))]}, Kept ++ [Message]};
model_full({drop_key, _}, {_, Key, _} = Message, Model, Limits) when Key =/= crash ->
    case [Old || {_, OldKey, _} = Old <- Model, OldKey =:= Key] of
        [] -> {{refused, full}, Model};
        Same ->
            Kept = Model -- [lists:last(Same)],
            case model_fits(Message, Kept, Limits) of
                true -> {{accepted, [replaced]}, Kept ++ [Message]};
                false -> {{refused, full}, Model}
            end
    end;
model_full(_, _, Model, _) -> {{refused, full}, Model}.

drop_while_full(Message, [_ | Rest] = Model, Limits) ->
    case model_fits(Message, Model, Limits) of
        true -> Model;
        false -> drop_while_full(Message, Rest, Limits)
    end;
drop_while_full(_, [], _) -> [].

%% CoDel

prop_codel_spares_the_fast() ->
    ?FORALL({Target, Interval, Waits}, {range(1, 1000), range(1, 1000), list({range(0, 2000), boolean()})},
            begin
                %% One in so many that waited less than the target, or is the last, is never shed.
                {Decisions, _} = codel(Target, Interval, Waits),
                lists:all(fun({{Waited, Last}, Decision}) -> Decision =:= keep orelse (Waited >= Target andalso not Last) end,
                          lists:zip(Waits, Decisions))
            end).

codel(Target, Interval, Waits) ->
    {Decisions, {_, Codel}} =
        lists:mapfoldl(fun({Waited, Last}, {Now, Codel}) ->
                               {Decision, Next} = dam_codel:decide(Now, Waited, Last, Codel),
                               {Decision, {Now + 100, Next}}
                       end, {0, dam_codel:new(Target, Interval)}, Waits),
    {Decisions, Codel}.

%% Nothing is shed in the first interval; after it one is, and the next ones faster and faster.
prop_codel_sheds_the_slow() ->
    ?FORALL({Target, Interval}, {range(1, 1000), range(2000, 20_000)},
            begin
                {Decisions, _} = codel(Target, Interval, [{Target, false} || _ <- lists:seq(1, 20 * Interval div 100)]),
                At = [100 * N || {N, drop} <- lists:enumerate(0, Decisions)],
                Gaps = [B - A || {A, B} <- lists:zip(lists:droplast(At), tl(At))],
                Expected = [Interval / math:sqrt(N) || {N, _} <- lists:enumerate(1, Gaps)],
                hd(At) >= Interval andalso hd(At) < Interval + 100 andalso length(Gaps) > 20
                    andalso lists:all(fun({Gap, Wanted}) -> abs(Gap - Wanted) =< 102 end, lists:zip(Gaps, Expected))
            end).

%% A running dam

%% Two senders, a server that takes what it is let, that dies and comes back, is suspended and
%% resumed, answers or forgets to; and at the end all laws hold and all is taken.
prop_laws() ->
    ?FORALL({Options, Steps}, {options(), resize(40, list(step()))},
            equals(dam_laws:hold(Options, Steps), true)).

options() ->
    ?LET({{High, Low}, Limit, Policy, Credit},
         {marks(), oneof([infinity, range(1, 30)]),
          oneof([{block, infinity}, {block, 5}, drop_newest, drop_oldest, {drop_key, fun dam_laws:key/1}, {codel, 1, 5}]),
          oneof([sys, ack, poll])},
         #{high => High, low => Low, limit => Limit, policy => Policy, credit => Credit}).

step() ->
    frequency([{10, {send, sender(), range(1, 30)}},
               {3, {priority, sender(), range(1, 5)}},
               {2, {async, sender(), range(1, 20)}},
               {6, {permit, range(1, 40)}},
               {2, restart},
               {1, kill_watch},
               {1, suspend}, {1, resume},
               {2, {configure, ?LET({High, Low}, marks(), #{high => High, low => Low})}},
               {1, {configure, ?LET(Limit, range(1, 30), #{limit => Limit})}},
               {1, {configure, ?LET(Policy, oneof([{block, infinity}, drop_oldest, drop_newest]), #{policy => Policy})}},
               {1, {sleep, range(1, 5)}}]).

sender() -> oneof([1, 2]).
