%% Each database that is opened adds a handler to one event manager, and none is ever deleted: 60,000 are called for each event.
-module(sick).
-export([start/0]).
-export([init/1, handle_event/2, handle_call/2]).

start() ->
    {ok, _} = gen_event:start({local, settings_event}),
    [open(N) || N <- lists:seq(1, 60_000)],
    spawn(fun() -> change(erlang:monotonic_time(millisecond), 0) end),
    ok.

open(N) -> ok = gen_event:add_handler(settings_event, {?MODULE, N}, {self(), "database", integer_to_binary(N)}).

%% Twenty-five each second, however late the machine wakes it.
change(Began, Sent) ->
    timer:sleep(40),
    Due = (erlang:monotonic_time(millisecond) - Began) div 40,
    [ok = gen_event:sync_notify(settings_event, {changed, "log", N}) || N <- lists:seq(Sent + 1, Due)],
    change(Began, max(Sent, Due)).

init(State) -> {ok, State}.

handle_event({changed, Section, Value}, {Pid, Section, _} = State) ->
    Pid ! Value,
    {ok, State};
handle_event(_, State) -> {ok, State}.

handle_call(_, State) -> {ok, ok, State}.
