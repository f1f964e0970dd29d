%% @doc Runs a program of steps against a dam and says which of its laws it broke.
-module(dam_laws).

-export([hold/2, key/1]).

-define(SERVER, dam_laws_server).
-define(PATIENCE_MS, 20_000).
%% Longer than the server may be between taking a message and acknowledging it.
-define(RECOVER_MS, 25).
%% Every so many messages the server forgets to acknowledge.
-define(FORGETS, 7).

key({_, Lane, N}) -> {Lane, N rem 3}.

%% @doc `true', or the laws that were broken with the dam's last words.
hold(#{high := High, credit := Credit} = Options, Steps) ->
    Record = dam_test_server:new_record(),
    {ok, Dam} = dam:start_link(?SERVER, Options#{recover_ms => ?RECOVER_MS, retry_ms => 1, poll_ms => 1}),
    start_server(Dam, Record),
    Senders = #{N => sender(N, Dam) || N <- [1, 2]},
    {Bounds, _} = lists:mapfoldl(fun(Step, Bound) -> step(Step, Dam, Senders, Record, bound(Step, Credit, Bound)) end,
                                 {High, 1}, Steps),
    {Flushed, Results} = finish(Dam, Senders),
    Info = dam:info(Dam),
    Broken = laws(Flushed, lists:all(fun(Within) -> Within end, Bounds), Results, Info, dam_test_server:taken(Record)),
    ok = dam:stop(Dam),
    stop_server(),
    ets:delete(Record),
    Broken =:= [] orelse {Broken, Flushed, Info}.

start_server(Dam, Record) ->
    Server = dam_test_server:start(Record, fun({_, _, N}) -> N rem ?FORGETS =:= 0 orelse dam:ack(Dam) end),
    true = register(?SERVER, Server),
    ok.

stop_server() ->
    Server = whereis(?SERVER),
    Monitor = monitor(process, Server),
    exit(Server, kill),
    receive {'DOWN', Monitor, process, _, _} -> ok end.

%% A sender numbers its messages and keeps what became of each.
sender(Name, Dam) -> spawn_link(fun() -> sender(Name, Dam, 0, []) end).

sender(Name, Dam, Next, Results) ->
    receive
        {send, Function, N} ->
            Sent = [result(Function, Name, Dam, Next + I) || I <- lists:seq(0, N - 1)],
            sender(Name, Dam, Next + N, lists:reverse(Sent, Results));
        {results, To} -> To ! {self(), lists:reverse(Results)}
    end.

result(Function, Name, Dam, Number) ->
    Message = {Name, lane(Function), Number},
    {Message, dam:Function(Dam, Message)}.

lane(send_priority) -> priority;
lane(_) -> normal.

%% The highest mark there has been, and how often as much may be with the server: once,
%% and once more for each suspension that is over before it is noticed (see dam_watch).
bound({configure, #{high := High}}, _, {Highest, Times}) -> {max(Highest, High), Times};
bound(suspend, sys, {Highest, Times}) -> {Highest, Times + 1};
bound(_, _, Bound) -> Bound.

%% Whether the mailbox of the server is within the bound.
step(Step, Dam, Senders, Record, {Highest, Times} = Bound) ->
    ok = step(Step, Dam, Senders, Record),
    {dam_test_server:waiting(whereis(?SERVER)) =< Highest * Times, Bound}.

step({send, Name, N}, _, Senders, _) -> tell(Name, send, N, Senders);
step({priority, Name, N}, _, Senders, _) -> tell(Name, send_priority, N, Senders);
step({async, Name, N}, _, Senders, _) -> tell(Name, send_async, N, Senders);
step({permit, N}, _, _, _) -> dam_test_server:permit(N, ?SERVER);
step(restart, Dam, _, Record) ->
    stop_server(),
    start_server(Dam, Record);
step(kill_watch, Dam, _, _) ->
    {links, Links} = process_info(Dam, links),
    _ = [exit(Pid, kill) || Pid <- Links, is_watch(Pid)],
    ok;
step(suspend, _, _, _) -> when_free(fun sys:suspend/2);
step(resume, _, _, _) -> when_free(fun sys:resume/2);
step({configure, Changes}, Dam, _, _) -> dam:configure(Dam, Changes);
step({sleep, Ms}, _, _, _) -> timer:sleep(Ms).

is_watch(Pid) ->
    case proc_lib:translate_initial_call(Pid) of
        {dam_watch, init, _} -> true;
        _ -> false
    end.

tell(Name, Function, N, Senders) ->
    map_get(Name, Senders) ! {send, Function, N},
    ok.

%% One that takes nothing does not hear of it.
when_free(Fun) ->
    try Fun(?SERVER, 1)
    catch exit:_ -> ok
    end.

%% Lets all go, and waits until nothing is held, blocked or under way.
finish(Dam, Senders) ->
    ok = dam_test_server:permit(all, ?SERVER),
    ok = sys:resume(?SERVER),
    Results = lists:append([results(Pid) || Pid <- maps:values(Senders)]),
    {dam:flush(Dam, ?PATIENCE_MS), Results}.

results(Pid) ->
    Pid ! {results, self()},
    receive {Pid, Results} -> Results
    after ?PATIENCE_MS -> error(sender_is_stuck)
    end.

laws(Flushed, Bounded, Results, Info, Taken) ->
    [Law || {Law, false} <- [{never_stuck, Flushed =:= ok},
                             {bound, Bounded},
                             {accounting, accounting(Results, Info)},
                             {order, order(Taken)},
                             {only_once, length(Taken) =:= length(lists:uniq(Taken))},
                             {nothing_but_what_was_lost, all_there(Results, Info, Taken)},
                             {refused_is_not_taken, refused(Results, Taken)}]].


accounting(Results, #{received := Received, delivered := Delivered, queue := 0, waiting := 0, dropped := Dropped}) ->
    Received =:= length(Results) andalso Received =:= Delivered + lists:sum(maps:values(Dropped));
accounting(_, _) -> false.

%% Of each sender, in each lane.
order(Taken) ->
    lists:all(fun(Numbers) -> Numbers =:= lists:sort(Numbers) end,
              maps:values(maps:groups_from_list(fun({Name, Lane, _}) -> {Name, Lane} end, fun({_, _, N}) -> N end, Taken))).

%% What the server has not taken was dropped, or was in a mailbox when it died.
all_there(Results, #{dropped := Dropped, lost := Lost}, Taken) ->
    Missing = length(Results) - length(Taken),
    DroppedSum = lists:sum(maps:values(Dropped)),
    Missing >= DroppedSum andalso Missing =< DroppedSum + Lost.

refused(Results, Taken) ->
    Refused = maps:from_list([{Message, Error} || {Message, {error, Error}} <- Results]),
    not lists:any(fun(Message) -> is_map_key(Message, Refused) end, Taken).
