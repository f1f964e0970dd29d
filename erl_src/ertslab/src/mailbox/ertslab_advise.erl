%% @doc `ertslab advise': recommends a message_queue_data for processes of a live node.
-module(ertslab_advise).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {lost, node()} | {no_pid, string()} | {no_process, node(), Pattern :: string()}
                | {no_pattern, string(), Why :: string()}.

-define(SECONDS, 5).

%% @doc `ertslab advise --node NODE PROCESS'.
-spec run(map()) -> ok.
run(#{node := Name, process := Text} = Options) ->
    Node = ertslab_live_node:connected(Name, Options),
    Processes = processes(Node, Text),
    Seconds = maps:get(seconds, Options, ?SECONDS),
    io:format(standard_error, "Watching ~ts for ~b s.~n", [counted(Processes), Seconds]),
    Advised = ertslab_parallel:map(fun(Process) -> advised(Node, Process, 1000 * Seconds) end, Processes,
                                   length(Processes), fun(_, _) -> ok end),
    _ = [ertslab_error:failure(?MODULE, {lost, Node}) || {_, lost} <- Advised],
    io:put_chars(shown(Options, Node, Advised)).

-spec format_error(reason()) -> unicode:chardata().
format_error({lost, Node}) -> io_lib:format("node ~ts does not answer any more.", [Node]);
format_error({no_pid, Text}) -> ["'", Text, "' is not a process identifier"];
format_error({no_process, Node, Pattern}) -> io_lib:format("no process of ~ts has a name like '~ts'.", [Node, Pattern]);
format_error({no_pattern, Pattern, Why}) -> ["'", Pattern, "' is not a pattern: ", Why].

counted([_]) -> "1 process";
counted(Processes) -> io_lib:format("~b processes", [length(Processes)]).

%% A process identifier as its node prints it, or a pattern for registered names.
processes(Node, "<" ++ _ = Text) ->
    try erpc:call(Node, erlang, list_to_pid, [Text]) of
        Pid -> [{Text, Pid}]
    catch
        error:{exception, badarg, _} -> ertslab_error:usage(?MODULE, {no_pid, Text})
    end;
processes(Node, Pattern) ->
    Expression = compiled(Pattern),
    Names = [Name || Name <- erpc:call(Node, erlang, registered, []),
                     match =:= re:run(atom_to_list(Name), Expression, [{capture, none}])],
    Named = [{atom_to_list(Name), erpc:call(Node, erlang, whereis, [Name])} || Name <- lists:sort(Names)],
    case [Process || {_, Pid} = Process <- Named, is_pid(Pid)] of
        [] -> ertslab_error:failure(?MODULE, {no_process, Node, Pattern});
        Processes -> Processes
    end.

%% The pattern must match the whole name.
compiled(Pattern) ->
    case re:compile(["^(?:", Pattern, ")$"], [unicode]) of
        {ok, Expression} -> Expression;
        {error, {Reason, _}} -> ertslab_error:usage(?MODULE, {no_pattern, Pattern, Reason})
    end.

advised(Node, {Name, Pid}, Milliseconds) ->
    try ertslab_mailbox_samples:watch(Node, Pid, Milliseconds) of
        {ok, Looks} ->
            Summary = ertslab_mailbox_samples:summary(Looks),
            {Name, {Summary, diagnose_queue_advice:advise(Summary)}};
        noproc -> {Name, gone}
    catch
        error:{erpc, _} -> {Name, lost}
    end.

shown(#{json := true}, Node, Advised) ->
    ertslab_json:format(#{node => Node, processes => [as_json(Name, Found) || {Name, Found} <- Advised]});
shown(#{}, Node, Advised) -> [as_text(diagnose_wording:printable(Name), Node, Found) || {Name, Found} <- Advised].

as_json(Name, gone) -> #{process => ertslab_text:binary(Name), seen => null, advice => null};
as_json(Name, {Summary, #{because := Because} = Advice}) ->
    #{process => ertslab_text:binary(Name), seen => Summary,
      advice => Advice#{because := ertslab_text:binary(Because), ratio := ratio(Advice)}}.

ratio(#{ratio := none}) -> null;
ratio(#{ratio := {Best, Worst}}) -> [Best, Worst].

as_text(Name, Node, gone) -> io_lib:format("~ts on ~ts has ended.~n", [Name, Node]);
as_text(Name, Node, {#{queue := Queue} = Summary, Advice}) ->
    io_lib:format("~ts on ~ts, ~ts:~n~ts~n  ~ts~n", [Name, Node, Queue, seen(Summary), said(Queue, Advice)]).

seen(#{depth := Depth, deepest := Deepest, message_words := Words, collections := Collections,
       full_sweeps := Full, seconds := Seconds, looks := Looks}) ->
    io_lib:format("  ~b messages wait (median of ~b looks), ~b at most; size of a message: ~ts~n"
                  "  at least ~b collections in ~.1f s, ~b of them full sweeps",
                  [Depth, Looks, Deepest, words(Words), Collections, Seconds, Full]).

words(unknown) -> "unknown";
words(Words) -> io_lib:format("~b words (median)", [Words]).

said(_, #{favours := neither, because := Because}) -> ["It does not matter: ", Because, "."];
said(Favoured, #{favours := Favoured, because := Because} = Advice) ->
    [io_lib:format("Leave it ~ts: ", [Favoured]), Because, ". ", measured(Advice)];
said(_, #{favours := Favoured, because := Because} = Advice) ->
    [io_lib:format("Try process_flag(message_queue_data, ~ts): ", [Favoured]), Because, ". ", measured(Advice)].

measured(#{favours := Favoured, ratio := {Best, Worst}}) ->
    io_lib:format("In experiments, similar processes needed ~.1f to ~.1f times as long with ~ts as with ~ts.",
                  [Best, Worst, Favoured, other(Favoured)]).

other(on_heap) -> off_heap;
other(off_heap) -> on_heap.
