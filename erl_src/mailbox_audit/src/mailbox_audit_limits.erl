%% @doc What the judging of one module may take: time, memory, and the depth of its code. A crafted module of a kilobyte may want much of
%% each. The largest modules of OTP take some seconds, and are 35 deep.
-module(mailbox_audit_limits).

-export([within/2, within/3, ms/0, end_with/1, shallow/1]).
-export_type([why/0]).

-type why() :: takes_too_long | takes_too_much_memory.

-define(MS, 60_000).
%% 2 GiB. Where words are of 4 bytes, it is what fits in one.
-define(WORDS, case erlang:system_info(wordsize) of 8 -> 1 bsl 28; 4 -> (1 bsl 27) - 1 end).
%% Parts in parts. The time that a compiler takes grows with its square.
-define(MOST_DEPTH, 2000).

%% @doc The milliseconds that a module has where nothing else is said.
-spec ms() -> pos_integer().
ms() -> ?MS.

%% @equiv within(Fun, Ms, Words)
-spec within(fun(() -> Result), pos_integer()) -> {ok, Result} | {error, why()}.
within(Fun, Ms) -> within(Fun, Ms, ?WORDS).

%% @doc What the function returns, unless it takes longer, or more memory. It is called in a process of its own, which ends with the
%% caller.
-dialyzer({nowarn_function, within/3}). % the process only exits
-spec within(fun(() -> Result), Ms :: pos_integer(), Words :: pos_integer()) -> {ok, Result} | {error, why()}.
within(Fun, Ms, Words) ->
    Made = make_ref(),
    Caller = self(),
    #{size := System} = erlang:system_info(max_heap_size),
    Limit = {max_heap_size, #{size => smaller(System, Words), kill => true, error_logger => false}},
    {Pid, Monitor} = spawn_opt(fun() ->
                                       ok = end_with(Caller),
                                       exit({Made, Fun()})
                               end, [monitor, Limit]),
    receive
        {'DOWN', Monitor, process, Pid, {Made, Result}} -> {ok, Result};
        {'DOWN', Monitor, process, Pid, killed} -> {error, takes_too_much_memory};
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    after Ms ->
            true = exit(Pid, kill),
            true = demonitor(Monitor, [flush]),
            {error, takes_too_long}
    end.

smaller(0, Words) -> Words;
smaller(System, Words) -> min(System, Words).

%% @doc Has the process that calls it end with another one, whatever ends that. A link would end the other one, too.
-spec end_with(pid()) -> ok.
end_with(Caller) ->
    Own = self(),
    _ = spawn(fun() ->
                      Ends = monitor(process, Caller),
                      Done = monitor(process, Own),
                      receive
                          {'DOWN', Ends, process, _, _} -> exit(Own, kill);
                          {'DOWN', Done, process, _, _} -> ok
                      end
              end),
    ok.

%% @doc Whether code is not too deep. The rest of a list that is written as one is no deeper than its beginning: tables are long.
-spec shallow(term()) -> boolean().
shallow(Forms) -> shallow(Forms, ?MOST_DEPTH).

shallow(_, 0) -> false;
shallow({cons, _, First, Rest}, Left) -> shallow(First, Left - 1) andalso shallow(Rest, Left);
shallow(Node, Left) when is_tuple(Node) -> shallow(tuple_to_list(Node), Left - 1);
shallow([First | Rest], Left) -> shallow(First, Left) andalso shallow(Rest, Left);
shallow(_, _) -> true.
