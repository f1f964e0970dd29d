%% @doc What other processes do to one while it is collected: messages, suspension, collections
%% and questions, and in the end a kill. Some of it meets a collection that a dirty scheduler
%% does, while the process cannot run.
-module(term_graph_others).

-export([start/1, stop/1, kill_under/2]).
-export_type([deed/0]).

-type deed() :: messages | suspension | collection | questions.

%% Were there no end to it, the process might never come to what it does itself.
-define(TIMES, 50).
-define(MESSAGE, 100).

%% @doc Has a process do that to the caller, once at least.
-spec start(deed()) -> pid().
start(Deed) -> spawn_doer(Deed, self()).

%% @doc Ends it. All messages must have arrived, in their order and as they were sent.
-spec stop(pid()) -> ok.
stop(Doer) -> received(0, stopped(Doer), Doer).

%% @doc Has another process hold a copy of the term and collect it again and again,
%% until it is killed some milliseconds later, in the midst of that deed.
-spec kill_under(deed(), term()) -> ok.
kill_under(Deed, Term) ->
    {Victim, Monitor} = spawn_monitor(fun() -> collected_forever(Term) end),
    Doer = spawn_doer(Deed, Victim),
    receive after rand:uniform(5) -> ok end,
    exit(Victim, kill),
    killed = receive {'DOWN', Monitor, process, Victim, Reason} -> Reason end,
    _ = stopped(Doer),
    ok.

-spec collected_forever(term()) -> no_return().
collected_forever(Term) ->
    true = garbage_collect(self(), [{type, case rand:uniform(2) of 1 -> minor; 2 -> major end}]),
    collected_forever(Term).

stopped(Doer) ->
    Doer ! {stop, self()},
    receive {stopped, Doer, Sent} -> Sent end.

received(Sent, Sent, _) -> ok;
received(N, Sent, Doer) ->
    receive {?MODULE, Doer, Which, What} -> {Which, What} = {N, message(N)} end,
    received(N + 1, Sent, Doer).

message(N) -> {lists:seq(1, N rem ?MESSAGE), [<<N:64>>]}.

spawn_doer(Deed, To) -> spawn_link(fun() -> go_on(Deed, To, 1, act(Deed, To, 0)) end).

go_on(Deed, To, Times, Sent) ->
    receive {stop, From} -> From ! {stopped, self(), Sent}
    after case Times < ?TIMES of true -> 0; false -> infinity end ->
            go_on(Deed, To, Times + 1, act(Deed, To, Sent))
    end.

%% How many messages have been sent then.
act(messages, To, Sent) ->
    To ! {?MODULE, self(), Sent, message(Sent)},
    Sent + 1;
act(suspension, To, Sent) ->
    try
        true = erlang:suspend_process(To),
        true = erlang:yield(),
        true = erlang:resume_process(To)
    catch
        %% badarg is documented; exited comes where the process ended while it was asked.
        error:Gone when Gone =:= badarg; Gone =:= exited -> false = is_process_alive(To)
    end,
    Sent;
act(collection, To, Sent) ->
    _ = garbage_collect(To),
    Sent;
act(questions, To, Sent) ->
    _ = process_info(To, [current_stacktrace, dictionary, message_queue_len, total_heap_size]),
    Sent.
