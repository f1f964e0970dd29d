%% @doc The servers that the catalogue calls: each does the least that its
%% behaviour allows. The argument of `init/1' says which one it is.
-module(mailbox_audit_callbacks).

-export([init/1, callback_mode/0, handle_call/3, handle_call/2, handle_cast/2, handle_event/2,
         handle_event/4]).
-export([started/1, idle/0]).

-spec init(server | statem | event | [supervisor]) -> term().
init(server) -> {ok, none};
init(statem) -> {ok, idle, none};
init(event) -> {ok, none};
init([supervisor]) -> {ok, {#{}, []}}.

-spec callback_mode() -> handle_event_function.
callback_mode() -> handle_event_function.

-spec handle_call(term(), gen_server:from(), none) -> {reply, term(), none}.
handle_call(Request, _From, none) -> {reply, Request, none}.

-spec handle_cast(term(), none) -> {noreply, none}.
handle_cast(_, none) -> {noreply, none}.

%% @doc Of gen_event.
-spec handle_call(term(), none) -> {ok, term(), none}.
handle_call(Request, none) -> {ok, Request, none}.

%% @doc Of gen_event.
-spec handle_event(term(), none) -> {ok, none}.
handle_event(_, none) -> {ok, none}.

%% @doc Of gen_statem.
-spec handle_event({call, gen_statem:from()}, term(), idle, none) -> {keep_state_and_data, tuple()}.
handle_event({call, From}, Request, idle, none) -> {keep_state_and_data, {reply, From, Request}}.

%% @doc What `proc_lib' starts: it says so to whoever waits for that.
-spec started(term()) -> no_return().
started(_) ->
    proc_lib:init_ack({ok, self()}),
    idle().

%% @doc Waits to be ended.
-spec idle() -> no_return().
idle() ->
    receive
        {system, From, {terminate, Reason}} ->
            gen_server:reply(From, ok),
            exit(Reason);
        _ -> idle()
    end.
