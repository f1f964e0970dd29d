%% @doc One run inside the VM that is measured. Its rounds are requested one by one, so that runs of several VMs can take turns.
%%
%% A process holds the cases between the calls. An error in it ends the process and becomes the exit of the call.
-module(ertslab_turns).
-behaviour(gen_server).

-export([start/2, turn/0, finish/0]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2]).

%% @doc Sets up the cases and makes the warm-up rounds.
-spec start(module(), [{Case :: non_neg_integer(), ertslab_experiment:params()}, ...]) -> ok.
start(Module, Cases) ->
    {ok, _} = gen_server:start({local, ?MODULE}, ?MODULE, {Module, Cases}, []),
    called(ready).

%% @doc Makes a round that counts.
-spec turn() -> ok.
turn() -> called(turn).

%% @doc Ends the run.
-spec finish() -> ertslab_worker:measured_cases().
finish() -> called(finish).

called(Request) -> gen_server:call(?MODULE, Request, infinity).

-spec init({module(), [{non_neg_integer(), ertslab_experiment:params()}, ...]}) -> {ok, none, {continue, term()}}.
init(Arguments) -> {ok, none, {continue, Arguments}}.

-spec handle_continue({module(), [{non_neg_integer(), ertslab_experiment:params()}, ...]}, none) -> {noreply, map()}.
handle_continue({Module, Cases}, none) ->
    Before = ertslab_readings:readings(),
    Speed = ertslab_speed_log:new(),
    Works = [{Case, Module:setup(Params)} || {Case, Params} <- Cases],
    Going = ertslab_rounds:going(Module, Works, #{}, fun() -> ertslab_speed_log:note(Speed) end),
    {noreply, #{module => Module, before => Before, speed => Speed, going => Going, native => 0}}.

-spec handle_call(ready | turn | finish, gen_server:from(), map()) ->
          {reply, ok, map()} | {stop, normal, ertslab_worker:measured_cases(), map()}.
handle_call(ready, _, State) -> {reply, ok, State};
handle_call(turn, _, #{going := Going0, native := Before} = State) ->
    Started = erlang:monotonic_time(),
    Going = ertslab_rounds:once_more(Going0),
    {reply, ok, State#{going := Going, native := Before + erlang:monotonic_time() - Started}};
handle_call(finish, _, #{module := Module, before := Before, speed := Speed, going := Going, native := Native} = State) ->
    {Samples, Done} = ertslab_rounds:values(Going),
    Facts = ertslab_worker:facts(),
    ok = ertslab_worker:torn_down(Module, Done),
    {stop, normal, #{samples => Samples, facts => Facts, measured_ms => erlang:convert_time_unit(Native, native, millisecond),
                     host => host(Before), speed => ertslab_speed_log:noted(Speed)}, State}.

%% The processor time of other processes says nothing here, since the VMs of the other arms are among them.
host(Before) -> (ertslab_readings:during(Before, ertslab_readings:readings()))#{others_ms := null}.

-spec handle_cast(term(), map()) -> {noreply, map()}.
handle_cast(_, State) -> {noreply, State}.
