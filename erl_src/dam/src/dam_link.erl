%% @doc A dam's connection to its server: which process it is, whether it is up, and how many
%% messages it has taken.
-module(dam_link).

-export([connect/1, looked_up/3, retried/1, down/2, left_down/2, change_server/1, length_known/4, look/1, armed/1, watched_anew/1]).

-include("dam_state.hrl").

%% After so many looks in a row at which the server had taken all messages without answering a
%% probe, the dam polls.
-define(SILENT, 2).

%% @doc Looks up the server: at once on this node, through the watch elsewhere.
-spec connect(#dam{}) -> #dam{}.
connect(#dam{options = #{server := Name}} = Dam) when is_atom(Name) -> found(whereis(Name), Dam);
connect(#dam{options = #{server := Pid}} = Dam) when node(Pid) =:= node() -> found(Pid, Dam);
connect(#dam{options = #{server := Server}, watch = Watch} = Dam) ->
    ok = dam_watch:resolve(Server, Watch),
    Dam.

%% @doc Handles what the watch has found for that server. The server may have been exchanged during the look-up.
-spec looked_up(dam_types:server(), pid() | undefined, #dam{}) -> #dam{}.
looked_up(Server, Pid, #dam{options = #{server := Server}} = Dam) -> found(Pid, Dam);
looked_up(_, _, Dam) -> Dam.

%% The result of a look-up: the server's pid, or none. A dam whose server's name has become its own waits for
%% another process of that name, because it would send to itself without end.
found(_, #dam{pid = Pid} = Dam) when is_pid(Pid) -> Dam;
found(Pid, Dam) when is_pid(Pid), Pid =/= self() ->
    Up = (settled(Pid, not_left(Dam)))#dam{pid = Pid, seen = Pid, left = undefined, monitor = monitor(process, Pid), silent = 0,
                                           last_look = {0, 0}},
    dam_flow:event([dam, server, up], #{}, #{pid => Pid}, Up);
found(_, Dam) -> retry(Dam).

%% Only the connection was lost: the server may still have its messages.
settled(Pid, #dam{seen = Pid, window = Window} = Dam) -> Dam#dam{window = dam_window:ask_again(Window)};
%% The server was exchanged for itself, perhaps under another name, and nothing was sent meanwhile.
settled(Pid, #dam{left = {Pid, Window}, options = #{high := High, low := Low}} = Dam) ->
    Dam#dam{window = dam_window:configure(High, Low, dam_window:ask_again(Window))};
settled(_, Dam) -> lose(Dam).

%% @doc Handles the end of the server. The messages that it had not taken are lost, unless only the
%% connection was lost. A server given as a pid never comes back.
-spec down(term(), #dam{}) -> #dam{}.
down(noconnection, Dam) ->
    retry(dam_flow:event([dam, server, down], #{lost => 0}, #{reason => noconnection}, gone(Dam)));
down(Reason, #dam{options = #{server := Server}} = Dam) ->
    Outstanding = dam_window:outstanding(Dam#dam.window),
    Down = dam_flow:event([dam, server, down], #{lost => Outstanding}, #{reason => Reason}, lose(gone(Dam))),
    case Server of
        _ when not is_pid(Server) -> connect(Down);
        _ -> dam_flow:drop_held(server_down, Down#dam{end_reason = ended(Reason)})
    end.

gone(Dam) -> Dam#dam{pid = undefined, monitor = undefined}.

ended(normal) -> normal;
ended(Reason) -> {shutdown, {server_down, Reason}}.

lose(#dam{window = Window, lost = Lost} = Dam) ->
    {N, Empty} = dam_window:lost(Window),
    Dam#dam{window = Empty, lost = Lost + N}.

%% At most one such timer runs, however often the server is looked up meanwhile.
retry(#dam{retry = undefined, options = #{retry_ms := RetryMs}} = Dam) -> Dam#dam{retry = dam_flow:start_timer(RetryMs, connect)};
retry(Dam) -> Dam.

%% @doc Looks for a server that was not there.
-spec retried(#dam{}) -> #dam{}.
retried(#dam{pid = undefined} = Dam) -> connect(left_watched(Dam#dam{retry = undefined}));
retried(Dam) -> Dam#dam{retry = undefined}.

%% @doc Changes to another server. The previous server keeps the messages that it was sent, and the
%% dam does not wait for it. If the other one turns out to be the same process, they count as before.
%% A fallback to poll was for the previous server: the other one may answer probes, and may be on another node.
-spec change_server(#dam{}) -> #dam{}.
change_server(#dam{window = Window, options = #{credit := Credit}} = Dam) ->
    {_, Empty} = dam_window:lost(Window),
    connect(left_watched((gone(left(Dam)))#dam{seen = undefined, window = Empty, credit = Credit})).

left(#dam{seen = undefined} = Dam) -> Dam; % exchanged again, before the other server was found
left(#dam{seen = Seen, monitor = Monitor, window = Window} = Dam) -> Dam#dam{left = {Seen, Window}, left_monitor = Monitor}.

%% It is watched until the other server is found, because a flush waits as long as the other one may be the same process. If the connection
%% to it is lost, it is watched again with each look-up.
left_watched(#dam{left = {Pid, _}, left_monitor = undefined} = Dam) -> Dam#dam{left_monitor = monitor(process, Pid)};
left_watched(Dam) -> Dam.

not_left(#dam{left_monitor = Monitor} = Dam) ->
    _ = [demonitor(Monitor, [flush]) || is_reference(Monitor)],
    Dam#dam{left_monitor = undefined}.

%% @doc Handles the end of the server that was exchanged. The other one is not the same process then, and what it had not taken is lost.
-spec left_down(term(), #dam{}) -> #dam{}.
left_down(noconnection, Dam) -> Dam#dam{left_monitor = undefined};
left_down(_, #dam{left = {_, Window}, lost = Lost} = Dam) ->
    Dam#dam{left = undefined, left_monitor = undefined, lost = Lost + dam_window:outstanding(Window)}.

%% @doc Handles the length of the server's queue, read after the first Covered messages were sent.
-spec length_known(pid(), non_neg_integer(), term(), #dam{}) -> #dam{}.
length_known(Pid, Covered, Length, #dam{pid = Pid, credit = Credit} = Dam) when is_integer(Length) ->
    length_known(Credit, Covered, Covered - Length, Length, Dam);
length_known(_, _, _, Dam) -> Dam.

length_known(poll, _, Taken, _, #dam{window = Window} = Dam) ->
    polled(Dam#dam{window = dam_window:done(Taken, Window)});
length_known(sys, _, Taken, Length, #dam{window = Window} = Dam) ->
    judged(Length =:= 0 andalso dam_window:is_awaited(Window), Dam#dam{window = dam_window:done(Taken, Window)});
length_known(ack, _, Taken, _, #dam{window = Window, last_look = {Done, LastTaken}} = Dam) ->
    %% If no acknowledgement has come since the last look, those for the messages that had been
    %% taken by then are considered lost.
    Next = case dam_window:done(Window) of
               Done -> dam_window:done(LastTaken, Window);
               _ -> Window
           end,
    Dam#dam{window = Next, last_look = {dam_window:done(Next), Taken}}.

polled(#dam{window = Window} = Dam) ->
    case dam_window:outstanding(Window) > 0 of
        true -> dam_flow:ask(Dam#dam{window = dam_window:ask_again(Window)});
        false -> Dam
    end.

%% A server that empties its mailbox without answering a probe is not an OTP behaviour.
judged(false, Dam) -> Dam;
judged(true, #dam{silent = Silent} = Dam) when Silent + 1 < ?SILENT -> Dam#dam{silent = Silent + 1};
judged(true, Dam) -> dam_flow:event([dam, credit, fallback], #{}, #{credit => poll}, Dam#dam{credit = poll}).

%% @doc Makes sure that a timer for the next look/1 runs while the server has messages.
-spec armed(#dam{}) -> #dam{}.
armed(#dam{recovery = undefined, window = Window, options = #{recover_ms := Ms}} = Dam) ->
    case dam_window:outstanding(Window) > 0 of
        true -> Dam#dam{recovery = dam_flow:start_timer(Ms, look), known = dam_window:done(Window)};
        false -> Dam
    end;
armed(Dam) -> Dam.

%% @doc Looks at the server's queue if there was no news for a while, because acknowledgements or an
%% answer may have been lost. At the 2nd, 4th, 8th, ... such look in a row the server is asked
%% again.
%% It is not asked at every look, because each probe waits in its mailbox.
-spec look(#dam{}) -> #dam{}.
look(#dam{known = Known, window = Window} = Dam) ->
    Idle = Dam#dam{recovery = undefined},
    case dam_window:done(Window) > Known orelse dam_window:outstanding(Window) =:= 0 of
        true -> Idle#dam{tries = 0};
        false -> look_there(Idle)
    end.

look_there(#dam{pid = undefined} = Dam) -> Dam;
look_there(#dam{pid = Pid, watch = Watch, window = Window, tries = Tries, credit = Credit} = Dam) ->
    ok = read_length(Credit, Pid, dam_window:count(Window), Watch),
    Next = Dam#dam{tries = Tries + 1},
    case Tries band (Tries + 1) of
        0 when Tries > 0 -> dam_flow:ask(Next#dam{window = dam_window:ask_again(Window)});
        _ -> Next
    end.

%% A dam that polls reads the length no more often than poll_ms allows, whatever recover_ms is.
read_length(poll, Pid, Covered, Watch) -> dam_watch:poll(Pid, Covered, Watch);
read_length(_, Pid, Covered, Watch) -> dam_watch:read_now(Pid, Covered, Watch).

%% @doc Starts a new watch after the old one has died. Answers to the old one are lost.
-spec watched_anew(#dam{}) -> #dam{}.
watched_anew(#dam{options = #{poll_ms := PollMs}, window = Window, pid = Pid} = Dam) ->
    Anew = Dam#dam{watch = dam_watch:start_link(PollMs), window = dam_window:ask_again(Window)},
    case Pid of
        undefined -> connect(Anew);
        _ -> Anew
    end.
