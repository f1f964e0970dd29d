%% @doc A fixed piece of work whose time shows how fast the machine is just now.
%% A measured VM does it again and again. (`ertslab_speeds' says what the times mean.)
%%
%% The work is sums over bytes that a binary pattern takes apart. This is compiled code that
%% keeps many of a core's units busy, so it slows down as soon as the core's other
%% hardware thread works. Its bytes fit in a core's first cache, so what the VM did
%% before hardly matters: after a walk through 4 MB it took 9 % more, and the next time
%% nothing more. It leaves a few words of garbage, and calls nothing that a patch of
%% the project changes: at full speed `tuned' needed what stock did, to 0.1 %, on
%% OTP 27 and on 29.
%%
%% The table shows what was tried. Each candidate took turns with a full collection of a process that
%% holds lists:seq(1, 10000), 30,000 times in 40 s (OTP 29.1.1, a virtual machine with 2
%% cores of a Xeon, family 6, model 207, with busy neighbours). The first column is the time at the
%% slow speed divided by that at the fast one, the second the correlation with the
%% collection (of the logs, by medians of 5 ms):
%%
%% ```
%% the collection itself                    1.17
%% this                                     1.73  0.91
%% crc32/1 of 64 KB                         1.75  0.91  after that walk 24 % more
%% =:= of equal tuples, 77 KB               1.51  0.92
%% < of equal tuples, 77 KB                 1.45  0.90
%% term_to_binary/1 of 500 tuples           1.53  0.92  makes garbage
%% phash2/1 of tuples                       1.53  0.91  by chance 7 % from time to time
%% erts_debug:flat_size/1 of tuples         1.52  0.90
%% maps:fold/3 of 1,000 pairs               1.81  0.89  makes garbage; by chance 8 %
%% four sums in a loop of 3,500 calls       1.48  0.83
%% phash2/1 of a binary                     1.26  0.86
%% md5/1, adler32/1 of a binary             1.19  0.86, 0.85
%% external_size/1 of tuples                1.13  0.87
%% binary:copy/2 to 256 KB                  1.63  0.83  makes garbage
%% the sum of a list of 2,000               1.31  0.74  waits for the list
%% map patterns, two keys of 32             1.32  0.81
%% '''
%%
%% A chain of multiplications, each of which waits for the one before, had ups and downs
%% of its own (correlation 0.2 on OTP 27). A busy loop on the machine's other core
%% changed nothing there (0.93 to 1.07 in three tries): the other thread of each core
%% belonged to someone else. If it belongs to the same machine, such a loop slows everything down.
-module(ertslab_speed_probe).

-export([new/0, run/1, repeated/1]).
-export_type([probe/0]).

-opaque probe() :: binary().

%% So few bytes that a pass loads them into the core's first cache in a moment,
%% whatever the VM has done before, and evicts little that the code after it uses.
-define(BYTES, 4096).
%% Seven passes of 512 calls stay below the 4,000 reductions after which a process is scheduled out.
-define(PASSES, 7).
%% Room for most of the garbage of 3 seconds, so that points are hardly copied while more are made.
-define(HEAP_WORDS, 2_000_000).

%% @doc The data that `run/1' works on. Make it once.
-spec new() -> probe().
new() -> << <<(N * 197 + N div 7)>> || N <- lists:seq(1, ?BYTES) >>.

%% @doc Does the work once, and returns the time that it took: 25 us at the full speed of that
%% Xeon. It yields to other processes first, so that the scheduler does not interrupt it. Call
%% it in a process whose heap has room: the timed work allocates only a few words, but even these
%% can start a collection.
-spec run(probe()) -> Nanoseconds :: pos_integer().
run(Probe) ->
    true = erlang:yield(),
    {Ns, Sum} = ertslab_experiment:timed(fun() -> passes(?PASSES, Probe, 0) end),
    true = is_integer(Sum),
    max(1, Ns).

passes(0, _, Sum) -> Sum;
passes(N, Bytes, Sum) -> passes(N - 1, Bytes, Sum + sums(Bytes, 0, 0, 0, 0)).

%% Four sums that do not depend on each other.
sums(<<A, B, C, D, E, F, G, H, Rest/bits>>, P, Q, R, S) ->
    sums(Rest, P + A + E, Q bxor B bxor F, R + C + G, S bxor D bxor H);
sums(<<>>, P, Q, R, S) -> P + Q + R + S.

%% @doc Does the work without a pause for `Ms' milliseconds, in a process of its
%% own. The points are in the order of time, in milliseconds since the VM's start.
-spec repeated(Ms :: pos_integer()) -> [{AtMs :: float(), Ns :: pos_integer()}, ...].
repeated(Ms) ->
    Caller = self(),
    Work = fun() -> Caller ! {self(), points(new(), erlang:monotonic_time(millisecond) + Ms)} end,
    {Pid, Monitor} = spawn_opt(Work, [monitor, {min_heap_size, ?HEAP_WORDS}]),
    receive
        {Pid, Points} ->
            demonitor(Monitor, [flush]),
            Points;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    end.

points(Probe, End) -> points(Probe, End, [point(Probe)]).

points(Probe, End, Points) ->
    case erlang:monotonic_time(millisecond) < End of
        true -> points(Probe, End, [point(Probe) | Points]);
        false -> lists:reverse(Points)
    end.

point(Probe) ->
    At = erlang:monotonic_time() - erlang:system_info(start_time),
    {erlang:convert_time_unit(At, native, microsecond) / 1000, run(Probe)}.
