%% @doc Finds the worker and the keeper of a callback from its identity.
%%
%% An identity is a number that is never used again in this VM. Its low bits are the number of the
%% worker. Workers have registered names, because sending to a name is one call: once the name is
%% gone and each scheduler has finished its current call, nothing more is sent to the process that
%% had the name.
-module(callbacks_route).

-export([open/1, close/0, workers/0, workers_max/0, worker_name/1, keeper_name/1]).
-export([id/2, is_id/1, worker/1, post/2, try_post/2, pause/0, keeper/1, watch/2, returned/3]).

-define(WORKER_BITS, 10).
-define(WORKERS_MAX, (1 bsl ?WORKER_BITS - 1)).
-define(AGAIN_MS, 1).
%% Identities are kept in a signed word.
-define(NO_ID, (1 bsl 63)).

%% @doc Publishes the names of the workers.
-spec open(pos_integer()) -> ok.
open(Workers) ->
    persistent_term:put(?MODULE, list_to_tuple([worker_name(Worker) || Worker <- lists:seq(1, Workers)])).

-spec close() -> ok.
close() ->
    _ = persistent_term:erase(?MODULE),
    ok.

%% @doc The number of workers. Fails with `callbacks_not_started' if there are none.
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
is_id(Id) when is_integer(Id), Id > 0, Id < ?NO_ID -> worker(Id) >= 1 andalso worker(Id) =< workers();
is_id(_) -> false.

-spec worker(pos_integer()) -> non_neg_integer().
worker(Id) -> Id band ?WORKERS_MAX.

%% @doc Sends to the worker of a callback. A worker that is being replaced has no name for a
%% fraction of a millisecond, or longer if its keeper is restarted. The sender then tries again.
-spec post(pos_integer(), tuple()) -> ok.
post(Id, Item) ->
    case try_post(Id, Item) of
        true -> ok;
        false ->
            %% A callback may have taken the name, or ended its worker unnoticed.
            ok = gen_server:cast(keeper_name(worker(Id)), look_after_worker),
            ok = pause(),
            post(Id, Item)
    end.

%% @doc Sends to the worker of a callback. Returns `false' if the worker has no name.
-spec try_post(pos_integer(), tuple()) -> boolean().
try_post(Id, Item) ->
    Name = element(worker(Id), names()),
    try Name ! Item of
        _ -> true
    catch
        error:badarg -> false
    end.

%% @doc Waits before the next try. Yielding is not enough: a process of high priority that only
%% yields would keep the supervisor from restarting the keeper.
-spec pause() -> ok.
pause() -> timer:sleep(?AGAIN_MS).

%% @doc The keeper of a callback. If there is none, waits for the next one.
-spec keeper(pos_integer()) -> pid().
keeper(Id) ->
    _ = names(),
    case whereis(keeper_name(worker(Id))) of
        undefined ->
            ok = pause(),
            keeper(Id);
        Keeper -> Keeper
    end.

%% @doc Makes a monitor on the keeper of a callback. Once `$monitor' is posted with this reference,
%% the worker sends a message to it when the callback ends. If the worker is killed, the VM sends a
%% message of the same form.
-spec watch(pos_integer(), pid()) -> reference().
watch(Id, Keeper) -> erlang:monitor(process, Keeper, [{alias, reply_demonitor}, {tag, {callback_down, Id}}]).

%% @doc Called by a worker that was left alone, when the callback has returned. The keeper passes on
%% what comes next. The worker stays until its mailbox has been passed on too, or its keeper ends.
-spec returned(Keeper :: pid(), pos_integer(), Next :: tuple() | done) -> ok.
returned(Keeper, Id, Next) -> gen_server:call(Keeper, {returned, Id, Next}, infinity).
