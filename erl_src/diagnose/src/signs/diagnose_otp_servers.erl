%% @doc Servers of OTP that many can wait for: what they do for one caller cannot be made less there, but it can be asked for otherwise. And
%% tables that OTP makes itself, so that nobody can give them other options. Pure.
-module(diagnose_otp_servers).

-export([advice/1, advice/2, with_callers/3, of_table/3, of_scan/1]).

-import(diagnose_samples, [looks/1, working/1]).

-include("../diagnose_bounds.hrl").

%% Who owns tables that requests fill.
-define(OWNERS, ["application_controller", "cover_server", "global_name_server", "inet_db", "logger", "pg", "ssl_manager", "timer_server"]).
%% The name of a table of dets may be any term.
-define(NAME_DEPTH, 12).
-define(CALLBACKS, [handle_call, handle_cast, handle_info]).

%% @doc The sign of a process that is a table of dets, with the name of the table, and where those are that wait for it.
-spec with_callers(diagnose_types:sign(), diagnose_types:suspect(), diagnose_types:look()) -> diagnose_types:sign().
with_callers(#{kind := Kind, evidence := Evidence} = Sign, #{pid := Pid}, #{callers := Callers})
  when Kind =:= deep_mailbox; Kind =:= busy_process ->
    case [{Table, In} || #{pid := P, table := Table, in := In} <- Callers, P =:= Pid] of
        [] -> Sign;
        [{Table, In} | _] ->
            Sign#{evidence := Evidence#{dets => unicode:characters_to_binary(io_lib:format("~0tP", [Table, ?NAME_DEPTH])),
                                        asked_in => diagnose_sign:counted(In)}}
    end;
with_callers(Sign, _Suspect, _Look) -> Sign.

%% @doc What to do where a function of OTP goes through a table of OTP's own, as it is made to: ask for less. `none' of any other function.
-spec of_scan(mfa()) -> iodata() | none.
of_scan({application_controller, Function, _}) when Function =:= get_pid_env; Function =:= get_pid_key ->
    "Without the name of the application, application:get_env/1 and get_key/1 go through all settings of all applications to find the"
    " application of the caller. Give the name: application:get_env/2,3 and get_key/2 look up one row. Or read the setting once.";
of_scan({application_controller, _, _}) ->
    "The functions of the module application that find the application of a process or of a module, or all settings, go through the"
    " settings of all applications (get_application/0,1, get_all_env/0,1, get_all_key/0). Call them once and keep the answer;"
    " application:get_env/2,3 looks up one row.";
of_scan({pg, Function, _}) when Function =:= which_groups; Function =:= which_local_groups ->
    "pg:which_groups/0,1 goes through all groups. pg:get_members/2 looks up one; pg:monitor_scope/1 tells of each change.";
of_scan({global, registered_names, _}) ->
    "global:registered_names/0 goes through all names. global:whereis_name/1 looks up one.";
of_scan(_) -> none.

%% @doc What to do where such a server does not keep up, and the other advice for any other process.
-spec advice(#{name := atom(), label := mfa() | unknown, _ => _}, iodata()) -> iodata().
advice(Suspect, Otherwise) ->
    case advice(Suspect) of
        none -> Otherwise;
        Advice -> Advice
    end.

%% @doc What to do where such a server does not keep up; `none' of any other process.
-spec advice(#{name := atom(), label := mfa() | unknown, _ => _}) -> iodata() | none.
advice(#{name := inet_gethost_native}) ->
    "Each name of a host that the system is to look up is a request to this process, and to a program of its own: inet:getaddr/2 and"
    " gethostbyname/1, and each gen_tcp:connect/3 and gen_udp:send/4 with a name instead of an address. Look the address up once"
    " (inet:getaddr/2), now and then again, and give the address to these functions.";
advice(#{name := file_server_2}) ->
    "Each call of the module file with a name (read_file_info/1, also by filelib; open/2, list_dir/1) is a request to this server, and it"
    " serves one at a time. With the option raw (file:read_file_info/2, file:open/2) the caller does it. file:get_cwd/0, also by"
    " filename:absname/1, has no such option. Keep what seldom changes for a while.";
advice(#{name := timer_server}) ->
    "It sets, cancels and sends the timers of the module timer, one after the other. erlang:send_after/3, erlang:start_timer/3 and the"
    " time-outs of behaviours need no process; one timer for many processes (a tick) needs less of either.";
advice(#{name := code_server}) ->
    "It loads code and answers for it, one request after the other: code:is_loaded/1 (until OTP 26), code:which/1, and each load."
    " erlang:module_loaded/1 and erlang:function_exported/3 ask nobody. Load all modules at the start (embedded mode), and keep answers.";
advice(#{name := rex}) ->
    "Each rpc:call/4, cast/4 and multicall/4 of another node is a message to this process. erpc does without it, and so do messages to a"
    " process of one's own.";
advice(#{name := application_controller}) ->
    "application:which_applications/0, set_env/3, start and stop are requests to it; application:get_env/2 is none. Keep data that change"
    " in ETS or in persistent_term, and answers for a while.";
advice(#{label := {dets, _, _}, samples := Samples}) ->
    case {is_mostly(fun is_saving/1, working(Samples)), is_mostly(fun is_searching/1, working(Samples))} of
        {true, _} -> saving_advice();
        {false, true} -> searching_advice();
        {false, false} -> requests_advice()
    end;
advice(#{name := Name, label := Label, samples := Samples}) ->
    case {of_logger(Name, Label), is_scope(Samples)} of
        {[_ | _] = Settings, _} ->
            ["It handles the events of logger. If so many wait, its settings are too large: ", Settings, " shows sync_mode_qlen (10 by"
             " default: who logs then waits), drop_mode_qlen (200) and flush_qlen (1,000). Set them back"
             " (logger:update_handler_config/3), and log less (a level, a filter)."];
        {none, true} ->
            "It is a scope of pg, and each join and leave of a group copies the list of all its members on this node. Divide a group with"
            " thousands of members into several (by a hash of the process), join several processes with one call, or keep members that"
            " come and go in a table of ETS.";
        {none, false} -> none
    end.

%% How to see the settings of a process that handles events of logger. The name of one of OTP's own handlers begins with the module.
of_logger(logger_proxy, _Label) -> "logger:get_proxy_config/0";
of_logger(Name, Label) ->
    case [Handler || Module <- ["logger_std_h_", "logger_disk_log_h_"], [_ | _] = Handler <- [string:prefix(atom_to_list(Name), Module)]] of
        [Handler] -> io_lib:format("logger:get_handler_config(~tp)", [list_to_atom(Handler)]);
        [] when element(1, Label) =:= logger_olp -> "logger:get_handler_config/0";
        [] -> none
    end.

is_scope(Samples) ->
    Looks = looks([Sample || {_, Stack, _} = Sample <- Samples, is_of_groups(Stack)]),
    Looks > 0 andalso Looks >= ?SAME_FUNCTION * looks(Samples).

%% OTP 29 has a server below that of pg.
is_of_groups(Stack) ->
    lists:any(fun({Module, Function, _}) -> (Module =:= pg orelse Module =:= data_publisher) andalso lists:member(Function, ?CALLBACKS) end,
              Stack)
        andalso lists:keymember(pg, 1, Stack).

is_mostly(Is, Samples) ->
    Looks = looks([Sample || {_, Stack, _} = Sample <- Samples, lists:any(Is, Stack)]),
    Looks > 0 andalso 2 * Looks >= looks(Samples).

is_saving({dets, perform_save, _}) -> true;
is_saving({prim_file, Function, _}) -> Function =:= sync orelse Function =:= datasync;
is_saving(_) -> false.

is_searching({dets, Function, _}) -> lists:member(Function, [scan, scan_read, do_fmatch_delete_var_keys]);
is_searching({dets_v9, Function, _}) -> Function =:= scan_objs;
is_searching(_) -> false.

saving_advice() ->
    "It writes all that has changed and waits for the disk (dets:sync/1), and a dets table has one process, so all callers wait for each"
    " of these. Call dets:sync/1 once for many writes, or leave it to the option auto_save; dets:insert/2 takes a list.".

searching_advice() ->
    "A dets table has one process, and a search without the key (match_object, select, foldl) reads all of its file. Look up by the key;"
    " keep what is searched for in ETS, and the file only for what must outlive the node.".

requests_advice() ->
    "A dets table has one process (dets:pid2name/1 tells the table), which handles one request after the other, and reads or writes the file"
    " for most of them. Insert many objects with one call (dets:insert/2 takes a list), and call dets:sync/1 seldom. Keep what is read"
    " often in ETS, and the file only for what must outlive the node.".

%% @doc What to do about a table that OTP has made; otherwise the other advice.
-spec of_table(diagnose_types:kind(), #{name := atom(), owner := binary(), _ => _}, Otherwise :: iodata()) -> iodata().
of_table(Kind, #{name := Name, owner := Owner} = Table, Otherwise) ->
    Process = lists:nth(2, string:lexemes(binary_to_list(Owner), " ()") ++ [""]),
    [IsOfMnesia, IsItsOwn] = [lists:prefix("mnesia_", Of) || Of <- [Process, atom_to_list(Name)]],
    if
        IsOfMnesia, Name =:= mnesia_index ->
            made_by(["mnesia, for an index: ", maps:get(index_of, Table, "")],
                    "If few look for rows by it, or its attribute has few values (a status), delete the index (mnesia:del_table_index/2),"
                    " keep the keys that are looked for in a table of their own, or index another attribute.");
        IsOfMnesia, IsItsOwn -> made_by(Process, "Make fewer transactions, each with more to do.");
        IsOfMnesia, Kind =:= contended_ets_table ->
            "It is a table of mnesia: {storage_properties, [{ets, [{write_concurrency, true}]}]} of mnesia:create_table/2 gives it other"
            " options. Use counters for numbers.";
        IsOfMnesia -> [Otherwise, " It is a table of mnesia: its rows are on each node that has a copy."];
        true ->
            case lists:member(Process, ?OWNERS) of
                true -> made_by(Process, "Find out which requests fill or change it, and make fewer of them.");
                false -> Otherwise
            end
    end.

made_by(Process, Instead) -> ["OTP makes it (", Process, "), so its options cannot be changed. ", Instead].
