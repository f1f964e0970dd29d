%% @doc Small programs, each of which repeats one thing that Erlang programs
%% do. exp_estone measures them.
%%
%% A program does the same in every round, and returns the same number, which shows
%% that it did its work.
-module(small_programs).
-behaviour(gen_server).

-export([themes/0, rounds/1, result/1, open/1, work/3, close/2]).
-export([echo/0, exported/1, init/1, handle_call/3, handle_cast/2]).
-export_type([theme/0]).

-type theme() :: lists | small_messages | medium_messages | huge_messages | patterns | traverse | port_io
               | dataset | allocation | bifs | binaries | ets | server | integers | bignums | floats
               | calls | timers | links.
%% What a program works with: a process, a port, a table, or a term.
-type resource() :: term().

%% For each program the number of rounds that take about a millisecond, and the result of each round.
programs() ->
    #{lists => {50, 45_750}, small_messages => {750, 1}, medium_messages => {625, 30},
      huge_messages => {3, 3000}, patterns => {250, 500}, traverse => {62, 4096}, port_io => {38, 5},
      dataset => {1, 3_003_000}, allocation => {4, 20}, bifs => {6250, 14}, binaries => {75, 523_776},
      ets => {5, 125_250}, server => {500, 1}, integers => {250, 1457}, bignums => {50, 1},
      floats => {25, 3141}, calls => {25, 2584}, timers => {1250, 1}, links => {250, 1}}.

-spec themes() -> [theme(), ...].
themes() -> lists:sort(maps:keys(programs())).

%% @doc The number of rounds of a program that take about a millisecond.
-spec rounds(theme()) -> pos_integer().
rounds(Theme) ->
    #{Theme := {Rounds, _}} = programs(),
    Rounds.

%% @doc The result of each round of a program.
-spec result(theme()) -> pos_integer().
result(Theme) ->
    #{Theme := {_, Result}} = programs(),
    Result.

%% @doc Makes what a program needs, before it is timed. It belongs to the
%% calling process.
-spec open(theme()) -> resource().
open(small_messages) -> {echo_process(), 1};
open(medium_messages) -> {echo_process(), lists:seq(1, 30)};
open(huge_messages) -> {echo_process(), [{N, <<N:64>>, [N]} || N <- lists:seq(1, 3000)]};
open(patterns) -> patterns(500);
open(traverse) -> tree(12);
open(port_io) -> open_port({spawn_executable, os:find_executable("cat")}, [binary, stream]);
open(ets) -> ets:new(?MODULE, [set, private]);
open(server) ->
    {ok, Pid} = gen_server:start_link(?MODULE, [], []),
    Pid;
open(links) -> process_flag(trap_exit, true);
open(_) -> none.

echo_process() -> spawn_link(?MODULE, echo, []).

%% @doc Sends messages back.
-spec echo() -> stop.
echo() ->
    receive
        {Client, Message} -> Client ! {self(), Message}, echo();
        stop -> stop
    end.

-spec close(theme(), resource()) -> ok.
close(_, {Echo, _}) when is_pid(Echo) -> true = unlink(Echo), Echo ! stop, ok;
close(port_io, Port) -> true = port_close(Port), ok;
close(ets, Table) -> true = ets:delete(Table), ok;
close(server, Pid) -> gen_server:stop(Pid);
close(links, Flag) -> _ = process_flag(trap_exit, Flag), ok;
close(_, _) -> ok.

%% @doc The sum of the results of that many rounds.
-spec work(theme(), resource(), non_neg_integer()) -> non_neg_integer().
work(Theme, Resource, Rounds) -> work(Theme, Resource, Rounds, 0).

work(_Theme, _Resource, 0, Sum) -> Sum;
work(Theme, Resource, Left, Sum) -> work(Theme, Resource, Left - 1, Sum + round(Theme, Resource)).

round(lists, _) ->
    Up = lists:seq(1, 300),
    Both = Up ++ lists:reverse(Up),
    lists:sum(lists:usort(lists:map(fun(N) -> N end, Both))) + length(Both);
round(small_messages, {Echo, Number}) -> sent(Echo, Number);
round(medium_messages, {Echo, List}) -> length(sent(Echo, List));
round(huge_messages, {Echo, List}) -> length(sent(Echo, List));
round(patterns, Terms) -> matched(Terms, 0);
round(traverse, Tree) -> leaves(Tree, 0);
round(port_io, Port) ->
    true = port_command(Port, <<"ready">>),
    receive {Port, {data, Data}} -> byte_size(Data) end;
round(dataset, _) -> dataset(1000);
round(allocation, _) -> allocated(1000, []);
round(bifs, _) -> bifs({one, 2, "three", 4.0});
round(binaries, _) -> bytes_of(written(1024, <<>>), 0);
round(ets, Table) -> table(Table, 500);
round(server, Pid) -> gen_server:call(Pid, work);
round(integers, _) -> collatz_up_to(60, 0);
round(bignums, _) -> factorials(150);
round(floats, _) -> trunc(1000 * pi(1000));
round(calls, _) -> fibonacci(17, fun fibonacci/2);
round(timers, _) ->
    Timer = erlang:start_timer(60_000, self(), late),
    case erlang:cancel_timer(Timer) > 0 of true -> 1; false -> 0 end;
round(links, _) ->
    Pid = spawn_link(fun() -> ok end),
    receive {'EXIT', Pid, normal} -> 1 end.

sent(Echo, Message) ->
    Echo ! {self(), Message},
    receive {Echo, Back} -> Back end.

%% Terms of many kinds, each matched by one clause.
patterns(Count) ->
    Kinds = {{circle, 1}, {square, 2}, {rectangle, 3, 4}, [head, tail], #{key => value}, <<7, "rest">>, "text",
             5, atom},
    [element(N rem tuple_size(Kinds) + 1, Kinds) || N <- lists:seq(1, Count)].

matched([Term | Terms], Count) -> matched(Terms, Count + match(Term));
matched([], Count) -> Count.

match({circle, Radius}) when Radius > 0 -> 1;
match({square, Side}) when Side > 0 -> 1;
match({rectangle, Side, Other}) when Side =/= Other -> 1;
match([head | _]) -> 1;
match([$t, $e, $x, $t]) -> 1;
match(#{key := value}) -> 1;
match(<<7, _/bits>>) -> 1;
match(Number) when is_integer(Number) -> 1;
match(Atom) when is_atom(Atom) -> 1;
match(_) -> 0.

%% A tree with 2^Depth leaves.
tree(0) -> leaf;
tree(Depth) -> {tree(Depth - 1), tree(Depth - 1)}.

leaves(leaf, Count) -> Count + 1;
leaves({Left, Right}, Count) -> leaves(Right, leaves(Left, Count)).

%% Every account is changed twice, to six times its first value.
dataset(Count) ->
    Accounts = maps:from_list([{N, #{number => N, balance => N, owner => {person, N}}} || N <- lists:seq(1, Count)]),
    Doubled = times(2, Accounts),
    maps:fold(fun(_, #{balance := Balance}, Sum) -> Sum + Balance end, 0, times(3, Doubled)).

times(Factor, Accounts) ->
    maps:map(fun(_, #{balance := Balance} = Account) -> Account#{balance := Factor * Balance} end, Accounts).

%% Each list replaces the one before it, which becomes garbage except for its values.
allocated(0, Last) -> length(Last);
allocated(Left, Last) -> allocated(Left - 1, lists:sublist([{Left, [Left]} | Last], 20)).

bifs(Tuple) ->
    Changed = setelement(1, Tuple, list_to_existing_atom(atom_to_list(element(1, Tuple)))),
    tuple_size(list_to_tuple(tuple_to_list(Changed))) + length(element(3, Changed))
        + byte_size(integer_to_binary(binary_to_integer(<<"1234">>))) + abs(-map_size(#{key => Changed})).

written(0, Binary) -> Binary;
written(Left, Binary) -> written(Left - 1, <<Binary/binary, (Left - 1):16>>).

bytes_of(<<Number:16, Rest/bits>>, Sum) -> bytes_of(Rest, Sum + Number);
bytes_of(<<>>, Sum) -> Sum.

%% The table is empty again afterwards.
table(Table, Count) ->
    Keys = lists:seq(1, Count),
    true = ets:insert(Table, [{Key, 0} || Key <- Keys]),
    Sum = lists:sum([ets:update_counter(Table, Key, Key) || Key <- Keys]),
    [true = ets:delete(Table, Key) || Key <- Keys],
    Sum.

%% The total number of steps that the numbers up to this one need to reach 1.
collatz_up_to(0, Steps) -> Steps;
collatz_up_to(Number, Steps) -> collatz_up_to(Number - 1, collatz(Number, Steps)).

collatz(1, Steps) -> Steps;
collatz(Number, Steps) when Number band 1 =:= 0 -> collatz(Number bsr 1, Steps + 1);
collatz(Number, Steps) -> collatz(3 * Number + 1, Steps + 1).

%% Multiplied up, and divided back to 1.
factorials(Number) ->
    Numbers = lists:seq(1, Number),
    lists:foldl(fun(N, Product) -> Product div N end, lists:foldl(fun erlang:'*'/2, 1, Numbers), Numbers).

%% The area below 4 / (1 + x * x) from 0 to 1, summed over strips.
pi(Strips) -> area(Strips, Strips, 0.0).

area(0, Strips, Sum) -> Sum / Strips;
area(Strip, Strips, Sum) ->
    X = (Strip - 0.5) / Strips,
    area(Strip - 1, Strips, Sum + 4.0 / (1.0 + X * X)).

%% Calls of a local function, of an exported one and of a fun.
fibonacci(Number, _Fun) when Number < 2 -> 1;
fibonacci(Number, Fun) when Number rem 3 =:= 0 -> Fun(Number - 1, Fun) + fibonacci(Number - 2, Fun);
fibonacci(Number, Fun) -> fibonacci(Number - 1, Fun) + ?MODULE:exported({Number - 2, Fun}).

%% @doc The same, called from outside.
-spec exported({integer(), fun((integer(), fun()) -> pos_integer())}) -> pos_integer().
exported({Number, Fun}) -> fibonacci(Number, Fun).

-spec init([]) -> {ok, []}.
init([]) -> {ok, []}.

-spec handle_call(work, gen_server:from(), []) -> {reply, 1, []}.
handle_call(work, _From, State) -> {reply, 1, State}.

-spec handle_cast(term(), []) -> {noreply, []}.
handle_cast(_Request, State) -> {noreply, State}.
