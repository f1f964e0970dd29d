%% @doc From the identity of a callback to its worker and its keeper.
%%
%% An identity is a number that is unique in this VM for ever, and in its low bits
%% the number of the worker. Workers are known by registered names, as sending to a
%% name is one call: once the name is gone and each scheduler has finished the call
%% that it was in, nothing more comes to the process that had the name.
-module(callbacks_route).

-export([open/1, close/0, workers/0, workers_max/0, worker_name/1, keeper_name/1]).
-export([id/2, is_id/1, worker/1, post/2, watch/1]).

-define(WORKER_BITS, 10).
-define(WORKERS_MAX, (1 bsl ?WORKER_BITS - 1)).

%% @doc Makes the names of so many workers known.
-spec open(pos_integer()) -> ok.
open(Workers) ->
    persistent_term:put(?MODULE, list_to_tuple([worker_name(Worker) || Worker <- lists:seq(1, Workers)])).

-spec close() -> ok.
close() ->
    _ = persistent_term:erase(?MODULE),
    ok.

%% @doc The number of workers. The error `callbacks_not_started' where there are none.
-spec workers() -> pos_integer().
workers() -> tuple_size(names()).

-spec workers_max() -> pos_integer().
workers_max() -> ?WORKERS_MAX.

names() ->
    case persistent_term:get(?MODULE, none) of
        none -> error(callbacks_not_started);
        Names -> Names
    end.

-spec worker_name(pos_integer()) -> atom().
worker_name(Worker) -> list_to_atom("callbacks_worker_" ++ integer_to_list(Worker)).

-spec keeper_name(pos_integer()) -> atom().
keeper_name(Worker) -> list_to_atom("callbacks_keeper_" ++ integer_to_list(Worker)).

-spec id(pos_integer(), pos_integer()) -> pos_integer().
id(Unique, Worker) -> Unique bsl ?WORKER_BITS bor Worker.

-spec is_id(term()) -> boolean().
is_id(Id) when is_integer(Id), Id > 0 -> worker(Id) >= 1 andalso worker(Id) =< workers();
is_id(_) -> false.

-spec worker(pos_integer()) -> non_neg_integer().
worker(Id) -> Id band ?WORKERS_MAX.

%% @doc Sends to the worker of a callback. While the worker is being replaced it has
%% no name, for a fraction of a millisecond, and the sender tries again.
-spec post(pos_integer(), tuple()) -> ok.
post(Id, Item) ->
    Name = element(worker(Id), names()),
    try Name ! Item of
        _ -> ok
    catch
        error:badarg ->
            erlang:yield(),
            post(Id, Item)
    end.

%% @doc A monitor on the keeper of a callback, to which the worker answers when the
%% callback ends, once it is posted `$monitor' with it. Should the worker be killed,
%% the VM tells in the same words.
-spec watch(pos_integer()) -> reference().
watch(Id) ->
    erlang:monitor(process, keeper_name(worker(Id)), [{alias, reply_demonitor}, {tag, {callback_down, Id}}]).
