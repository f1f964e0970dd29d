%% @doc Other processes that disturb a process while it is collected: by messages, suspension, collections
%% and requests for information, and in the end by a kill. Some of this happens during a collection on a dirty
%% scheduler, while the process cannot run.
-module(term_graph_others).

-export([start/1, stop/1, kill_under/2]).
-export_type([deed/0]).

-type deed() :: messages | suspension | collection | questions.

%% The deed ends after this many times. Otherwise the process might never get to its own work.
-define(TIMES, 50).
-define(MESSAGE, 100).

%% @doc Starts a process that does the deed to the caller, at least once.
-spec start(deed()) -> pid().
start(Deed) -> spawn_doer(Deed, self()).

%% @doc Ends it. All messages must have arrived in order and unchanged.
-spec stop(pid()) -> ok.
stop(Doer) -> received(0, stopped(Doer), Doer).

%% @doc Starts a process that holds a copy of the term and collects it again and again,
%% until it is killed some milliseconds later, during that deed.
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

%% Returns how many messages have been sent.
act(messages, To, Sent) ->
    To ! {?MODULE, self(), Sent, message(Sent)},
    Sent + 1;
act(suspension, To, Sent) ->
    try
        true = erlang:suspend_process(To),
        true = erlang:yield(),
        true = erlang:resume_process(To)
    catch
        %% badarg is documented; exited occurs if the process ended during the request.
        error:Gone when Gone =:= badarg; Gone =:= exited -> false = is_process_alive(To)
    end,
    Sent;
act(collection, To, Sent) ->
    _ = garbage_collect(To),
    Sent;
act(questions, To, Sent) ->
    _ = process_info(To, [current_stacktrace, dictionary, message_queue_len, total_heap_size]),
    Sent.
