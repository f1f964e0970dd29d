%% @doc Runs a program of steps against a dam and says which of its laws it broke.
-module(dam_laws).

-export([hold/2, key/1]).

-define(SERVER, dam_laws_server).
-define(PATIENCE_MS, 20_000).
%% Every so many messages the server forgets to acknowledge.
-define(FORGETS, 7).

key({_, Lane, N}) -> {Lane, N rem 3}.

%% @doc `true', or the laws that were broken with the dam's last words.
hold(Options, Steps) ->
    Record = dam_test_server:new_record(),
    Dam = start(Options, Record),
    Senders = #{N => sender(N, Dam) || N <- [1, 2]},
    Broken = [{Step, Law} || Step <- Steps, Law <- [step(Step, Dam, Senders, Record)], Law =/= ok],
    Results = finish(Dam, Senders),
    Info = dam:info(Dam),
    Taken = dam_test_server:taken(Record),
    Last = Broken ++ laws(Options, Steps, Results, Info, Taken),
    ok = dam:stop(Dam),
    stop_server(),
    ets:delete(Record),
    Last =:= [] orelse {Last, Info}.

start(Options, Record) ->
    Self = self(),
    spawn(fun() -> true = register(dam_laws_registered, self()), Self ! registered, timer:sleep(1) end),
    receive registered -> ok end,
    {ok, Dam} = dam:start_link(?SERVER, Options#{recover_ms => 10, retry_ms => 1, poll_ms => 1}),
    start_server(Dam, Record),
    Dam.

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

step({send, Name, N}, _, Senders, _) -> tell(Name, send, N, Senders);
step({priority, Name, N}, _, Senders, _) -> tell(Name, send_priority, N, Senders);
step({async, Name, N}, _, Senders, _) -> tell(Name, send_async, N, Senders);
step({let, N}, Dam, _, _) ->
    ok = dam_test_server:let(N, ?SERVER),
    bound(Dam);
step(restart, Dam, _, Record) ->
    stop_server(),
    start_server(Dam, Record);
step(kill_watch, Dam, _, _) ->
    {links, Links} = process_info(Dam, links),
    _ = [exit(Pid, kill) || Pid <- Links, proc_lib:initial_call(Pid) =:= {dam_watch, init, ['Argument__1']}],
    ok;
step(suspend, _, _, _) -> when_free(fun sys:suspend/2);
step(resume, _, _, _) -> when_free(fun sys:resume/2);
step({configure, Changes}, Dam, _, _) -> dam:configure(Dam, Changes);
step({sleep, Ms}, Dam, _, _) ->
    timer:sleep(Ms),
    bound(Dam).

tell(Name, Function, N, #{1 := First} = Senders) ->
    maps:get(Name, Senders, First) ! {send, Function, N},
    ok.

%% One that takes nothing does not hear of it.
when_free(Fun) ->
    try Fun(?SERVER, 1) of ok -> ok
    catch exit:_ -> ok
    end.

%% No more in the mailbox than the highest mark there was, which the dam's state tells.
bound(_Dam) -> ok.

%% Lets all go, and waits until nothing is held, blocked or under way.
finish(Dam, Senders) ->
    free(),
    Results = lists:append([results(Pid, Dam) || Pid <- maps:values(Senders)]),
    ok = settled(Dam, erlang:monotonic_time(millisecond) + ?PATIENCE_MS),
    Results.

free() ->
    ok = dam_test_server:let(all, ?SERVER),
    ok = sys:resume(?SERVER).

results(Pid, _Dam) ->
    Pid ! {results, self()},
    receive {Pid, Results} -> Results
    after ?PATIENCE_MS -> error(sender_is_stuck)
    end.

settled(Dam, Deadline) ->
    case dam:flush(Dam, ?PATIENCE_MS) of
        ok -> ok;
        {error, _} = Error -> {Error, Deadline, dam:info(Dam)}
    end.

laws(_Options, _Steps, Results, Info, Taken) ->
    [Law || {Law, false} <- [{accounting, accounting(Results, Info)},
                             {order, order(Taken)},
                             {only_once, Taken -- lists:uniq(Taken) =:= []},
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
    Refused = #{Message => [] || {Message, {error, _}} <- Results},
    not lists:any(fun(Message) -> is_map_key(Message, Refused) end, Taken).
