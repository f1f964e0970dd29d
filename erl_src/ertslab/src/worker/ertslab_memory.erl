%% @doc Where the memory of a process and of the VM is. All sizes are bytes.
%%
%% The numbers of a process come from one call of `process_info/2'. What each of them counts was
%% read from OTP's sources (erts_process_gc_info of erl_gc.c, erts_process_memory of
%% erl_process_dump.c), and tests check it. The numbers of the VM come from its allocators and
%% from the kernel.
-module(ertslab_memory).

-export([process/1, vm/0]).
-export_type([process/0, vm/0]).

-type bytes() :: non_neg_integer().

-type process() :: #{heap := bytes(), stack := bytes(), heap_block := bytes(),
                     old_heap := bytes(), old_heap_block := bytes(),
                     fragments := bytes(), outside := bytes(), memory := bytes(),
                     messages := non_neg_integer(),
                     mailbox_on_heap := bytes(), mailbox_off_heap := bytes(),
                     binaries := bytes()}.
%% `memory' is all that the VM counts for the process, and the sum of
%% `heap_block', `old_heap_block', `fragments' and `outside'. `heap' and `stack'
%% are the parts of the heap's block that are used, `old_heap' that of the old
%% heap's. `outside' is the process structure, links, monitors, dictionary, the
%% header of each message, and the messages of an off-heap mailbox.
%%
%% One of the two `mailbox_' sizes is 0, depending on the process' `message_queue_data'.
%% On-heap messages are a part of `heap', `old_heap' and `fragments', off-heap
%% messages a part of `outside'.
%%
%% `binaries' is the size of the reference-counted binaries that the process
%% refers to, each counted once. It is no part of `memory', since other processes may share them.

-type vm() :: #{total := bytes(), processes := bytes(), processes_used := bytes(),
                system := bytes(), atom := bytes(), binary := bytes(), code := bytes(),
                ets := bytes(), carriers := bytes(), blocks := bytes(),
                rss := bytes() | null, pss := bytes() | null}.
%% The first eight are those of `erlang:memory/1'. `carriers' is what the
%% allocators hold, `blocks' the part of it that is in use: blocks / carriers is their
%% utilisation. `rss' is the resident memory of the operating system's process,
%% `pss' the same with each shared page divided by the number of processes that share it; both
%% are `null' if the kernel does not report them.

-define(WORD, erlang:system_info(wordsize)).
-define(ITEMS, [garbage_collection_info, memory, message_queue_data, messages, binary]).
-define(MEMORY, [total, processes, processes_used, system, atom, binary, code, ets]).

%% @doc Where the memory of a local process is. A process that is not alive gives the
%% error `noproc', one of another node `badarg'.
%%
%% The mailbox is copied to the caller to be counted. These cannot be told
%% apart from outside: messages that lie in heap fragments and other fragments;
%% a message's literals, which were not copied when it was sent but count here
%% as if they were; parts that messages which a process sent to itself share
%% with its heap. Binaries count when the process refers to them from its heap,
%% not yet when they are only in messages outside of it. A `sensitive' process
%% shows no messages.
-spec process(pid()) -> process().
process(Pid) ->
    case process_info(Pid, ?ITEMS) of
        undefined -> error(noproc);
        Items -> parts(maps:from_list(Items))
    end.

parts(#{garbage_collection_info := Words, memory := Memory, binary := Binaries} = Items) ->
    Sizes = #{heap_block := Block, old_heap_block := OldBlock, fragments := Fragments} =
        heaps(maps:from_list(Words)),
    maps:merge(Sizes#{outside => Memory - Block - OldBlock - Fragments,
                      memory => Memory,
                      binaries => lists:sum([Size || {_Id, Size} <- distinct(Binaries)])},
               mailbox(Items)).

heaps(#{heap_size := Heap, stack_size := Stack, heap_block_size := Block,
        old_heap_size := Old, old_heap_block_size := OldBlock, mbuf_size := Fragments}) ->
    maps:map(fun(_, Words) -> Words * ?WORD end,
             #{heap => Heap, stack => Stack, heap_block => Block,
               old_heap => Old, old_heap_block => OldBlock, fragments => Fragments}).

%% A binary is in the list once for each reference to it.
distinct(Binaries) -> lists:usort([{Id, Size} || {Id, Size, _References} <- Binaries]).

mailbox(#{messages := Messages, message_queue_data := Where}) ->
    Bytes = ?WORD * lists:sum([erts_debug:flat_size(Message) || Message <- Messages]),
    {On, Off} = case Where of on_heap -> {Bytes, 0}; off_heap -> {0, Bytes} end,
    #{messages => length(Messages), mailbox_on_heap => On, mailbox_off_heap => Off}.

%% @doc Where the memory of this VM is. The VM goes on while its parts are read one after
%% another, so they are not of the same instant.
-spec vm() -> vm().
vm() -> maps:merge(allocated(), maps:merge(maps:from_list(erlang:memory(?MEMORY)), resident())).

%% Includes carriers that wait in a pool for another thread's allocator.
allocated() ->
    Areas = [Area || Allocator <- erlang:system_info(alloc_util_allocators),
                     {instance, _, Instance} <- erlang:system_info({allocator_sizes, Allocator}),
                     {Kind, Area} <- Instance, lists:member(Kind, [mbcs, mbcs_pool, sbcs])],
    #{carriers => lists:sum([carriers(Area) || Area <- Areas]),
      blocks => lists:sum([blocks(Area) || Area <- Areas])}.

carriers(Area) -> element(2, lists:keyfind(carriers_size, 1, Area)).

blocks(Area) ->
    {blocks, ByType} = lists:keyfind(blocks, 1, Area),
    lists:sum([element(2, lists:keyfind(size, 1, Sizes)) || {_Type, Sizes} <- ByType]).

resident() ->
    Text = case file:read_file("/proc/self/smaps_rollup") of
               {ok, Read} -> Read;
               {error, _} -> <<"">>
           end,
    #{rss => kibibytes(Text, <<"Rss">>), pss => kibibytes(Text, <<"Pss">>)}.

kibibytes(Text, Name) ->
    case re:run(Text, [$^, Name, <<":\\s+(\\d+) kB$">>], [multiline, {capture, all_but_first, binary}]) of
        {match, [Kibibytes]} -> binary_to_integer(Kibibytes) * 1024;
        nomatch -> null
    end.
