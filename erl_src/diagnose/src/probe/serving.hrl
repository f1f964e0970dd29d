%%% What keeps a node from serving although it has nothing to do: connections that nobody accepts, and applications whose start waits for
%%% something.

-define(BETWEEN_BACKLOGS_MS, 250).
-define(BETWEEN_ENDS_MS, 50).
-define(ENDING_PROCESSES, 50_000).
%% The system lists the sockets that listen before all others, of which there may be many: so much is read, in parts.
-define(LISTENING_BYTES, 65_536).
-define(READ_BYTES, 4096).
-define(LINKED, 1000).
%% So many tables of mnesia are gone through.
-define(TABLES_OF_MNESIA, 1000).
%% Of so few processes all are asked whether they wait for an answer, and so many of those that do what they are.
-define(FEW_PROCESSES, 2000).
-define(NAMED_CALLERS, 30).

%% @doc Sockets of this node on which connections wait to be accepted, at each look until then. Linux tells how many.
-spec not_accepted(integer()) -> diagnose_types:not_accepted() | unknown.
not_accepted(Until) ->
    Began = now_ms(),
    case backlogs() of
        unknown -> unknown;
        Waiting -> not_accepted(Until, Began, Waiting, listening(Waiting))
    end.

not_accepted(_Until, _Began, _Waiting, unknown) -> unknown;
not_accepted(Until, Began, Waiting, Before) ->
    First = maps:map(fun(_, Count) -> {Count, Count} end, maps:with(maps:keys(Before), Waiting)),
    {Looks, Ranges} = waiting_until(Until, 1, First),
    case listening(Ranges) of
        unknown -> unknown;
        After ->
            #{looks => Looks, ms => max(1, now_ms() - Began),
              sockets => [Socket#{least => Least, most => Most, accepting => WasAccepting orelse IsAccepting,
                                 acceptors => acceptors(Socket)}
                          || {Key, #{accepting := IsAccepting} = Socket} <- maps:to_list(After),
                             {Least, Most} <- [maps:get(Key, Ranges)], #{accepting := WasAccepting} <- [maps:get(Key, Before)]]}
    end.

%% Who listens has often started those that accept, and is linked to them. Some others may be so, too: most tell. So may processes of
%% connections be, which wait for their clients: whoever waits for something else is told of before.
acceptors(#{pid := Pid}) ->
    Owner = list_to_pid(binary_to_list(Pid)),
    acceptors_of([Stack || One <- [Owner | lists:sublist(linked(Owner), ?ALIKE_ASKED)],
                           [{_, waiting}, {_, [_ | _] = Stack}] <- [process_info(One, [status, current_stacktrace])],
                           not is_main_loop([frame(Frame) || Frame <- Stack])]).

%% @doc Of the stacks of some that wait: where most are that do not wait for a client, or where all do; and how many wait for one.
-spec acceptors_of([[tuple()]]) -> #{asked | count := pos_integer(), in := diagnose_types:frame(), for_clients := non_neg_integer()} | none.
acceptors_of(Stacks) ->
    {ForClients, Others} = lists:partition(fun is_for_client/1, Stacks),
    case most_frequent([accepts_in(Stack) || Stack <- case Others of [] -> ForClients; _ -> Others end]) of
        [{Count, In} | _] -> #{asked => length(Stacks), count => Count, in => In, for_clients => length(ForClients)};
        [] -> none
    end.

%% Rather what calls ssl than ssl.
accepts_in(Stack) ->
    case [Frame || {Module, _, _, _} = Frame <- Stack, not lists:member(Module, [ssl, ssl_gen_statem, tls_socket])] of
        [_ | _] = Own -> own_frame(Own);
        [] -> own_frame(Stack)
    end.

is_for_client(Stack) ->
    lists:any(fun({Module, Function, _, _}) ->
                      lists:member({Module, Function}, [{ssl_gen_statem, handshake}, {ssl_gen_statem, recv}, {prim_inet, recv0}])
              end, Stack).

waiting_until(_Until, Looks, Ranges) when map_size(Ranges) =:= 0 -> {Looks, Ranges};
waiting_until(Until, Looks, Ranges) ->
    wait(min(?BETWEEN_BACKLOGS_MS, max(0, Until - now_ms()))),
    case now_ms() < Until andalso backlogs() of
        #{} = Now ->
            waiting_until(Until, Looks + 1, maps:from_list([{Key, {min(Least, Count), max(Most, Count)}}
                                                            || {Key, {Least, Most}} <- maps:to_list(Ranges),
                                                               #{Key := Count} <- [Now]]));
        _ -> {Looks, Ranges}
    end.

%% How many connections wait, by the address of the socket, as the system writes it. Where there are none, it is not there.
backlogs() ->
    case {backlogs("/proc/self/net/tcp"), backlogs("/proc/self/net/tcp6")} of
        {unknown, unknown} -> unknown;
        Both -> those_apart(lists:append([Of || Of <- tuple_to_list(Both), Of =/= unknown]))
    end.

%% Sockets that share an address (SO_REUSEPORT) cannot be told apart, also if they are of other programs.
those_apart(List) ->
    Keys = [Key || {Key, _} <- List],
    maps:without(Keys -- lists:usort(Keys), maps:from_list(List)).

backlogs(File) ->
    case prim_file:open(File, [read, binary]) of
        {ok, Fd} ->
            Text = listening_lines(Fd, <<>>),
            _ = prim_file:close(Fd),
            backlogs_of(Text);
        {error, _} -> unknown
    end.

listening_lines(Fd, Text) when byte_size(Text) < ?LISTENING_BYTES ->
    case prim_file:read(Fd, ?READ_BYTES) of
        {ok, More} ->
            %% The last line may be cut.
            All = <<Text/binary, More/binary>>,
            case lists:all(fun(Line) -> socket_line(Line) =/= other end, lists:droplast(lines(All))) of
                true -> listening_lines(Fd, All);
                false -> All
            end;
        _ -> Text
    end;
listening_lines(_Fd, Text) -> Text.

lines(Text) -> binary:split(Text, <<"\n">>, [global]).

%% @doc The sockets of such a text on which connections wait to be accepted.
-spec backlogs_of(binary()) -> [{Local :: binary(), Count :: pos_integer()}].
backlogs_of(Text) -> [{Local, Count} || Line <- lines(Text), {Local, Count} <- [socket_line(Line)], Count > 0].

%% Number, local and remote address, state (0A listens), and what waits to be sent and received: here to be accepted.
socket_line(Line) ->
    case binary:split(Line, <<" ">>, [global, trim_all]) of
        [_, Local, _, <<"0A">>, Queues | _] ->
            try {Local, binary_to_integer(lists:last(binary:split(Queues, <<":">>)), 16)}
            catch error:badarg -> cut
            end;
        [<<"sl">> | _] -> title;
        [_, _, _, State, _ | _] when byte_size(State) =:= 2 -> other;
        _ -> cut
    end.

%% Those of these sockets that are ports of this node, with their owner, and whether a process waits in accept.
listening(Keys) when map_size(Keys) =:= 0 -> #{};
listening(Keys) ->
    case few_ports() of
        unknown -> unknown;
        Ports ->
            those_apart([{Key, #{port => Number, pid => pid_text(Owner), name => registered_as(Owner), label => labelled_apart(Owner),
                                 accepting => lists:member(accepting, Status)}}
                         || Port <- Ports, {_, "tcp_inet"} <- [erlang:port_info(Port, name)],
                            {ok, Status} <- [prim_inet:getstatus(Port)], lists:member(listen, Status),
                            {ok, {Address, Number}} <- [prim_inet:sockname(Port)],
                            Key <- local_text(Address, Number), is_map_key(Key, Keys),
                            {_, Owner} <- [erlang:port_info(Port, connected)]])
    end.

%% @doc An address and the number of a port as the system writes them: words of 32 bits, as they lie in memory. None of a socket that
%% has a name in the file system.
-spec local_text(inet:ip_address() | term(), term()) -> [binary()].
local_text(Address, Number) when is_tuple(Address), is_integer(Number) ->
    Bytes = case Address of
                {_, _, _, _} -> list_to_binary(tuple_to_list(Address));
                _ -> <<<<Part:16>> || Part <- tuple_to_list(Address)>>
            end,
    Words = case erlang:system_info(endian) of
                little -> <<<<Word:32/little>> || <<Word:32>> <= Bytes>>;
                big -> Bytes
            end,
    [iolist_to_binary([binary:encode_hex(Words), $:, binary:encode_hex(<<Number:16>>)])];
local_text(_, _) -> [].

%% @doc Applications whose start waits at two looks for the same: in which function, and for whom. Also a start that goes on from the one
%% look to the other in one function.
-spec starting(integer()) -> diagnose_types:starting().
starting(Until) ->
    Began = now_ms(),
    case {application_starts(), booting()} of
        {[], none} -> #{ms => 1, applications => [], starts => []};
        {Before, Boot} ->
            wait(max(0, Until - now_ms())),
            #{ms => max(1, now_ms() - Began), up_ms => element(1, erlang:statistics(wall_clock)),
              applications => case apart(fun() -> application_controller:info() end) of
                                  [_ | _] = Info -> [Name || {starting, Starting} <- Info, Start <- Starting, Name <- [element(1, Start)]];
                                  lost -> []
                              end,
              tables => case lists:any(fun waits_for_tables/1, Before) of true -> not_loaded(mnesia_gvar); false -> [] end,
              boot => boot_since(Boot, booting()),
              starts => [start_since(Was, Start) || #{pid := Pid} = Start <- application_starts(), #{pid := P} = Was <- Before, P =:= Pid]}
    end.

%% The process of init that calls what -s, -run and -eval name, one after the other. The node has started when the last of them is back.
booting() ->
    Init = whereis(init),
    case [{Pid, Stack} || Pid <- linked(Init), {_, Stack} <- [process_info(Pid, current_stacktrace)],
                          lists:any(fun({M, F, _, _}) -> {M, F} =:= {init, start_em} end, Stack)] of
        [{Pid, Stack} | _] ->
            {_, Done} = process_info(Init, reductions),
            Above = lists:takewhile(fun({Module, _, _, _}) -> Module =/= init end, Stack),
            #{pid => pid_text(Pid), name => registered_as(Pid), done => Done,
              in => case Above of [_ | _] -> own_frame(Above); [] -> own_frame(Stack) end};
        [] -> none
    end.

%% What init has done meanwhile, though nothing starts or ends: it was asked.
boot_since(#{pid := Pid, done := Before}, #{pid := Pid, done := Now} = Boot) -> Boot#{done := Now - Before};
boot_since(_, _) -> none.

%% What both stacks have in common is what it is in all the time. Nothing else has it start for so long.
start_since(#{status := waiting, stack := Stack, asks := Asked, reductions := Then},
            #{status := waiting, stack := Stack, asks := Asks, reductions := Now} = Start) when Now - Then =< ?ASKED_REDUCTIONS ->
    case same_asked(Asked, Asks) of
        true -> maps:without([reductions, status], Start);
        false -> start_goes_on(Stack, Start)
    end;
start_since(#{stack := Before}, #{stack := Now} = Start) -> start_goes_on(in_common(lists:reverse(Before), lists:reverse(Now), []), Start).

start_goes_on(Stack, Start) ->
    In = case [Frame || {Module, _, _} = Frame <- Stack, not lists:member(Module, [supervisor, proc_lib, gen, gen_server | ?WAITS_OF_OTP])] of
             [Frame | _] -> Frame;
             [] -> none
         end,
    (maps:without([reductions, status], Start))#{goes_on => true, stack := Stack, in := In}.

%% @doc Frames that both have at their end.
-spec in_common([Frame], [Frame], [Frame]) -> [Frame] when Frame :: diagnose_types:frame().
in_common([Frame | Before], [Frame | Now], Common) -> in_common(Before, Now, [Frame | Common]);
in_common(_, _, Common) -> Common.

waits_for_tables(#{stack := Stack, asks := Asks}) ->
    lists:keymember(mnesia_controller, 1, Stack ++ [In || #{in := In} <- Asks, is_tuple(In)]).

%% @doc Some tables of mnesia that cannot be read on this node yet, and which others have copies of them: by the table in which mnesia keeps
%% its state, so that nobody is asked.
-spec not_loaded(ets:table()) -> [#{name := atom(), nodes := [#{node := node(), runs := boolean()}]}].
not_loaded(State) ->
    Running = state_of(State, {current, db_nodes}),
    lists:sublist([#{name => Table,
                     nodes => [#{node => Node, runs => lists:member(Node, Running)}
                               || Node <- lists:sublist(lists:usort([N || Kind <- [ram_copies, disc_copies, disc_only_copies],
                                                                          N <- state_of(State, {Table, Kind}), N =/= node()]), ?LARGEST)]}
                   || Table <- lists:sublist(state_of(State, {schema, tables}), ?TABLES_OF_MNESIA),
                      ets:lookup(State, {Table, where_to_read}) =:= [{{Table, where_to_read}, nowhere}]], ?LARGEST).

state_of(State, Key) -> try ets:lookup_element(State, Key, 2) catch error:badarg -> [] end.

same_asked(Asks, Others) -> [Pid || #{pid := Pid} <- Asks] =:= [Pid || #{pid := Pid} <- Others].

%% The process that calls start/2 of an application is linked to its master, and that one to the controller.
application_starts() ->
    Masters = [Master || Controller <- [whereis(application_controller)], is_pid(Controller), Master <- linked(Controller)],
    [#{pid => pid_text(Pid), name => registered_as(Pid), stack => Frames, in => own_frame(Stack), asks => Asks,
       status => settled(Pid, Status, ?ASKED_AGAIN),
       %% Who repairs a file works, and nobody can tell for how long.
       reductions => lists:sum([Done || One <- [Pid | [list_to_pid(binary_to_list(Asked)) || #{pid := Asked, for := For} <- Asks,
                                                                                             For =/= repair, For =/= program]],
                                        {_, Done} <- [process_info(One, reductions)]])}
     || Master <- Masters, Pid <- linked(Master), process_info(Pid, initial_call) =:= {initial_call, {application_master, start_it, 4}},
        [{_, Status}, {_, Stack}] <- [process_info(Pid, [status, current_stacktrace])],
        Frames <- [[frame(Frame) || Frame <- Stack]], is_in_start(Frames), Asks <- [asks_in_turn(Pid, [Pid])]].

%% @doc Whether the node is stopping at two looks, and for whom it waits at both: which application, and whose end in turn. `init' does
%% not answer then, so what it is in tells it.
-spec stopping(integer()) -> diagnose_types:stopping() | none.
stopping(Until) ->
    Began = now_ms(),
    case stopping_now() of
        #{asks := Before} ->
            wait(max(0, Until - now_ms())),
            case stopping_now() of
                #{asks := Now} = Stopping -> Stopping#{ms => max(1, now_ms() - Began), asks := same_in_turn(Before, Now)};
                none -> none
            end;
        none -> none
    end.

%% @doc Who waits for the end of a child, and of another one after it, at each look until then. On a node with very many processes nobody
%% is looked for.
-spec endings(integer()) -> [diagnose_types:ending()].
endings(Until) ->
    Began = now_ms(),
    Ending = [{Pid, near_count(Pid), []} || erlang:system_info(process_count) =< ?ENDING_PROCESSES,
                                            Pid <- lists:sublist([One || One <- processes(), waits_for_end(One)], ?LARGEST)],
    [#{pid => pid_text(Pid), name => registered_as(Pid), label => labelled_apart(Pid), ms => max(1, now_ms() - Began),
       ends_all => is_in(Pid, gen_server, try_terminate), looks => length(Looks), waits => length(Waits),
       ended => max(length(lists:uniq(Waits)) - 1, Before - Left), left => Left,
       last => (asked_one(stop, Last))#{label := labelled_apart(Last)}}
     || {Pid, Before, Looks} <- ended_until(Until, Ending), [Last | _] = Waits <- [lists:append(Looks)], Left <- [near_count(Pid)]].

waits_for_end(Pid) ->
    case process_info(Pid, current_function) of
        {_, {Module, Function, _}} -> ended_by(Module, Function) =:= monitor;
        undefined -> false
    end.

ended_until(_Until, []) -> [];
ended_until(Until, Ending) ->
    Now = [{Pid, Left, [[Child || {stop, Child} <- asked_by(Pid)] | Looks]} || {Pid, Left, Looks} <- Ending],
    wait(?BETWEEN_ENDS_MS),
    case now_ms() < Until of
        true -> ended_until(Until, Now);
        false -> Now
    end.

%% Beside its parent, how many processes it is linked to.
near_count(Pid) ->
    case apart(fun() -> process_info(Pid, links) end) of
        {_, Links} -> max(0, length([One || One <- Links, is_pid(One)]) - 1);
        _ -> 0
    end.

stopping_now() ->
    case is_in(whereis(init), init, shutdown_pids) of
        true ->
            case ending_master(whereis(application_controller)) of
                [Master] -> #{application => application_of(Master), asks => asks_in_turn(Master, [Master])};
                [] -> #{application => none, asks => []}
            end;
        false -> none
    end.

is_in(Pid, Module, Function) when is_pid(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, Stack} -> lists:any(fun({M, F, _, _}) -> {M, F} =:= {Module, Function} end, Stack);
        undefined -> false
    end;
is_in(undefined, _Module, _Function) -> false.

%% The controller ends one application after the other.
ending_master(Controller) ->
    case is_in(Controller, application_controller, terminate) andalso process_info(Controller, monitors) of
        {_, [{process, Master}]} -> [Master];
        _ -> []
    end.

application_of(Master) ->
    try ets:match(ac_tab, {{application_master, '$1'}, Master}) of
        [[Name]] -> Name;
        [] -> none
    catch error:badarg -> none
    end.

%% Those before the first one that is another one now.
same_in_turn([#{pid := Pid} | Before], [#{pid := Pid} = One | Now]) -> [One | same_in_turn(Before, Now)];
same_in_turn(_, _) -> [].

linked(Pid) ->
    case process_info(Pid, links) of
        {_, Links} -> lists:sublist([One || One <- Links, is_pid(One), node(One) =:= node()], ?LINKED);
        undefined -> []
    end.

%% Afterwards it is in a loop of its own.
is_in_start([{application_master, _, _} | _]) -> false;
is_in_start(Frames) -> lists:any(fun({Module, _, _}) -> Module =:= application_master end, Frames).

%% @doc Processes of a node with few that wait for the answer to the same call now and then: how many, and for whom most of them do. Nobody
%% can tell from outside whether they wait for work. `too_many' of a node with more.
-spec unanswered(integer()) -> diagnose_types:unanswered() | too_many.
unanswered(Until) ->
    Began = now_ms(),
    case erlang:system_info(process_count) =< ?FEW_PROCESSES of
        true ->
            Control = control(),
            Before = maps:from_list([{Pid, Call} || Pid <- processes(), Call <- calls_now(Pid)]),
            wait(max(0, Until - now_ms())),
            Did = control_did(Control),
            Still = [{Call, Pid} || {Pid, {Call, Reductions}} <- maps:to_list(Before), {Again, Now} <- calls_now(Pid),
                                    Again =:= Call, Now - Reductions =< stayed_in(Call, Did)],
            Alike = maps:groups_from_list(fun({Call, Label, _}) -> {Call, Label} end,
                                          [{Call, labelled_apart(Pid), Pid} || {Call, Pid} <- lists:sublist(Still, ?NAMED_CALLERS)]),
            #{ms => max(1, now_ms() - Began), count => length(Still),
              most => [#{count => length(Of), label => Label, in => In, pid => pid_text(Pid), called => called_as(Called), logs => Logs}
                       || {_, {{{Called, In, Logs}, Label}, [{_, _, Pid} | _] = Of}}
                              <- ranked(?LARGEST, [{length(Of), {Key, Of}} || {Key, Of} <- maps:to_list(Alike)])]};
        false -> too_many
    end.

stayed_in({{lock, _}, _, _}, _) -> ?ASKED_REDUCTIONS;
stayed_in(_, Did) -> ?STAYED_REDUCTIONS + Did.

calls_now(Pid) ->
    case process_info(Pid, [status, reductions, current_stacktrace, monitors]) of
        [{_, Status}, {_, Reductions}, {_, [_ | _] = Stack}, {_, Monitors}] ->
            case called_in(Stack, [Monitored || {process, Monitored} <- Monitors]) of
                %% The caller of a look at the own node waits for the look.
                [{For, _} = Called | _] when For =:= answer; For =:= lock ->
                    [{{Called, In, lists:keymember(logger_backend, 1, Stack)}, Reductions}
                     || not sleeps_for_lock(first_frame(Stack)), settled(Pid, Status, ?ASKED_AGAIN) =:= waiting,
                        In <- [own_frame(below_dets(Stack))], not is_of_look(In)];
                _ -> []
            end;
        _ -> []
    end.

%% Who tries again for a lock sleeps there meanwhile, and has called nobody.
sleeps_for_lock({Module, Function, _}) -> lists:member({Module, Function}, [{global, random_sleep}, {mnesia_tm, restart}]).

%% Who uses a table of dets, by itself or by mnesia.
below_dets([{dets, _, _, _} | _] = Stack) ->
    case lists:dropwhile(fun({Module, _, _, _}) -> lists:member(Module, [dets, mnesia_lib, mnesia_tm, mnesia]) end, Stack) of
        [] -> Stack;
        Below -> Below
    end;
below_dets(Stack) -> Stack.

is_of_look({Module, _, _}) -> lists:prefix("diagnose", atom_to_list(Module)).

called_as({_, Pid}) ->
    case registered_as(Pid) of
        '' -> pid_text(Pid);
        Name -> atom_to_binary(Name, utf8)
    end.
