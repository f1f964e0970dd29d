%% @doc A dam's connection to its server: who it is, whether it is there, and how
%% far it is.
-module(dam_link).

-export([connect/1, found/2, down/2, change_server/1, length_known/4, look/1, armed/1, watched_anew/1]).

-include("dam_state.hrl").

%% So many times in a row the server had taken all without an answer.
-define(SILENT, 2).

%% @doc Looks for the server: at once on this node, elsewhere by the watch.
-spec connect(#dam{}) -> #dam{}.
connect(#dam{options = #{server := Name}} = Dam) when is_atom(Name) -> found(whereis(Name), Dam);
connect(#dam{options = #{server := Pid}} = Dam) when node(Pid) =:= node() -> found(Pid, Dam);
connect(#dam{options = #{server := Server}, watch = Watch} = Dam) ->
    ok = dam_watch:resolve(Server, Watch),
    Dam.

%% @doc The server is this process, or is not there.
-spec found(term(), #dam{}) -> #dam{}.
found(_, #dam{pid = Pid} = Dam) when is_pid(Pid) -> Dam;
found(Pid, #dam{seen = Seen} = Dam) when is_pid(Pid) ->
    Settled = case Pid of
                  %% The connection was lost, and it may still have what it was sent.
                  Seen -> Dam#dam{window = dam_window:ask_again(Dam#dam.window)};
                  _ -> lose(Dam)
              end,
    Up = Settled#dam{pid = Pid, seen = Pid, monitor = monitor(process, Pid), silent = 0, last_look = {0, 0}},
    dam_flow:event([dam, server, up], #{}, #{pid => Pid}, Up);
found(_, #dam{options = #{retry_ms := RetryMs}} = Dam) ->
    _ = dam_flow:start_timer(RetryMs, connect),
    Dam.

%% @doc The server is gone. What it had not taken is lost, unless only the
%% connection is. A pid will never be back.
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

retry(#dam{options = #{retry_ms := RetryMs}} = Dam) ->
    _ = dam_flow:start_timer(RetryMs, connect),
    Dam.

%% @doc Turns to another server. The one before keeps what it was sent, and is not
%% waited for.
-spec change_server(#dam{}) -> #dam{}.
change_server(#dam{monitor = Monitor, window = Window} = Dam) ->
    _ = [demonitor(Monitor, [flush]) || is_reference(Monitor)],
    {_, Empty} = dam_window:lost(Window),
    connect((gone(Dam))#dam{seen = undefined, window = Empty}).

%% @doc So many messages waited at the server after the first so many were sent.
-spec length_known(pid(), non_neg_integer(), term(), #dam{}) -> #dam{}.
length_known(Pid, Covered, Length, #dam{pid = Pid, options = #{credit := Credit}} = Dam) when is_integer(Length) ->
    length_known(Credit, Covered, Covered - Length, Length, Dam);
length_known(_, _, _, Dam) -> Dam.

length_known(poll, _, Taken, _, #dam{window = Window} = Dam) ->
    polled(Dam#dam{window = dam_window:done(Taken, Window)});
length_known(sys, Covered, Taken, Length, #dam{window = Window} = Dam) ->
    judged(Length =:= 0 andalso dam_window:done(Window) < Covered, Dam#dam{window = dam_window:done(Taken, Window)});
length_known(ack, _, Taken, _, #dam{window = Window, last_look = {Done, LastTaken}} = Dam) ->
    %% What was taken at the last look and has not been acknowledged since, nor anything else,
    %% never will be.
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

%% A server that empties its mailbox and answers no probe is none of OTP's.
judged(false, Dam) -> Dam;
judged(true, #dam{silent = Silent} = Dam) when Silent + 1 < ?SILENT -> Dam#dam{silent = Silent + 1};
judged(true, #dam{options = Options} = Dam) ->
    dam_flow:event([dam, credit, fallback], #{}, #{credit => poll}, Dam#dam{options = Options#{credit := poll}}).

%% @doc Sees to it that a look follows while the server has messages.
-spec armed(#dam{}) -> #dam{}.
armed(#dam{recovery = undefined, window = Window, options = #{recover_ms := Ms}} = Dam) ->
    case dam_window:outstanding(Window) > 0 of
        true -> Dam#dam{recovery = dam_flow:start_timer(Ms, look), known = dam_window:done(Window)};
        false -> Dam
    end;
armed(Dam) -> Dam.

%% @doc Without news for a while: acknowledgements or an answer may have been lost, so the
%% queue of the server is looked at. It is asked anew at the 2nd, 4th, 8th, ... such look,
%% since each probe waits in its mailbox.
-spec look(#dam{}) -> #dam{}.
look(#dam{known = Known, window = Window} = Dam) ->
    Idle = Dam#dam{recovery = undefined},
    case dam_window:done(Window) > Known orelse dam_window:outstanding(Window) =:= 0 of
        true -> Idle#dam{tries = 0};
        false -> look_there(Idle)
    end.

look_there(#dam{pid = undefined} = Dam) -> Dam;
look_there(#dam{pid = Pid, watch = Watch, window = Window, tries = Tries} = Dam) ->
    ok = dam_watch:ask_length(Pid, dam_window:count(Window), Watch),
    Next = Dam#dam{tries = Tries + 1},
    case Tries band (Tries + 1) of
        0 when Tries > 0 -> dam_flow:ask(Next#dam{window = dam_window:ask_again(Window)});
        _ -> Next
    end.

%% @doc The watch has died, and answers to it are lost.
-spec watched_anew(#dam{}) -> #dam{}.
watched_anew(#dam{options = #{poll_ms := PollMs}, window = Window, pid = Pid} = Dam) ->
    Anew = Dam#dam{watch = dam_watch:start_link(PollMs), window = dam_window:ask_again(Window)},
    case Pid of
        undefined -> connect(Anew);
        _ -> Anew
    end.
