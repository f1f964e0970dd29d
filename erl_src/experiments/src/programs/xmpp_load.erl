%% @doc Work for a server of XMPP, in a VM that is the same whatever is measured: sessions of which each sends to the next one,
%% and others that only wait.
-module(xmpp_load).

-export([start/3, round/3]).
%% In the VM of the load.
-export([connect/2, run_round/2]).
-export_type([load/0]).

-opaque load() :: #{program := program_node:program(), sessions := pid()}.

%% So many of the sessions talk.
-define(TALKING, 10).
-define(MESSAGE_TIMEOUT_MS, 30_000).
-define(CONNECT_TIMEOUT_MS, 120_000).

%% @doc Starts the VM and its sessions.
-spec start(program_place:place(), inet:port_number(), Sessions :: pos_integer()) -> load().
start(Place, Port, Sessions) ->
    Program = program_node:start(Place, #{emulator => fixed}),
    #{program => Program, sessions => program_node:call(Program, ?MODULE, connect, [Port, Sessions], ?CONNECT_TIMEOUT_MS)}.

%% @doc So many messages, by turns: what came, how long all took, and the 99th percentile of one, in nanoseconds.
-spec round(load(), Messages :: pos_integer(), timeout()) ->
          {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(#{program := Program, sessions := Sessions}, Messages, Timeout) ->
    program_node:call(Program, ?MODULE, run_round, [Sessions, Messages], Timeout).

%% @doc A process that holds the sessions, and what came to them.
-spec connect(inet:port_number(), pos_integer()) -> pid().
connect(Port, Count) ->
    program_holder:start(fun() -> talkers(lists:sublist([xmpp_session:connect(Port) || _ <- lists:seq(1, Count)], ?TALKING)) end).

%% Each with the one it talks to.
talkers(Sessions) ->
    Jids = [Jid || {_, Jid} <- Sessions],
    [{Session, To} || {{Session, _}, To} <- lists:zip(Sessions, tl(Jids) ++ [hd(Jids)])].

%% @doc See `round/3'.
-spec run_round(pid(), pos_integer()) -> {program_messages:counts(), #{time := pos_integer(), p99 := non_neg_integer()}}.
run_round(Sessions, Messages) ->
    program_holder:ask(Sessions, fun(Talkers) ->
        program_messages:round(Messages,
                               fun(Number) -> sent(lists:nth(1 + Number rem length(Talkers), Talkers), Number) end,
                               fun() -> came(Messages, #{}) end)
                                 end).

sent({Session, To}, Number) -> xmpp_session:send(Session, To, Number).

%% What is lost is known by the number of what came. `Parts': of each socket, what is not whole yet.
came(Left, _) when Left =< 0 -> [];
came(Left, Parts) ->
    receive
        {tcp, Socket, Data} ->
            {Messages, Rest} = xmpp_session:messages(<<(maps:get(Socket, Parts, <<>>))/binary, Data/binary>>),
            Now = erlang:monotonic_time(),
            [{Number, Now - SentAt} || {Number, SentAt} <- Messages] ++ came(Left - length(Messages), Parts#{Socket => Rest})
    after ?MESSAGE_TIMEOUT_MS -> []
    end.
