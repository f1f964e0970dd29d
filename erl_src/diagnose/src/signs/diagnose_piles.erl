%% @doc From what is left behind to signs: sockets that nobody closes or reads, and processes that wait. Pure.
-module(diagnose_piles).

-export([of_node/1]).

-import(diagnose_sign, [sign/4, process_in/1]).
-import(diagnose_wording, [label/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of the node.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> sockets(Look) ++ processes(Look).

sockets(#{left_sockets := #{ms := Ms, alarms := Alarms, sockets := Sockets}}) ->
    [sign(sockets_left,
          (made_by(Left))
          #{what => What, sockets => Count, more => More, ms => Ms, owners => Asked,
            'of' => [#{label => case Label of unknown -> <<"an unknown kind">>; _ -> label(Label) end, in => label(In), count => N}
                     || {Label, In, N} <- Most],
            alarms => case What of unread -> Alarms; _ -> [] end},
          advice(What, Alarms, Most), diagnose_proof:look())
     || #{what := What, count := Count, more := More, asked := Asked, most := Most} = Left <- Sockets, is_too_many(Left, Ms)];
sockets(#{}) -> [].

%% Of those that are kept: to where, and who connects most.
made_by(#{at := At, by := By}) -> #{at => At, by => [process_in(One) || One <- lists:sublist(By, 1)]};
made_by(#{}) -> #{}.

%% Some requests are still being answered when their client closes; then those left behind do not get more.
is_too_many(#{what := unread, count := Count}, _) -> Count >= ?UNREAD_SOCKETS;
%% A pool that is opened is complete after some seconds.
is_too_many(#{what := kept, count := Count, more := More}, Ms) ->
    Count >= ?LEFT_SOCKETS andalso More >= ?KEPT_MORE andalso Count * Ms >= ?OPENED_MS * More;
is_too_many(#{count := Count, more := More}, _) -> Count >= ?MANY_LEFT_SOCKETS orelse Count >= ?LEFT_SOCKETS andalso More > 0.

advice(there, _, _) ->
    "An owner learns that the other side has closed only while it reads: a socket with {active, false} tells nothing to who waits for"
    " something else. Set {active, once} and handle tcp_closed in that receive, or bound the wait (after), and close the socket then."
    " If these clients only shut down their sending, and wait for an answer that takes long, leave it.";
advice(here, _, _) ->
    "Such a socket failed (send_timeout_close, or a read that returned closed), and gives no message any more. Who gets {error, _} from"
    " gen_tcp:send/2 or gen_tcp:recv/2 has to call gen_tcp:close/1, and to tell the owner, who waits in vain for tcp_closed.";
advice(kept, _, _) ->
    "Close each when its work is done, also after an error (an after clause), or use one again. A connection that a library opens (as"
    " ssh:close/1 ends) has a process of its own, which stays when its caller is done. If one is kept for each session, leave it.";
advice(unread, [_ | _], _) ->
    "They have stopped reading on purpose, it seems: remove the cause of the alarm (alarm_handler:get_alarms/0), and they go on.";
advice(unread, [], Most) ->
    case 2 * lists:sum([N || {_, In, N} <- Most, diagnose_samples:is_of_behaviour(In)]) > lists:sum([N || {_, _, N} <- Most]) of
        true -> reads_later_advice();
        false ->
            "These sockets give nothing until their owners ask ({active, false}, or once and not set again). Find out what the owners wait"
            " for: they read again only after that. If another process has them wait (an alarm of memory or of the disk, credit flow),"
            " remove the cause of that. If they wait for an answer, bound that wait by a time-out."
    end.

%% They could take any message, but the socket sends none until it is asked to.
reads_later_advice() ->
    "The owners wait in their own loop for their next message, and let their sockets send nothing ({active, false}, or once and not set"
    " again): they read again when another message comes. If that is of a timer of their own (a shaper, a limit of bytes or requests a"
    " second), it works as it was set: raise the rate, or what may come at once, for these connections. Otherwise find out who should send"
    " that message, or where inet:setopts/2 with {active, once} was left out.".

%% Where none of them does anything, and there are more and more of them, which are most of the node's: not the clients that are connected.
processes(#{piles := #{ms := Ms, pile := #{in := In, asked := Asked, stay := Asked, count := Count, more := More, connections := false,
                                           done := Done, labels := Labels, first := First}},
            counts := [_, _ | _] = Counts})
  when 1000 * More >= ?PILED_UP_A_SECOND * Ms ->
    [sign(processes_pile_up,
          #{in => label(In), processes => Count, a_second => 1000 * More div Ms, asked => Asked, ms => Ms,
            'of' => diagnose_sign:counted(Labels),
            first => case First of {Function, N} -> #{in => label(Function), count => N}; none -> none end},
          [pile_advice(First), " Bound the wait by a time-out (after), and limit how many wait at a time."],
          diagnose_proof:look())
     || is_pile(Count, First, Done), {_, #{processes := {All, _}}} <- [lists:last(Counts)], 2 * Count >= All,
        diagnose_counts:growth([{At, N} || {At, #{processes := {N, _}}} <- Counts]) > 0];
processes(#{}) -> [].

%% Sessions whose sockets another process has look the same while more of them come; but those that have been there have worked, mostly.
%% Who monitors a node asks old ones often, so a little more is no work where the first of them are elsewhere.
is_pile(Count, none, Done) -> Count >= ?PILED_UP_QUIETLY andalso not have_worked(Done, ?HAS_WORKED_REDUCTIONS);
is_pile(Count, _, Done) -> Count >= ?PILED_UP andalso not have_worked(Done, 10 * ?HAS_WORKED_REDUCTIONS).

have_worked({Older, Newer}, Least) -> Older > ?HAS_WORKED * Newer + Least.

pile_advice(none) ->
    "Are these sessions of clients, which wait for a next request? Then leave it. Else each may wait for a message that does not come:"
    " find out who should send it.";
pile_advice(_) ->
    "Find out who should send what they wait for: the first of them may be what the others wait for. If they are sessions of clients, leave"
    " it.".
