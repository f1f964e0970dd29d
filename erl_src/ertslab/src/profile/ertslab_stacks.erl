%% @doc Sampled stacks: parses the text of `perf script', and computes folded stacks, hottest functions and the
%% difference of two profiles.
%%
%% A stack is the list of its frames, from the thread's name, which serves as the root, to the function that ran.
%% Folded stacks are lines `root;frame;frame COUNT'.
-module(ertslab_stacks).

-export([parse/1, folded/1, hottest/1, difference/2, total/1]).
-export_type([stacks/0, hot/0]).

-type stacks() :: #{Frames :: [binary()] => Samples :: pos_integer()}.
-type hot() :: #{function := binary(), self := non_neg_integer(), total := pos_integer()}.

%% @doc Parses the output of `perf script -F comm,ip,sym'. Each sample is a line with the thread's name and one
%% indented line per frame, innermost first. Empty lines separate the samples.
-spec parse(binary()) -> stacks().
parse(Text) ->
    Samples = binary:split(Text, <<"\n\n">>, [global, trim_all]),
    lists:foldl(fun count/2, #{}, [sample(S) || S <- Samples, string:trim(S) =/= <<"">>]).

count(Stack, Stacks) -> maps:update_with(Stack, fun(N) -> N + 1 end, 1, Stacks).

sample(Text) ->
    [Thread | Frames] = binary:split(string:trim(Text, both, "\n"), <<"\n">>, [global]),
    [thread(string:trim(Thread)) | lists:reverse(functions([frame(Line) || Line <- Frames]))].

%% Removes the JIT's shared code fragments from the callers. Whether such a fragment appears as a caller depends on
%% the frame pointer of its callee, so the same call would have different stacks on two VMs.
functions([]) -> [];
functions([Innermost | Callers]) -> [Innermost | [C || C <- Callers, not is_shared(C)]].

is_shared(<<"$global::", _/bits>>) -> true;
is_shared(_) -> false.

%% Threads of one kind are merged: erts_sched_1 and erts_sched_2 become erts_sched.
thread(<<"erts_", _/bits>> = Name) -> re:replace(Name, <<"_[0-9]+$">>, <<"">>, [{return, binary}]);
thread(Name) -> unambiguous(Name).

%% A line has an address and a name, which may contain blanks. A function without a symbol is called `[unknown]'.
frame(Line) ->
    case binary:split(string:trim(Line), <<" ">>) of
        [_Address, Symbol] -> unambiguous(string:trim(Symbol));
        [_Address] -> <<"[unknown]">>
    end.

%% Semicolons separate frames, so a frame must not contain one.
unambiguous(Name) -> binary:replace(Name, <<";">>, <<",">>, [global]).

%% @doc The stacks as text, sorted.
-spec folded(stacks()) -> iolist().
folded(Stacks) ->
    [[lists:join($;, Frames), $\s, integer_to_binary(Count), $\n]
     || {Frames, Count} <- lists:sort(maps:to_list(Stacks))].

%% @doc Two profiles as text, with both counts after each stack. They are the numbers of samples: both VMs did the
%% same work and were sampled at the same rate. Scaling them to a common total would colour what did not change.
-spec difference(stacks(), stacks()) -> iolist().
difference(Before, After) ->
    All = lists:usort(maps:keys(Before) ++ maps:keys(After)),
    [[lists:join($;, Frames), io_lib:format(" ~b ~b~n", [maps:get(Frames, Before, 0),
                                                         maps:get(Frames, After, 0)])]
     || Frames <- All].

%% @doc The number of samples.
-spec total(stacks()) -> non_neg_integer().
total(Stacks) -> lists:sum(maps:values(Stacks)).

%% @doc Each function with the number of samples in which it ran itself, and of those in which it was anywhere on the
%% stack; sorted by the former.
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
