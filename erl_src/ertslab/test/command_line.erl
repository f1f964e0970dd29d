%% Calls of the command line within this VM: with which status the program would end, and what it prints. That the launcher
%% passes both on is tests/cli.bats.
-module(command_line).

-export([called/1, printed/1, ends/3, refused/3]).

%% What is printed on standard output, and what on standard error.
-type said() :: {Output :: string(), Errors :: string()}.

%% The status, and what is printed.
-spec called([string()]) -> {0..4, said()}.
called(Words) -> printed(fun() -> ertslab_cli:status(Words) end).

%% What a function returns, in a process of its own, and what it prints.
-spec printed(fun(() -> Result)) -> {Result, said()}.
printed(Fun) ->
    [Output, Errors] = Devices = [spawn_link(fun() -> device([]) end) || _ <- [output, errors]],
    Own = whereis(standard_error),
    true = unregister(standard_error),
    true = register(standard_error, Errors),
    {_, Monitor} = spawn_monitor(fun() -> group_leader(Output, self()), exit({returned, Fun()}) end),
    try receive {'DOWN', Monitor, process, _, {returned, Result}} -> {Result, {on(Output), on(Errors)}} end
    after
        true = unregister(standard_error),
        true = register(standard_error, Own),
        [begin unlink(Device), exit(Device, kill) end || Device <- Devices]
    end.

%% It ends with this status, says this text somewhere, and no stack trace. Returns all that it says.
-spec ends(0..4, string(), [string()]) -> string().
ends(Status, Text, Words) ->
    {Ended, {Output, Errors}} = called(Words),
    All = Output ++ Errors,
    Told = {Words, Ended, lists:flatten(All)},
    Status =:= Ended orelse error({not_the_status, Status, Told}),
    string:find(All, Text) =/= nomatch orelse error({does_not_say, Text, Told}),
    [error({says, Trace, Told}) || Trace <- ["defect in ertslab", "{error,"], string:find(All, Trace) =/= nomatch],
    All.

%% The same, in one line.
-spec refused(1..4, string(), [string()]) -> ok.
refused(Status, Text, Words) ->
    Said = ends(Status, Text, Words),
    length(string:lexemes(Said, "\n")) =:= 1 orelse error({more_than_a_line, Said}),
    ok.

on(Device) ->
    Device ! {printed, self()},
    receive {Device, Printed} -> unicode:characters_to_list(lists:reverse(Printed)) end.

%% A device that keeps what is put.
device(Printed) ->
    receive
        {io_request, From, As, Request} ->
            {Reply, Put} = answer(Request),
            From ! {io_reply, As, Reply},
            device(Put ++ Printed);
        {printed, Asking} ->
            Asking ! {self(), Printed},
            device(Printed)
    end.

answer({put_chars, _, Chars}) -> {ok, [Chars]};
answer({put_chars, _, M, F, A}) -> {ok, [apply(M, F, A)]};
answer({setopts, _}) -> {ok, []};
answer({requests, Requests}) ->
    {Replies, Puts} = lists:unzip([answer(Request) || Request <- Requests]),
    {lists:last([ok | Replies]), lists:append(lists:reverse(Puts))};
answer(_) -> {{error, enotsup}, []}.
