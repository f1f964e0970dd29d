%% Five receives, each with another verdict or for another reason.
-module(planted).

-export([scans/1, marker/1, takes_any/0, no_clauses/1, looks_like_any/1]).

scans(Port) ->
    port_command(Port, "hello"),
    receive
        {Port, {data, Data}} -> Data
    end.

marker(Pid) ->
    Monitor = monitor(process, Pid),
    Pid ! {Monitor, hello},
    receive
        {Monitor, Reply} -> Reply;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    end.

takes_any() ->
    receive
        {wanted, Value} -> Value;
        Other -> {unwanted, Other}
    end.

no_clauses(Time) ->
    receive
    after Time -> ok
    end.

%% The variable has a value, so it matches one message only.
looks_like_any(Wanted) ->
    receive
        Wanted -> Wanted
    end.
