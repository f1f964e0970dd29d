%%% What comes into mailboxes that are too deep to be read, and who sends it.

-define(ARRIVING_MS, 300).
%% So many messages of each process, where all processes have so few bytes for each that waits: each is copied.
-define(ARRIVALS, 20).
-define(ARRIVING_BYTES, 100_000).
-define(SENDERS, 10).

%% @doc The messages that these processes get meanwhile, as `shapes/3' tells those that wait, and what some of the senders are. The trace
%% tells the tag and the size of each, and copies it. `unknown' where somebody else traces such things.
-spec arrivals([pid()]) -> [diagnose_types:arrivals()] | unknown.
arrivals(Pids) ->
    process_flag(trap_exit, true), % its helper ends by an exit
    IsCheap = ?ARRIVALS * max(largest_constant([?ARRIVALS]), least_of_terms(?ARRIVALS)) =< ?COPIED_TERMS,
    ok = ends_with_its_worker(),
    process_flag(priority, high),
    case IsCheap andalso erlang:trace_info('receive', match_spec) =:= {match_spec, true} of
        true ->
            {Traced, _} = receives_traced(with_small_messages(Pids), tags_received(), ['receive']),
            Askers = [spawn_link(fun() -> has_signals_handled(Pid) end) || Pid <- Traced],
            Seen = arriving(now_ms() + ?ARRIVING_MS, maps:from_list([{Pid, []} || Pid <- Traced])),
            _ = [begin true = unlink(Asker), exit(Asker, kill) end || Asker <- Askers],
            _ = [is_switched(Pid, false, ['receive']) || Pid <- Traced],
            ok = trace_as_it_was(),
            [#{pid => pid_text(Pid),
               shapes => [{Shape, Times} || {Times, Shape} <- most_frequent([arrived(What) || {_, What} <- Arrived])],
               from => senders([Sender || {Sender, _} <- Arrived, is_pid(Sender), node(Sender) =:= node()])}
             || {Pid, [_ | _] = Arrived} <- maps:to_list(Seen)];
        false -> unknown
    end.

%% A process with a deep mailbox takes what has come only when it has none left, or is asked something. (The trace tells of a message then.)
has_signals_handled(Pid) ->
    wait(?BETWEEN_MS),
    case process_info(Pid, message_queue_len) of
        {_, _} -> has_signals_handled(Pid);
        undefined -> ok
    end.

%% What all processes have is the most that its messages can have: to say what one has, the VM goes over all of its messages.
with_small_messages(Pids) ->
    Bytes = case memory() of #{processes := Of} -> Of; unknown -> ?PETABYTE end,
    [Pid || Pid <- Pids, {_, Depth} <- [process_info(Pid, message_queue_len)], Bytes =< Depth * ?ARRIVING_BYTES].

%% The arguments are node and process of the sender, and the message. Who prints takes each answer at once, so that is none of what waits.
tags_received() ->
    [{['_', '_', {io_reply, '_', '_'}], [], [{message, false}]}
     | lists:append([tags_received(Kind, Head)
                     || {Kind, Head} <- [{call, {'$gen_call', '_', '$2'}}, {cast, {'$gen_cast', '$2'}}, {info, '$2'}]])].

tags_received(Kind, Message) ->
    [{['_', '$1', Message], [{is_tuple, '$2'}, {'>', {size, '$2'}, 0}, {is_atom, {element, 1, '$2'}}],
      [{message, {{'$1', {{Kind, {element, 1, '$2'}, {size, '$2'}}}}}}]},
     {['_', '$1', Message], [{is_atom, '$2'}], [{message, {{'$1', {{Kind, '$2', 0}}}}}]},
     {['_', '$1', Message], [], [{message, {{'$1', {{Kind, other, 0}}}}}]}].

arriving(Until, Seen) ->
    receive
        {trace, Pid, 'receive', _, {_, {_, _, _}} = One} -> arriving(Until, arrives(Pid, One, Seen));
        Event when element(1, Event) =:= trace -> arriving(Until, Seen) % it comes late, of the pattern before
    after max(0, Until - now_ms()) -> Seen
    end.

arrives(Pid, One, Seen) ->
    case Seen of
        #{Pid := Before} when length(Before) < ?ARRIVALS ->
            _ = length(Before) + 1 =:= ?ARRIVALS andalso is_switched(Pid, false, ['receive']),
            Seen#{Pid := [One | Before]};
        #{} -> Seen
    end.

arrived({Kind, Tag, Size}) ->
    Message = case {Tag, Size} of
                  {other, 0} -> <<"term">>;
                  {_, 0} -> shape(Tag);
                  _ -> shape(list_to_tuple([Tag | lists:duplicate(Size - 1, '_')]))
              end,
    case Kind of
        call -> iolist_to_binary(["call of ", Message]);
        cast -> iolist_to_binary(["cast of ", Message]);
        info -> Message
    end.

%% What most of them are.
senders(Pids) ->
    [{Sender, Times} || {Times, Sender} <- most_frequent([sender(Pid) || Pid <- lists:sublist(lists:uniq(Pids), ?SENDERS)]),
                        Sender =/= unknown].

sender(Pid) ->
    case registered_as(Pid) of
        '' -> labelled_apart(Pid);
        Name -> Name
    end.
