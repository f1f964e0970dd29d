%% @doc Calls that are timed: behaviours, process starts, timers, nodes and
%% what the VM says of itself.
-module(mailbox_audit_catalogue_processes).

-export([entries/0]).

-define(SERVER, mailbox_audit_callbacks).

%% @doc The entries, each with its cause where it scans.
-spec entries() -> [mailbox_audit_timed:entry()].
entries() ->
    servers() ++ starts() ++ supervisors() ++ applications() ++ system() ++ timers() ++ nodes_and_groups()
        ++ emulator().

servers() ->
    [#{name => "gen_server:call/2", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> hello = gen_server:call(Pid, hello) end},
     #{name => "gen_server:send_request/2, receive_response/2", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> {reply, hello} = gen_server:receive_response(gen_server:send_request(Pid, hello), infinity) end},
     #{name => "gen_server:multi_call/3", setup => fun() -> {ok, Pid} = gen_server:start_link({local, ?MODULE}, ?SERVER, server, []), Pid end,
       cleanup => stop(gen_server),
       call => fun(_) -> {[{_, hello}], []} = gen_server:multi_call([node()], ?MODULE, hello) end},
     #{name => "gen_statem:call/2", setup => server(gen_statem, statem), cleanup => stop(gen_statem),
       call => fun(Pid) -> hello = gen_statem:call(Pid, hello) end},
     #{name => "gen_event:call/3", setup => fun event_manager/0, cleanup => stop(gen_event),
       call => fun(Pid) -> hello = gen_event:call(Pid, ?SERVER, hello) end},
     #{name => "gen_event:sync_notify/2", setup => fun event_manager/0, cleanup => stop(gen_event),
       call => fun(Pid) -> ok = gen_event:sync_notify(Pid, hello) end},
     #{name => "gen_event:add_handler/3, delete_handler/3", setup => fun event_manager/0, cleanup => stop(gen_event),
       call => fun(Pid) ->
                       ok = gen_event:add_handler(Pid, {?SERVER, second}, event),
                       gen_event:delete_handler(Pid, {?SERVER, second}, stop)
               end}].

starts() ->
    [#{name => "proc_lib:start_link/3", call => fun(_) -> {ok, Pid} = proc_lib:start_link(?SERVER, started, [hello]), Pid end,
       finish => fun killed/2, cause => start_cause()},
     #{name => "proc_lib:start/3", call => fun(_) -> {ok, Pid} = proc_lib:start(?SERVER, started, [hello]), Pid end,
       finish => fun killed/2, cause => start_cause()},
     #{name => "proc_lib:start_monitor/3",
       call => fun(_) -> {{ok, Pid}, Monitor} = proc_lib:start_monitor(?SERVER, started, [hello]), demonitor(Monitor), Pid end,
       finish => fun killed/2, cause => start_monitor_cause()},
     #{name => "proc_lib:spawn/3", call => fun(_) -> proc_lib:spawn(?SERVER, idle, []) end, finish => fun killed/2},
     #{name => "proc_lib:stop/1", prepare => fun(_) -> proc_lib:spawn(?SERVER, idle, []) end,
       call => fun(Pid) -> ok = proc_lib:stop(Pid) end},
     #{name => "gen_server:start/3", call => fun(_) -> {ok, Pid} = gen_server:start(?SERVER, server, []), Pid end,
       finish => fun killed/2, cause => start_cause()},
     #{name => "gen_server:start_link/3", call => fun(_) -> (server(gen_server, server))() end, finish => fun killed/2,
       cause => start_cause()},
     #{name => "gen_server:start_monitor/3",
       call => fun(_) -> {ok, {Pid, Monitor}} = gen_server:start_monitor(?SERVER, server, []), demonitor(Monitor), Pid end,
       finish => fun killed/2,
       cause => start_monitor_cause()},
     #{name => "gen_server:stop/1", prepare => fun(_) -> (server(gen_server, server))() end, call => fun(Pid) -> ok = gen_server:stop(Pid) end},
     #{name => "gen_statem:start_link/3", call => fun(_) -> (server(gen_statem, statem))() end, finish => fun killed/2,
       cause => start_cause()},
     #{name => "gen_event:start_link/0", call => fun(_) -> {ok, Pid} = gen_event:start_link(), Pid end, finish => fun killed/2,
       cause => start_cause()},
     #{name => "supervisor:start_link/2", call => fun(_) -> {ok, Pid} = supervisor:start_link(?SERVER, supervisor), Pid end,
       finish => fun killed/2, cause => start_cause()}].

start_cause() -> "proc_lib:sync_start/2" ++ start_words().

start_monitor_cause() -> "proc_lib:sync_start_monitor/2" ++ start_words().

start_words() -> " waits for {ack, Pid, _}, {nack, Pid, _} or the 'DOWN' of Pid: only the last one carries the"
                     " reference of the monitor, and a marker wants it in all clauses".

supervisors() ->
    [#{name => "supervisor:start_child/2, terminate_child/2, delete_child/2", setup => fun supervisor/0, cleanup => stop(gen_server),
       call => fun(Pid) ->
                       {ok, _} = supervisor:start_child(Pid, child()),
                       ok = supervisor:terminate_child(Pid, child),
                       ok = supervisor:delete_child(Pid, child)
               end},
     #{name => "supervisor:which_children/1", setup => fun supervisor/0, cleanup => stop(gen_server),
       call => fun(Pid) -> [] = supervisor:which_children(Pid) end},
     #{name => "supervisor:terminate/2, of a child, inside", prepare => fun running_state/1,
       call => fun(State) -> supervisor:terminate(shutdown, State) end,
       cause => "supervisor:unlink_flush/2 waits for {'EXIT', Pid, _} of the child, which carries no reference"}].

%% The process that measures does here what a supervisor's own process does:
%% it is the mailbox of the supervisor that is looked through.
running_state(_) ->
    State = element(2, supervisor:init({self, ?SERVER, supervisor})),
    Reply = supervisor:handle_call({start_child, child()}, {self(), make_ref()}, State),
    {ok, _} = element(2, Reply),
    element(3, Reply).

child() -> #{id => child, start => {gen_server, start_link, [?SERVER, server, []]}}.

applications() ->
    [#{name => "application:get_env/2", call => fun(_) -> application:get_env(kernel, none) end},
     #{name => "application:which_applications/0", call => fun(_) -> [_ | _] = application:which_applications() end},
     #{name => "application:start/1, stop/1", setup => fun load/0, cleanup => fun unload/1,
       call => fun(Name) -> ok = application:start(Name), ok = application:stop(Name) end},
     #{name => "application:load/1, unload/1", call => fun(_) -> unload(load()) end}].

load() ->
    ok = application:load({application, ?MODULE, [{vsn, "1"}, {applications, [kernel]}]}),
    ?MODULE.

unload(Name) -> ok = application:unload(Name).

system() ->
    [#{name => "sys:get_state/1", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> none = sys:get_state(Pid) end},
     #{name => "sys:get_status/1", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> {status, _, _, _} = sys:get_status(Pid) end},
     #{name => "sys:suspend/1, resume/1", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> ok = sys:suspend(Pid), ok = sys:resume(Pid) end}].

timers() ->
    [#{name => "timer:sleep/1", call => fun(_) -> ok = timer:sleep(0) end},
     #{name => "timer:send_after/2, cancel/1",
       call => fun(_) -> {ok, Timer} = timer:send_after(100_000, hello), {ok, cancel} = timer:cancel(Timer) end},
     #{name => "timer:apply_after/4, cancel/1",
       call => fun(_) -> {ok, Timer} = timer:apply_after(100_000, ?SERVER, idle, []), {ok, cancel} = timer:cancel(Timer) end},
     #{name => "erlang:start_timer/3, cancel_timer/1",
       call => fun(_) -> erlang:cancel_timer(erlang:start_timer(100_000, self(), hello)) end}].

nodes_and_groups() ->
    [#{name => "rpc:call/4", call => fun(_) -> true = rpc:call(node(), erlang, is_atom, [hello]) end},
     #{name => "rpc:multicall/4", call => fun(_) -> {[true], []} = rpc:multicall([node()], erlang, is_atom, [hello]) end},
     #{name => "rpc:async_call/4, yield/1", call => fun(_) -> true = rpc:yield(rpc:async_call(node(), erlang, is_atom, [hello])) end,
       cause => request_cause()},
     #{name => "erpc:call/4", call => fun(_) -> true = erpc:call(node(), erlang, is_atom, [hello]) end},
     #{name => "erpc:send_request/4, receive_response/1",
       call => fun(_) -> true = erpc:receive_response(erpc:send_request(node(), erlang, is_atom, [hello])) end,
       cause => request_cause()},
     #{name => "erpc:multicall/4", call => fun(_) -> [{ok, true}] = erpc:multicall([node()], erlang, is_atom, [hello]) end},
     #{name => "global:register_name/2, unregister_name/1",
       call => fun(_) -> yes = global:register_name(?MODULE, self()), global:unregister_name(?MODULE) end},
     #{name => "global:whereis_name/1", call => fun(_) -> undefined = global:whereis_name(?MODULE) end},
     #{name => "global:set_lock/1, del_lock/1",
       call => fun(_) -> true = global:set_lock({?MODULE, self()}), true = global:del_lock({?MODULE, self()}) end},
     #{name => "pg:join/3, leave/3", setup => fun group_scope/0, cleanup => stop(gen_server),
       call => fun(_) -> ok = pg:join(?MODULE, group, self()), ok = pg:leave(?MODULE, group, self()) end},
     #{name => "pg:monitor/2, demonitor/2", setup => fun group_scope/0, cleanup => stop(gen_server),
       call => fun(_) -> {Monitor, []} = pg:monitor(?MODULE, group), ok = pg:demonitor(?MODULE, Monitor) end,
       cause => "pg:flush/1 looks with 'after 0' for what the group may still have sent: by a reference that came as an"
                " argument, and from the first message on"}].

request_cause() -> "erpc:receive_response/2 waits by the reference of a request that erpc:send_request made: no"
                       " marker, since the compiler does not follow a reference through what that function returns".

group_scope() ->
    {ok, Pid} = pg:start_link(?MODULE),
    Pid.

emulator() ->
    [#{name => "erlang:process_info(self(), memory)", call => fun(_) -> process_info(self(), memory) end,
       cause => "no receive: the BIF adds up the sizes of all messages"},
     #{name => "erlang:process_info(self(), message_queue_len)", call => fun(_) -> process_info(self(), message_queue_len) end},
     #{name => "erlang:process_info(Other, status)", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> process_info(Pid, status) end},
     #{name => "erlang:memory/0", call => fun(_) -> [_ | _] = erlang:memory() end},
     #{name => "erlang:statistics(io)", call => fun(_) -> erlang:statistics(io) end,
       cause => bif_cause("erts_internal:gather_io_bytes/4")},
     #{name => "erlang:garbage_collect(Other)", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> true = erlang:garbage_collect(Pid) end},
     #{name => "erlang:suspend_process/1, resume_process/1", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> true = erlang:suspend_process(Pid), true = erlang:resume_process(Pid) end},
     #{name => "erlang:spawn_monitor/1, 'DOWN'",
       call => fun(_) -> {Pid, Monitor} = spawn_monitor(fun() -> ok end), receive {'DOWN', Monitor, process, Pid, _} -> ok end end},
     #{name => "erlang:demonitor/2 (flush)", setup => server(gen_server, server), cleanup => stop(gen_server),
       call => fun(Pid) -> true = demonitor(monitor(process, Pid), [flush]) end},
     #{name => "erlang:port_close/1, open_port/2", call => fun(_) -> true = port_close(open_port({spawn_executable, "/bin/cat"}, [])) end}].

bif_cause(Function) -> Function ++ " waits for a message with a reference that its BIF made, for which there is no marker".

%% A function that starts a server of a behaviour, whatever it is given.
server(Behaviour, Kind) ->
    Start = fun() -> {ok, Pid} = Behaviour:start_link(?SERVER, Kind, []), Pid end,
    Start.

stop(Behaviour) -> fun(Pid) -> unlink(Pid), ok = Behaviour:stop(Pid) end.

supervisor() ->
    {ok, Pid} = supervisor:start_link(?SERVER, supervisor),
    Pid.

event_manager() ->
    {ok, Pid} = gen_event:start_link(),
    ok = gen_event:add_handler(Pid, ?SERVER, event),
    Pid.

killed(_Input, Pid) ->
    unlink(Pid),
    Monitor = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', Monitor, process, _, _} -> ok end.
