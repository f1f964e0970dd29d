%% @doc Lets a process of {@link collection_processes} do fixed work, and times it or counts its collections.
%%
%% Tracing costs time, so what is timed is not traced. A pause is not timed: on a busy machine even its control differs,
%% and the words that are copied at once are exact. All is done with one scheduler online. Then the process and its
%% client take turns, so the time between them is the process's own, and what a collection finds in the mailbox is the
%% same in every pass. (A message that is sent to a running process takes another way than one to a waiting one.)
-module(collection_pass).

-export([parameters/0, work/1, message_ns/1, counts/1]).
-export_type([work/0, counts/0]).

-type work() :: #{process := collection_processes:name(), batches := pos_integer(), settings := collection_processes:settings()}.
-type counts() :: #{atom() => number()}.

%% The client keeps what is handed to it, so it is given the room.
-define(CLIENT_WORDS, 1_000_000).
-define(CLIENT_BINARY_WORDS, 10_000_000).
-define(VM_DEFAULT, -1).

%% @doc The parameters of the experiments that use this.
-spec parameters() -> [ertslab_experiment:parameter()].
parameters() ->
    Names = collection_processes:names(),
    [#{name => process, 'of' => Names, quick => Names, full => Names, counted => session, doc => "which process works"},
     number(batches, 1, 100_000, [100], [200], "batches of messages that it gets"),
     number(fullsweep_after, ?VM_DEFAULT, 65_535, [?VM_DEFAULT], [?VM_DEFAULT],
            "minor collections until a full sweep; -1 leaves the VM's own"),
     number(min_heap_size, 0, 100_000_000, [0], [0], "words; 0 leaves the VM's own"),
     number(min_bin_vheap_size, 0, 100_000_000, [0], [0], "words; 0 leaves the VM's own"),
     #{name => message_queue_data, 'of' => [stock, on_heap, off_heap], quick => [stock], full => [stock],
       doc => "where messages wait; stock leaves the VM's own"},
     number(hibernate_after, 0, 100_000, [0], [0], "batches until it hibernates, as if idle, each time; 0 for never")].

number(Name, Min, Max, Quick, Full, Doc) -> #{name => Name, min => Min, max => Max, quick => Quick, full => Full, doc => Doc}.

%% @doc The work that the values of the parameters stand for.
-spec work(ertslab_experiment:params()) -> work().
work(#{process := Process, batches := Batches, hibernate_after := After} = Params) ->
    #{process => Process, batches => Batches, settings => #{options => options(Params), hibernate_after => After}}.

%% A minimum of the virtual heap has no effect in spawn_opt/2, unless another of these options comes with it.
options(#{fullsweep_after := Sweep, min_heap_size := Heap, min_bin_vheap_size := Virtual, message_queue_data := Queue}) ->
    [{fullsweep_after, Sweep} || Sweep =/= ?VM_DEFAULT] ++ [{min_heap_size, heap(Heap)} || Heap > 0 orelse Virtual > 0]
        ++ [{min_bin_vheap_size, Virtual} || Virtual > 0] ++ [{message_queue_data, Queue} || Queue =/= stock].

heap(0) ->
    {min_heap_size, Words} = erlang:system_info(min_heap_size),
    Words;
heap(Words) -> Words.

%% @doc The time of a message, in nanoseconds, and the sum of the answers.
-spec message_ns(work()) -> {float(), collection_processes:answer()}.
message_ns(Work) ->
    {Spans, Sum} = alone(fun() -> passed(Work, fun(_) -> ok end, fun(_, _, Ns) -> Ns end) end),
    {lists:sum(Spans) / messages(Work), Sum}.

%% @doc How often and why the process was collected, what was copied, and what it held after each batch.
-spec counts(work()) -> {counts(), collection_processes:answer()}.
counts(Work) ->
    {Collections, {Held, Sum}} = alone(fun() -> traced(Work, fun held/3) end),
    {maps:merge(collection_events:counts(Collections), held_counts(Work, Collections, Held)), Sum}.

held_counts(Work, Collections, Held) ->
    Hibernated = [Words || #{hibernated := Words} <- Held],
    Bytes = [B || #{bytes := B} <- Held],
    Copied = Hibernated ++ [Words || #{copied := Words} <- Collections],
    #{hibernations => length(Hibernated), words_copied => lists:sum(Copied) / messages(Work),
      words_at_once => lists:max([0 | Copied]),
      bytes_mean => round(lists:sum(Bytes) / length(Bytes)), bytes_peak => lists:max(Bytes)}.

messages(#{process := Name, batches := Batches}) -> Batches * collection_processes:batch_size(Name).

%% In a process of its own, with one scheduler.
alone(Fun) ->
    Caller = self(),
    Online = erlang:system_flag(schedulers_online, 1),
    try
        {Client, Monitor} = spawn_opt(fun() -> Caller ! {self(), Fun()} end,
                                      [monitor, {min_heap_size, ?CLIENT_WORDS}, {min_bin_vheap_size, ?CLIENT_BINARY_WORDS}]),
        receive
            {Client, Value} ->
                true = demonitor(Monitor, [flush]),
                Value;
            {'DOWN', Monitor, process, Client, Reason} -> error(Reason)
        end
    after
        erlang:system_flag(schedulers_online, Online)
    end.

%% Both: what `Look' sees after each batch, and the sum of the answers. `Started' is called with each process that is made.
passed(#{process := Name, batches := Batches} = Work, Started, Look) ->
    Process = case collection_processes:lasts(Name) of
                  true -> started(Work, Started);
                  false -> none
              end,
    {Seen, Sum} = lists:mapfoldl(fun(N, Sum) ->
                                         {Saw, Answer} = batch(Work, N, Process, Started, Look),
                                         {Saw, Sum + Answer}
                                 end, 0, lists:seq(1, Batches)),
    ok = term_owner:stop(Process),
    {Seen, Sum}.

started(#{process := Name, settings := Settings}, Started) ->
    Process = collection_processes:start(Name, Settings),
    _ = Started(Process),
    Process.

%% A process for each batch is made and ended within its time. The batch is its first.
batch(#{process := Name} = Work, N, none, Started, Look) ->
    Messages = fresh(Name, N),
    {Ns, {Process, Answer}} =
        ertslab_experiment:timed(fun() ->
                                         Own = started(Work, Started),
                                         Reference = make_ref(),
                                         ok = collection_processes:hand(Own, Reference, Messages),
                                         {Own, rested(Work, 1, Own, Reference)}
                                 end),
    Saw = Look(Work, Process, Ns),
    ok = term_owner:stop(Process),
    {Saw, Answer};
batch(#{process := Name} = Work, N, Process, _, Look) ->
    Messages = fresh(Name, N),
    Reference = make_ref(),
    ok = collection_processes:hand(Process, Reference, Messages),
    {Ns, Answer} = ertslab_experiment:timed(fun() -> rested(Work, N, Process, Reference) end),
    {Look(Work, Process, Ns), Answer}.

%% The client begins with all its reductions, so the whole batch is there when the process begins.
fresh(Name, N) ->
    Messages = collection_processes:batch(Name, N),
    true = erlang:yield(),
    Messages.

rested(#{settings := #{hibernate_after := After}}, N, Process, Reference) ->
    Answer = collection_processes:served(Process, Reference),
    ok = hibernated(Process, collection_processes:hibernates(After, N)),
    Answer.

%% A large heap is collected by another thread meanwhile.
hibernated(_, false) -> ok;
hibernated(Process, true) -> hibernated(Process, not cons_spacing_report:hibernates(Process)).

%% The collections, and what was seen.
traced(Work, Look) ->
    Tracer = collection_events:start_link(),
    Seen = passed(Work, fun(Process) -> collection_events:trace(Tracer, Process) end, Look),
    {collection_events:collections(Tracer), Seen}.

%% The bytes that a process holds: its memory, and the binaries that it refers to. If it hibernates, the words of its heap.
held(_, Process, _) ->
    [{memory, Memory}, {binary, Binaries}, {garbage_collection_info, Sizes}] =
        process_info(Process, [memory, binary, garbage_collection_info]),
    Bytes = Memory + lists:sum([Size || {_, Size} <- lists:usort([{Id, Size} || {Id, Size, _} <- Binaries])]),
    case cons_spacing_report:hibernates(Process) of
        true -> #{bytes => Bytes, hibernated => proplists:get_value(heap_size, Sizes)};
        false -> #{bytes => Bytes}
    end.
