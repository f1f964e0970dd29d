%% A gen_server and a gen_statem that keep what they are started with, and answer any call
%% with what was asked.
-module(dam_test_gen).
-behaviour(gen_server).

-export([init/1, callback_mode/0, idle/3, handle_call/3, handle_cast/2, handle_info/2]).

%% As a gen_statem, or as a gen_server.
init(statem) -> {ok, idle, statem};
init(State) -> {ok, State}.

callback_mode() -> state_functions.

idle(info, _, _) -> keep_state_and_data.

handle_call(Request, _From, State) -> {reply, Request, State}.

handle_cast(_, State) -> {noreply, State}.

handle_info(_, State) -> {noreply, State}.
