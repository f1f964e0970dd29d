%% @doc `ertslab diagnose': finds why a live node is slow, what to change, and how to prove that it helped.
-module(ertslab_diagnose).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: without_watch | without_census | every_without_log | {no_collect, string()}
                | {not_both, One :: string(), Other :: string()} | {node, diagnose:reason()}
                | {silent, ertslab_node_threads:seen()} | {process, string(), noproc | deep_mailbox | near_max_heap | no_process_identifier | diagnose:reason()}
                | {nothing_found, ertslab_node_threads:seen()} | {found, pos_integer()}.

-define(BUDGET_MS, 10_000).
%% A day; a time-out cannot be as long as 50 days.
-define(LONGEST_MS, 86_400_000).

%% @doc The command. The exit status is 3 if something is found, and 4 if nothing is found but not everything could be
%% seen.
-spec run(map()) -> ok.
run(#{census := true} = Options) ->
    case [Name || Name <- [watch, log, looks, every, nif, out, collect, budget], is_map_key(Name, Options)] of
        [Other | _] -> ertslab_error:usage(?MODULE, {not_both, "--census", "--" ++ atom_to_list(Other)});
        [] -> ertslab_census:run(Options)
    end;
run(#{for := _}) -> ertslab_error:usage(?MODULE, without_census);
run(#{} = Options) when not is_map_key(watch, Options), is_map_key(looks, Options) orelse is_map_key(log, Options) ->
    ertslab_error:usage(?MODULE, without_watch);
run(#{every := _} = Options) when not is_map_key(log, Options) -> ertslab_error:usage(?MODULE, every_without_log);
run(#{collect := Words}) when Words =/= "no", Words =:= "" orelse hd(Words) =/= $< ->
    ertslab_error:usage(?MODULE, {no_collect, Words});
run(#{collect := [$< | _]} = Options) when is_map_key(watch, Options); is_map_key(nif, Options); is_map_key(out, Options) ->
    [Other | _] = [Name || Name <- [watch, nif, out], is_map_key(Name, Options)],
    ertslab_error:usage(?MODULE, {not_both, "--collect of a process", "--" ++ atom_to_list(Other)});
run(#{json := true, watch := true}) -> ertslab_error:usage(?MODULE, {not_both, "--json", "--watch"});
run(#{out := _, watch := true}) -> ertslab_error:usage(?MODULE, {not_both, "--out", "--watch"});
run(#{nif := true} = Options) ->
    is_nif_here() orelse ertslab_paths:wants_the_lab("--nif"),
    asked(Options);
run(#{} = Options) -> asked(Options).

-spec format_error(reason()) -> unicode:chardata().
format_error(without_watch) -> "--looks and --log need --watch";
format_error(without_census) -> "--for needs --census";
format_error(every_without_log) -> "--every needs --log";
format_error({no_collect, Words}) -> ["--collect ", Words, ": give a process identifier such as '<0.80.0>', or 'no'"];
format_error({not_both, One, Other}) -> [One, " or ", Other, ", not both"];
format_error({silent, Threads}) ->
    lists:join(" ", [[diagnose:format_error(silent), "."] | ertslab_node_threads:facts(Threads)]);
format_error({node, Why}) -> [diagnose:format_error(Why), "."];
format_error({process, Process, Why}) -> ["'", Process, "': ", diagnose:format_error(Why), "."];
format_error({nothing_found, Threads}) ->
    lists:join(" ", ["nothing was found, but not everything was inspected." | ertslab_node_threads:facts(Threads)]);
format_error({found, 1}) -> "1 finding; the report proposes a change for it.";
format_error({found, Findings}) -> io_lib:format("~b findings; the report proposes a change for each.", [Findings]).

%% The single file, and a checkout without a built OTP, have its Erlang code alone.
is_nif_here() ->
    case code:priv_dir(cons_spacing) of
        {error, bad_name} -> false;
        Dir -> filelib:wildcard("*.so", Dir) =/= []
    end.

asked(#{node := Name} = Options) ->
    _ = is_map_key(watch, Options) andalso ertslab_own_code:keep(),
    Asked = #{collect => maps:get(collect, Options, "yes") =/= "no",
              budget => min(?LONGEST_MS, maps:get(budget, Options, ?BUDGET_MS)),
              nif => maps:get(nif, Options, false)},
    Node = ertslab_live_node:connected(Name, Options),
    There = maps:merge(Asked#{node => Node, place => place(Node, Options)}, ertslab_oldest:applications()),
    case Options of
        #{collect := [$< | _] = Process} -> collected(diagnose:collect(Node, Process), Process, Options);
        #{log := File} ->
            ertslab_diagnose_log:watch(File, There, maps:with([every, looks], Options));
        #{watch := true} -> watched(There, maps:get(looks, Options, none));
        #{} -> reported(look(There), Options)
    end.

%% Reports are shown to others, so the cookie is left out.
place(Node, Options) ->
    #{in => case ertslab_paths:is_checkout() of true -> checkout; false -> file end,
      node => Node, cookie => is_map_key(cookie, Options), program => ertslab_paths:start(), lab => is_lab_here()}.

%% A damaged build is none.
is_lab_here() ->
    try [<<"stock">>, <<"tuned">>] -- [Name || #{name := Name} <- ertslab_inventory:installed()] of
        Missing -> Missing =:= []
    catch throw:{failure, _} -> false
    end.

look(Asked) -> seen(diagnose:node(Asked), Asked).

seen(Answer, #{node := Node}) ->
    case Answer of
        {ok, Seen} -> Seen;
        {error, silent} -> ertslab_error:failure(?MODULE, {silent, ertslab_node_threads:seen(atom_to_list(Node))});
        {error, Reason} -> ertslab_error:failure(?MODULE, {node, Reason})
    end.

reported(Report, Options) ->
    io:put_chars(shown(Report, Options)),
    Written = fun() -> [ertslab_results:write(File, ertslab_diagnose_page:page(Report)) || #{out := File} <- [Options]] end,
    Failures = ertslab_error:put_off(Written),
    ertslab_error:at_last(Failures, fun() -> ended(Report) end).

shown(Report, #{json := true}) -> ertslab_json:format(as_json(Report));
shown(Report, #{}) -> [diagnose_text:report(Report), cookie_hint(Report)].

cookie_hint(#{findings := Findings, place := #{cookie := Cookie}}) ->
    ["COOKIE stands for the node's cookie: set it before a command above is run.\n" || Cookie, Findings =/= []].

ended(#{findings := [], node := Node, look := #{cost := #{ended := Ended}}} = Report) ->
    case diagnose:is_complete(Report) of
        true -> ok;
        false ->
            %% What took all of its time may be what holds its schedulers.
            Threads = case Ended of out_of_time -> ertslab_node_threads:seen(atom_to_list(Node)); _ -> unknown end,
            ertslab_error:incomplete(?MODULE, {nothing_found, Threads})
    end;
ended(#{findings := Findings}) -> ertslab_error:beyond(?MODULE, {found, diagnose_findings:count(Findings)}).

as_json(#{node := Node, look := Look, findings := Findings, warnings := Warnings, unknown := Unknown, place := Place} = Report) ->
    (maps:with([otp, overloaded, processes, memory, collections, carriers, cost], Look))
        #{format => 3, node => Node, collected => reasons(Look), complete => diagnose:is_complete(Report),
          findings => [finding(One, Place) || One <- Findings],
          warnings => Warnings, unknown => Unknown}.

%% Of each process whose collections were traced: how many there were, and why.
reasons(#{suspects := Suspects}) ->
    [(maps:merge(nameless(maps:with([pid, name], Suspect)), maps:with([minor, full, longest_us, total_us, window_ms, settings], Pauses)))
         #{why => Why}
     || #{pauses := #{why := [_ | _] = Why} = Pauses} = Suspect <- Suspects].

finding(#{subject := Subject, signs := Signs}, Place) ->
    #{subject => subject(Subject), signs => [maps:map(fun(Key, Value) -> part(Key, Value, Place) end, Sign) || Sign <- Signs]}.

part(evidence, Evidence, _) -> maps:map(fun value/2, Evidence);
part(setting, {Name, Value}, _) -> #{Name => Value};
part(proof, Proof, Place) -> diagnose_proof:data(Proof, Place);
part(gain, #{figure := Figure, proof := Proof}, Place) ->
    #{figure => maps:remove(rows, Figure), proof => diagnose_proof:data(Proof, Place)};
part(_, Value, _) -> Value.

subject(node) -> #{node => true};
subject(#{process := Process}) -> #{process => nameless(Process)};
subject(#{group := #{members := Members} = Group}) -> #{group => Group#{members := [nameless(One) || One <- Members]}}.

value(worst, Process) -> nameless(Process);
value(_, Value) -> Value.

nameless(#{name := ''} = Process) -> Process#{name := null};
nameless(Process) -> Process.

collected({ok, #{heap := {HeapBefore, HeapAfter}, held := {HeldBefore, HeldAfter}} = Sizes}, Process, Options) ->
    case Options of
        #{json := true} ->
            io:put_chars(ertslab_json:format(#{process => ertslab_text:binary(Process), bytes => maps:map(fun before_after/2, Sizes)}));
        #{} -> io:format("~ts was collected: its heap went from ~ts to ~ts, the binaries that it holds from ~ts to ~ts.~n",
                         [Process | [diagnose_wording:bytes(Bytes) || Bytes <- [HeapBefore, HeapAfter, HeldBefore, HeldAfter]]])
    end;
collected({error, Reason}, Process, _Options) -> ertslab_error:failure(?MODULE, {process, Process, Reason}).

before_after(_, {Before, After}) -> #{before => Before, 'after' => After}.

%% Goes on until it is interrupted or has made that many looks. The last look determines the exit status.
watched(Asked, Looks) ->
    Each = fun(Report, {Nth, Deepest, _}) ->
                   Most = show(ertslab_diagnose_watch:row(Report), Nth, Deepest),
                   {case Looks of Nth -> done; _ -> again end, {Nth + 1, Most, Report}}
           end,
    {_, _, Last} = seen(diagnose:watch(Asked, Each, {1, 1, none}), Asked),
    ended(Last).

show(#{messages := Messages} = Row, Nth, Deepest) ->
    Most = max(Messages, Deepest),
    io:put_chars([[ertslab_diagnose_watch:heading() || Nth =:= 1], ertslab_diagnose_watch:line(calendar:local_time(), Row, Most)]),
    Most.
