%% @doc Does the memory of a VM that works for long stay constant? Takes samples of its memory and of a
%% count of its work, and computes how much the one grows with the other.
-module(endurance_soak).
-feature(maybe_expr, enable).

-export([start/2, stop/1, resident/0, text/1]).
-export_type([point/0, growth/0]).

-type point() :: {Calls :: non_neg_integer(), Bytes :: non_neg_integer()}.
%% `slope': bytes of resident memory for one call. `first' and `last': sizes in bytes.
-type growth() :: #{slope := ertslab_slope:slope(), calls := non_neg_integer(), samples := pos_integer(),
                    first := non_neg_integer(), last := non_neg_integer()} | too_few.

-define(SAMPLES, 160).
%% This many first samples are left out, since caches, pools and tables fill first.
-define(WARM_UP, 40).
-define(CONFIDENCE, 0.95).

%% @doc Takes samples with a function that returns the number of calls so far, and the bytes that are
%% resident now. `Seconds' is about how long the work will take. The sampling process is linked to the caller.
-spec start(fun(() -> point()), Seconds :: pos_integer()) -> pid().
start(Look, Seconds) -> spawn_link(fun() -> sample(Look, max(1, Seconds * 1000 div ?SAMPLES), []) end).

%% @doc Ends the sampling and returns how memory grew. Samples of one run depend on each other, so the
%% interval is narrower than it should be. `too_few': there were less than two different counts.
-spec stop(pid()) -> growth().
stop(Sampler) ->
    Monitor = monitor(process, Sampler),
    Sampler ! {stop, self(), Monitor},
    receive
        {Monitor, Samples} ->
            true = demonitor(Monitor, [flush]),
            growth(lists:ukeysort(1, lists:nthtail(min(?WARM_UP, length(Samples) div 4), Samples)));
        {'DOWN', Monitor, process, Sampler, Reason} -> error({no_samples, Reason})
    end.

sample(Look, Pause, Samples) ->
    receive
        {stop, Caller, Tag} -> Caller ! {Tag, lists:reverse(Samples)}
    after Pause ->
            sample(Look, Pause, [Look() | Samples])
    end.

%% @doc The resident bytes of this VM, or the bytes in use if the kernel does not report them. The exact
%% number of `ertslab_memory:vm/0' takes too long for a VM that has work to do.
-spec resident() -> non_neg_integer().
resident() ->
    maybe
        {ok, Text} ?= file:read_file("/proc/self/status"),
        {match, [Kibibytes]} ?= re:run(Text, "^VmRSS:\\s+(\\d+) kB$", [multiline, {capture, all_but_first, binary}]),
        1024 * binary_to_integer(Kibibytes)
    else
        _ -> erlang:memory(total)
    end.

growth([{From, First}, _ | _] = Samples) ->
    {To, Last} = lists:last(Samples),
    #{slope => ertslab_slope:theil_sen(Samples, ?CONFIDENCE), calls => To - From, samples => length(Samples),
      first => First, last => Last};
growth(_) -> too_few.

%% @doc The growth on one line.
-spec text(growth()) -> string().
text(too_few) -> "too few samples of memory";
text(#{slope := #{estimate := Slope, low := Low, high := High}, calls := Calls, first := First, last := Last}) ->
    lists:flatten(io_lib:format("memory ~ts to ~ts MB in ~b calls, ~ts bytes a call (~ts to ~ts)",
                                [number(First / 1.0e6), number(Last / 1.0e6), Calls | [number(X) || X <- [Slope, Low, High]]])).

number(too_few) -> "?";
number(Number) -> io_lib:format("~.3f", [float(Number)]).
