%% @doc Which functions a process was in, by samples of its stack. Pure.
-module(diagnose_samples).

-export([looks/1, working/1, waited/1, only_waits/1, calling/1, in_callback/1, are_for_a_server/1, looks_in/2, looks_through/2,
         most_seen/1, most_in/1, most_of_frames/2, is_of_behaviour/1, reply/1, without_behaviours/1, most_worked_in/1, worked_in/1,
         walk/1]).

-include("../diagnose_bounds.hrl").

%% Functions of OTP that go through all entries of their data, and what to do instead. They are those, and their helpers, in which processes
%% are seen (OTP 25 to 29). `all' are those of a module.
-define(WALKS,
        [{"counts all entries each time. Keep the count beside them; to see whether there is an entry, match one.",
          #{queue => [len], string => [length_1]}},
         {"goes from entry to entry until it finds one. Keep them in a map, a set, an ETS table or an array, which find one at once.",
          #{lists => [member, keyfind, keymember, keysearch, keystore2, keydelete3, keyreplace3, keytake, delete, nth, nth_1, nthtail_1],
            erlang => ['--'], queue => [member], ordsets => all, orddict => all, proplists => all}},
         {"goes to the end of a list each time, or copies it. Put new entries at the front and reverse the list once, or use the module"
          " queue.",
          #{lists => [last, droplast, append], erlang => ['++']}},
         {"searches all of a binary. If what comes from a socket is added to a buffer, and all of that is searched again for each"
          " packet, keep the position up to which it was searched, and search from there (the option scope), or let the socket find the"
          " ends ({packet, line}, {packet, 4}).",
          #{binary => [matches, match, split]}},
         {"goes through all entries each time. Keep what is asked for (a sum) beside them; maps:iterator/1 takes some from a map.",
          #{lists => [max, min, sum], maps => [to_list, to_list_internal, keys, values], sets => [to_list, fold_bucket, fold_seg],
            queue => [to_list]}}]).

%% What a process is in is among so many of the first frames: it may call through a library.
-define(FIRST, 3).

%% @doc The number of looks.
-spec looks([diagnose_types:sample()]) -> non_neg_integer().
looks(Samples) -> lists:sum([Times || {_, _, Times} <- Samples]).

%% @doc The number of looks at which one of the first frames is such a function.
-spec looks_in([diagnose_types:sample()], fun((mfa()) -> boolean())) -> non_neg_integer().
looks_in(Samples, Is) -> looks([Sample || {_, Stack, _} = Sample <- Samples, lists:any(Is, lists:sublist(Stack, ?FIRST))]).

%% @doc The number of looks at which any of the frames is of such a module.
-spec looks_through([diagnose_types:sample()], fun((module()) -> boolean())) -> non_neg_integer().
looks_through(Samples, Is) -> looks([Sample || {_, Stack, _} = Sample <- Samples, lists:any(fun({Module, _, _}) -> Is(Module) end, Stack)]).

%% @doc The function that it is in at most looks. Of one that sleeps, who called sleep is what the program's author knows.
-spec most_seen([diagnose_types:sample()]) -> binary() | unknown.
most_seen(Samples) ->
    case most_in([{Status, [innermost(Stack)], Times} || {Status, [_ | _] = Stack, Times} <- Samples]) of
        none -> unknown;
        {Frame, _} -> diagnose_wording:label(Frame)
    end.

innermost([{Module, sleep, 1}, Caller | _] = Stack) when Module =:= timer; Module =:= 'Elixir.Process' ->
    case is_of_behaviour(Caller) of
        true -> hd(Stack);
        false -> Caller
    end;
innermost([Frame | _]) -> Frame.

%% @doc The function that is among the first frames most often, and how often; each counts once a look.
-spec most_in([diagnose_types:sample()]) -> {mfa(), Times :: pos_integer()} | none.
most_in(Samples) -> most_of_frames(Samples, ?FIRST).

%% @doc The same among so many of the first frames.
-spec most_of_frames([diagnose_types:sample()], Most :: pos_integer() | all) -> {mfa(), Times :: pos_integer()} | none.
most_of_frames(Samples, Most) ->
    case counted(Samples, Most) of
        [] -> none;
        [First | _] -> First
    end.

%% The most often seen first.
counted(Samples, Most) ->
    Seen = [{Frame, Times}
            || {_, Stack, Times} <- Samples,
               Frame <- lists:usort(case Most of all -> Stack; _ -> lists:sublist(Stack, Most) end)],
    Counts = maps:groups_from_list(fun({Frame, _}) -> Frame end, fun({_, Times}) -> Times end, Seen),
    [{Frame, Times} || {Times, Frame} <- lists:reverse(lists:sort([{lists:sum(Times), Frame} || {Frame, Times} <- maps:to_list(Counts)]))].

%% @doc Whether a function is one of those on the stack of each process of a behaviour.
-spec is_of_behaviour(mfa()) -> boolean().
is_of_behaviour({Module, _, _}) -> lists:member(Module, ?BEHAVIOURS).

%% @doc The function that answers a call later, of a server that is in these. Who calls a gen_statem is not in its loop.
-spec reply([mfa()]) -> string().
reply(Frames) ->
    case [gen_statem || {gen_statem, Function, _} <- Frames, lists:prefix("loop", atom_to_list(Function))] of
        [_ | _] -> "gen_statem:reply/2";
        [] -> "gen_server:reply/2"
    end.

%% @doc The same looks, with what a process's own module does.
-spec without_behaviours([diagnose_types:sample()]) -> [diagnose_types:sample()].
without_behaviours(Samples) ->
    [{Status, [Frame || Frame <- Stack, not is_of_behaviour(Frame)], Times} || {Status, Stack, Times} <- Samples].

%% @doc The own function that it is in at most of the looks at which it works, or `unknown'.
-spec most_worked_in([diagnose_types:sample()]) -> mfa() | unknown.
most_worked_in(Samples) ->
    case worked_in(Samples) of
        {_, [{Function, _} | _]} -> Function;
        {_, []} -> unknown
    end.

%% @doc The looks at which it works.
-spec working([diagnose_types:sample()]) -> [diagnose_types:sample()].
working(Samples) -> [Sample || {Status, _, _} = Sample <- Samples, Status =/= waiting, Status =/= suspended].

%% @doc The number of looks at which it waits.
-spec waited([diagnose_types:sample()]) -> non_neg_integer().
waited(Samples) -> looks(Samples) - looks(working(Samples)).

%% @doc Whether it does nothing but wait. Where requests of two processes meet, the VM says of a process that waits that it runs, at the
%% place where it waits.
-spec only_waits([diagnose_types:sample()]) -> boolean().
only_waits(Samples) ->
    Places = [Stack || {waiting, Stack, _} <- Samples],
    waited(Samples) >= ?SAME_FUNCTION * looks(Samples) andalso lists:all(fun({_, Stack, _}) -> lists:member(Stack, Places) end, Samples).

%% @doc The number of looks at which it calls a server. Where schedulers are short, it has its answer and is ready rather than waiting.
-spec calling([diagnose_types:sample()]) -> non_neg_integer().
calling(Samples) -> looks_in(Samples, fun({Module, Function, _}) -> Module =:= gen andalso Function =:= do_call end).

%% @doc At how many looks a behaviour, which takes every message, was in what its module does with one, also if that waits in a call.
-spec in_callback(#{samples := [diagnose_types:sample()], label := mfa() | unknown, waiting := diagnose_types:waiting(), _ => _}) ->
          non_neg_integer().
in_callback(#{samples := Samples, label := Label, waiting := Waiting}) ->
    IsBehaviour = is_init(Label) orelse Label =:= unknown andalso are_for_a_server(Waiting),
    looks([Sample || {_, Stack, _} = Sample <- Samples, is_in_callback(Stack, IsBehaviour)]).

is_in_callback(Stack, IsBehaviour) ->
    case lists:splitwith(fun(Frame) -> not is_of_behaviour(Frame) end, lists:dropwhile(fun is_of_behaviour/1, Stack)) of
        {[_ | _], [{Module, _, _} | _]} -> Module =/= proc_lib;
        %% The frames of the behaviour lie below those that the VM tells of.
        {[_ | _], []} -> length(Stack) >= ?TOLD_FRAMES andalso IsBehaviour;
        {[], _} -> false
    end.

%% @doc Whether most of what waits is taken only by the loop of a behaviour, or by who prints for others.
-spec are_for_a_server(diagnose_types:waiting()) -> boolean().
are_for_a_server([_ | _] = Shapes) ->
    2 * lists:sum([Times || {Shape, Times} <- Shapes,
                            lists:any(fun(Kind) -> string:prefix(Shape, Kind) =/= nomatch end, ["call of ", "cast of ", "{io_request, "])])
        >= lists:sum([Times || {_, Times} <- Shapes]);
are_for_a_server(_) -> false.

%% What a behaviour is known by.
is_init({_, init, 1}) -> true;
is_init(_) -> false.

%% @doc At how many looks it works, and at how many of these each own function is among the first frames, most often first. Who is ready
%% to go on after a sleep does not work there.
-spec worked_in([diagnose_types:sample()]) -> {Looks :: non_neg_integer(), [{mfa(), Times :: pos_integer()}]}.
worked_in(Samples) ->
    Working = [Sample || {_, Stack, _} = Sample <- working(Samples), lists:sublist(Stack, 1) =/= [{timer, sleep, 1}]],
    {looks(Working), counted(without_behaviours(Working), ?FIRST)}.

%% @doc What to do where a process is in functions of one such kind at most looks; nothing of any other process.
-spec walk([diagnose_types:sample()]) -> [iolist()].
walk(Samples) ->
    Walks = [Walk || {_, Stack, Times} <- working(Samples), Walk <- walk(lists:sublist(Stack, ?FIRST), Times)],
    Most = [Walk || {_, Instead, _} = Walk <- lists:reverse(lists:sort(Walks)),
                    2 * lists:sum([Times || {Times, Of, _} <- Walks, Of =:= Instead]) > looks(Samples)],
    [["It is mostly in ",
      lists:join(" for ", [diagnose_wording:label(F) || F <- [Function | lists:sublist([F || {M, _, _} = F <- Below, M =/= Module,
                                                                                             not is_of_behaviour(F)], 1)]]),
      ", which ", Instead]
     || {_, Instead, [{Module, _, _} = Function | Below]} <- lists:sublist(Most, 1)].

%% The first of these frames that is such a function, with those below.
walk([], _Times) -> [];
walk([{Module, Function, _} | Below] = Stack, Times) ->
    case [Instead || {Instead, Modules} <- ?WALKS, Functions <- [maps:get(Module, Modules, [])],
                     Functions =:= all orelse lists:member(Function, Functions)] of
        [Instead | _] -> [{Times, Instead, Stack}];
        [] -> walk(Below, Times)
    end.
