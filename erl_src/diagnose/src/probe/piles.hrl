%%% What is left behind: sockets that the other side has closed, that are closed here, or that nobody reads; and processes that pile up,
%%% where each waits for something that may never come.

%% The state of a connection whose other side has closed it, as Linux numbers them.
-define(CLOSE_WAIT, 8).
%% So much of the system's list of sockets is read, in parts.
-define(SOCKET_BYTES, 2_000_000).
-define(SOCKET_PART, 65_536).
%% Where the system has many connections that are closed, and the machine is busy, no more is read.
-define(SOCKETS_MS, 250).
-define(UNREAD_BYTES, 4096).
-define(ASKED_OWNERS, 30).
-define(ALARM_BYTES, 100_000).
-define(ALARM_MS, 300).
%% So long it is seen which processes do anything; so many of these are asked what they are in.
-define(OPENING_MS, 500).
-define(OPENING_LOOK_MS, 30).
-define(ASKED_OPENING, 50).
-define(PILED_PROCESSES, 50_000).
-define(ASKED_PILED, 300).
-define(ASKED_NEW, 100).
-define(PILED, 20).
%% Those that came first.
-define(FIRST_KIN, 2000).

%% @doc Sockets of TCP that are left behind at both looks, now and then, with some of their owners. Only Linux tells of all.
-spec left_sockets(integer()) -> diagnose_types:left_sockets() | unknown.
left_sockets(Until) ->
    Began = now_ms(),
    case sockets_now() of
        unknown -> unknown;
        {Before, Made} ->
            By = case most_alike(Made) >= ?LEFT_SOCKETS of true -> opening(Until); false -> [] end,
            wait(max(0, Until - now_ms())),
            case sockets_now() of
                unknown -> unknown;
                {After, MadeSince} ->
                    Sockets = left_at_both(Before, After),
                    Kept = [One#{by => By} || One <- made_and_kept(Made, MadeSince)],
                    #{ms => max(1, now_ms() - Began), sockets => [with_owners(Left) || Left <- Sockets ++ Kept],
                      alarms => [Alarm || #{what := unread} <- Sockets, Alarm <- alarms()]}
            end
    end.

sockets_now() ->
    case sockets_of_linux() of
        unknown -> unknown;
        Ports -> {left_of(Ports), made_of(Ports)}
    end.

left_of(Ports) ->
    Left = maps:from_list([{Port, What} || Port <- Ports, What <- [is_left_as(Port)], What =/= no]),
    maps:merge(Left, unread(Ports)).

is_left_as(Port) ->
    {Level, Option, Size} = ?TCP_INFO,
    try prim_inet:getopts(Port, [{raw, Level, Option, Size}]) of
        {ok, [{raw, _, _, Info}]} when binary_part(Info, 0, 1) =:= <<?CLOSE_WAIT>> -> {there, moved(Port, send_oct)};
        {ok, [_]} -> no;
        %% The port is there, and its descriptor is not.
        _ -> case prim_inet:getstatus(Port) of {ok, []} -> here; _ -> no end
    catch _:_ -> no % it was closed meanwhile
    end.

%% How many bytes it has sent or received, by whomever.
moved(Port, Key) ->
    {ok, [{Key, Bytes}]} = prim_inet:getstat(Port, [Key]),
    Bytes.

%% Those connections that this node has made, with what they are connected to and the bytes that they have moved, and how many it has
%% accepted: those have the number of a socket that listens.
made_of(Ports) ->
    Named = [{Port, Number, of_open(fun prim_inet:peername/1, Port)}
             || Port <- Ports, {ok, {_, Number}} <- [of_open(fun prim_inet:sockname/1, Port)]],
    Listening = maps:from_list([{Number, true} || {_, Number, {error, _}} <- Named]),
    {Accepted, Made} = lists:partition(fun({_, Number, _}) -> is_map_key(Number, Listening) end, Named),
    {length(Accepted), maps:from_list([{Port, {Peer, Moved}} || {Port, _, {ok, Peer}} <- Made,
                                                                Moved <- [of_open(fun all_moved/1, Port)]])}.

all_moved(Port) -> prim_inet:getstat(Port, [recv_oct, send_oct]).

most_alike({_, Made}) ->
    lists:max([0 | [length(Of) || Of <- maps:values(maps:groups_from_list(fun({Peer, _}) -> Peer end, maps:values(Made)))]]).

%% @doc Connections to one place that did nothing, while others were made to it and none was closed; not where as many were accepted
%% meanwhile, for which they may be.
-spec made_and_kept(Made, Made) -> [#{what := kept, count := pos_integer(), more := pos_integer(), at := binary(), ports := [Port]}]
              when Made :: {Accepted :: non_neg_integer(), #{Port => {Peer :: term(), Moved :: term()}}}, Port :: term().
made_and_kept({AcceptedBefore, Before}, {Accepted, After}) ->
    New = [Peer || {Port, {Peer, _}} <- maps:to_list(After), not is_map_key(Port, Before)],
    [#{what => kept, count => length(Idle), more => More, at => address({ok, Peer}, <<"a socket">>), ports => Idle}
     || {Peer, Ports} <- maps:to_list(maps:groups_from_list(fun({_, {Peer, _}}) -> Peer end, fun({Port, _}) -> Port end,
                                                            maps:to_list(Before))),
        lists:all(fun(Port) -> is_map_key(Port, After) end, Ports),
        Idle <- [[Port || Port <- Ports, maps:get(Port, After) =:= maps:get(Port, Before)]], 10 * length(Idle) >= 9 * length(Ports),
        More <- [length([1 || To <- New, To =:= Peer])], More > 0, 2 * (Accepted - AcceptedBefore) =< More].

%% Who connects, by some looks at those that do anything.
opening(Until) ->
    case erlang:system_info(process_count) =< ?FEW_PROCESSES of
        true ->
            Before = [{Pid, Done} || Pid <- processes(), {_, Done} <- [process_info(Pid, reductions)]],
            wait(?OPENING_MS),
            Active = some(?ASKED_OPENING, [Pid || {Pid, Done} <- Before, {_, Now} <- [process_info(Pid, reductions)],
                                                  Now - Done >= ?TAKEN_REDUCTIONS]),
            [(process_in(Pid, In))#{times => Times}
             || {Times, {Pid, In}} <- most_frequent(opening(Active, Until))];
        false -> []
    end.

opening(Active, Until) ->
    Now = [{Pid, In} || Pid <- Active, In <- connects_in(Pid)],
    wait(?OPENING_LOOK_MS),
    case now_ms() < Until of
        true -> Now ++ opening(Active, Until);
        false -> Now
    end.

%% Those with bytes that the system has for their owner, what was read before, and what the owner has done.
unread(Ports) ->
    Until = now_ms() + ?SOCKETS_MS,
    Waiting = maps:from_list(lists:append([unread_in(File, Until) || Ports =/= [], File <- ["/proc/self/net/tcp", "/proc/self/net/tcp6"]])),
    maps:from_list([{Port, {unread, Bytes, Read, Done}}
                    || map_size(Waiting) > 0, Port <- Ports, {ok, {Address, Number}} <- [of_open(fun prim_inet:sockname/1, Port)],
                       {ok, {Other, Its}} <- [of_open(fun prim_inet:peername/1, Port)],
                       Local <- local_text(Address, Number), Remote <- local_text(Other, Its),
                       #{{Local, Remote} := Bytes} <- [Waiting],
                       {ok, Read} <- [of_open(fun(One) -> {ok, moved(One, recv_oct)} end, Port)],
                       {_, Owner} <- [erlang:port_info(Port, connected)], Done <- done(Owner)]).

of_open(Ask, Port) -> try Ask(Port) catch _:_ -> closed end.

unread_in(File, Until) ->
    case prim_file:open(File, [read, binary]) of
        {ok, Fd} ->
            Found = unread_in(Fd, <<>>, 0, [], Until),
            _ = prim_file:close(Fd),
            Found;
        {error, _} -> []
    end.

unread_in(Fd, Cut, Read, Found, Until) when Read < ?SOCKET_BYTES ->
    case now_ms() < Until andalso prim_file:read(Fd, ?SOCKET_PART) of
        {ok, More} ->
            Lines = lines(<<Cut/binary, More/binary>>),
            unread_in(Fd, lists:last(Lines), Read + byte_size(More), unread_of(lists:droplast(Lines)) ++ Found, Until);
        _ -> Found
    end;
unread_in(_, _, _, Found, _) -> Found.

%% @doc The connections (01) among such lines that have so many bytes to be read.
-spec unread_of([binary()]) -> [{{Local :: binary(), Remote :: binary()}, Bytes :: pos_integer()}].
unread_of(Lines) ->
    [{{Local, Remote}, Bytes}
     %% To look for its state first is cheap, where most lines have another one.
     || Line <- Lines, binary:match(Line, <<" 01 ">>) =/= nomatch,
        [_, Local, Remote, <<"01">>, Queues | _] <- [binary:split(Line, <<" ">>, [global, trim_all])],
        Bytes <- [binary_to_integer(lists:last(binary:split(Queues, <<":">>)), 16)], Bytes >= ?UNREAD_BYTES].

%% @doc What is the same at both looks. By one that the other side has closed nothing was sent: it may have ended only its own sending, and
%% get its answer. Of what nobody reads no byte was taken, by another process neither, and the owner did nothing.
-spec left_at_both(#{Port => Left}, #{Port => Left}) ->
          [#{what := there | here | unread, count := pos_integer(), more := integer(), ports := [Port]}]
              when Port :: term(), Left :: {there, Sent} | here | {unread, Bytes, Read, Done},
                   Sent :: non_neg_integer(), Bytes :: non_neg_integer(), Read :: non_neg_integer(), Done :: non_neg_integer().
left_at_both(Before, After) ->
    [#{what => What, count => length(Same), more => count_of(What, After) - count_of(What, Before), ports => Same}
     || What <- [there, here, unread],
        Same <- [[Port || {Port, Then} <- maps:to_list(Before), #{Port := Now} <- [After], is_left(What, Then, Now)]], Same =/= []].

is_left(unread, {unread, Bytes, Read, Done}, {unread, Now, Read, Meanwhile}) ->
    Now >= Bytes andalso Meanwhile - Done =< ?ASKED_REDUCTIONS;
is_left(there, {there, Sent}, {there, Sent}) -> true;
is_left(here, here, here) -> true;
is_left(_, _, _) -> false.

count_of(What, Left) -> length([1 || {_, Is} <- maps:to_list(Left), Is =:= What orelse is_tuple(Is) andalso element(1, Is) =:= What]).

with_owners(#{ports := Ports} = Left) ->
    Owners = [Owner || Port <- lists:sublist(Ports, ?ASKED_OWNERS), {_, Owner} <- [erlang:port_info(Port, connected)]],
    (maps:remove(ports, Left))#{asked => length(Owners), most => kinds_and_places(Owners)}.

kinds_and_places(Pids) ->
    [{Label, In, Count}
     || {Count, {Label, In}} <- most_frequent([{labelled_apart(Pid), own_frame(Stack)}
                                               || Pid <- Pids, {_, [_ | _] = Stack} <- [process_info(Pid, current_stacktrace)]])].

%% The answer is a copy, so a handler that has much is not asked.
alarms() ->
    case whereis(alarm_handler) of
        Pid when is_pid(Pid) ->
            case process_info(Pid, memory) of
                {_, Bytes} when Bytes =< ?ALARM_BYTES ->
                    case apart(fun() -> gen_event:call(alarm_handler, alarm_handler, get_alarms, ?ALARM_MS) end) of
                        [_ | _] = Alarms -> [alarm(Id) || {Id, _} <- lists:sublist(Alarms, ?LARGEST)];
                        _ -> []
                    end;
                _ -> []
            end;
        _ -> []
    end.

%% @doc The name of an alarm, by its atoms.
-spec alarm(term()) -> binary().
alarm(Id) when is_tuple(Id), tuple_size(Id) =< 4 ->
    iolist_to_binary([${, lists:join(", ", [case is_atom(One) of true -> atom_to_binary(One, utf8); false -> $_ end
                                            || One <- tuple_to_list(Id)]), $}]);
alarm(Id) -> shape(Id).

%% @doc Of a sample of the processes, those that wait in one function of their own, inside of another one: for something that is to come,
%% not for work. Until then none of them did anything, or some did; and how many of those that were started since wait there, too.
-spec piles(integer()) -> diagnose_types:piles() | too_many.
piles(Until) ->
    case erlang:system_info(process_count) =< ?PILED_PROCESSES of
        true ->
            Began = now_ms(),
            All = processes(),
            Asked = some(?ASKED_PILED, All),
            Before = [{In, Pid, Done} || Pid <- Asked, {In, Done} <- awaits(Pid)],
            Await = case most_frequent([In || {In, _, _} <- Before]) of
                        [{Times, In} | _] when Times >= ?PILED ->
                            Members = [{Pid, Done} || {I, Pid, Done} <- Before, I =:= In],
                            {In, Members, first_kin(In, Members, All)};
                        _ -> none
                    end,
            wait(max(0, Until - now_ms())),
            #{ms => max(1, now_ms() - Began), pile => pile(Await, length(All) / length(Asked), All)};
        false -> too_many
    end.

awaits(Pid) ->
    case process_info(Pid, [status, message_queue_len, reductions, current_stacktrace]) of
        [{_, Status}, {_, 0}, {_, Done}, {_, [{Module, _, _, _} = Frame | _] = Stack}] ->
            [{frame(Frame), Done} || not lists:member(Module, ?WAITS_OF_OTP), not is_main_loop([frame(One) || One <- Stack]),
                                     settled(Pid, Status, ?ASKED_AGAIN) =:= waiting,
                                     {_, Monitors} <- [process_info(Pid, monitors)],
                                     called_in(Stack, [Monitored || {process, Monitored} <- Monitors]) =:= []];
        _ -> []
    end.

pile(none, _Each, _All) -> none;
pile({In, Members, First}, Each, All) ->
    Stay = [Pid || {Pid, Done} <- Members, {I, Now} <- awaits(Pid), I =:= In, Now - Done =< ?ASKED_REDUCTIONS],
    New = processes() -- All,
    Newest = some(?ASKED_NEW, New),
    NewThere = [Done || Pid <- Newest, {I, Done} <- awaits(Pid), I =:= In],
    #{in => In, asked => length(Members), stay => length(Stay), count => round(Each * length(Members)),
      more => round(ratio(length(NewThere) * length(New), length(Newest))),
      connections => are_of_connections([Pid || {Pid, _} <- Members]),
      done => {middle([Done || {_, Done} <- Members]), middle(NewThere)},
      labels => [{Label, Count} || {Count, Label} <- most_frequent([labelled_apart(Pid) || Pid <- lists:sublist(Stay, ?HOLDERS)]),
                                   Label =/= unknown],
      first => still_there(First)}.

%% @doc Whether they, or who is linked to them or monitors them, have a socket: as many as there are clients. A connection of ssl monitors
%% its user.
-spec are_of_connections([pid()]) -> boolean().
are_of_connections(Members) ->
    Some = lists:sublist(Members, ?HOLDERS),
    Beside = lists:uniq(lists:append([callers(Pid) ++ linked(Pid) || Pid <- Some])),
    lists:any(fun has_socket/1, Some ++ lists:sublist(Beside, ?ASKED_OWNERS)).

%% What has the socket of the module socket, a resource of a NIF, monitors its owner.
has_socket(Pid) ->
    case process_info(Pid, [links, monitored_by]) of
        [{_, Links}, {_, By}] -> lists:any(fun is_port/1, Links) orelse lists:any(fun is_reference/1, By);
        undefined -> false
    end.

%% Those of the same kind that came first and do not wait there, and where they are: the others may wait for them.
first_kin(In, [{Pid, _} | _], All) ->
    Key = kind_key(Pid),
    Label = labelled_apart(Pid),
    First = lists:sublist([One || One <- lists:sublist(All, ?FIRST_KIN), kind_key(One) =:= Key], ?HOLDERS),
    [{One, Frame} || One <- First, Frame <- own_frames(One), Frame =/= In, labelled_apart(One) =:= Label].

%% Who is elsewhere for a moment is at work.
still_there(First) ->
    case most_frequent([Frame || {One, Frame} <- First, own_frames(One) =:= [Frame]]) of
        [{Count, Frame} | _] -> {Frame, Count};
        [] -> none
    end.

own_frames(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, [_ | _] = Stack} -> [own_frame(Stack)];
        _ -> []
    end.
