%% A process that makes random terms and has each copied in one of the ways in which the VM copies terms.
-module(term_copies).

-export([worker/1, ways/0, through/2]).
-export_type([way/0]).

-type way() :: message | alias | spawn | exit | link | timer | persistent_term | external | dictionary | mailbox | traced
             | nif | nif_dirty | nif_send | nif_send_dirty | nif_send_away | nif_send_away_dirty.

%% For a fault of the VM; nothing that works takes as long.
-define(LIMIT_MS, 300_000).
%% One term in so many is there when all is collected.
-define(COLLECTED, 5).

%% @doc Copies until it is told to stop: `{copies, N}' is how many came as the term was.
-spec worker(non_neg_integer()) -> {copies, non_neg_integer()}.
worker(Copies) ->
    receive
        stop -> {copies, Copies}
    after 0 ->
            Way = endurance_chaos:one_of(ways()),
            Term = random_terms:term(),
            Copy = through(Way, Term),
            endurance_chaos:chance(?COLLECTED) andalso garbage_collect(self(), [{type, endurance_chaos:one_of([minor, major])}]),
            Copy =:= Term orelse error({damaged, Way, erts_debug:flat_size(Term)}),
            worker(Copies + 1)
    end.

-spec ways() -> [way(), ...].
ways() ->
    [message, alias, spawn, exit, link, timer, persistent_term, external, dictionary, mailbox, traced,
     nif, nif_dirty, nif_send, nif_send_dirty, nif_send_away, nif_send_away_dirty].

%% @doc What comes out of it when the term is copied in that way.
-spec through(way(), term()) -> term().
through(message, Term) ->
    Echo = other(fun() -> receive {From, Copy} -> From ! {self(), Copy} end end),
    Echo ! {self(), Term},
    from(Echo);
through(alias, Term) ->
    Alias = alias([reply]),
    _ = other(fun() -> Alias ! {Alias, Term} end),
    from(Alias);
through(spawn, Term) ->
    Client = self(),
    from(other(fun() -> Client ! {self(), Term} end));
through(exit, Term) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit(Term) end),
    receive {'DOWN', Monitor, process, Pid, Copy} -> Copy
    after ?LIMIT_MS -> error(lost)
    end;
through(link, Term) ->
    Before = process_flag(trap_exit, true),
    Pid = spawn_link(fun() -> exit({copy, Term}) end),
    Copy = receive {'EXIT', Pid, {copy, Own}} -> Own
           after ?LIMIT_MS -> error(lost)
           end,
    true = process_flag(trap_exit, Before),
    Copy;
through(timer, Term) ->
    Timer = erlang:start_timer(0, self(), Term),
    receive {timeout, Timer, Copy} -> Copy
    after ?LIMIT_MS -> error(lost)
    end;
through(persistent_term, Term) ->
    Key = {?MODULE, self()},
    ok = persistent_term:put(Key, Term),
    Copy = persistent_term:get(Key),
    %% The VM moves the literals here to the heap meanwhile.
    true = persistent_term:erase(Key),
    Copy;
through(external, Term) -> binary_to_term(term_to_binary(Term, endurance_chaos:one_of([[], [compressed]])));
through(dictionary, Term) ->
    Client = self(),
    Pid = other(fun() ->
                        undefined = put(term, Term),
                        Client ! {self(), kept},
                        receive over -> ok end
                end),
    kept = from(Pid),
    {dictionary, [{term, Copy}]} = process_info(Pid, dictionary),
    Pid ! over,
    Copy;
through(mailbox, Term) ->
    Pid = other(fun() -> receive over -> ok end end),
    Pid ! {kept, Term},
    {messages, [{kept, Copy}]} = process_info(Pid, messages),
    Pid ! over,
    Copy;
through(traced, Term) ->
    Pid = other(fun() -> receive {over, _} -> ok end end),
    1 = erlang:trace(Pid, true, ['receive']),
    Pid ! {over, Term},
    receive {trace, Pid, 'receive', {over, Copy}} -> Copy
    after ?LIMIT_MS -> error(lost)
    end;
through(nif, Term) -> term_copies_nif:copy(Term);
through(nif_dirty, Term) -> term_copies_nif:copy_dirty(Term);
through(nif_send, Term) -> sent(fun term_copies_nif:send/2, Term);
through(nif_send_dirty, Term) -> sent(fun term_copies_nif:send_dirty/2, Term);
through(nif_send_away, Term) -> sent(fun term_copies_nif:send_away/2, Term);
through(nif_send_away_dirty, Term) -> sent(fun term_copies_nif:send_away_dirty/2, Term).

%% To the process itself, and to another that sends it back: both copies are compared.
sent(Send, Term) ->
    Tag = make_ref(),
    true = Send(self(), {Tag, Term}),
    Copy = from(Tag),
    Echo = other(fun() -> receive {From, Own} -> true = Send(From, {self(), Own}) end end),
    true = Send(Echo, {self(), Copy}),
    Copy = from(Echo).

%% A process that dies with the worker, in the midst of what it does.
other(Fun) -> spawn_opt(Fun, [link, {message_queue_data, endurance_chaos:one_of([on_heap, off_heap])}]).

from(Tag) ->
    receive {Tag, Copy} -> Copy
    after ?LIMIT_MS -> error(lost)
    end.
