%% State machines that work all the time: one postpones requests in each of two states, one changes its state and postpones nothing, and one
%% works in steps of its own.
-module(diagnose_machine).
-behaviour(gen_statem).

-export([init/1, callback_mode/0, handle_event/4]).

-spec callback_mode() -> handle_event_function.
callback_mode() -> handle_event_function.

-spec init(Kind) -> {ok, on, Kind, [tuple()]} when Kind :: postpones | changes | counts.
init(counts) -> {ok, on, counts, [{timeout, 0, step}]};
init(Kind) -> {ok, on, Kind, [{state_timeout, 20, over}]}.

-spec handle_event(cast | state_timeout | timeout, term(), on | off, Kind) -> gen_statem:event_handler_result(on | off, Kind)
              when Kind :: postpones | changes | counts.
handle_event(timeout, step, on, counts) -> {keep_state_and_data, [{timeout, 0, step}]};
handle_event(state_timeout, over, on, Kind) -> {next_state, off, Kind, [{state_timeout, 20, over}]};
handle_event(state_timeout, over, off, Kind) -> {next_state, on, Kind, [{state_timeout, 20, over}]};
handle_event(cast, {request, _}, _, _) -> {keep_state_and_data, postpone}.
