%% @doc A process that makes terms and has them collected, step by step, and
%% checks after each collection whether they are unchanged.
%%
%% The reference is kept out of the collector's reach: in the external format,
%% in a table, with two sizes. The flat size counts shared parts each time,
%% the other size counts them once, as in memory. Together
%% they reveal a collector that copies something twice. The second size leaves literals
%% out, so it says nothing any more once literals are being freed.
-module(term_graph_owner).

-export([run/1, note/1, words/1, awake/1]).
-export_type([program/0, size/0, option/0, step/0]).

-type program() :: {size(), [option()], [step()]}.
-type size() :: small | large.
-type option() :: {message_queue_data, on_heap | off_heap} | {min_heap_size, pos_integer()}
                | {fullsweep_after, non_neg_integer()}.
-type step() ::
        {make, term_graph:node_()}       % on the heap
      | {dictionary, term_graph:node_()} % held by the process dictionary
      | {literal, term_graph:node_()}    % as a persistent term
      | {decode, term_graph:node_()}     % in a heap fragment, if the heap is full
      | {message, term_graph:node_()}    % a message that is received at once
      | {mailbox, term_graph:node_()}    % one that waits until `receive_all'
      | receive_all
      | {forget, non_neg_integer()}
      | purge                            % the persistent terms are erased and their literals freed
      | collecting()
      | {under, term_graph_others:deed(), collecting() | purge} % while others do that to the process
      | {kill, term_graph_others:deed(), non_neg_integer()}. % another that holds a term made before
-type collecting() ::
        minor | major | hibernate
      | {deep, pos_integer()}.           % so many stack frames, and what collections they cause
-type todo() :: step() | {stop, Doer :: pid()}.

-type state() :: #{size := size(), table := ets:table(), helper := pid(), next := pos_integer(),
                   held := [{Id :: pos_integer(), term()}], in_dictionary := [Id :: pos_integer()],
                   literals := [Id :: pos_integer()], waiting := [Id :: pos_integer()],
                   freeing := boolean()}.

-define(LIMIT_MS, 300_000).
-define(FRAME_WORDS, 30).

%% @doc Runs a program in a process of its own: `ok', or how it ended.
-spec run(program()) -> ok | {damaged, map()} | {died, term()} | hung.
run({Size, Options, Steps}) ->
    {Owner, Monitor} = spawn_opt(fun() -> steps(Steps, new(Size)) end, [monitor | Options]),
    receive
        {'DOWN', Monitor, process, Owner, normal} -> ok;
        {'DOWN', Monitor, process, Owner, {damaged, What}} -> {damaged, What};
        {'DOWN', Monitor, process, Owner, Reason} -> {died, Reason}
    after ?LIMIT_MS ->
            demonitor(Monitor, [flush]),
            exit(Owner, kill),
            hung
    end.

%% @doc The largest flat size of a term. Repeated sharing soon makes terms that are larger than all
%% memory when flat. The longest spine of a large program is 131,072 pairs, five words each.
-spec words(size()) -> pos_integer().
words(small) -> 4_000;
words(large) -> 700_000.

-spec new(size()) -> state().
new(Size) ->
    Owner = self(),
    #{size => Size, table => ets:new(?MODULE, []), helper => spawn_link(fun() -> helper(Owner) end),
      next => 1, held => [], in_dictionary => [], literals => [], waiting => [], freeing => false}.

-spec steps([todo()], state()) -> ok.
steps([], State) ->
    #{helper := Helper} = All = checked('end', receive_all(State)),
    _ = erase_literals(All),
    unlink(Helper),
    exit(Helper, kill),
    ok;
steps([hibernate | Steps], State) ->
    #{helper := Helper} = Empty = receive_all(State),
    Helper ! wake_when_hibernated,
    erlang:hibernate(?MODULE, awake, [{Steps, Empty}]);
steps([{under, Deed, Step} | Steps], State) ->
    Doer = term_graph_others:start(Deed),
    steps([Step, {stop, Doer} | Steps], State);
steps([{stop, Doer} | Steps], State) ->
    ok = term_graph_others:stop(Doer),
    steps(Steps, State);
steps([Step | Steps], State) -> steps(Steps, step(Step, State)).

%% @private
-spec awake({[todo()], state()}) -> ok.
awake({Steps, State}) ->
    receive awake -> ok end,
    steps(Steps, checked(hibernate, State)).

step({make, Node}, State) -> hold(built(Node, State), State);
step({decode, Node}, State) -> hold(binary_to_term(term_to_binary(built(Node, State))), State);
step({dictionary, Node}, #{next := Id, in_dictionary := Ids} = State) ->
    Term = built(Node, State),
    undefined = put({?MODULE, Id}, Term),
    noted(Id, Term, State#{in_dictionary := [Id | Ids]});
step({literal, Node}, #{next := Id, literals := Ids} = State) ->
    ok = persistent_term:put(literal_key(Id), built(Node, State)),
    hold(persistent_term:get(literal_key(Id)), State#{literals := [Id | Ids]});
step({message, Node}, State) -> receive_one(sent(Node, State));
step({mailbox, Node}, State) -> sent(Node, State);
step(receive_all, State) -> checked(receive_all, receive_all(State));
step({forget, N}, State) -> forgotten(N, State);
step(purge, #{literals := []} = State) -> State;
step(purge, #{literals := Ids, held := Held} = State) ->
    Freeing = erase_literals(State),
    ok = await_moved([Term || {Id, Term} <- Held, lists:member(Id, Ids)]),
    checked(purge, Freeing);
step({kill, _, _}, #{held := []} = State) -> State;
step({kill, Deed, N}, #{held := Held} = State) ->
    {_, Term} = lists:nth(N rem length(Held) + 1, Held),
    ok = term_graph_others:kill_under(Deed, Term),
    State;
step({deep, Frames}, State) ->
    ok = deep(Frames, last(State)),
    checked(deep, State);
step(Type, State) when Type =:= minor; Type =:= major ->
    true = garbage_collect(self(), [{type, Type}]),
    checked(Type, State).

built(Node, #{held := Held, size := Size}) ->
    Term = term_graph:build(Node, [Term || {_, Term} <- Held]),
    case erts_debug:flat_size(Term) =< words(Size) of
        true -> Term;
        false -> too_large
    end.

%% Terms that are held, and recorded for the comparison

hold(Term, #{next := Id, held := Held} = State) -> noted(Id, Term, State#{held := [{Id, Term} | Held]}).

noted(Id, Term, #{table := Table} = State) ->
    true = ets:insert(Table, {Id, note(Term)}),
    State#{next := Id + 1}.

%% @doc The data that is compared: the external format, the flat size and the size, in words.
-spec note(term()) -> {binary(), non_neg_integer(), non_neg_integer()}.
note(Term) -> {term_to_binary(Term), erts_debug:flat_size(Term), erts_debug:size_shared(Term)}.

terms(#{held := Held, in_dictionary := Ids}) -> Held ++ [{Id, get({?MODULE, Id})} || Id <- Ids].

forgotten(_, #{held := []} = State) -> State;
forgotten(N, #{held := Held, table := Table} = State) ->
    {Id, _} = lists:nth(N rem length(Held) + 1, Held),
    true = ets:delete(Table, Id),
    State#{held := lists:keydelete(Id, 1, Held)}.

%% Also checks that no term is missing, since a collector could lose a whole term.
checked(After, #{table := Table, waiting := Waiting, freeing := Freeing} = State) ->
    IsSame = case Freeing of
                 true -> fun is_same_flat/2;
                 false -> fun(Now, Then) -> Now =:= Then end
             end,
    Terms = terms(State),
    length(Terms) + length(Waiting) =:= ets:info(Table, size) orelse damaged(After, lost, State),
    _ = [is_noted(Id, Term, Table, IsSame) orelse damaged(After, Id, State) || {Id, Term} <- Terms],
    State.

is_noted(Id, Term, Table, IsSame) ->
    case ets:lookup(Table, Id) of
        [{Id, Then}] -> IsSame(note(Term), Then);
        [] -> false
    end.

is_same_flat({Format, Flat, _}, {Format, Flat, _}) -> true;
is_same_flat(_, _) -> false.

-spec damaged(atom(), pos_integer() | lost, state()) -> no_return().
damaged(After, Id, #{table := Table} = State) ->
    Was = [Note || {_, Note} <- ets:lookup(Table, Id)],
    Is = [note(Term) || {I, Term} <- terms(State), I =:= Id],
    exit({damaged, #{'after' => After, id => Id, was => readable(Was), is => readable(Is)}}).

readable(Notes) -> [{binary_to_term(Format), Flat, Size} || {Format, Flat, Size} <- Notes].

%% Messages go through the helper, so that they come from another process.

sent(Node, #{helper := Helper, next := Id, waiting := Waiting} = State) ->
    Term = built(Node, State),
    Helper ! {return, Id, Term},
    noted(Id, Term, State#{waiting := [Id | Waiting]}).

receive_one(#{waiting := [Id | Waiting], held := Held, table := Table} = State) ->
    Term = receive {returned, Id, T} -> T end,
    %% A message is a copy with less sharing than the sent term.
    is_noted(Id, Term, Table, fun is_same_flat/2) orelse damaged(message, Id, State#{held := [{Id, Term}]}),
    true = ets:insert(Table, {Id, note(Term)}),
    State#{waiting := Waiting, held := [{Id, Term} | Held]}.

receive_all(#{waiting := []} = State) -> State;
receive_all(State) -> receive_all(receive_one(State)).

helper(Owner) ->
    receive
        {return, Id, Term} -> Owner ! {returned, Id, Term};
        wake_when_hibernated -> wake(Owner)
    end,
    helper(Owner).

%% Messages from others can keep the owner from hibernating for long; then it is already awake.
wake(Owner) ->
    case cons_spacing_report:hibernates(Owner) orelse is_awake(Owner) of
        true -> Owner ! awake;
        false ->
            true = erlang:yield(),
            wake(Owner)
    end.

is_awake(Owner) -> process_info(Owner, current_function) =:= {current_function, {?MODULE, awake, 1}}.

%% Literals

literal_key(Id) -> {?MODULE, self(), Id}.

erase_literals(#{literals := Ids} = State) ->
    true = lists:all(fun(Id) -> persistent_term:erase(literal_key(Id)) end, Ids),
    State#{literals := [], freeing := true}.

%% The VM frees literals in the background, after each process that refers to
%% them has moved them to its heap. This does not wait with a time-out, since OTP 29 loses
%% a time-out that expires while the process is suspended, and then waits for ever.
await_moved(Terms) ->
    case [Term || Term <- Terms, erts_debug:flat_size(Term) > 0, erts_debug:size_shared(Term) =:= 0] of
        [] -> ok;
        [_ | _] = Literals ->
            true = erlang:yield(),
            await_moved(Literals)
    end.

%% Each frame holds a term of its own and the latest term.
deep(0, _Last) -> ok;
deep(Frames, Last) ->
    Own = {erlang:make_tuple(?FRAME_WORDS, Frames), Last},
    ok = deep(Frames - 1, Last),
    {Tuple, Same} = Own,
    Frames = element(?FRAME_WORDS, Tuple),
    true = erts_debug:same(Same, Last),
    ok.

last(#{held := [{_, Term} | _]}) -> Term;
last(#{held := []}) -> none.
