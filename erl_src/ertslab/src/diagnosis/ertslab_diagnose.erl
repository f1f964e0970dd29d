%% @doc `ertslab diagnose': why a live node is slow, what to change, and how to prove that it helped.
-module(ertslab_diagnose).

-export([run/1]).

-define(BUDGET, "10s").

%% @doc The command. Fails with exit status 3 where something is found.
-spec run(map()) -> ok.
run(#{collect := _, watch := true}) -> ertslab_error:usage("--collect or --watch, not both", []);
run(#{json := true, watch := true}) -> ertslab_error:usage("--json or --watch, not both", []);
run(#{out := _, watch := true}) -> ertslab_error:usage("--out or --watch, not both", []);
run(#{node := Name} = Options) ->
    Asked = #{budget => ertslab_plan:duration(maps:get(budget, Options, ?BUDGET)), nif => maps:get(nif, Options, false),
              connect => connect(Options), oldest => ertslab_paths:build("erl/oldest/lib")},
    Node = ertslab_live_node:connected(Name, Options),
    case Options of
        #{collect := Process} -> collected(diagnose:collect(Node, Process), Process, Options);
        #{watch := true} -> watched(Asked#{node => Node}, maps:get(looks, Options, none));
        #{} -> reported(look(Asked#{node => Node}), Options)
    end.

%% A report is shown to others, so the cookie stays out of it.
connect(#{node := Name, cookie := _}) -> ertslab_error:text(["--node ", Name, " --cookie \"$COOKIE\""]);
connect(#{node := Name}) -> ertslab_error:text(["--node ", Name]).

look(Asked) -> seen(diagnose:node(Asked)).

seen({ok, Seen}) -> Seen;
seen({error, Reason}) -> ertslab_error:failure("~ts.", [diagnose:format_error(Reason)]).

reported(Report, Options) ->
    io:put_chars(shown(Report, Options)),
    _ = [ertslab_results:write(ertslab_paths:absolute(File), ertslab_diagnose_page:page(Report)) || #{out := File} <- [Options]],
    ended(Report).

shown(Report, #{json := true}) -> json:format(as_json(Report));
shown(Report, #{}) -> [diagnose_text:report(Report), cookie_hint(Report)].

cookie_hint(#{findings := Findings}) ->
    ["COOKIE stands for the node's cookie: set it before a command above is run.\n"
     || lists:any(fun(#{command := Command}) -> binary:match(Command, ~"$COOKIE") =/= nomatch end, Findings)].

ended(#{findings := [], look := #{suspects := unknown}}) ->
    ertslab_error:failure("nothing was found, but the node was not looked at closely enough to say that nothing is wrong.", []);
ended(#{findings := []}) -> ok;
ended(#{findings := Findings}) -> ertslab_error:beyond("~b found; each with what to do.", [length(Findings)]).

as_json(#{node := Node, look := Look, findings := Findings, warnings := Warnings, unknown := Unknown}) ->
    (maps:with([otp, overloaded, processes, collections, carriers, cost], Look))
        #{format => 1, node => Node, findings => [finding(One) || One <- Findings], warnings => Warnings, unknown => Unknown}.

finding(#{process := none} = Finding) -> Finding#{process := null};
finding(#{process := #{name := ''} = Process} = Finding) -> Finding#{process := Process#{name := null}};
finding(Finding) -> Finding.

collected({ok, #{heap := {HeapBefore, HeapAfter}, held := {HeldBefore, HeldAfter}} = Sizes}, Process, Options) ->
    case Options of
        #{json := true} ->
            io:put_chars(json:format(#{process => ertslab_error:text(Process), bytes => maps:map(fun before_after/2, Sizes)}));
        #{} -> io:format("~ts was collected: its heap went from ~ts to ~ts, the binaries that it holds from ~ts to ~ts.~n",
                         [Process | [diagnose_wording:bytes(Bytes) || Bytes <- [HeapBefore, HeapAfter, HeldBefore, HeldAfter]]])
    end;
collected({error, Reason}, Process, _Options) -> ertslab_error:failure("'~ts': ~ts.", [Process, diagnose:format_error(Reason)]).

before_after(_, {Before, After}) -> #{before => Before, 'after' => After}.

%% Until it is interrupted, or that many looks were made. The last one decides how it ends.
watched(Asked, Looks) ->
    Each = fun(Report, {Nth, Deepest, _}) ->
                   Most = show(ertslab_diagnose_watch:row(Report), Nth, Deepest),
                   {case Looks of Nth -> done; _ -> again end, {Nth + 1, Most, Report}}
           end,
    {_, _, Last} = seen(diagnose:watch(Asked, Each, {1, 1, none})),
    ended(Last).

show(#{messages := Messages} = Row, Nth, Deepest) ->
    Most = max(Messages, Deepest),
    io:put_chars([[ertslab_diagnose_watch:heading() || Nth =:= 1], ertslab_diagnose_watch:line(calendar:local_time(), Row, Most)]),
    Most.
