%% @doc Tries a flag of a process on a live node: the process sets and unsets it in turns, while what it does is counted. Afterwards
%% all is as it was, whatever ended the trial.
-module(diagnose_try).

-export([run/2, format_error/1]).
%% For the tests.
-export([told/3]).
-export_type([options/0, flag/0, result/0, reason/0]).

-define(PROBE, diagnose_try_probe).
-define(ANSWER_MS, 5000).
-define(GRACE_MS, 5000).
%% Of a turn, that in which the heap takes its new form.
-define(SETTLE, 4).

%% process: its identifier there, as `"<0.80.0>"', or its name. pairs: of turns, one with the setting and one without, in random order.
%% for: the milliseconds of all turns. answer: those in which the process must answer. oldest: as for diagnose:node/1.
-type options() :: #{node := node(), process := string(), flag := flag(), value := term(), pairs := pos_integer(), for := pos_integer(),
                     answer => pos_integer(), oldest => file:filename()}.
-type flag() :: fullsweep_after | min_heap_size | min_bin_vheap_size | message_queue_data.
%% before, tried: the values of the flag, sizes as the VM rounds them. turns: in their order, two by two.
-type result() :: #{before := term(), tried := term(), turns := [diagnose_try_probe:turn()]}.
-type reason() :: {process, diagnose_try_probe:why()} | {waits, reason() | none} | lost | diagnose_node:reason().

%% @doc Tries it. The function gets each turn when it ends.
-spec run(options(), fun((diagnose_try_probe:turn()) -> term())) -> {ok, result()} | {error, reason()}.
run(#{node := Node, pairs := Pairs, for := Ms} = Options, Each) ->
    Turn = max(2, Ms div (2 * Pairs)),
    Settle = max(1, Turn div ?SETTLE),
    Answer = maps:get(answer, Options, ?ANSWER_MS),
    Asked = (maps:with([process, flag, value], Options))
                #{arms => lists:append([pair() || _ <- lists:seq(1, Pairs)]), settle => Settle, window => Turn - Settle, answer => Answer,
                  limit => limit(Pairs, Turn, Answer)},
    try diagnose_node:carried(Node, ?PROBE, Options) of
        Codes ->
            Until = erlang:monotonic_time(millisecond) + limit(Pairs, Turn, Answer) + 2 * Answer + ?GRACE_MS,
            case heard(diagnose_node:keeper(Node, ?PROBE, Asked, Codes), Each, 12 * Turn + 20 * Answer + ?GRACE_MS, Until, []) of
                {done, Result, Turns} -> told(Result, Turns, 2 * Pairs);
                {error, Reason} -> {error, Reason}
            end
    catch
        throw:{diagnose_node, Reason} -> {error, Reason}
    end.

%% A turn takes up to twelve times its length if the process does little. It may also have to be waited for.
limit(Pairs, Turn, Answer) -> 2 * Pairs * 12 * Turn + 20 * Answer.

pair() ->
    case rand:uniform(2) of
        1 -> [with, without];
        2 -> [without, with]
    end.

%% Limit: the milliseconds of a turn. Until: when all must have ended, whatever the turns take.
heard({Keeper, Monitor} = Running, Each, Limit, Until, Turns) ->
    receive
        {diagnose_try, Keeper, {turn, Turn}} ->
            _ = Each(Turn),
            heard(Running, Each, Limit, Until, [Turn | Turns]);
        {diagnose_try, Keeper, {done, Result}} ->
            ok = diagnose_node:ended(Monitor, ?GRACE_MS),
            {done, Result, lists:reverse(Turns)};
        %% The keeper stays there until the process has put its flag back.
        {diagnose_try, Keeper, {waits, Result}} ->
            true = demonitor(Monitor, [flush]),
            {error, {waits, why(Result)}};
        {'DOWN', Monitor, process, _, Exit} -> {error, diagnose_node:why_ended(?PROBE, Exit, lost)}
    after min(Limit, max(0, Until - erlang:monotonic_time(millisecond))) ->
            true = demonitor(Monitor, [flush]),
            {error, silent}
    end.

%% @doc The keeper waits for no connection, so that of one that is full it may lose what it tells.
-spec told({ok, map()} | {error, diagnose_try_probe:why()}, [diagnose_try_probe:turn()], pos_integer()) ->
          {ok, result()} | {error, reason()}.
told({ok, Flags}, Turns, Count) when length(Turns) =:= Count -> {ok, Flags#{turns => Turns}};
told({ok, _}, _, _) -> {error, lost};
told({error, Why}, _, _) -> {error, {process, Why}}.

why({ok, _}) -> none;
why({error, Why}) -> {process, Why}.

%% @doc An error as one sentence, without its full stop.
-spec format_error(reason()) -> string().
format_error(Reason) -> lists:flatten(sentence(Reason)).

sentence({waits, none}) -> "all turns are done, but the process does not answer in time; its flag is put back as soon as it goes on";
sentence({waits, Reason}) -> [sentence(Reason), "; its flag is put back as soon as it goes on"];
sentence({process, Why}) -> why_not(Why);
sentence(lost) -> "the flag is as it was, but the connection was full and lost what the node told";
sentence(busy) -> "somebody else tries a setting on this node at the moment; wait until that is over";
sentence(silent) -> "the node does not answer any more; there the flag is put back when the connection is seen to be cut";
sentence(nodedown) -> "the node does not answer any more; there the flag is put back when the connection is seen to be cut";
sentence({other_version, _}) ->
    "the node has another version of diagnose loaded; use that one, or remove it there: code:delete(diagnose_try_probe),"
    " code:purge(diagnose_try_probe)";
sentence(Reason) -> diagnose_wording:error(Reason).

why_not(no_process) -> "this is not a process identifier of the node; one looks like <0.80.0>";
why_not(noproc) -> "there is no such process";
why_not(died) -> "the process ended meanwhile";
why_not(sensitive) -> "the process has the flag sensitive, so the node tells nothing of what it does";
why_not(too_long) ->
    "the process is too slow or does too little for so many turns; give it fewer (--turns) or more time (--for)";
why_not(suspended) -> "the process is suspended, and does nothing that could be compared";
why_not(no_otp_process) ->
    "it is not a process of a behaviour (gen_server, gen_statem, gen_event, supervisor, or another that takes the messages of sys):"
    " it cannot be asked to set its flags";
why_not(silent) -> "the process does not answer in time: it is busy, its mailbox is long, or it is a gen_event without handlers";
why_not(traced) -> "somebody else traces the process, and only one can";
why_not(overloaded) -> "the node is overloaded: ten processes or more for each scheduler wait for their turn";
why_not(overrun) -> "the process is scheduled too often to be traced";
why_not(idle) -> "the process does next to nothing, so there is nothing to compare";
why_not(near_max_heap) -> "the process is killed beyond its max_heap_size, which the setting or its heap could come too near to";
why_not({bad_value, Value}) -> io_lib:format("the node does not take the value ~0tp", [Value]);
why_not({set_meanwhile, Value}) -> io_lib:format("the process itself has set the flag to ~0tp meanwhile, and so it stays", [Value]);
why_not({ended, Reason}) -> ["the trial ended there (", diagnose_wording:end_reason(Reason), ")"].
