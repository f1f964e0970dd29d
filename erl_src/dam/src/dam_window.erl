%% @doc How many messages may be with the server.
%%
%% Counts only: what was sent since the beginning, and how much of it the server
%% is known to have taken. The difference is at most `high'. Sending stops there
%% and goes on when the difference has fallen to `low'. Knowledge comes as "all
%% of the first N", so an answer that is late, lost or doubled does no harm.
-module(dam_window).

-export([new/2, configure/3, high/1, grant/1, sent/2, to_ask/1, is_asked/1, asked/1, ask_again/1]).
-export([done/2, acknowledged/2, lost/1, count/1, done/1, outstanding/1, is_open/1]).
-export_type([window/0]).

-record(window, {high :: pos_integer(), low :: non_neg_integer(), step :: pos_integer(),
                 sent = 0 :: non_neg_integer(), done = 0 :: non_neg_integer(),
                 asked = 0 :: non_neg_integer(), open = true :: boolean()}).
-opaque window() :: #window{}.

-spec new(High :: pos_integer(), Low :: non_neg_integer()) -> window().
new(High, Low) when 0 =< Low, Low < High -> #window{high = High, low = Low, step = step(High, Low)}.

%% @doc Other marks. What is beyond a lower mark is with the server already, and stays.
-spec configure(High :: pos_integer(), Low :: non_neg_integer(), window()) -> window().
configure(High, Low, Window) when 0 =< Low, Low < High ->
    gauged(Window#window{high = High, low = Low, step = step(High, Low)}).

%% An answer that covers a step opens the window again. Steps below an eighth would
%% ask for every few messages.
step(High, Low) -> max(High - Low, (High + 7) div 8).

-spec high(window()) -> pos_integer().
high(#window{high = High}) -> High.

%% @doc How many may be sent before the next look at to_ask/1.
-spec grant(window()) -> non_neg_integer().
grant(#window{open = false}) -> 0;
grant(#window{high = High, step = Step, sent = Sent, done = Done, asked = Asked}) ->
    min(High - (Sent - Done), max(1, Step - (Sent - Asked))).

-spec sent(non_neg_integer(), window()) -> window().
sent(0, Window) -> Window;
sent(N, #window{sent = Sent} = Window) -> gauged(Window#window{sent = Sent + N}).

%% @doc Whether the server is to be asked how far it is: after each step, and
%% always when nothing more may be sent.
-spec to_ask(window()) -> boolean().
to_ask(#window{sent = Sent, asked = Asked, step = Step, open = Open}) ->
    Sent - Asked >= Step orelse (not Open andalso Sent > Asked).

%% @doc Whether the last question covers all that was sent.
-spec is_asked(window()) -> boolean().
is_asked(#window{sent = Sent, asked = Asked}) -> Sent =:= Asked.

%% @doc Notes a question; its answer is for done/2.
-spec asked(window()) -> {Covered :: non_neg_integer(), window()}.
asked(#window{sent = Sent} = Window) -> {Sent, Window#window{asked = Sent}}.

%% @doc Forgets questions that will not be answered.
-spec ask_again(window()) -> window().
ask_again(#window{done = Done} = Window) -> Window#window{asked = Done}.

%% @doc The server has taken the first so many.
-spec done(integer(), window()) -> window().
done(Covered, #window{done = Done} = Window) when Covered =< Done -> Window;
done(Covered, #window{sent = Sent, asked = Asked} = Window) ->
    Known = min(Covered, Sent),
    gauged(Window#window{done = Known, asked = max(Asked, Known)}).

%% @doc The server has taken so many more.
-spec acknowledged(pos_integer(), window()) -> window().
acknowledged(N, #window{done = Done} = Window) -> done(Done + N, Window).

%% @doc The server is gone with all that it has: how many that may be, at most.
-spec lost(window()) -> {non_neg_integer(), window()}.
lost(#window{sent = Sent} = Window) -> {outstanding(Window), done(Sent, Window)}.

%% @doc All that were ever sent.
-spec count(window()) -> non_neg_integer().
count(#window{sent = Sent}) -> Sent.

%% @doc The first so many are known to be taken.
-spec done(window()) -> non_neg_integer().
done(#window{done = Done}) -> Done.

%% @doc How many the server may still have.
-spec outstanding(window()) -> non_neg_integer().
outstanding(#window{sent = Sent, done = Done}) -> Sent - Done.

-spec is_open(window()) -> boolean().
is_open(#window{open = Open}) -> Open.

gauged(#window{high = High, low = Low, open = Open} = Window) ->
    Outstanding = outstanding(Window),
    Window#window{open = Outstanding < High andalso (Open orelse Outstanding =< Low)}.
