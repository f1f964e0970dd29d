%% @doc Waits for the VM to free literals. It does so in the background, by a
%% process of its own, when no process refers to them any more.
-module(term_graph_literals).

-export([await_freed/0]).

-define(POLL_MS, 1).

%% @doc Returns when all literals that were erased before are freed.
-spec await_freed() -> ok.
await_freed() -> await_idle(collector(), make_ref()).

await_idle(Collector, Reference) ->
    Collector ! {get_status, Reference, self()},
    receive
        {Reference, idle} -> ok;
        {Reference, _} ->
            timer:sleep(?POLL_MS),
            await_idle(Collector, Reference)
    end.

%% It lives as long as the VM.
collector() ->
    case persistent_term:get(?MODULE, none) of
        none ->
            [Collector] = [Pid || Pid <- processes(), is_collector(Pid)],
            persistent_term:put(?MODULE, Collector),
            Collector;
        Collector -> Collector
    end.

is_collector(Pid) ->
    process_info(Pid, initial_call) =:= {initial_call, {erts_literal_area_collector, start, 0}}.
