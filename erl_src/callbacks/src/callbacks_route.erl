%% @doc From the identity of a callback to its worker and its keeper.
%%
%% An identity is a number that is unique in this VM for ever, and in its low bits
%% the number of the worker. Workers are known by registered names, as sending to a
%% name is one call: once the name is gone and each scheduler has finished the call
%% that it was in, nothing more comes to the process that had the name.
-module(callbacks_route).

-export([open/1, close/0, workers/0, workers_max/0, worker_name/1, keeper_name/1]).
-export([id/2, is_id/1, worker/1, post/2, try_post/2, pause/0, keeper/1, watch/2]).

-define(WORKER_BITS, 10).
-define(WORKERS_MAX, (1 bsl ?WORKER_BITS - 1)).
-define(AGAIN_MS, 1).

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
%% no name, for a fraction of a millisecond, and longer when its keeper is started anew; the
%% sender tries again then.
-spec post(pos_integer(), tuple()) -> ok.
post(Id, Item) ->
    case try_post(Id, Item) of
        true -> ok;
        false ->
            ok = pause(),
            post(Id, Item)
    end.

%% @doc Sends to the worker of a callback, where it has its name.
-spec try_post(pos_integer(), tuple()) -> boolean().
try_post(Id, Item) ->
    Name = element(worker(Id), names()),
    try Name ! Item of
        _ -> true
    catch
        error:badarg -> false
    end.

%% @doc Lets others go on before the next try. A process of high priority that only
%% yields would let nobody start the keeper anew.
-spec pause() -> ok.
pause() -> timer:sleep(?AGAIN_MS).

%% @doc The keeper of a callback; waits for the next one where there is none.
-spec keeper(pos_integer()) -> pid().
keeper(Id) ->
    _ = names(),
    case whereis(keeper_name(worker(Id))) of
        undefined ->
            ok = pause(),
            keeper(Id);
        Keeper -> Keeper
    end.

%% @doc A monitor on the keeper of a callback, to which the worker answers when the
%% callback ends, once it is posted `$monitor' with it. Should the worker be killed,
%% the VM tells in the same words.
-spec watch(pos_integer(), pid()) -> reference().
watch(Id, Keeper) -> erlang:monitor(process, Keeper, [{alias, reply_demonitor}, {tag, {callback_down, Id}}]).
