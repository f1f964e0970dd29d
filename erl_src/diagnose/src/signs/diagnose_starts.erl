%% @doc From what is started to signs: processes that fail and are started again, processes that are given much, and programs of
%% the system. Pure.
-module(diagnose_starts).

-export([of_parent/2, of_lasting/2, of_births/1, is_restarting/2, of_node/1]).

-import(diagnose_samples, [looks/1, looks_through/2, working/1]).

-include("../diagnose_bounds.hrl").

%% @doc The signs of a process that starts others.
-spec of_parent(diagnose_types:parent(), diagnose_types:look()) -> [diagnose_types:sign()].
of_parent(Parent, #{starts := Starts} = Look) -> restarts(Parent, Starts) ++ copies(Parent, Look).

restarts(#{ended := Ended, failed := Failed, parents := Parents, labels := Labels, reasons := Reasons, limit := Limit}, #{ms := Ms})
  when Failed >= ?FAILED, 2 * Failed >= Ended, 1000 * Failed >= ?FAILED_A_SECOND * Ms ->
    [diagnose_sign:sign(restart_loop,
                        #{failed => Failed, ended => Ended, window_ms => Ms, parents => Parents, 'of' => kinds(Labels),
                          reasons => shapes(Reasons)},
                        system_advice(Reasons) ++ [killed_advice(Limit) || lists:keymember(<<"killed">>, 1, Reasons)]
                        ++ "Each of them fails and is reported to the log, and the next one fails, too, whether their supervisor or a caller"
                        " of start_child/2 starts it. The reason is in the crash reports of the log. A child that cannot work for now (a service is down, a setting is wrong)"
                        " should keep running and try again after a growing pause. With a lower intensity the supervisor gives up, so"
                        " the fault is noticed. A request that fails should return an error.",
                        diagnose_proof:look())];
restarts(#{name := Name, label := Label, failed := Failed, sweeps := Sweeps, swept := Swept, gone := Gone, labels := Labels,
           reasons := Reasons}, #{ms := Ms}) when Name =/= '', Failed > 0, Sweeps >= ?SWEEPS, Swept > Failed ->
    [diagnose_sign:sign(restart_loop,
                        #{swept => Swept, sweeps => Sweeps, failed => Failed, window_ms => Ms, 'of' => kinds(Labels),
                          reasons => shapes(Reasons)},
                        swept_advice(Gone), diagnose_proof:look())
     || ends_all(Label, Gone)];
restarts(#{}, #{}) -> [].

%% @doc The sign of a supervisor that starts its children again and again, though none fails, and nobody has asked for new ones. Whoever runs
%% jobs or connections by a supervisor asks for each.
-spec of_lasting(diagnose_types:lasting(), diagnose_types:look()) -> [diagnose_types:sign()].
of_lasting(#{ended := Ended, labels := Labels, asked := 0, told := Told, started := Started, ms := For}, #{starts := #{ms := Ms}})
  when Started >= ?RESTARTED, Told >= ?RESTARTED ->
    [diagnose_sign:sign(restart_loop,
                        #{ended => Ended, window_ms => Ms, started => Started, ms => For, 'of' => kinds(Labels)},
                        "A permanent child is started again whenever it ends, also with the reason normal or shutdown: it does its work again and"
                        " again. (permanent is what a child specification and `use GenServer` have if they do not say"
                        " otherwise.) If its work is done when it ends, let it be transient (started again after an error only) or temporary."
                        " If it is to live, find out why it ends. (If it is to begin again each time, have it wait in between"
                        " by itself: a timer.)",
                        diagnose_proof:look())];
of_lasting(#{}, #{}) -> [].

%% Each of the children of DynamicSupervisor ends alone. Who has started tasks may end them together, when one has failed.
ends_all({supervisor, _, _}, _Gone) -> true;
ends_all({'Elixir.DynamicSupervisor', _, _}, Gone) -> Gone > 0;
ends_all(_, _) -> false.

swept_advice(0) ->
    "One child that fails takes the others with it: by its strategy (one_for_all, rest_for_one) the supervisor ends all, and starts them"
    " again. Mend what fails; the reason is in the crash reports of the log. Give children that do not need each other a supervisor with"
    " one_for_one.";
swept_advice(_) ->
    "A few children that fail take all others with them: they fail more often than the supervisor's intensity allows, so it ends with all"
    " its children, and is started again. Mend what fails; the reason is in the crash reports of the log. A child that cannot work should"
    " keep running and try again after a pause, or not be started again (temporary); or give each a supervisor of its own.".

shapes(Reasons) -> [#{shape => Shape, count => Count} || {Shape, Count} <- Reasons].

%% What an error of the system means where it is the node's own.
system_advice(Reasons) ->
    [Means || {Error, Means} <- [{"enospc", "No space is left on the disk (enospc). "},
                                 {"edquot", "The quota of the disk is used up (edquot). "},
                                 {"erofs", "The disk can only be read (erofs): it may have failed. "},
                                 {"emfile", "The node may open no more files and sockets (emfile, ulimit -n). "},
                                 {"enfile", "The machine may open no more files (enfile). "},
                                 {"eaddrinuse", "Another socket has the address (eaddrinuse). "},
                                 {"badarg in ets:", "The table does not exist, or this process may not use it (badarg in ets): a table ends"
                                  " with its owner. A process that lives must own it (a supervised one that does little else), or take it"
                                  " over (the option heir). "}],
              lists:any(fun({Reason, _}) -> string:find(Reason, Error) =/= nomatch end, Reasons)].

%% A node may have such a limit for all of its processes. Whoever kills them, they end with the same reason.
killed_advice(0) -> "Something kills them: exit/2, or their max_heap_size. ";
killed_advice(Limit) ->
    ["Something kills them. The VM does so when a heap has more than its max_heap_size, here ", diagnose_wording:bytes(Limit),
     ": if their heaps get so large, take what fills them (an answer, a row, a message) in parts, or raise the limit. If not, another"
     " process kills them (exit/2): look for it. "].

%% @doc Whether that process is said to start others that fail: what else its children do is of no interest then.
-spec is_restarting(binary(), diagnose_types:look()) -> boolean().
is_restarting(Pid, #{starts := #{parents := Parents} = Starts}) ->
    lists:any(fun(#{pid := P} = Parent) -> P =:= Pid andalso restarts(Parent, Starts) =/= [] end, Parents);
is_restarting(_, #{}) -> false.

copies(#{copies := Copies, copied := Bytes} = Parent, #{starts := #{ms := Ms}})
  when Copies >= ?COPIES, 1000 * Bytes >= ?COPIED_A_SECOND * Ms ->
    [copied(given, Copies, Bytes, [], Parent, Ms,
            "The arguments of a new process, and all variables that its fun takes from the function around it, are copied to it. Bind"
            " the needed values before the fun (Name = maps:get(name, State)), so that the fun does not use"
            " State; keep large data in ETS or persistent_term; or send the work to processes that live longer.")];
copies(#{takes := Takes, taken := Bytes} = Parent, #{starts := #{ms := Ms}} = Look)
  when Takes >= ?COPIES, 1000 * Bytes >= ?COPIED_A_SECOND * Ms ->
    [taken(Takes, Bytes, Parent, Ms, Look)];
copies(#{}, #{}) -> [].

taken(Takes, Bytes, Parent, Ms, Look) ->
    copied(taken, Takes, Bytes, large_rows(Bytes div Takes, Look), Parent, Ms,
           "ets:lookup/2 copies a whole row, and so does every function that reads one. A message is a copy, too. binary_to_term/1,"
           " binary_to_list/1, binary:split/3 and decoders make as much anew. Keep data that all read and that seldom change in"
           " persistent_term, which copies nothing; make a row of each thing that is looked up; and send the part that is needed. (If each"
           " makes this of its own part of the work, nothing is wrong.)").

%% @doc The sign of a process whose children's collections were traced: what was copied to them is seen there, also of those that were
%% collected at once. Where it was seen otherwise, it is not told again.
-spec of_births(diagnose_types:look()) -> [diagnose_types:sign()].
of_births(#{births := #{takes := Takes, taken := Bytes, window_ms := Ms, labels := Labels}, starts := Starts} = Look)
  when Takes >= ?COPIES, 1000 * Bytes >= ?COPIED_A_SECOND * Ms ->
    Told = case Starts of #{parents := Parents} -> lists:append([copies(Parent, Look) || Parent <- Parents]); _ -> [] end,
    [taken(Takes, Bytes, #{parents => 1, labels => [{Label, Takes} || [Label] <- [Labels], Label =/= unknown]}, Ms, Look) || Told =:= []];
of_births(#{}) -> [].

copied(How, Count, Bytes, Rows, #{parents := Parents, labels := Labels}, Ms, Advice) ->
    diagnose_sign:sign(copied_starts,
                       #{how => How, starts => Count, each_bytes => Bytes div Count, bytes_a_second => 1000 * Bytes div Ms,
                         window_ms => Ms, parents => Parents, 'of' => kinds(Labels), large_rows => Rows},
                       Advice, diagnose_proof:look()).

%% Of the largest tables those whose rows are about as large, on average, or larger. On the heap of a process a row takes less than twice
%% what it takes in the table.
large_rows(Bytes, #{tables := #{largest := Largest}}) ->
    [#{name => Name, rows => Size} || #{name := Name, size := Size, bytes := All} <- Largest, Size > 0, 2 * All >= Size * Bytes];
large_rows(_, #{}) -> [].

kinds(Labels) -> [#{label => diagnose_wording:label(Label), count => Count} || {Label, Count} <- Labels].

%% @doc The signs of the node: what it starts all the time.
-spec of_node(diagnose_types:look()) -> [diagnose_types:sign()].
of_node(Look) -> programs(Look) ++ connects(Look) ++ many_starts(Look) ++ handshakes(Look) ++ named_again(Look).

%% Each connection over TLS has a supervisor of its own, and lives for a moment where it serves one request.
handshakes(#{starts := #{ms := Ms, most := #{labels := Labels}, samples := Samples}, suspects := Suspects, collections := Collections}) ->
    Started = lists:sum([Count || {{_, tls_dyn_connection_sup, _}, Count} <- Labels]),
    Working = working(Samples),
    Looks = looks(Working),
    OfTls = looks_through(Working, fun is_of_tls/1),
    Users = lists:usort([Label || #{samples := Of, label := {_, _, _} = Label} <- Suspects,
                                  looks_through(Of, fun(Module) -> Module =:= ssl orelse Module =:= tls_socket end) > 0]),
    [diagnose_sign:sign(tls_handshakes,
                        #{a_second => 1000 * Started div Ms, times => OfTls, looks => Looks,
                          by => [diagnose_wording:label(User) || User <- lists:sublist(Users, ?TOLD_USERS)]},
                        "A handshake costs much more than a small request. Keep connections open and use each for many requests: a pool"
                        " of the HTTP client (hackney, gun, Finch, httpc with keep_alive_timeout), one connection to a database or"
                        " broker, a longer idle time-out in the server. Session tickets make the other handshakes cheaper"
                        " ({session_tickets, auto} in a client, {session_tickets, stateless} in a server).", diagnose_proof:look())
     || 1000 * Started >= ?HANDSHAKES_A_SECOND * Ms, OfTls >= ?BUSY_LOOKS, 2 * OfTls >= Looks,
        diagnose_work_time:cores(Collections) >= ?HANDSHAKE_CORES];
handshakes(#{}) -> [].

is_of_tls(Module) ->
    Name = atom_to_list(Module),
    lists:any(fun(Beginning) -> lists:prefix(Beginning, Name) end, ["tls_", "ssl", "pubkey_", "public_key", "crypto"]).

%% Each fails seldom, but one failure within a few seconds is hardly the only one. A supervisor that is told of is enough.
named_again(#{starts := #{again := [_ | _] = Again, ms := Ms, parents := Parents} = Starts}) ->
    [diagnose_sign:sign(restart_loop,
                        #{again => [#{process => diagnose_sign:process(One), reason => Reason} || #{reason := Reason} = One <- Again],
                          window_ms => Ms},
                        "If that goes on (look again), the restart does not help: the reason is in the crash reports of the log. A report has"
                        " the state of the process and its last message, and formatting a large state takes seconds and much memory: shorten it"
                        " (format_status/1, chars_limit and depth of logger_formatter).", diagnose_proof:look())
     || lists:all(fun(Parent) -> restarts(Parent, Starts) =:= [] end, Parents)];
named_again(#{}) -> [].

many_starts(#{starts := #{a_second := Started, most := Most}, schedulers := Schedulers} = Look)
  when Started >= ?STARTS_A_SECOND, Started >= ?STARTS_OF_SCHEDULER * Schedulers ->
    [diagnose_sign:sign(many_starts,
                        case {Most, Look} of
                            {#{pid := Pid, name := Name, label := Label, labels := Labels}, _} ->
                                #{a_second => Started, by => owner(Pid, Name), label => known(Label),
                                  'of' => kinds([One || {L, _} = One <- Labels, L =/= unknown])};
                            {none, #{births := #{pid := Pid, name := Name}}} ->
                                #{a_second => Started, by => owner(Pid, Name), label => unknown, 'of' => []};
                            {none, _} -> #{a_second => Started, by => unknown, label => unknown, 'of' => []}
                        end,
                        "Starting and ending a process costs microseconds, more than a small piece of work. Give each process many"
                        " pieces (a chunk of the list), as many processes as there are schedulers, or do the work without a new process.",
                        diagnose_proof:look())];
many_starts(#{}) -> [].

known(unknown) -> unknown;
known(Label) -> diagnose_wording:label(Label).

programs(#{programs := #{alive := Alive, seen := Seen, started_a_second := Started, names := Names, owners := Owners, labels := Labels} = All})
  when Alive >= ?PROGRAMS; Started >= ?PROGRAMS_A_SECOND, Seen >= ?PROGRAMS_SEEN ->
    [diagnose_sign:sign(os_processes,
                        #{alive => Alive, started_a_second => Started,
                          programs => [#{label => Name, count => Count} || {Name, Count} <- Names],
                          owners => [#{label => owner(Pid, Name), count => Count} || {Pid, Name, Count} <- Owners],
                          'of' => kinds(Labels)},
                        "Each is a process of the operating system. One program of the VM (erl_child_setup) starts all of them, in"
                        " milliseconds each, and each needs memory and some files. Keep a program and send it many requests, do the"
                        " work in Erlang (file, inet, crypto), or limit how many run at a time. A port lives until it is closed"
                        " (port_close/1) or its owner ends, and its program until it sees the end of its input.",
                        diagnose_proof:look())
     || not are_kept(All)];
programs(#{}) -> [].

%% Each tries again and again, and hardly any has a connection. Who waits long for an answer does not try often.
connects(#{programs := #{connects := #{seen := Seen, connected := Connected, a_second := Second, processes := Processes} = Connects}})
  when Seen >= ?ATTEMPTS, 2 * Seen >= 3 * Processes, 10 * Connected =< Seen, Second >= ?ATTEMPTS_A_SECOND, Second >= ?ATTEMPTS_OF_ONE * Processes ->
    #{in := In, owners := Owners, labels := Labels} = Connects,
    [diagnose_sign:sign(connect_loop,
                        #{a_second => Second, seen => Seen, connected => Connected, in => diagnose_sign:counted(In), processes => Processes,
                          owners => [#{label => owner(Pid, Name), count => Count} || {Pid, Name, Count} <- Owners],
                          'of' => kinds(Labels)},
                        "Nobody accepts these connections (econnrefused), or they end at once, and the next attempt follows at once. See"
                        " whether the service runs, and at which address. Wait before each attempt, longer after each failure, and for a"
                        " time that differs from process to process (erlang:send_after/3, a state time-out). What an attempt logs or asks"
                        " (names of hosts) is done as often.",
                        diagnose_proof:look())];
connects(#{}) -> [].

%% Each owner has one program and keeps it, and none was started: that is what is advised. (os:cmd/1 has a process of its own for each.)
are_kept(#{seen := 0, started_a_second := 0, owners := [_ | _] = Owners, labels := Labels}) ->
    lists:all(fun({_, _, Count}) -> Count =:= 1 end, Owners) andalso not lists:any(fun({{Module, _, _}, _}) -> Module =:= os end, Labels);
are_kept(#{}) -> false.

owner(Pid, Name) -> unicode:characters_to_binary(diagnose_wording:subject(#{process => #{pid => Pid, name => Name}})).
