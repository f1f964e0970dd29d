%% @doc A flag that a dam raises for those who send to it: ask before you send.
%%
%% A sender reads it before each message, so it must cost little and need no
%% handle beside the pid. All dams of a node share one array, made when this
%% module is loaded; a dam writes its own number where its pid hashes to. So
%% nothing is left behind by a dam that is killed, and no persistent term is
%% ever erased, which would collect every process of the node. Two dams that share
%% a place take it from each other: then senders of the one do not ask until it
%% raises its flag again, and it holds a little more than its limit.
-module(dam_flag).

-export([raise/1, lower/1, is_raised/1]).

-on_load(make/0).

-define(PLACES, 4096).

make() ->
    case persistent_term:get(?MODULE, none) of
        none -> persistent_term:put(?MODULE, atomics:new(?PLACES, [{signed, false}]));
        _ -> ok
    end.

%% @doc Raises the flag of a dam of this node.
-spec raise(pid()) -> ok.
raise(Pid) ->
    Number = number(Pid),
    atomics:put(places(), place(Number), Number).

%% @doc Lowers it, if it still is this dam's.
-spec lower(pid()) -> ok.
lower(Pid) ->
    Number = number(Pid),
    _ = atomics:compare_exchange(places(), place(Number), Number, 0),
    ok.

%% @doc Whether it is raised.
-spec is_raised(pid()) -> boolean().
is_raised(Pid) ->
    Number = number(Pid),
    atomics:get(places(), place(Number)) =:= Number.

places() -> persistent_term:get(?MODULE).

%% Never 0, which is no dam's.
number(Pid) -> erlang:phash2(Pid) + 1.

place(Number) -> Number rem ?PLACES + 1.
