%%% Connections whose small sends wait until the other side has acknowledged the one before (Nagle's algorithm). The other side waits, too,
%%% since it delays its acknowledgement until it has something to send, so each request takes 40 ms while nobody works.

%% So many connections are asked so often.
-define(ASKED_SOCKETS, 200).
-define(NAGLE_LOOKS, 10).
-define(NAGLE_MS, 30).
%% No more ports are asked for their names.
-define(MOST_NAMED_PORTS, 10_000).
%% Who sends more often does not wait for an answer each time: each wait takes 40 ms, and a request is a few sends.
-define(SENDS_A_SECOND, 200).
%% At so many of so many looks, a caller of the owner waits.
-define(CALLED_LOOKS, 3).
-define(CALLED_TIMES, 2).
%% Linux's struct tcp_info (linux/tcp.h), as an option of a socket: its level and number, and where these numbers of 32 bits are.
-define(TCP_INFO, {6, 11, 192}).
-define(TROUBLED, {2, 3}).
-define(SND_MSS, 16).
-define(UNACKED, 24).
-define(NOTSENT, 144).

%% @doc Connections without nodelay that hold back less than a segment at half of the looks until then, where that costs somebody time: few
%% sends go through, or a caller of the owner waits. In a stream of sends for which nobody waits (acknowledgements, events), it only makes
%% fewer packets. `unknown' where the system does not tell.
-spec nagle_delays(integer()) -> diagnose_types:nagle_delays() | unknown.
nagle_delays(Until) ->
    case sockets_of_linux() of
        unknown -> unknown;
        All ->
            Sockets = lists:sublist(All, ?ASKED_SOCKETS),
            Began = now_ms(),
            Before = maps:from_list([{Port, Sent} || Port <- Sockets, Sent <- sends(Port)]),
            {Looks, Held} = held_back(Until, 0, Sockets, #{}),
            Ms = max(1, now_ms() - Began),
            Often = [Port || {Port, Times} <- maps:to_list(Held), 2 * Times >= Looks, #{Port := Then} <- [Before], Now <- sends(Port),
                             is_delay(1000 * (Now - Then) div Ms, fun() -> is_called(Port) end)],
            Owners = [Pid || Port <- lists:sublist(Often, ?HOLDERS), {connected, Pid} <- [erlang:port_info(Port, connected)]],
            #{looks => Looks, asked => length(Sockets), held => length(Often),
              labels => [{Label, Count} || {Count, Label} <- most_frequent([Label || Pid <- Owners, Label <- [labelled_apart(Pid)],
                                                                                     Label =/= unknown])]}
    end.

%% @doc Whether somebody waits for what is held back, by the sends a second.
-spec is_delay(SendsASecond :: integer(), IsCalled :: fun(() -> boolean())) -> boolean().
is_delay(Sends, _) when Sends =< ?SENDS_A_SECOND -> true;
is_delay(_, IsCalled) -> IsCalled().

%% Many callers together send more often, and each waits.
is_called(Port) ->
    case erlang:port_info(Port, connected) of
        {connected, Pid} ->
            Looks = [begin
                         wait(?NAGLE_MS),
                         lists:any(fun waits_in_call/1, lists:sublist(callers(Pid), ?HOLDERS))
                     end || _ <- lists:seq(1, ?CALLED_LOOKS)],
            length([true || true <- Looks]) >= ?CALLED_TIMES;
        undefined -> false
    end.

%% How often something was sent by it. (Who has closed it meanwhile tells nothing.)
sends(Port) ->
    case of_open(fun(One) -> {ok, moved(One, send_cnt)} end, Port) of
        {ok, Count} -> [Count];
        closed -> []
    end.

%% Where the system tells of their connections, and they are not too many.
sockets_of_linux() ->
    case erlang:system_info(port_count) =< ?MOST_NAMED_PORTS andalso os:type() =:= {unix, linux} of
        true -> of_tcp(erlang:ports());
        false -> unknown
    end.

of_tcp(Ports) -> [Port || Port <- Ports, erlang:port_info(Port, name) =:= {name, "tcp_inet"}].

held_back(_, ?NAGLE_LOOKS, _, Held) -> {?NAGLE_LOOKS, Held};
held_back(_, Looks, [], Held) -> {Looks, Held};
held_back(Until, Looks, Sockets, Held) ->
    Now = [Port || Port <- Sockets, holds_back(Port)],
    All = lists:foldl(fun(Port, Counts) -> counted_as(Port, Counts) end, Held, Now),
    case now_ms() + ?NAGLE_MS < Until of
        true ->
            wait(?NAGLE_MS),
            held_back(Until, Looks + 1, Sockets, All);
        false -> {Looks + 1, All}
    end.

%% Where the other side does not read, its window is full: then the socket takes no more, or what was sent is sent again and again (the
%% bytes of retransmits, probes and backoff), and a small rest is no delay of Nagle's.
holds_back(Port) ->
    {Level, Option, Size} = ?TCP_INFO,
    try prim_inet:getopts(Port, [nodelay, {raw, Level, Option, Size}]) of
        {ok, [{nodelay, false}, {raw, _, _, Info}]} when byte_size(Info) >= ?NOTSENT + 4 ->
            [Segment, Unacknowledged, NotSent] = [number_at(Info, At) || At <- [?SND_MSS, ?UNACKED, ?NOTSENT]],
            Unacknowledged > 0 andalso NotSent > 0 andalso NotSent < Segment
                andalso binary:part(Info, ?TROUBLED) =:= <<0, 0, 0>> andalso erlang:port_info(Port, queue_size) =:= {queue_size, 0};
        _ -> false
    catch _:_ -> false % it was closed meanwhile
    end.
