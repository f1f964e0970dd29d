%% @doc A load for an XMPP server, in a VM that is the same for all measured variants: sessions that each send to the next one,
%% and others that only wait.
-module(xmpp_load).

-export([start/2, wait/3, round/3]).
%% Called in the VM of the load.
-export([connect/1, connect_waiting/2, run_round/2]).
-export_type([load/0]).

-opaque load() :: #{program := program_node:program(), talkers := pid()}.

%% The number of sessions that talk.
-define(TALKING, 10).
-define(MESSAGE_TIMEOUT_MS, 30_000).

%% @doc Starts the VM, and the sessions that talk.
-spec start(program_place:place(), inet:port_number()) -> load().
start(Place, Port) ->
    Program = program_node:start(Place, #{emulator => fixed}),
    #{program => Program, talkers => program_node:call(Program, ?MODULE, connect, [Port])}.

%% @doc Adds sessions that wait.
-spec wait(load(), inet:port_number(), Sessions :: non_neg_integer()) -> ok.
wait(#{program := Program}, Port, Sessions) ->
    _ = program_node:call(Program, ?MODULE, connect_waiting, [Port, Sessions]),
    ok.

%% @doc Sends messages from each talking session in turn. Returns the counts, the total time, and the 99th percentile of a
%% message's latency, in nanoseconds.
-spec round(load(), Messages :: pos_integer(), timeout()) ->
          {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(#{program := Program, talkers := Talkers}, Messages, Timeout) ->
    program_node:call(Program, ?MODULE, run_round, [Talkers, Messages], Timeout).

%% @doc A process that holds the sessions that talk.
-spec connect(inet:port_number()) -> pid().
connect(Port) -> program_holder:start(fun() -> talkers(sessions(Port, ?TALKING)) end).

%% @doc A process that holds sessions that wait, and drops the data that they receive.
-spec connect_waiting(inet:port_number(), non_neg_integer()) -> pid().
connect_waiting(Port, Count) -> program_holder:start(fun() -> sessions(Port, Count) end).

sessions(Port, Count) -> [xmpp_session:connect(Port) || _ <- lists:seq(1, Count)].

%% Each session with the one that it sends to.
talkers(Sessions) ->
    Jids = [Jid || {_, Jid} <- Sessions],
    [{Session, To} || {{Session, _}, To} <- lists:zip(Sessions, tl(Jids) ++ [hd(Jids)])].

%% @doc See `round/3'.
-spec run_round(pid(), pos_integer()) -> {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
run_round(Holder, Messages) ->
    program_holder:ask(Holder, fun(Talkers) ->
        program_messages:round(Messages,
                               fun(Number) -> sent(lists:nth(1 + Number rem length(Talkers), Talkers), Number) end,
                               fun() -> came(Messages, #{}) end)
                                 end).

sent({Session, To}, Number) -> xmpp_session:send(Session, To, Number).

%% Fewer messages than expected mean that some were lost. `Parts': for each socket, the data of an incomplete message.
came(Left, _) when Left =< 0 -> [];
came(Left, Parts) ->
    receive
        {tcp, Socket, Data} ->
            {Messages, Rest} = xmpp_session:messages(<<(maps:get(Socket, Parts, <<>>))/binary, Data/binary>>),
            Now = erlang:monotonic_time(),
            [{Number, Now - SentAt} || {Number, SentAt} <- Messages] ++ came(Left - length(Messages), Parts#{Socket => Rest})
    after ?MESSAGE_TIMEOUT_MS -> []
    end.
