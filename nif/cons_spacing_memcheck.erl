%% What memcheck watches: each path of the NIF once, with restarts and a walk
%% that is given up in the middle.
-module(cons_spacing_memcheck).

-export([start/0]).

start() ->
    List = [{N, [N], #{N => [N]}} || N <- lists:seq(1, 20_000)],
    #{cells := 20_000, tail := proper} = cons_spacing:measure(List),
    #{cells := 60_000} = cons_spacing:measure_term(List),
    #{lists := 500} = cons_spacing:measure_term(maps:from_list([{N, [N]} || N <- lists:seq(1, 500)])),
    20_000 = length(cons_spacing_nif:addresses(List)),
    {'EXIT', {badarg, _}} = (catch cons_spacing_nif:walk(no_list, false)),
    {'EXIT', {badarg, _}} = (catch cons_spacing_nif:walk([], neither)),
    collected_in_the_middle(List),
    killed_in_the_middle(List),
    io:format("memcheck: done~n"),
    halt().

collected_in_the_middle(List) ->
    Walker = self(),
    _ = spawn_link(fun() -> [garbage_collect(Walker) || _ <- lists:seq(1, 5)] end),
    #{cells := 60_000} = cons_spacing:measure_term(List).

killed_in_the_middle(List) ->
    {Walker, Monitor} = spawn_monitor(fun() -> forever(List) end),
    timer:sleep(500),
    exit(Walker, kill),
    receive {'DOWN', Monitor, process, Walker, killed} -> ok end.

forever(List) ->
    _ = cons_spacing:measure_term(List),
    forever(List).
