%% @doc Processes with known habits, for a census.
-module(diagnose_census_planted).

-export([plant/1, traced/1, is_on/0, traced_ones/0]).

%% @doc Processes of this kind: `collecting' collects a heap of 20,000 words all the time, `counting' makes no terms, `fanning' sends one
%% term to fifty others, `flooding' sends small ones as fast as it can, `large' holds more than a trace may copy, and sends.
-spec plant(collecting | counting | fanning | flooding | large) -> pid().
plant(collecting) -> spawn(fun() -> collecting(lists:seq(1, 10_000)) end);
plant(counting) -> spawn(fun() -> counting(0) end);
plant(fanning) ->
    Receivers = [spawn(fun swallowing/0) || _ <- lists:seq(1, 50)],
    spawn(fun() -> fanning(0, Receivers) end);
plant(flooding) ->
    Receiver = spawn(fun swallowing/0),
    spawn(fun() -> flooding(Receiver) end);
plant(large) ->
    Receiver = spawn(fun swallowing/0),
    spawn(fun() -> large(Receiver, lists:seq(1, 1_000_000)) end).

collecting(State) ->
    true = garbage_collect(),
    collecting(State).

counting(Number) when Number < 1 bsl 40 -> counting(Number + 1).

fanning(Number, Receivers) ->
    News = {news, Number, lists:seq(1, 20)},
    _ = [Receiver ! News || Receiver <- Receivers],
    receive after 5 -> fanning(Number + 1, Receivers) end.

%% Waits now and then, since no more may wait than are taken.
flooding(Receiver) ->
    _ = [Receiver ! {item, N} || N <- lists:seq(1, 200)],
    receive after 1 -> flooding(Receiver) end.

large(Receiver, List) ->
    Receiver ! {length, length(List)},
    receive after 1 -> large(Receiver, List) end.

swallowing() -> receive _ -> swallowing() end.

%% @doc Somebody else traces it.
-spec traced(pid()) -> pid().
traced(Pid) ->
    Self = self(),
    Tracer = spawn(fun() ->
                           1 = erlang:trace(Pid, true, [procs]),
                           Self ! {self(), traced},
                           swallowing()
                   end),
    receive {Tracer, traced} -> Tracer end.

%% @doc Whether the VM counts its time, without a change of that.
-spec is_on() -> boolean().
is_on() ->
    Before = lists:sort(erlang:statistics(microstate_accounting)),
    receive after 20 -> Before =/= lists:sort(erlang:statistics(microstate_accounting)) end.

%% @doc All processes that are traced.
-spec traced_ones() -> [pid()].
traced_ones() -> [Pid || Pid <- processes(), {flags, [_ | _]} <- [erlang:trace_info(Pid, flags)]].
