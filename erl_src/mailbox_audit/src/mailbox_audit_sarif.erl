%% @doc Findings as SARIF 2.1.0 (OASIS), which code hosts show beside the lines.
-module(mailbox_audit_sarif).

-export([report/3]).

-define(SCHEMA, <<"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json">>).
-define(MOST_CALLERS, 20).

%% @doc Those findings of a report that are worth a look. `Known' are the
%% identities of a baseline, or `none' where there is none. Paths below the
%% folder are given relative to it. Whether all was judged, `part' or `nothing' is in the properties of the run; where nothing was,
%% it was not successful.
-spec report(mailbox_audit_static:report(), [string()] | none, file:filename()) -> iolist().
report(#{findings := Findings, skipped := Skipped, outdated := Outdated, perhaps_outdated := Perhaps} = Report, Known, Root) ->
    Judged = mailbox_audit_static:coverage(Report),
    mailbox_audit_json:encode(
      #{'$schema' => ?SCHEMA, version => <<"2.1.0">>,
        runs => [#{tool => #{driver => driver()},
                   columnKind => <<"unicodeCodePoints">>,
                   properties => #{judged => Judged},
                   invocations => [#{executionSuccessful => Judged =/= nothing,
                                     toolExecutionNotifications => [notification(warning, One) || One <- Skipped ++ Outdated]
                                         ++ [notification(note, One) || One <- Perhaps]}],
                   results => [result(Finding, Known, Root)
                               || Finding <- mailbox_audit_static:worth_a_look(Findings)]}]}).

driver() ->
    _ = application:load(mailbox_audit),
    {ok, Version} = application:get_key(mailbox_audit, vsn),
    #{name => <<"mailbox_audit">>, semanticVersion => mailbox_audit_json:text(Version),
      rules => [rule(scans, "ReceiveScansMailbox", "A receive scans all queued messages",
                     "In a process with a long message queue, each call of this function scans all queued messages."
                     " Match a reference that was made just before in all clauses."),
                rule(unknown, "ReceiveUnknown", "The compiler does not report on a receive",
                     "The code can never run, or its module is compiled with no_recv_opt, no_module_opt or beam_debug_info.")]}.

rule(Id, Name, Short, Full) ->
    #{id => Id, name => list_to_binary(Name), shortDescription => message(Short), fullDescription => message(Full)}.

message(Chars) -> #{text => mailbox_audit_json:text(Chars)}.

notification(Level, Skipped) ->
    #{level => Level, message => message(mailbox_audit_text:why_skipped(Skipped))}.

result(#{verdict := Verdict, reason := Reason, identity := Identity, reachable_from := From} = Finding,
       Known, Root) ->
    (state(Identity, Known))
        #{ruleId => Verdict, ruleIndex => index(Verdict), level => level(Finding),
          message => message([name(Finding), ": ", Reason]),
          locations => [location(Finding, Root)],
          partialFingerprints => #{'receive/v1' => mailbox_audit_json:text(Identity)},
          properties => #{reachableFrom => [mailbox_audit_json:text(mailbox_audit_text:mfa(Function))
                                            || {Function, _} <- lists:sublist(From, ?MOST_CALLERS)],
                          reachableFromCount => length(From)}}.

state(_Identity, none) -> #{};
state(Identity, Known) ->
    #{baselineState => case lists:member(Identity, Known) of true -> unchanged; false -> new end}.

%% Of the two rules above.
index(scans) -> 0;
index(unknown) -> 1.

level(#{verdict := scans, reachable_from := [_ | _]}) -> warning;
level(#{}) -> note.

name(#{module := Module, function := {Name, Arity}}) -> mailbox_audit_text:mfa({Module, Name, Arity}).

location(#{file := File} = Finding, Root) ->
    #{physicalLocation => (region(Finding))#{artifactLocation => #{uri => uri(File, Root)}},
      logicalLocations => [#{fullyQualifiedName => mailbox_audit_json:text(name(Finding)), kind => function}]}.

region(#{line := 0}) -> #{};
region(#{line := Line}) -> #{region => #{startLine => Line}}.

uri(File, Root) ->
    case filename:pathtype(File) of
        %% The folder may be "."; that is no part of a path.
        absolute -> below(filename:split(mailbox_audit_files:absolute(File)), filename:split(mailbox_audit_files:absolute(Root)));
        _ -> quoted(filename:split(File))
    end.

below(Path, Root) ->
    case lists:prefix(Root, Path) of
        true -> quoted(lists:nthtail(length(Root), Path));
        false -> <<"file:///", (quoted(tl(Path)))/binary>>
    end.

quoted(Parts) -> iolist_to_binary(lists:join($/, [uri_string:quote(mailbox_audit_json:text(Part)) || Part <- Parts])).
