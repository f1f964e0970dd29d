%% @doc The cores of programs: the measured program and its load have separate cores, if there are two or more.
-module(program_cores).

-export([pinned/2]).

-define(TASKSET, "/usr/bin/taskset").

%% @doc The command line that starts a program on the first half of this VM's cores (`measured'), or on the second (`fixed').
-spec pinned(measured | fixed, [string(), ...]) -> [string(), ...].
pinned(Which, Words) ->
    case {allowed(), filelib:is_regular(?TASKSET)} of
        {[_, _ | _] = Cores, true} -> [?TASKSET, "-c", listed(half(Which, Cores)) | Words];
        _ -> Words
    end.

half(measured, Cores) -> lists:sublist(Cores, length(Cores) div 2);
half(fixed, Cores) -> lists:nthtail(length(Cores) div 2, Cores).

listed(Cores) -> lists:append(lists:join(",", [integer_to_list(Core) || Core <- Cores])).

allowed() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [List]} = re:run(Status, "Cpus_allowed_list:\\s*(\\S+)", [{capture, all_but_first, list}]),
    lists:append([range(string:split(Range, "-")) || Range <- string:lexemes(List, ",")]).

range([Core]) -> [list_to_integer(Core)];
range([From, To]) -> lists:seq(list_to_integer(From), list_to_integer(To)).
