%% @doc Says why a node is slow: looks at it for few seconds, with hard limits on time and memory, changes nothing, and
%% gives findings, each with its evidence, what to change, and what to run then: a look again, or what measures it.
-module(diagnose).
-compile({no_auto_import, [node/0, node/1]}).

-include("diagnose_bounds.hrl").

-export([node/0, node/1, watch/3, collect/2, is_complete/1, format_error/1]).
%% For the tests.
-export([judging_ms/3]).
-export_type([report/0, options/0, reason/0]).

%% budget: milliseconds that the look may take. nif: measures layouts with cons_spacing. collect: collects some idle processes to see
%% what lives in them (true by default). place: where the commands of
%% findings are run (by default they are calls of this application). oldest: a folder of applications (this
%% one, and cons_spacing) compiled for OTP 25, for nodes that are older than this one.
-type options() :: #{node => node(),
                     budget => pos_integer(),
                     nif => boolean(),
                     collect => boolean(),
                     place => diagnose_proof:place(),
                     oldest => file:filename()}.

-type report() :: #{node := node(), look := diagnose_types:look(), place := diagnose_proof:place(), findings := [diagnose_types:finding()],
                    warnings := [binary()], unknown := [binary()]}.
%% warnings: what looking itself may do there. unknown: what could not be seen. A sentence each.

-type reason() :: diagnose_node:reason().

-define(BUDGET_MS, 10_000).
-define(JUDGING_MS, 9000).

%% @equiv node(#{})
-spec node() -> {ok, report()} | {error, reason()}.
node() -> node(#{}).

%% @doc Looks at a node, the own one by default. On another one the module that looks is loaded and removed again.
-spec node(options()) -> {ok, report()} | {error, reason()}.
node(Options) ->
    {Node, Asked} = asked(Options),
    Session = diagnose_session:open(Node, Asked),
    Looked = diagnose_session:look(Session),
    ok = diagnose_session:close(Session),
    judged(Node, Looked, Asked).

asked(Options) ->
    Node = maps:get(node, Options, erlang:node()),
    {Node, maps:merge(#{budget => ?BUDGET_MS, nif => false, collect => true, place => #{in => library, node => called(Node)}}, Options)}.

called(Node) when Node =:= erlang:node() -> own;
called(Node) -> Node.

%% @doc Looks time and again with what is loaded once: the function gets each report and what it gave before, and says
%% whether to look again. What it gave at last is the result.
-spec watch(options(), fun((report(), State) -> {again | done, State}), State) -> {ok, State} | {error, reason()}.
watch(Options, Each, State) ->
    {Node, Asked} = asked(Options),
    Session = diagnose_session:open(Node, Asked),
    try watched(Session, Node, Asked, Each, State)
    after diagnose_session:close(Session)
    end.

watched(Session, Node, Asked, Each, State) ->
    case judged(Node, diagnose_session:look(Session), Asked) of
        {ok, Report} ->
            case Each(Report, State) of
                {again, Next} -> watched(Session, Node, Asked, Each, Next);
                {done, Last} -> {ok, Last}
            end;
        {error, Reason} -> {error, Reason}
    end.

judged(_Node, {error, Reason}, _Asked) -> {error, Reason};
judged(Node, {ok, #{otp := Otp, release := Release, suspects := Suspects, cost := #{milliseconds := Ms} = Looking} = Seen},
       #{place := Place, budget := Budget}) ->
    {Scans, NotJudged, Judging} = diagnose_receives:scans(Node, Suspects, judging_ms(Node, Budget, Ms)),
    Look = Seen#{cost := cost(Node, Looking, Judging)},
    {ok, #{node => Node, look => Look, place => Place, findings => diagnose_findings:findings(Look, Scans),
           warnings => diagnose_wording:warnings(diagnose_known_faults:met_by_looking(Otp, Release), Otp),
           unknown => diagnose_wording:unknown(Look, NotJudged)}}.

%% @doc To judge costs another node nothing, so it has some seconds though the look took all of its time. A node that looks at itself works
%% within the budget, or little longer.
-spec judging_ms(node(), Budget :: pos_integer(), Ms :: non_neg_integer()) -> pos_integer().
judging_ms(Node, Budget, Ms) when Node =/= erlang:node() -> max(Budget - Ms, min(Budget, ?JUDGING_MS));
judging_ms(_Node, Budget, Ms) -> max(Budget - Ms, Budget div 5).

%% Time and memory count where this is the node that is looked at.
cost(Node, #{milliseconds := Ms, bytes := Bytes} = Cost, #{milliseconds := More, bytes := Memory}) when Node =:= erlang:node() ->
    Cost#{milliseconds := Ms + More, bytes := max(Bytes, Memory)};
cost(_Node, #{carried_bytes := Carried} = Cost, #{carried_bytes := More}) -> Cost#{carried_bytes := Carried + More}.

%% @doc Whether everything within the bounds was seen. Where it was not, no finding is not the same as nothing wrong.
-spec is_complete(report()) -> boolean().
is_complete(#{look := Look}) -> diagnose_wording:unseen(Look) =:= [].

%% @doc Collects the garbage of one process of a node, named by its identifier there, as `"<0.80.0>"': the bytes of its
%% heap and of the binaries that it holds, before and after. It is what `collect' does to some of its own choice.
-spec collect(node(), string()) -> {ok, #{heap | used | old | held => {Before :: integer(), After :: integer()}}}
                                       | {error, noproc | deep_mailbox | near_max_heap | no_process_identifier | reason()}.
collect(Node, Text) ->
    try
        Pid = diagnose_node:call(Node, erlang, list_to_pid, [Text]),
        Before = sizes(Node, Pid),
        diagnose_probe:may_be_collected(diagnose_node:call(Node, erlang, process_info, [Pid, [max_heap_size, total_heap_size]]))
            orelse throw(near_max_heap),
        true = diagnose_node:call(Node, erlang, garbage_collect, [Pid]),
        After = sizes(Node, Pid),
        {ok, maps:map(fun(Key, Bytes) -> {Bytes, maps:get(Key, After)} end, Before)}
    catch
        throw:{diagnose_node, Reason} -> {error, Reason};
        throw:Why when Why =:= noproc; Why =:= deep_mailbox; Why =:= near_max_heap -> {error, Why};
        error:{badmatch, false} -> {error, noproc};
        error:{exception, badarg, _} -> {error, no_process_identifier}
    end.

sizes(Node, Pid) ->
    case diagnose_node:call(Node, erlang, process_info, [Pid, message_queue_len]) of
        {_, Depth} when Depth >= ?DEEP -> throw(deep_mailbox);
        {_, _} -> sizes_of(diagnose_node:call(Node, erlang, process_info, [Pid, garbage_collection_info]));
        undefined -> throw(noproc)
    end.

sizes_of({_, Info}) -> diagnose_probe:sizes(Info);
sizes_of(undefined) -> throw(noproc).

%% @doc An error as one sentence.
-spec format_error(noproc | deep_mailbox | near_max_heap | no_process_identifier | reason()) -> string().
format_error(Reason) -> diagnose_wording:error(Reason).
