%% @doc From schedulers, their run queues and the threads for long work to signs. Pure.
-module(diagnose_schedulers).

-export([of_node/1, dirty/1, delayed/1]).

-import(diagnose_sign, [sign/4, process/1, in/1]).
-import(diagnose_samples, [most_seen/1]).
-import(diagnose_counts, [most_of/1]).
-import(diagnose_wording, [label/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of the node.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> slow(Look) ++ too_few(Look) ++ overloaded(Look) ++ dirty(Look) ++ too_many(Look) ++ busy_wait(Look) ++ uneven(Look).

slow(#{emulator := #{interprets := Interprets, build := Build, off := Off}}) ->
    [sign(slow_emulator, #{interprets => Interprets, build => Build, off => Off},
          lists:join(" ", ["Build OTP with the JIT: its configure needs a C++ compiler that knows C++17, and says why it makes none."
                           || Interprets]
                     ++ ["Start the node with an emulator of the type opt (erl -emu_type opt, or without -emu_type)." || Build =/= opt]
                     ++ ["Remove +Mea min, or +MSe false with the letter S of the allocator, from the flags of the VM."
                         || Off =/= []]), diagnose_proof:look())
     || Interprets orelse Build =/= opt orelse Off =/= []].

too_few(#{emulator := #{blockers := [_ | _] = Blockers}, schedulers := Schedulers, processors := Processors}) ->
    [sign(too_few_schedulers, #{schedulers => Schedulers, processors => Processors, blockers => Blockers},
          "They called erlang:system_flag(multi_scheduling, block), so one scheduler runs and all others stand still. Unblock it, or"
          " have these processes end.", diagnose_proof:look())];
too_few(#{schedulers := Schedulers, processors := Processors} = Look) when is_integer(Processors), Schedulers < Processors ->
    [sign(too_few_schedulers, #{schedulers => Schedulers, processors => Processors, blockers => []},
          "Work waits while processors are idle. The VM starts a scheduler for each processor that it may use, unless +S or"
          " erlang:system_flag(schedulers_online, N) says otherwise: remove +S, or set N to the number of processors.",
          diagnose_proof:look())
     || always_waits(Look)];
too_few(#{}) -> [].

%% Whether no scheduler ever finds its queue empty, though the machine lets it run.
always_waits(#{overloaded := Ready}) when is_integer(Ready) -> true;
always_waits(#{run_queues := #{looks := Looks, ready := Ready}} = Look) when Looks >= ?BUSY_LOOKS ->
    length([1 || {Least, _} <- Ready, Least > 0]) >= ?FEW_SCHEDULERS_LOOKS * Looks andalso delayed(Look) =< ?MOSTLY_DELAYED;
always_waits(#{}) -> false.

overloaded(#{overloaded := false}) -> [];
overloaded(#{overloaded := Ready, schedulers := Schedulers, offline := Offline, groups := Groups, ready_in := Samples}) ->
    Of = [Group || is_list(Groups), #{ready := R} = Group <- Groups, R > 0],
    {Looks, Functions} = diagnose_samples:worked_in(Samples),
    %% What they began with is told of already.
    Inside = [One || {Function, _} = One <- Functions, not lists:any(fun(#{label := Label}) -> Label =:= Function end, Of)],
    Told = [One || Looks >= ?BUSY_LOOKS, One <- lists:sublist(case Inside of [] -> Functions; _ -> Inside end, 3)],
    [sign(overloaded,
          #{ready => Ready, schedulers => Schedulers, offline => Offline, 'of' => most_of(Of),
            looks => Looks, in => diagnose_sign:counted(Told)},
          [["Do less there: look up by a key or an index instead of going over all, keep a result that is asked for again, and have one"
            " process compute what many need at the same time. " || Told =/= []],
           "More processes are ready to run than the schedulers can serve: accept less work (a bounded pool, a limit on"
           " connections, back-pressure), or add cores. To add no load, nothing was inspected more closely.",
           [" Some schedulers are offline: by +S, by erlang:system_flag(schedulers_online, N), or because the CPU quota of a container"
            " allows no more." || Offline > 0]], diagnose_proof:look())].

%% @doc The signs of threads for which many wait. Who waits for such a thread is ready to run, and runs nowhere.
-spec dirty(diagnose_types:look()) -> [diagnose_types:sign()].
dirty(#{run_queues := #{looks := Looks, dirty := Dirty}, schedulers := Schedulers} = Look) ->
    [sign(dirty_queue, #{threads => Threads, count => Count, waiting => lists:nth((length(Waiting) + 1) div 2, lists:sort(Waiting)),
                         in => most_ready_in(Look), 'of' => ready_kinds(Look),
                         held_by => [#{process => process(One), in => in(In),
                                       label => case Label of unknown -> unknown; _ -> label(Label) end}
                                     || #{label := Label, in := In} = One <- maps:get(holders, Queue, [])]},
          dirty_advice(Threads, Count < Schedulers), diagnose_proof:look())
     || #{threads := Threads, count := Count, waiting := Waiting} = Queue <- Dirty, Looks >= ?BUSY_LOOKS,
        length([1 || N <- Waiting, N >= ?DIRTY_QUEUE]) >= ?UNEVEN_LOOKS * Looks];
dirty(#{}) -> [].

%% There can be as many threads for native work as schedulers.
dirty_advice(cpu, CanBeMore) ->
    ["All threads for long native work are taken: limit how many ask for it at a time (a pool of as many as there are such threads), make"
     " the work cheaper (for example a lower cost of password hashes), or do it on other machines.",
     [" +SDcpu starts more of them, up to one a scheduler." || CanBeMore]];
dirty_advice(io, _) -> "All threads for files are taken, and each call of file or of a similar native function waits: find out which"
                    " disk, pipe or network file system does not answer. Limit how many use it at a time; +SDio starts more"
                    " threads.".

%% Where those are that run or are ready to.
most_ready_in(#{suspects := Suspects}) ->
    most_seen([Sample || #{samples := Samples} <- Suspects, {Status, _, _} = Sample <- Samples, Status =/= waiting, Status =/= suspended]).

ready_kinds(#{groups := Groups}) -> most_of([Group#{count := Ready} || is_list(Groups), #{ready := Ready} = Group <- Groups, Ready > 0]).

%% The VM starts as many as it may use; so somebody has set +S, or has given the container less since.
too_many(#{schedulers := Schedulers, processors := Processors})
  when is_integer(Processors), Schedulers >= ?MANY_SCHEDULERS, Schedulers >= ?SCHEDULERS_EACH * Processors ->
    [sign(too_many_schedulers, #{schedulers => Schedulers, processors => Processors},
          "Schedulers spin while they wait for work, and each waits for the others: with more than the processors can run, the operating"
          " system takes processors from those that work. Start the node with as many (+S N:N; without +S the VM counts the processors"
          " and the quota itself), or give the container more.", diagnose_proof:look())];
too_many(#{}) -> [].

%% Who does much works, whatever the state is that a busy machine kept its threads in.
busy_wait(#{collections := #{reductions := Reductions}}) when Reductions > ?WORKING_REDUCTIONS -> [];
busy_wait(#{collections := #{scheduler_cores := Cores}}) when Cores < ?BUSY_WAIT -> [];
busy_wait(#{collections := #{waiting := Waiting, busy := Busy, cores := Cores, window_ms := Ms, threads := Schedulers}})
  when Cores >= ?BUSY_WAIT, Waiting * Schedulers >= ?BUSY_WAIT, Busy - Waiting =< ?LITTLE_WORK * Waiting ->
    [sign(busy_wait, #{waiting => Waiting, working => Busy - Waiting, cores => Cores, window_ms => Ms},
          "Idle schedulers spin, at the expense of other programs on the machine. +sbwt none +sbwtdcpu none +sbwtdio none lets"
          " them sleep at once; set +S to the number of cores that the container may use.", diagnose_proof:look())];
busy_wait(#{}) -> [].

%% A queue is also filled while the machine runs something else than its scheduler.
uneven(#{run_queues := #{looks := Looks, ready := Ready}} = Look) ->
    Uneven = [Most || {Least, Most} <- Ready, Most >= ?UNEVEN * (Least + 1)],
    [sign(uneven_run_queues, #{times => length(Uneven), looks => Looks, most => lists:max(Uneven)},
          "One scheduler has too much to do while another has little or none: processes are bound to it, or it runs a long native"
          " function. A NIF of more than a millisecond belongs on a dirty scheduler.", diagnose_proof:look())
     || Looks >= ?BUSY_LOOKS, length(Uneven) >= ?UNEVEN_LOOKS * Looks, delayed(Look) =< ?MOSTLY_DELAYED];
uneven(#{}) -> [].

%% @doc The part of the time in which the node was ready to run, and the machine did something else.
-spec delayed(diagnose_types:look()) -> float().
delayed(#{collections := #{delayed := Delayed}}) -> Delayed;
delayed(#{}) -> 0.0.
