%% @doc A flag by which a dam tells senders to ask before they send.
%%
%% A sender reads the flag before each message, so reading must be cheap and need no handle besides
%% the pid. All dams of a node share one array, which is made when this module is loaded. A dam
%% writes its own number at the place that its pid hashes to. So a killed dam leaves nothing behind,
%% and no persistent term is ever erased, which would garbage collect every process of the node.
%%
%% Two dams whose pids hash to the same place overwrite each other's flag. Then senders of one of
%% them do not ask until it raises its flag again, and it holds slightly more than its limit.
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

%% @doc Lowers the flag, if it is still this dam's.
-spec lower(pid()) -> ok.
lower(Pid) ->
    Number = number(Pid),
    _ = atomics:compare_exchange(places(), place(Number), Number, 0),
    ok.

%% @doc Whether the flag of that dam is raised.
-spec is_raised(pid()) -> boolean().
is_raised(Pid) ->
    Number = number(Pid),
    atomics:get(places(), place(Number)) =:= Number.

places() -> persistent_term:get(?MODULE).

%% Never 0, which means that no flag is raised.
number(Pid) -> erlang:phash2(Pid) + 1.

place(Number) -> Number rem ?PLACES + 1.
