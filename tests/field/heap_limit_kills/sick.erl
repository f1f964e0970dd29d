%% A session asks for all retained messages when it begins, which are more than its heap may have. The VM kills it, and the device comes
%% again.
-module(sick).
-behaviour(gen_server).
-export([start/0, start_link/1, init/1, handle_call/3, handle_cast/2, handle_info/2, device/1]).

start() ->
    ok = logger:set_primary_config(level, none),
    Self = self(),
    _ = spawn(fun() ->
                      {ok, _} = supervisor:start_link({local, session_sup}, ?MODULE, supervisor),
                      Self ! started,
                      timer:sleep(infinity)
              end),
    receive started -> ok end,
    _ = [spawn(?MODULE, device, [N]) || N <- lists:seq(1, 20)],
    timer:sleep(1000),
    ok.

device(N) ->
    {ok, Session} = supervisor:start_child(session_sup, [N]),
    Monitor = monitor(process, Session),
    receive {'DOWN', Monitor, _, _, _} -> timer:sleep(100 + rand:uniform(300)) end,
    device(N).

start_link(N) -> gen_server:start_link(?MODULE, {session, N}, []).

init(supervisor) ->
    {ok, {#{strategy => simple_one_for_one}, [#{id => session, start => {?MODULE, start_link, []}, restart => temporary}]}};
init({session, N}) ->
    _ = process_flag(max_heap_size, #{size => 200_000, kill => true, error_logger => false}),
    _ = erlang:send_after(100, self(), {subscribe, N}),
    {ok, []}.

handle_call(_, _, State) -> {noreply, State}.
handle_cast(_, State) -> {noreply, State}.
handle_info({subscribe, N}, _) -> {noreply, [{N, binary_to_list(<<Id:800>>)} || Id <- lists:seq(1, 5000)]}.
