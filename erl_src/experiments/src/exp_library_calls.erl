%% @doc Calls of OTP's libraries that wait for a reply, in a process with messages
%% that it does not take. A call that does not recognise its reply by a fresh reference searches
%% all of these messages for it.
%%
%% The calls are those of the audit's catalogue that the patch `by_reference' changes. The audit
%% finds which calls scan the mailbox. This experiment shows what avoiding the scan costs when no messages wait.
-module(exp_library_calls).
-behaviour(ertslab_experiment).

-export([info/0, needs/1, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([caller/3]).

-define(CALLS, 10).
%% Enough heap that no collection is timed, since a collection goes through all messages, too.
-define(HEAP_WORDS, 400_000).
-define(READY_TIMEOUT_MS, 60_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "calls of OTP's libraries, in a process with a deep mailbox",
      shows => "which calls slow down with queued messages, and the cost of a patch when none are queued",
      origin => "taiyow/msgq_flood; calls of the libraries wait for replies without a reference, too",
      vms => [<<"stock">>, <<"stock_copy">>, <<"by_reference">>, <<"tuned">>],
      parameters =>
          [#{name => call, 'of' => [Call || {Call, _} <- calls()], quick => [recv, proc_lib_start, code_path],
             full => [Call || {Call, _} <- calls()], doc => "the call"},
           #{name => depth, min => 0, max => 10_000_000, quick => [0, 10_000], full => [0, 100, 10_000, 1_000_000],
             counted => 1_000, doc => "messages that wait"}],
      metrics => [#{name => call, doc => "one call"}],
      contrasts => [],
      overall => true,
      estimator => floor,
      rounds => cases,
      warm_up => 1,
      iterations => 2,
      timeout_ms => 120_000}.

%% By their names in the audit's catalogue.
calls() ->
    [{connect, "gen_tcp:connect/3"}, {close, "gen_tcp:close/1"}, {recv, "gen_tcp:recv/2"},
     {proc_lib_start, "proc_lib:start/3"}, {disk_log, "disk_log:log/2"}, {code_path, "code:get_path/0"}].

%% @doc The bytes that a case needs, for the mailbox.
-spec needs(ertslab_experiment:params()) -> non_neg_integer().
needs(#{depth := Depth}) -> message_load:bytes(Depth).

-spec setup(ertslab_experiment:params()) -> map().
setup(#{call := Call, depth := Depth}) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    Caller = spawn_opt(?MODULE, caller, [self(), entry(Call), Depth], [link, {min_heap_size, ?HEAP_WORDS}]),
    receive {Caller, ready} -> ok after ?READY_TIMEOUT_MS -> error(caller_not_ready) end,
    #{caller => Caller, depth => Depth}.

entry(Call) ->
    {Call, Name} = lists:keyfind(Call, 1, calls()),
    [Entry] = [E || #{name := N} = E <- mailbox_audit_catalogue:entries(), N =:= Name],
    mailbox_audit_timed:complete(Entry).

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% Nanoseconds for one call, and how many messages wait afterwards.
-spec run(atom(), map()) -> {float(), non_neg_integer()}.
run(call, #{caller := Caller}) ->
    Nanoseconds = term_owner:ask(Caller, calls),
    {message_queue_len, Waiting} = process_info(Caller, message_queue_len),
    {Nanoseconds / ?CALLS, Waiting}.

-spec verify(atom(), non_neg_integer(), map()) -> ok | {wrong, term()}.
verify(call, Waiting, #{depth := Depth}) -> ertslab_experiment:expect(Depth, Waiting).

-spec teardown(map()) -> ok.
teardown(#{caller := Caller}) -> term_owner:ask(Caller, stop).

%% @doc The process with the mailbox.
-spec caller(pid(), mailbox_audit_timed:complete_entry(), non_neg_integer()) -> ok.
caller(Parent, #{setup := Setup} = Entry, Depth) ->
    State = Setup(),
    fill(Depth),
    true = garbage_collect(),
    Parent ! {self(), ready},
    serve(Entry, State).

fill(0) -> ok;
fill(Left) ->
    self() ! {waits, Left},
    fill(Left - 1).

serve(#{cleanup := Cleanup} = Entry, State) ->
    receive
        {Client, calls} ->
            Client ! {self(), lists:sum([mailbox_audit_timed:time_call(Entry, State) || _ <- lists:seq(1, ?CALLS)])},
            serve(Entry, State);
        {Client, stop} ->
            _ = Cleanup(State),
            unlink(Client),
            Client ! {self(), ok},
            ok
    end.
