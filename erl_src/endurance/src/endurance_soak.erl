%% @doc Does a VM that works for long stay as large as it is? Samples of its memory beside a
%% count of what it has done, and how much the one grows with the other.
-module(endurance_soak).
-feature(maybe_expr, enable).

-export([start/2, stop/1, resident/0, text/1]).
-export_type([point/0, growth/0]).

-type point() :: {Calls :: non_neg_integer(), Bytes :: non_neg_integer()}.
%% `slope' is bytes of resident memory for one call. The first and the last size are bytes.
-type growth() :: #{slope := ertslab_slope:slope(), calls := non_neg_integer(), samples := pos_integer(),
                    first := non_neg_integer(), last := non_neg_integer()} | too_few.

-define(SAMPLES, 160).
%% As many are left out: caches, pools and tables fill first.
-define(WARM_UP, 40).
-define(CONFIDENCE, 0.95).

%% @doc Takes samples with a function that says how many calls there were so far, and how many
%% bytes are resident now. The caller, who says about how long it will take, is linked to who does that.
-spec start(fun(() -> point()), Seconds :: pos_integer()) -> pid().
start(Look, Seconds) -> spawn_link(fun() -> sample(Look, max(1, Seconds * 1000 div ?SAMPLES), []) end).

%% @doc Ends it: how memory grew. Samples of one run depend on each other, so that the
%% interval is narrower than it should be. Too few are those of less than two counts.
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

%% @doc The bytes of this VM that are in memory, or where the kernel does not say, in use. That
%% of `ertslab_memory:vm/0' is exact and takes too long for a VM that has work to do.
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

%% @doc In one line.
-spec text(growth()) -> string().
text(too_few) -> "too few samples of memory";
text(#{slope := #{estimate := Slope, low := Low, high := High}, calls := Calls, first := First, last := Last}) ->
    lists:flatten(io_lib:format("memory ~ts to ~ts MB in ~b calls, ~ts bytes a call (~ts to ~ts)",
                                [number(First / 1.0e6), number(Last / 1.0e6), Calls | [number(X) || X <- [Slope, Low, High]]])).

number(too_few) -> "?";
number(Number) -> io_lib:format("~.3f", [float(Number)]).
