%% @doc What the lab has measured of the changes that findings recommend: patches of ertslab, and settings. Each figure names the
%% page that holds it, with the lines that it is taken from; a test compares them. Pure.
-module(diagnose_figures).

-export([figures/0, gain/2]).
-export_type([figure/0, gain/0]).

%% says: a sentence without its full stop. rows: what the page has, word for word.
-type figure() :: #{says := binary(), date := binary(), machine := binary(), page := binary(), rows := [binary(), ...]}.
%% proof: measures the same here, by the shape and the size of what was found.
-type gain() :: #{figure := figure(), proof := diagnose_proof:proof()}.

-define(WORD, 8).
%% Bounds of the parameters of the experiments.
-define(CELLS, {1000, 20_000_000}).
-define(VALUE_WORDS, {0, 1000}).
-define(SIZE, {1, 10_000_000}).
-define(DEPTH, {1, 10_000_000}).
-define(SETTING, {0, 100_000_000}).
%% Cells as many as this fit into no cache; beside that, lists of 300,001 and of 3,000,001 cells were measured.
-define(MANY_CELLS, 1_000_000).
%% Between the sizes that were measured, 20,000 and 200,000 words.
-define(LARGE_WORDS, 63_000).
%% Fewer messages fit into the caches: no patch made a receive faster that goes by them.
-define(MANY_MESSAGES, 50_000).

%% @doc All of them.
-spec figures() -> [{Name :: atom(), figure()}].
figures() ->
    [{spread_3m, xeon(<<"2026-11-24 and 25">>, <<"doc/results/2026-11-24-xeon.md">>,
                      "length/1 of 3,000,001 cells, each of which holds a tuple of 14, needs 54.1 ms after hibernation on stock OTP 29,"
                      " and 5.05 ms with ertslab's patches (tuned): 91 % less (ratio 0.093, 0.091 to 0.095)",
                      [<<"--otp 29 --vm stock,tuned --param cells=3000001 --param value_words=14">>,
                       <<"| hibernated | 54.1 ms | 5.05 ms | 0.093 (0.091 to 0.095) |">>])},
     {spread_300k, xeon(<<"2026-11-22">>, <<"doc/results/2026-11-22-xeon.md">>,
                        "with ertslab's patches (tuned), length/1 of 300,001 cells, each of which holds a tuple of 14, needs 88 % less"
                        " time after hibernation than on stock OTP 29 (ratio 0.12, 0.11 to 0.13)",
                        [<<"--otp 29 --vm stock,tuned --param cells=300001,3000001 --param value_words=14">>,
                         <<"| 300,001 | 0.40 (0.39 to 0.42) | 0.95 to 1.03 | 0.12 (0.11 to 0.13) |">>])},
     {sweep_20k, xeon(<<"2026-11-24 and 25">>, <<"doc/results/2026-11-24-xeon.md">>,
                      "with ertslab's patches (tuned), full sweeps of heaps of 20,000 words need 23 % less time than on stock (ratio 0.772,"
                      " 0.769 to 0.775), and minor collections 27 % less (0.732, 0.729 to 0.734): means of 18 kinds of heap, OTP 29",
                      [<<"--otp 29 --vm stock,store_order,tuned --param size=20000">>,
                       <<"| 20,000 words | `tuned`, mean of 18 kinds of heap |">>,
                       <<"| full sweep | 0.772 (0.769 to 0.775) |">>, <<"| minor collection | 0.732 (0.729 to 0.734) |">>])},
     {sweep_200k, xeon(<<"2026-11-24 and 25">>, <<"doc/results/2026-11-24-xeon.md">>,
                       "with ertslab's patches (tuned), full sweeps of heaps of 200,000 words need 16 % less time than on stock"
                       " (ratio 0.841, 0.831 to 0.851), and minor collections 15 % less (0.848, 0.836 to 0.859): means of 18 kinds of heap,"
                       " OTP 29; larger heaps were not measured",
                       [<<"--otp 29 --vm stock,store_order,tuned">>, <<"200,000 words">>, <<"mean of 18 kinds of heap">>,
                        <<"`--vm stock,tuned --param size=200000 --pairs 20` (3:02)">>, <<"| 0.848 (0.836 to 0.859) |">>,
                        <<"| 0.841 (0.831 to 0.851) |">>])},
     {scan_proc_lib, scan("proc_lib:start_link", <<"| `proc_lib:start_link` | 4.1 / 208,869 | 4.2 / 4.4 |">>, "208,869", "4.4")},
     {scan_disk_log, scan("disk_log:log", <<"| `disk_log:log` | 2.9 / 101,736 | 3.0 / 1.8 |">>, "101,736", "1.8")},
     {scan_code, scan("code:get_path", <<"| `code:get_path` | 9.4 / 94,900 | 10.2 / 10.3 |">>, "94,900", "10.3")},
     {scan_recv, scan("gen_tcp:send and recv", <<"| `gen_tcp:send` and `recv` | 12 / 90,955 | 12 / 12 |">>, "90,955", "12")},
     {passed_by, epyc(<<"2026-11-22">>, <<"doc/results/2026-11-22-epyc.md">>,
                      "with ertslab's patches (tuned), a receive goes by 100,000 messages off the heap in 42 % less time than on stock"
                      " (ratio 0.579, 0.537 to 0.660) if one process sent them; if 100 did, or on the heap, no difference was seen",
                      [<<"| 100,000, 1 | off it | 9.9 ns | 0.570 (0.532 to 0.646) | 0.579 (0.537 to 0.660) |">>,
                       <<"| 100,000, 100 | off it | 6.9 ns | 0.997 (0.826 to 1.183) | 0.966 (0.863 to 1.056) |">>])},
     {queue_off, epyc(<<"2026-11-23">>, <<"doc/results/2026-11-23-epyc.md">>,
                      "a receiver that collects after each 1,000 of 20,000 messages of 10 senders needed 42 % less time off the heap"
                      " than on it (ratio 0.58, 0.50 to 0.92, 6 pairs)",
                      [<<"20,000 messages of long-lived senders">>, <<"collects after each 1,000. Off the heap to on it, 6 pairs">>,
                       <<"| receiver | time of a message, 10 senders |">>, <<"| `collecting` | 0.58 (0.50 to 0.92) |">>])},
     {queue_on, epyc(<<"2026-11-22">>, <<"doc/results/2026-11-22-epyc.md">>,
                     "a receive went by one of 100,000 messages of one sender in 5.4 ns on the heap, and in 9.9 ns off it, stock OTP 29",
                     [<<"--otp 29 --vm stock,scan,tuned">>, <<"| 100,000, 1 | on the heap | 5.4 ns |">>,
                      <<"| 100,000, 1 | off it | 9.9 ns |">>])},
     {hibernates, counted("a session that hibernates after each batch of messages copied 22.2 times as many words, and after every tenth"
                          " 2.96 times as many, as one that does not",
                          <<"| `session` | 0.99, 0.63 | 0.88, 1.03 | no effect | 1.07, 1.05 | 22.2, 0.21 | 2.96, 0.55 |">>)},
     {promoted, counted("with fullsweep_after 0 a process that keeps binaries until they are confirmed (a writer) held 0.52 of the bytes,"
                        " and copied 1.14 times as many words",
                        <<"| `writer` | 1.14, 0.52 |">>)},
     {small_start, counted("requests of which each has a process copied 0 words with a min_heap_size of 10,000, and held 4.24 times the"
                           " bytes",
                           <<"| `request` | 0.93, 0.71 | 0, 4.24 |">>)},
     {binary_pressure, counted("with a min_bin_vheap_size of 1,000,000 a queue of messages of 64,000 bytes copied 0.78 of the words,"
                               " and held 1.16 times the bytes",
                               <<"| `queue_64k` | 1.46, 0.58 | 0.88, 1.09 | 0.78, 1.16 |">>)}].

xeon(Date, Page, Says, Rows) -> figure(Date, <<"2 cores of an Intel Xeon, virtual">>, Page, Says, Rows).

epyc(Date, Page, Says, Rows) -> figure(Date, <<"2 cores of an AMD EPYC, virtual">>, Page, Says, Rows).

counted(Says, Row) ->
    epyc(<<"2026-11-26">>, <<"doc/collections.md">>, [Says, ": counted, OTP 27"],
         [Row, <<"| process | `fullsweep_after` 0 | `min_heap_size` 10,000 | `min_bin_vheap_size` 1,000,000 |">>, <<"stock OTP 27">>,
          <<"| `queue_64k` | a queue of 40 messages of 64,000 bytes |">>]).

scan(Call, Row, Stock, Tuned) ->
    epyc(<<"2026-11-21">>, <<"doc/results/2026-11-21-epyc.md">>,
         ["with a million messages waiting, ", Call, " took ", Stock, " us on stock OTP 29, and ", Tuned, " us with ertslab's patches"
          " (tuned), on a machine with one busy core"],
         [Row, <<"| call | stock 29 | tuned 29 |">>]).

figure(Date, Machine, Page, Says, Rows) ->
    #{says => unicode:characters_to_binary(Says), date => Date, machine => Machine, page => Page, rows => Rows}.

%% @doc What the lab measured of what helps against such a finding, and how to measure it here by its shape and its size.
-spec gain(Kind :: atom(), #{atom() => term()}) -> gain() | none.
%% Each cell has a value beside it, which the patches put elsewhere.
gain(spread_list, #{cells := Cells, mean_bytes := Mean}) ->
    gain_by(case Cells >= ?MANY_CELLS of true -> spread_3m; false -> spread_300k end,
            diagnose_proof:compare(<<"hibernate">>, [{cells, within(Cells, ?CELLS)},
                                                     {value_words, within(round(Mean / ?WORD) - 3, ?VALUE_WORDS)}]));
gain(long_collection, #{hibernates := true}) -> counted_by(hibernates, session, {hibernate_after, [0, 1, 10]});
gain(long_collection, #{heap_bytes := Bytes}) when is_integer(Bytes) -> collections(Bytes);
gain(needless_full_sweeps, #{left_bytes := Bytes}) -> collections(Bytes);
gain(promoted_garbage, #{}) -> counted_by(promoted, writer, {fullsweep_after, [-1, 0]});
gain(small_start, #{last_bytes := Bytes}) ->
    counted_by(small_start, request, {min_heap_size, [0, within(Bytes div ?WORD, ?SETTING)]});
gain(binary_pressure, #{memory_bytes := Bytes}) ->
    counted_by(binary_pressure, queue_64k, {min_bin_vheap_size, [0, within(Bytes div ?WORD, ?SETTING)]});
gain(message_queue_data, #{queue := on_heap}) -> queue(queue_off, collecting);
gain(message_queue_data, #{queue := off_heap}) -> queue(queue_on, selective);
gain(scanning_receive, #{receive_in := Function, queue := Queue, messages := Depth}) ->
    case [{Name, Call} || {Prefix, Name, Call} <- calls(), string:prefix(Function, Prefix) =/= nomatch] of
        [{Name, Call}] -> gain_by(Name, diagnose_proof:compare(<<"library_calls">>, [{call, Call}, {depth, within(Depth, ?DEPTH)}]));
        [] when Queue =:= off_heap, Depth >= ?MANY_MESSAGES ->
            gain_by(passed_by, diagnose_proof:compare(<<"mailbox_scan">>, [{depth, within(Depth, ?DEPTH)}]));
        [] -> none
    end;
gain(_, _) -> none.

%% Receives of OTP that wait for a reply without a reference, on stock.
calls() ->
    [{"proc_lib:sync_start", scan_proc_lib, proc_lib_start}, {"disk_log:monitor_request/", scan_disk_log, disk_log},
     {"code_server:call/", scan_code, code_path}, {"prim_inet:recv0/", scan_recv, recv}].

collections(Bytes) ->
    Words = Bytes div ?WORD,
    gain_by(case Words >= ?LARGE_WORDS of true -> sweep_200k; false -> sweep_20k end,
            diagnose_proof:compare(<<"gc_shapes">>, [{size, within(Words, ?SIZE)}])).

counted_by(Name, Process, Over) -> gain_by(Name, diagnose_proof:sweep(<<"collection_counts">>, [Over, {process, Process}])).

queue(Name, Receiver) ->
    gain_by(Name, diagnose_proof:sweep(<<"message_queue_data">>, [{queue, [on_heap, off_heap]}, {receiver, Receiver}])).

gain_by(Name, Proof) ->
    {Name, Figure} = lists:keyfind(Name, 1, figures()),
    #{figure => Figure, proof => Proof}.

within(Number, {Least, Most}) -> max(Least, min(Most, Number)).
