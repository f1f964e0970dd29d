%% One of 300 entities fails each time after it was started. Their supervisor allows three failures in five seconds: at the fourth it ends
%% with all of them, and a manager adds all again.
-module(sick).
-behaviour(supervisor).
-export([start/0, init/1, start_sup/0, start_entity/1, entity/1, manages/0]).

start() ->
    ok = logger:set_primary_config(level, none),
    {ok, Top} = supervisor:start_link({local, homes_sup}, ?MODULE, top),
    true = unlink(Top),
    ok = persistent_term:put(turns, counters:new(1, [])),
    _ = spawn(?MODULE, manages, []),
    has_ended_twice().

has_ended_twice() ->
    case counters:get(persistent_term:get(turns), 1) of
        Turns when Turns >= 2 -> ok;
        _ ->
            timer:sleep(50),
            has_ended_twice()
    end.

manages() ->
    Monitor = monitor(process, entity_sup),
    catch [{ok, _} = supervisor:start_child(entity_sup, [N]) || N <- lists:seq(1, 300)],
    receive {'DOWN', Monitor, process, _, _} -> ok = counters:add(persistent_term:get(turns), 1, 1) end,
    timer:sleep(100),
    manages().

start_sup() -> supervisor:start_link({local, entity_sup}, ?MODULE, entities).

init(top) -> {ok, {#{intensity => 1000, period => 1}, [#{id => entities, type => supervisor, start => {?MODULE, start_sup, []}}]}};
init(entities) ->
    {ok, {#{strategy => simple_one_for_one, intensity => 3, period => 5}, [#{id => entity, start => {?MODULE, start_entity, []}}]}}.

start_entity(N) ->
    timer:sleep(1),
    {ok, proc_lib:spawn_link(?MODULE, entity, [N])}.

entity(N) ->
    timer:sleep(100),
    _ = convert(unit(N)),
    receive never -> N end.

unit(13) -> none;
unit(_) -> celsius.

convert(celsius) -> 20.0.
