%% @doc Looks at a node, once or time and again. A process of its own asks, and whoever wants to know waits for it no longer
%% than a limit: what asks a node that was stopped, or whose connection is full, may wait for ever. It ends with its caller,
%% and with it what it has loaded on the node.
-module(diagnose_session).

-export([open/2, look/1, close/1]).
-export_type([session/0]).

-define(PROBE, diagnose_probe).
%% For the way there and back, and for what was carried to be loaded and removed.
-define(GRACE_MS, 5000).

-opaque session() :: {pid(), LimitMs :: pos_integer()}.

%% @doc Begins; nothing is asked yet.
-spec open(node(), diagnose_node:options()) -> session().
open(Node, #{budget := Budget} = Options) ->
    Caller = self(),
    {spawn(fun() -> served(monitor(process, Caller), Node, Options, none) end), Budget + 2 * ?GRACE_MS}.

%% @doc Looks at the node, this one included. What is loaded there stays until the end. `cost' has the bytes that were
%% carried, both ways.
-spec look(session()) -> {ok, diagnose_types:look()} | {error, diagnose_node:reason()}.
look({Session, Limit}) -> ask(Session, look, Limit).

%% @doc Ends, and is back when nothing is loaded on the node any more, or does not tell so in time.
-spec close(session()) -> ok.
close({Session, _}) ->
    _ = ask(Session, close, ?GRACE_MS),
    ok.

ask(Session, Question, Limit) ->
    Alias = monitor(process, Session, [{alias, reply_demonitor}]),
    Session ! {Question, Alias},
    receive
        {Alias, Answer} -> Answer;
        {'DOWN', Alias, process, _, Reason} -> {error, {ended, Reason}}
    after Limit ->
            exit(Session, kill),
            true = demonitor(Alias, [flush]),
            receive {Alias, Answer} -> Answer after 0 -> {error, silent} end
    end.

served(CallerMonitor, Node, Options, Keeper) ->
    receive
        {look, Alias} ->
            {Result, Now} = looked(CallerMonitor, Node, Options, Keeper),
            Alias ! {Alias, Result},
            served(CallerMonitor, Node, Options, Now);
        {close, Alias} ->
            ok = ended(Keeper),
            Alias ! {Alias, ok};
        {'DOWN', CallerMonitor, process, _, _} -> ok
    end.

looked(CallerMonitor, Node, Options, none) ->
    try asked(Node, Options#{nif := diagnose_node:nif(Node, Options)}) of
        {Asked, Codes} ->
            answer(CallerMonitor, diagnose_node:keeper(Node, ?PROBE, Asked, Codes),
                   lists:sum([byte_size(Beam) || {_, _, Beam} <- Codes]))
    catch
        throw:{diagnose_node, Reason} -> {{error, Reason}, none}
    end;
looked(CallerMonitor, _Node, _Options, {Keeper, _} = Running) ->
    Keeper ! {diagnose, again},
    answer(CallerMonitor, Running, 0).

%% What is asked, and the code that it needs. The atoms are those before that code.
asked(Node, Options) ->
    Codes = diagnose_node:codes(Node, Options),
    {(maps:with([budget, nif, collect], Options))#{atoms => diagnose_node:call(Node, erlang, system_info, [atom_count])}, Codes}.

answer(CallerMonitor, {Keeper, Monitor} = Running, Carried) ->
    receive
        {diagnose, Keeper, #{cost := Cost} = Look} ->
            {{ok, Look#{cost := Cost#{carried_bytes => Carried + erlang:external_size(Look)}}}, Running};
        {'DOWN', Monitor, process, _, Exit} -> {{error, diagnose_node:why_ended(?PROBE, Exit, silent)}, none};
        {'DOWN', CallerMonitor, process, _, _} -> exit(normal)
    end.

%% The keeper ends when nothing of it is loaded there any more.
ended(none) -> ok;
ended({Keeper, Monitor}) ->
    Keeper ! {diagnose, done},
    receive {'DOWN', Monitor, process, _, _} -> ok end.
