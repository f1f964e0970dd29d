%% @doc Times calls with messages waiting that nobody takes, and says which calls
%% look through them.
%%
%% Each measurement has a process of its own: it sets up what the call needs,
%% sends itself the messages, and calls. One that crashes or does not come back
%% costs its own call only.
-module(mailbox_audit_timed).

-export([problem/1, run/2, complete/1, time_call/2]).
-export_type([entry/0, complete_entry/0, result/0, verdict/0, options/0, problem/0]).

%% setup: what the calls need, once a process. prepare: what is to be done
%% before each call, untimed; it gives the call its input. finish: what is to be
%% done after each. cause: why it scans, where that is known.
-type entry() :: #{name := string(), call := fun((term()) -> term()),
                   setup => fun(() -> term()), prepare => fun((term()) -> term()),
                   finish => fun((term(), term()) -> term()), cleanup => fun((term()) -> term()),
                   cause => string()}.

-type complete_entry() :: #{name := string(), call := fun((term()) -> term()),
                            setup := fun(() -> term()), prepare := fun((term()) -> term()),
                            finish := fun((term(), term()) -> term()), cleanup := fun((term()) -> term()),
                            cause => string()}.

-type verdict() :: flat | scans | unsure | crashed | timed_out.
%% unsure: the interval of the slope holds the bound between flat and scans.

-type result() :: #{name := string(), verdict := verdict(), cause := string(), reason := string(),
                    slope := mailbox_audit_slope:slope() | none,
                    times := [mailbox_audit_slope:point()]}.
%% times: the median over the rounds, in nanoseconds a call, by how many wait.

-type options() :: #{depths => [non_neg_integer(), ...], timeout_ms => pos_integer(),
                     progress => fun((pos_integer(), pos_integer()) -> _)}.

-type problem() :: {bad_depths, term()} | mailbox_audit_options:problem().

-define(DEPTHS, [0, 10_000, 100_000]).
-define(TIMEOUT_MS, 10_000).
-define(ROUNDS, 9).
-define(MORE_ROUNDS, 16).
-define(CALLS, 5).
%% Going by one message takes 3 ns and more. What scans right before a call, as
%% closing the socket of the call before it, leaves it with cold caches: seen as
%% up to 0.6 ns a message, and 1.6 ns on a machine with ten other programs.
-define(BOUND_NS, 2.0).
%% A collection goes by all messages too, and is not what is asked for: room
%% enough that the calls make do without one.
-define(HEAP_WORDS, 400_000).

%% @doc What is wrong with the options: a slope needs two points.
-spec problem(options()) -> none | problem().
problem(Options) ->
    case mailbox_audit_options:problem(Options) of
        none -> problem_of_depths(maps:get(depths, Options, ?DEPTHS));
        Problem -> Problem
    end.

problem_of_depths(Given) ->
    case Given of
        Depths when length(Depths) > 1 -> % false of an improper list
            case lists:all(fun(Depth) -> is_integer(Depth) andalso Depth >= 0 end, Depths) andalso lists:usort(Depths) of
                [_, _ | _] -> none;
                _ -> {bad_depths, Depths}
            end;
        Depths -> {bad_depths, Depths}
    end.

%% @doc Measures the entries one by one, in 9 rounds of one process a depth.
%% Where that does not tell flat from scanning, 16 rounds follow.
-spec run([entry()], options()) -> [result()].
run(Entries, Options) ->
    Progress = maps:get(progress, Options, fun(_, _) -> ok end),
    [begin
         Result = result(Entry, Options),
         _ = Progress(Index, length(Entries)),
         Result
     end || {Index, Entry} <- lists:enumerate(Entries)].

result(#{name := Name} = Entry, Options) ->
    Base = #{name => Name, cause => maps:get(cause, Entry, ""), reason => "", slope => none, times => []},
    case rounds(?ROUNDS, Entry, Options, []) of
        {ok, Rounds} -> judged(Base, Rounds, Entry, Options);
        {Verdict, Reason} -> Base#{verdict => Verdict, reason := Reason}
    end.

judged(Base, Rounds, Entry, Options) ->
    case with_slope(Base, Rounds) of
        #{verdict := unsure} = Unsure when length(Rounds) =:= ?ROUNDS ->
            case rounds(?MORE_ROUNDS, Entry, Options, Rounds) of
                {ok, More} -> judged(Base, More, Entry, Options);
                {Verdict, Reason} -> Unsure#{verdict := Verdict, reason := Reason}
            end;
        Judged -> Judged
    end.

with_slope(Base, Rounds) ->
    Slope = mailbox_audit_slope:of_rounds(Rounds),
    Base#{verdict => verdict(Slope), slope := Slope, times := medians(Rounds)}.

verdict(#{low := Low}) when Low > ?BOUND_NS -> scans;
verdict(#{high := High}) when High < ?BOUND_NS -> flat;
verdict(_) -> unsure.

medians(Rounds) ->
    ByDepth = maps:groups_from_list(fun({Depth, _}) -> Depth end, fun({_, Time}) -> Time end,
                                    lists:append(Rounds)),
    [{Depth, mailbox_audit_slope:median(Times)} || {Depth, Times} <- lists:sort(maps:to_list(ByDepth))].

rounds(0, _Entry, _Options, Rounds) -> {ok, Rounds};
rounds(Left, Entry, Options, Rounds) ->
    case points(maps:get(depths, Options, ?DEPTHS), Entry, Options, []) of
        {ok, Points} -> rounds(Left - 1, Entry, Options, [Points | Rounds]);
        Bad -> Bad
    end.

points([], _Entry, _Options, Points) -> {ok, Points};
points([Depth | Depths], Entry, Options, Points) ->
    case in_fresh_process(Entry, Depth, maps:get(timeout_ms, Options, ?TIMEOUT_MS)) of
        {ok, Time} -> points(Depths, Entry, Options, [{Depth, Time} | Points]);
        Bad -> Bad
    end.

%% The process returns its result as exit reason, so dialyzer must not report 'no local return'.
-dialyzer({nowarn_function, in_fresh_process/3}).
in_fresh_process(Entry, Depth, Timeout) ->
    Measure = fun() -> exit(outcome(complete(Entry), Depth)) end,
    {Pid, Monitor} = spawn_opt(Measure, [monitor, {min_heap_size, ?HEAP_WORDS}]),
    receive
        {'DOWN', Monitor, process, _, {measured, Time}} -> {ok, Time};
        {'DOWN', Monitor, process, _, {failed, Reason}} -> {crashed, text(Reason)};
        {'DOWN', Monitor, process, _, Reason} -> {crashed, text(Reason)}
    after Timeout ->
            exit(Pid, kill),
            receive {'DOWN', Monitor, process, _, _} -> ok end,
            {timed_out, lists:flatten(io_lib:format("did not come back within ~b ms, with ~b messages waiting",
                                                    [Timeout, Depth]))}
    end.

%% @doc An entry with all of its functions: those that it does not have do nothing.
-spec complete(entry()) -> complete_entry().
complete(Entry) ->
    maps:merge(#{setup => fun() -> none end, prepare => fun(State) -> State end,
                 finish => fun(_Input, _Result) -> ok end, cleanup => fun(_State) -> ok end}, Entry).

outcome(Entry, Depth) ->
    try {measured, measure(Entry, Depth)}
    catch _:Reason -> {failed, Reason}
    end.

%% The first call loads code, and fetches the messages to where a receive finds
%% them; it is not timed. The fastest of the others counts: whatever disturbs a
%% call only adds to it.
measure(#{setup := Setup, cleanup := Cleanup} = Entry, Depth) ->
    State = Setup(),
    fill(Depth),
    try
        _ = time_call(Entry, State),
        lists:min([time_call(Entry, State) || _ <- lists:seq(1, ?CALLS)])
    after
        Cleanup(State)
    end.

fill(0) -> ok;
fill(Left) ->
    self() ! {mailbox_audit, junk},
    fill(Left - 1).

%% @doc The nanoseconds of one call, without what is to be done before and after it.
-spec time_call(complete_entry(), State :: term()) -> integer().
time_call(#{prepare := Prepare, call := Call, finish := Finish}, State) ->
    Input = Prepare(State),
    Started = erlang:monotonic_time(),
    Result = Call(Input),
    Ended = erlang:monotonic_time(),
    _ = Finish(Input, Result),
    erlang:convert_time_unit(Ended - Started, native, nanosecond).

%% Without the stack that other processes' ends have.
text({Reason, [{_, _, _, _} | _]}) -> text(Reason);
text(Reason) -> lists:flatten(io_lib:format("~0tP", [Reason, 12])).
