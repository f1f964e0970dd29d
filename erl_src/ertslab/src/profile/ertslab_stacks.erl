%% @doc Stacks that were sampled: from the text of `perf script' to folded
%% stacks, hottest functions, and the difference of two profiles.
%%
%% A stack is its frames from the thread's name, which stands for the root, to
%% the function that ran. Folded stacks are lines `root;frame;frame COUNT'.
-module(ertslab_stacks).

-export([parse/1, folded/1, hottest/1, difference/2, total/1]).
-export_type([stacks/0, hot/0]).

-type stacks() :: #{Frames :: [binary()] => Samples :: pos_integer()}.
-type hot() :: #{function := binary(), self := non_neg_integer(), total := pos_integer()}.

%% @doc The stacks in what `perf script -F comm,ip,sym' prints: a line with the
%% thread's name, below it the frames, innermost first and each indented, and
%% an empty line between samples.
-spec parse(binary()) -> stacks().
parse(Text) ->
    Samples = binary:split(Text, ~"\n\n", [global, trim_all]),
    lists:foldl(fun count/2, #{}, [sample(S) || S <- Samples, string:trim(S) =/= ~""]).

count(Stack, Stacks) -> maps:update_with(Stack, fun(N) -> N + 1 end, 1, Stacks).

sample(Text) ->
    [Thread | Frames] = binary:split(string:trim(Text, both, "\n"), ~"\n", [global]),
    [thread(string:trim(Thread)) | lists:reverse(functions([frame(Line) || Line <- Frames]))].

%% The JIT's shared pieces of code are no function's: whether such a caller is
%% seen depends on the frame pointer of what it calls, so that the same call on
%% two VMs would have two stacks.
functions([]) -> [];
functions([Innermost | Callers]) -> [Innermost | [C || C <- Callers, not is_shared(C)]].

is_shared(<<"$global::", _/binary>>) -> true;
is_shared(_) -> false.

%% The threads of a kind are one: erts_sched_1 and erts_sched_2 are erts_sched.
thread(<<"erts_", _/binary>> = Name) -> re:replace(Name, ~"_[0-9]+$", ~"", [{return, binary}]);
thread(Name) -> unambiguous(Name).

%% An address and a name, which may have blanks. A function without a symbol
%% has the name `[unknown]'.
frame(Line) ->
    case binary:split(string:trim(Line), ~" ") of
        [_Address, Symbol] -> unambiguous(string:trim(Symbol));
        [_Address] -> ~"[unknown]"
    end.

%% A semicolon stands between frames, so that none may be in one.
unambiguous(Name) -> binary:replace(Name, ~";", ~",", [global]).

%% @doc The stacks as text, sorted.
-spec folded(stacks()) -> iolist().
folded(Stacks) ->
    [[lists:join($;, Frames), $\s, integer_to_binary(Count), $\n]
     || {Frames, Count} <- lists:sort(maps:to_list(Stacks))].

%% @doc Two profiles as text, both counts behind each stack. The counts are
%% those that were sampled: both VMs did the same work at the same rate, and a
%% common total would colour what did not change.
-spec difference(stacks(), stacks()) -> iolist().
difference(Before, After) ->
    All = lists:usort(maps:keys(Before) ++ maps:keys(After)),
    [[lists:join($;, Frames), io_lib:format(" ~b ~b~n", [maps:get(Frames, Before, 0),
                                                         maps:get(Frames, After, 0)])]
     || Frames <- All].

%% @doc How many samples there are.
-spec total(stacks()) -> non_neg_integer().
total(Stacks) -> lists:sum(maps:values(Stacks)).

%% @doc Each function with the samples in which it ran itself, and those in
%% which it was anywhere on the stack; most of the former first.
-spec hottest(stacks()) -> [hot()].
hottest(Stacks) ->
    Counts = maps:fold(fun tally/3, #{}, Stacks),
    lists:sort(fun hotter/2, [#{function => Function, self => Self, total => Total}
                              || {Function, {Self, Total}} <- maps:to_list(Counts)]).

tally([_Thread], _Count, Counts) -> Counts;
tally([_Thread | Frames], Count, Counts) ->
    Leaf = lists:last(Frames),
    lists:foldl(fun(Frame, Acc) -> add(Frame, own(Frame, Leaf, Count), Count, Acc) end,
                Counts, lists:usort(Frames)).

own(Leaf, Leaf, Count) -> Count;
own(_Frame, _Leaf, _Count) -> 0.

add(Frame, Self, Total, Counts) ->
    {Self0, Total0} = maps:get(Frame, Counts, {0, 0}),
    Counts#{Frame => {Self0 + Self, Total0 + Total}}.

hotter(#{self := S1, total := T1, function := F1}, #{self := S2, total := T2, function := F2}) ->
    {-S1, -T1, F1} =< {-S2, -T2, F2}.
