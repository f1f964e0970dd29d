%% @doc Calls that are timed: behaviours, process starts, timers, nodes and
%% what the VM says of itself.
-module(mailbox_audit_catalogue_processes).

-export([entries/0]).

-define(SERVER, mailbox_audit_callbacks).

%% @doc The entries, each with its cause where it scans.
-spec entries() -> [mailbox_audit_timed:entry()].
entries() ->
    servers() ++ starts() ++ server_starts() ++ supervisors() ++ applications() ++ system() ++ timers()
        ++ node_calls() ++ groups() ++ emulator().

servers() ->
    [with(gen_server, server, "gen_server:call/2", fun(Pid) -> hello = gen_server:call(Pid, hello) end),
     with(gen_server, server, "gen_server:send_request/2, receive_response/2",
          fun(Pid) ->
                  Request = gen_server:send_request(Pid, hello),
                  {reply, hello} = gen_server:receive_response(Request, infinity)
          end),
     #{name => "gen_server:multi_call/3", setup => fun registered_server/0, cleanup => stop(gen_server),
       call => fun(_) -> {[{_, hello}], []} = gen_server:multi_call([node()], ?MODULE, hello) end},
     with(gen_statem, statem, "gen_statem:call/2", fun(Pid) -> hello = gen_statem:call(Pid, hello) end),
     with_manager("gen_event:call/3", fun(Pid) -> hello = gen_event:call(Pid, ?SERVER, hello) end),
     with_manager("gen_event:sync_notify/2", fun(Pid) -> ok = gen_event:sync_notify(Pid, hello) end),
     with_manager("gen_event:add_handler/3, delete_handler/3",
                  fun(Pid) ->
                          ok = gen_event:add_handler(Pid, {?SERVER, second}, event),
                          gen_event:delete_handler(Pid, {?SERVER, second}, stop)
                  end)].

registered_server() ->
    {ok, Pid} = gen_server:start_link({local, ?MODULE}, ?SERVER, server, []),
    Pid.

starts() ->
    [starting("proc_lib:start_link/3", start_cause(),
              fun(_) -> {ok, Pid} = proc_lib:start_link(?SERVER, started, [hello]), Pid end),
     starting("proc_lib:start/3", start_cause(),
              fun(_) -> {ok, Pid} = proc_lib:start(?SERVER, started, [hello]), Pid end),
     starting("proc_lib:start_monitor/3", start_monitor_cause(),
              fun(_) ->
                      {{ok, Pid}, Monitor} = proc_lib:start_monitor(?SERVER, started, [hello]),
                      demonitor(Monitor),
                      Pid
              end),
     starting("proc_lib:spawn/3", "", fun(_) -> proc_lib:spawn(?SERVER, idle, []) end),
     #{name => "proc_lib:stop/1", prepare => fun(_) -> proc_lib:spawn(?SERVER, idle, []) end,
       call => fun(Pid) -> ok = proc_lib:stop(Pid) end}].

server_starts() ->
    [starting("gen_server:start/3", start_cause(),
              fun(_) -> {ok, Pid} = gen_server:start(?SERVER, server, []), Pid end),
     starting("gen_server:start_link/3", start_cause(), fun(_) -> start(gen_server, server) end),
     starting("gen_server:start_monitor/3", start_monitor_cause(),
              fun(_) ->
                      {ok, {Pid, Monitor}} = gen_server:start_monitor(?SERVER, server, []),
                      demonitor(Monitor),
                      Pid
              end),
     #{name => "gen_server:stop/1", prepare => fun(_) -> start(gen_server, server) end,
       call => fun(Pid) -> ok = gen_server:stop(Pid) end},
     starting("gen_statem:start_link/3", start_cause(), fun(_) -> start(gen_statem, statem) end),
     starting("gen_event:start_link/0", start_cause(), fun(_) -> {ok, Pid} = gen_event:start_link(), Pid end),
     starting("supervisor:start_link/2", start_cause(), fun(_) -> supervisor() end)].

starting(Name, Cause, Call) -> #{name => Name, call => Call, finish => fun killed/2, cause => Cause}.

start_cause() -> "proc_lib:sync_start/2" ++ start_words().

start_monitor_cause() -> "proc_lib:sync_start_monitor/2" ++ start_words().

start_words() -> " waits for {ack, Pid, _}, {nack, Pid, _} or the 'DOWN' of Pid: only the last one carries the"
                     " reference of the monitor, and a marker needs it in all clauses".

supervisors() ->
    [#{name => "supervisor:start_child/2, terminate_child/2, delete_child/2", setup => fun supervisor/0,
       cleanup => stop(gen_server),
       call => fun(Pid) ->
                       {ok, _} = supervisor:start_child(Pid, child()),
                       ok = supervisor:terminate_child(Pid, child),
                       ok = supervisor:delete_child(Pid, child)
               end},
     #{name => "supervisor:which_children/1", setup => fun supervisor/0, cleanup => stop(gen_server),
       call => fun(Pid) -> [] = supervisor:which_children(Pid) end},
     #{name => "supervisor:terminate/2 (internal: a supervisor ends its child)", prepare => fun running_state/1,
       call => fun(State) -> supervisor:terminate(shutdown, State) end,
       cause => "supervisor:unlink_flush/2 waits for {'EXIT', Pid, _} from the child, which carries no reference"}].

%% The process that measures does here what a supervisor's own process does:
%% it is the mailbox of the supervisor that is looked through.
running_state(_) ->
    State = element(2, supervisor:init({self, ?SERVER, [supervisor]})),
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
    [with(gen_server, server, "sys:get_state/1", fun(Pid) -> none = sys:get_state(Pid) end),
     with(gen_server, server, "sys:get_status/1", fun(Pid) -> {status, _, _, _} = sys:get_status(Pid) end),
     with(gen_server, server, "sys:suspend/1, resume/1",
          fun(Pid) -> ok = sys:suspend(Pid), ok = sys:resume(Pid) end)].

timers() ->
    [#{name => "timer:sleep/1", call => fun(_) -> ok = timer:sleep(0) end},
     #{name => "timer:send_after/2, cancel/1",
       call => fun(_) ->
                       {ok, Timer} = timer:send_after(100_000, hello),
                       {ok, cancel} = timer:cancel(Timer)
               end},
     #{name => "timer:apply_after/4, cancel/1",
       call => fun(_) ->
                       {ok, Timer} = timer:apply_after(100_000, ?SERVER, idle, []),
                       {ok, cancel} = timer:cancel(Timer)
               end},
     #{name => "erlang:start_timer/3, cancel_timer/1",
       call => fun(_) -> erlang:cancel_timer(erlang:start_timer(100_000, self(), hello)) end}].

node_calls() ->
    [#{name => "rpc:call/4", call => fun(_) -> true = rpc:call(node(), erlang, is_atom, [hello]) end},
     #{name => "rpc:multicall/4",
       call => fun(_) -> {[true], []} = rpc:multicall([node()], erlang, is_atom, [hello]) end},
     #{name => "rpc:async_call/4, yield/1",
       call => fun(_) -> true = rpc:yield(rpc:async_call(node(), erlang, is_atom, [hello])) end,
       cause => request_cause()},
     #{name => "erpc:call/4", call => fun(_) -> true = erpc:call(node(), erlang, is_atom, [hello]) end},
     #{name => "erpc:send_request/4, receive_response/1",
       call => fun(_) -> true = erpc:receive_response(erpc:send_request(node(), erlang, is_atom, [hello])) end,
       cause => request_cause()},
     #{name => "erpc:multicall/4",
       call => fun(_) -> [{ok, true}] = erpc:multicall([node()], erlang, is_atom, [hello]) end}].

groups() ->
    [#{name => "global:register_name/2, unregister_name/1",
       call => fun(_) -> yes = global:register_name(?MODULE, self()), global:unregister_name(?MODULE) end},
     #{name => "global:whereis_name/1", call => fun(_) -> undefined = global:whereis_name(?MODULE) end},
     #{name => "global:set_lock/1, del_lock/1",
       call => fun(_) ->
                       true = global:set_lock({?MODULE, self()}),
                       true = global:del_lock({?MODULE, self()})
               end},
     #{name => "pg:join/3, leave/3", setup => fun group_scope/0, cleanup => stop(gen_server),
       call => fun(_) -> ok = pg:join(?MODULE, group, self()), ok = pg:leave(?MODULE, group, self()) end},
     #{name => "pg:monitor/2, demonitor/2", setup => fun group_scope/0, cleanup => stop(gen_server),
       call => fun(_) -> {Monitor, []} = pg:monitor(?MODULE, group), ok = pg:demonitor(?MODULE, Monitor) end,
       cause => "pg:flush/1 searches with 'after 0' for messages about the group. The reference in these messages came as an argument,"
                " so the search begins at the first message"}].

request_cause() -> "erpc:receive_response/2 waits for the reference that erpc:send_request returned. There is no marker, since the"
                   " compiler does not follow a reference through the return value of a function".

group_scope() ->
    {ok, Pid} = pg:start_link(?MODULE),
    Pid.

emulator() ->
    [#{name => "erlang:process_info(self(), memory)", call => fun(_) -> process_info(self(), memory) end,
       cause => "no receive: the BIF adds up the sizes of all messages"},
     #{name => "erlang:process_info(self(), message_queue_len)",
       call => fun(_) -> process_info(self(), message_queue_len) end},
     with(gen_server, server, "erlang:process_info(Other, status)", fun(Pid) -> process_info(Pid, status) end),
     #{name => "erlang:memory/0", call => fun(_) -> [_ | _] = erlang:memory() end},
     #{name => "erlang:statistics(io)", call => fun(_) -> erlang:statistics(io) end,
       cause => "erts_internal:gather_io_bytes/4 waits for a message from each scheduler. A BIF made the reference in this message, so"
                " there is no marker"},
     with(gen_server, server, "erlang:garbage_collect(Other)", fun(Pid) -> true = garbage_collect(Pid) end),
     with(gen_server, server, "erlang:suspend_process/1, resume_process/1",
          fun(Pid) -> true = erlang:suspend_process(Pid), true = erlang:resume_process(Pid) end),
     #{name => "erlang:spawn_monitor/1, 'DOWN'",
       call => fun(_) ->
                       {Pid, Monitor} = spawn_monitor(fun() -> ok end),
                       receive {'DOWN', Monitor, process, Pid, _} -> ok end
               end},
     with(gen_server, server, "erlang:demonitor/2 (flush)",
          fun(Pid) -> true = demonitor(monitor(process, Pid), [flush]) end),
     #{name => "erlang:open_port/2, port_close/1",
       call => fun(_) -> true = port_close(open_port({spawn_executable, "/bin/cat"}, [])) end}].

%% A call of a server that is there, and one of an event manager.
with(Behaviour, Kind, Name, Call) ->
    #{name => Name, setup => fun() -> start(Behaviour, Kind) end, cleanup => stop(Behaviour), call => Call}.

with_manager(Name, Call) ->
    #{name => Name, setup => fun event_manager/0, cleanup => stop(gen_event), call => Call}.

start(Behaviour, Kind) ->
    {ok, Pid} = Behaviour:start_link(?SERVER, Kind, []),
    Pid.

stop(Behaviour) -> fun(Pid) -> unlink(Pid), ok = Behaviour:stop(Pid) end.

supervisor() ->
    {ok, Pid} = supervisor:start_link(?SERVER, [supervisor]),
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
