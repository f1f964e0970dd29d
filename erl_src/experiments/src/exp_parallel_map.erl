%% @doc A parallel map with a process for each element. The results wait in a
%% mailbox on the heap or off it.
%%
%% `sweep --over queue=on_heap,off_heap' compares the two, and
%% `report --format iterations' makes the table of the article.
-module(exp_parallel_map).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([map_all/3]).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a parallel map, on_heap and off_heap",
      shows => "the effect of message_queue_data on a process to which many short-lived ones reply",
      origin => "zacky1972 on message_queue_data, Qiita 2021: a parallel map in three sizes",
      vms => [<<"stock">>, <<"stock_copy">>, <<"tuned">>],
      parameters =>
          [#{name => elements, min => 1, max => 200_000,
             quick => [1000, 10_000], full => [1000, 10_000, 100_000],
             doc => "elements of the list, each with a process of its own"},
           #{name => queue, 'of' => [on_heap, off_heap], quick => [on_heap], full => [on_heap],
             doc => "the message_queue_data of the process that maps"},
           #{name => scope, 'of' => [receiver, all], quick => [receiver], full => [receiver],
             doc => "whose setting it is: all is as +hmqd"}],
      metrics =>
          [#{name => map, doc => "mapping the whole list"},
           #{name => memory, unit => bytes, doc => "memory of the mapping process at the end, before a collection"}],
      contrasts => [],
      overall => true,
      estimator => typical,
      rounds => metrics,
      warm_up => 1,
      iterations => 1,
      timeout_ms => 300_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{elements := Elements} = Options) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    Options#{list => lists:seq(1, Elements)}.

-spec prepare(atom(), map()) -> map().
prepare(_, State) -> State.

%% Each map runs in a fresh process of the default size.
-spec run(atom(), map()) -> {integer(), integer()}.
run(Metric, #{list := List, queue := Queue, scope := Scope}) ->
    Others = maps:get(Scope, #{receiver => on_heap, all => Queue}),
    Mapper = spawn_opt(?MODULE, map_all, [self(), List, Others], [link, {message_queue_data, Queue}]),
    receive {Mapper, Time, Memory, Mapped} -> {maps:get(Metric, #{map => Time, memory => Memory}), lists:sum(Mapped)} end.

%% @doc The process that maps.
-spec map_all(pid(), [integer()], on_heap | off_heap) -> term().
map_all(Client, List, Queue) ->
    {Time, Mapped} = ertslab_experiment:timed(fun() -> parallel_map(fun square/1, List, Queue) end),
    {memory, Memory} = process_info(self(), memory),
    Client ! {self(), Time, Memory, Mapped}.

%% Results are received in the order of the list.
parallel_map(Fun, List, Queue) ->
    Parent = self(),
    Pids = [spawn_opt(fun() -> Parent ! {self(), Fun(Element)} end, [{message_queue_data, Queue}]) || Element <- List],
    [receive {Pid, Mapped} -> Mapped end || Pid <- Pids].

square(Element) -> Element * Element.

-spec verify(atom(), integer(), map()) -> ok | {wrong, term()}.
verify(_, Sum, #{elements := N}) -> ertslab_experiment:expect(N * (N + 1) * (2 * N + 1) div 6, Sum).

-spec teardown(map()) -> ok.
teardown(_) -> ok.
