%% @doc Samples a process of another node: how deep its mailbox is, how large its messages are, and how often it
%% collects garbage. It only calls functions that every Erlang node has, so it loads no code there and traces nothing.
-module(ertslab_mailbox_samples).

-export([watch/3, summary/1]).
-export_type([look/0, summary/0]).

-type look() :: #{at_ms := integer(), depth := non_neg_integer(), collections := non_neg_integer(),
                  reductions := non_neg_integer(), old_heap := non_neg_integer() | unknown,
                  queue := on_heap | off_heap, words := [non_neg_integer()]}.
%% `words' are sizes of messages. The list is empty if the mailbox was too deep to be copied.
-type summary() :: #{queue := on_heap | off_heap, looks := pos_integer(), seconds := float(),
                     depth := non_neg_integer(), deepest := non_neg_integer(),
                     message_words := non_neg_integer() | unknown,
                     collections := non_neg_integer(), full_sweeps := non_neg_integer(),
                     reductions := non_neg_integer()}.
%% `depth' and `message_words' are medians. `collections' and `full_sweeps' are lower bounds, because some happen
%% unseen between looks.

%% A deeper mailbox is not copied to determine the sizes of its messages.
-define(COPIED, 100).
-define(DEEP, 1000).
-define(BETWEEN_MS, 50).
-define(CALL_MS, 5000).

%% @doc Looks at the process for that many milliseconds. Returns `noproc' if it ended before the second look. A node
%% that does not answer raises an error of `erpc'.
-spec watch(node(), pid(), pos_integer()) -> {ok, [look(), ...]} | noproc.
watch(Node, Pid, Milliseconds) ->
    looks(Node, Pid, now_ms() + Milliseconds, []).

looks(Node, Pid, Until, Looks) ->
    case {look(Node, Pid), Looks} of
        {undefined, [_, _ | _]} -> {ok, lists:reverse(Looks)};
        {undefined, _} -> noproc;
        {#{at_ms := At} = Look, [_ | _]} when At >= Until -> {ok, lists:reverse(Looks, [Look])};
        {Look, _} ->
            timer:sleep(?BETWEEN_MS),
            looks(Node, Pid, Until, [Look | Looks])
    end.

look(Node, Pid) ->
    Items = [message_queue_len, message_queue_data, garbage_collection, reductions],
    case erpc:call(Node, erlang, process_info, [Pid, Items], ?CALL_MS) of
        undefined -> undefined;
        [{_, Depth}, {_, Queue}, {_, Collection}, {_, Reductions}] ->
            #{at_ms => now_ms(), depth => Depth, queue => Queue, reductions => Reductions,
              collections => proplists:get_value(minor_gcs, Collection),
              old_heap => old_heap(Node, Pid, Depth), words => words(Node, Pid, Depth)}
    end.

%% To answer this the VM walks all messages, too. So it is not asked about a deep mailbox, and some full sweeps remain
%% unseen.
old_heap(Node, Pid, Depth) when Depth < ?DEEP ->
    case erpc:call(Node, erlang, process_info, [Pid, garbage_collection_info], ?CALL_MS) of
        {_, Heaps} -> proplists:get_value(old_heap_size, Heaps);
        undefined -> unknown
    end;
old_heap(_Node, _Pid, _Depth) -> unknown.

words(Node, Pid, Depth) when Depth > 0, Depth =< ?COPIED ->
    case erpc:call(Node, erlang, process_info, [Pid, messages], ?CALL_MS) of
        {messages, Messages} -> [erts_debug:flat_size(Message) || Message <- Messages];
        undefined -> []
    end;
words(_Node, _Pid, _Depth) -> [].

now_ms() -> erlang:monotonic_time(millisecond).

%% @doc The summary of all looks.
-spec summary([look(), ...]) -> summary().
summary([First | _] = Looks) ->
    Last = lists:last(Looks),
    Depths = [Depth || #{depth := Depth} <- Looks],
    {Minor, Full} = collections(Looks),
    #{queue => maps:get(queue, Last), looks => length(Looks),
      seconds => (maps:get(at_ms, Last) - maps:get(at_ms, First)) / 1000,
      depth => middle(Depths), deepest => lists:max(Depths),
      message_words => message_words(lists:append([Words || #{words := Words} <- Looks])),
      collections => Minor + Full, full_sweeps => Full,
      reductions => maps:get(reductions, Last) - maps:get(reductions, First)}.

message_words([]) -> unknown;
message_words(Words) -> middle(Words).

%% Of two values in the middle the upper one, so that the result is a value that was observed.
middle(Values) -> lists:nth(length(Values) div 2 + 1, lists:sort(Values)).

%% The VM counts minor collections since the last full sweep. If the count falls, there was a full sweep, followed by
%% that many minor ones.
collections(Looks) ->
    Counts = [{Count, Old} || #{collections := Count, old_heap := Old} <- Looks],
    lists:foldl(fun({Before, After}, Sum) -> add(between(Before, After), Sum) end, {0, 0},
                lists:zip(lists:droplast(Counts), tl(Counts))).

between({Before, _}, {After, _}) when After > Before -> {After - Before, 0};
between({Before, _}, {After, _}) when After < Before -> {After, 1};
between({_, unknown}, _) -> {0, 0};
between(_, {_, unknown}) -> {0, 0};
between({_, Old}, {_, Old}) -> {0, 0};
%% The same count with another old heap: there was a full sweep, followed by as many minor collections as before it.
between({Same, _}, {Same, _}) -> {Same, 1}.

add({A, B}, {C, D}) -> {A + C, B + D}.
