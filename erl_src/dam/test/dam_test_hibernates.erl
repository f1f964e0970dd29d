%% A handler of gen_event whose process hibernates after each event.
-module(dam_test_hibernates).

-export([init/1, handle_event/2, handle_info/2, handle_call/2]).

init(_) -> {ok, [], hibernate}.

handle_event(_, State) -> {ok, State, hibernate}.

handle_info(_, State) -> {ok, State, hibernate}.

handle_call(_, State) -> {ok, ok, State}.
