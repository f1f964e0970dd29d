%% @doc How many messages may be with the server.
%%
%% A window only counts: the messages sent since the beginning, and how many of them the server is
%% known to have taken. The difference is at most `high'. Sending stops there and resumes when the
%% difference has fallen to `low'. An answer means "the server has taken all of the first N", so an
%% answer that is late, lost or duplicated does no harm.
-module(dam_window).

-export([new/2, configure/3, high/1, grant/1, sent/2, to_ask/1, is_asked/1, is_awaited/1, asked/1, ask_again/1]).
-export([done/2, acknowledged/2, lost/1, count/1, done/1, outstanding/1, is_open/1]).
-export_type([window/0]).

-record(window, {high :: pos_integer(), low :: non_neg_integer(), step :: pos_integer(),
                 sent = 0 :: non_neg_integer(), done = 0 :: non_neg_integer(),
                 asked = 0 :: non_neg_integer(), open = true :: boolean()}).
-opaque window() :: #window{}.

-spec new(High :: pos_integer(), Low :: non_neg_integer()) -> window().
new(High, Low) when 0 =< Low, Low < High -> #window{high = High, low = Low, step = step(High, Low)}.

%% @doc Sets other marks. Messages beyond a lower `high' are already with the server, and stay
%% there.
-spec configure(High :: pos_integer(), Low :: non_neg_integer(), window()) -> window().
configure(High, Low, Window) when 0 =< Low, Low < High ->
    gauged(Window#window{high = High, low = Low, step = step(High, Low)}).

%% The server is asked after each step of so many messages. An answer that covers a step opens the
%% window again. With steps below an eighth of `high' the server would be asked every few messages.
step(High, Low) -> max(High - Low, (High + 7) div 8).

-spec high(window()) -> pos_integer().
high(#window{high = High}) -> High.

%% @doc How many messages may be sent before to_ask/1 must be checked again.
-spec grant(window()) -> non_neg_integer().
grant(#window{open = false}) -> 0;
grant(#window{high = High, step = Step, sent = Sent, done = Done, asked = Asked}) ->
    min(High - (Sent - Done), max(1, Step - (Sent - Asked))).

-spec sent(non_neg_integer(), window()) -> window().
sent(0, Window) -> Window;
sent(N, #window{sent = Sent} = Window) -> gauged(Window#window{sent = Sent + N}).

%% @doc Whether to ask the server how far it is: after each step, and whenever no more may be sent.
-spec to_ask(window()) -> boolean().
to_ask(#window{sent = Sent, asked = Asked, step = Step, open = Open}) ->
    Sent - Asked >= Step orelse (not Open andalso Sent > Asked).

%% @doc Whether the last question covers all messages sent.
-spec is_asked(window()) -> boolean().
is_asked(#window{sent = Sent, asked = Asked}) -> Sent =:= Asked.

%% @doc Whether a question was asked whose answer would tell more than is known.
-spec is_awaited(window()) -> boolean().
is_awaited(#window{asked = Asked, done = Done}) -> Asked > Done.

%% @doc Records a question. Its answer is passed to done/2.
-spec asked(window()) -> {Covered :: non_neg_integer(), window()}.
asked(#window{sent = Sent} = Window) -> {Sent, Window#window{asked = Sent}}.

%% @doc Forgets questions that will not be answered.
-spec ask_again(window()) -> window().
ask_again(#window{done = Done} = Window) -> Window#window{asked = Done}.

%% @doc Records that the server has taken the first Covered messages.
-spec done(integer(), window()) -> window().
done(Covered, #window{done = Done} = Window) when Covered =< Done -> Window;
done(Covered, #window{sent = Sent, asked = Asked} = Window) ->
    Known = min(Covered, Sent),
    gauged(Window#window{done = Known, asked = max(Asked, Known)}).

%% @doc Records that the server has taken N more messages.
-spec acknowledged(pos_integer(), window()) -> window().
acknowledged(N, #window{done = Done} = Window) -> done(Done + N, Window).

%% @doc Records that the server is gone with its messages. Returns the most messages that it may
%% have had.
-spec lost(window()) -> {non_neg_integer(), window()}.
lost(#window{sent = Sent} = Window) -> {outstanding(Window), done(Sent, Window)}.

%% @doc The number of messages ever sent.
-spec count(window()) -> non_neg_integer().
count(#window{sent = Sent}) -> Sent.

%% @doc How many messages are known to be taken.
-spec done(window()) -> non_neg_integer().
done(#window{done = Done}) -> Done.

%% @doc The most messages that the server may still have.
-spec outstanding(window()) -> non_neg_integer().
outstanding(#window{sent = Sent, done = Done}) -> Sent - Done.

-spec is_open(window()) -> boolean().
is_open(#window{open = Open}) -> Open.

gauged(#window{high = High, low = Low, open = Open} = Window) ->
    Outstanding = outstanding(Window),
    Window#window{open = Outstanding < High andalso (Open orelse Outstanding =< Low)}.
