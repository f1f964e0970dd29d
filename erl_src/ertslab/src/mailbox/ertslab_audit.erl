%% @doc `ertslab audit': finds code that scans a whole mailbox, in the receives of compiled modules or by timing
%% calls. It runs in a VM of the requested release and variant, because their compiler and libraries are audited, or
%% in this VM if none is built.
-module(ertslab_audit).

-export([run/1]).
-export([static/1, timed/1]).

%% @doc The command.
-spec run(map()) -> ok.
run(#{} = Options) ->
    _ = [ertslab_paths:is_checkout() orelse ertslab_error:wants_the_lab(["--", atom_to_list(Name)])
         || Name <- [otp, vm, page], is_map_key(Name, Options)],
    asked(Options).

asked(#{static := true, timed := true}) -> ertslab_error:usage("--static or --timed, not both", []);
asked(#{json := true, sarif := true}) -> ertslab_error:usage("--json or --sarif, not both", []);
asked(#{cookie := _} = Options) when not is_map_key(node, Options) -> ertslab_error:usage("--cookie goes with --node", []);
asked(#{timed := true, node := _}) -> ertslab_error:usage("--timed or --node, not both", []);
asked(#{timed := true, page := File} = Options) ->
    ok = without([sarif, baseline, write_baseline], Options, "--static"),
    _ = [ertslab_error:usage("--page or --json, not both", []) || is_map_key(json, Options)],
    page(File, Options);
asked(#{timed := true} = Options) ->
    ok = without([sarif, baseline, write_baseline], Options, "--static"),
    Asked = asked_calls(Options),
    show_timed(Options, answer(ertslab_audit_vm:asked_for(Options), timed, Asked));
asked(#{target := [_ | _], node := _}) -> ertslab_error:usage("targets or --node, not both", []);
asked(#{target := [_ | _] = Targets} = Options) -> judge(Targets, Options);
asked(#{node := Name} = Options) ->
    case ertslab_audit_node:modules(Options) of
        [] -> ertslab_error:failure("node ~ts has loaded no module that is not OTP's own.", [Name]);
        Modules -> judge(Modules, Options)
    end;
asked(#{}) -> ertslab_error:usage("no target: name an application, a .beam file, a folder or a project,"
                                " or a node by --node; or give --timed", []).

judge(Targets, Options) ->
    ok = without([call, page], Options, "--timed"),
    show_static(Options, answer(ertslab_audit_vm:that_reads(Targets, Options), static, Targets)).

without(Names, Options, Other) ->
    [ertslab_error:usage("--~ts goes with ~ts", [string:replace(atom_to_list(Name), "_", "-"), Other])
     || Name <- Names, is_map_key(Name, Options)],
    ok.

asked_calls(#{call := _, target := [_ | _]}) ->
    ertslab_error:usage("--call or names of the catalogue, not both", []);
asked_calls(#{call := Texts}) -> {calls, [parsed(Text) || Text <- Texts]};
asked_calls(Options) -> {catalogue, maps:get(target, Options, [])}.

parsed(Text) ->
    case mailbox_audit_call:parse(Text) of
        {ok, Call} -> Call;
        {error, Sentence} -> ertslab_error:usage("--call ~ts", [Sentence])
    end.

answer(own, Function, Asked) ->
    code:which(compile) =:= non_existing andalso
        ertslab_error:failure("this Erlang has no compiler, which audit needs; use a complete installation of OTP.", []),
    answered(?MODULE:Function(Asked));
answer(#{name := Name} = VM, Function, Asked) ->
    case ertslab_vm:in_fresh(VM, 0, ?MODULE, Function, [Asked], infinity) of
        {ok, Answer} -> answered(Answer);
        {error, Reason} ->
            ertslab_error:failure("the audit on ~ts failed: ~ts.", [Name, ertslab_error:reason_text(Reason)])
    end.

answered({ok, Answer}) -> Answer;
answered({error, Reason}) -> ertslab_error:usage("~ts", [mailbox_audit:format_error(Reason)]).

%% @doc Judges receives; runs in the requested VM.
-spec static([mailbox_audit_target:target()]) -> {ok, mailbox_audit:report()} | {error, term()}.
static(Targets) -> mailbox_audit:static(Targets, #{progress => ertslab_progress:counted("modules")}).

%% @doc Times calls; runs in the requested VM.
-spec timed({calls, [mailbox_audit_call:call()]} | {catalogue, [string()]}) ->
          {ok, [mailbox_audit_timed:result()]} | {error, term()}.
timed(Asked) -> mailbox_audit:timed(Asked, #{progress => ertslab_progress:counted("calls")}).

%% The page covers every built release, or the one that is named.
page(File, Options) ->
    Asked = asked_calls(Options),
    ok = must_be_writable(File),
    Timed = [begin
                 #{version := Version} = VM = ertslab_audit_vm:asked_for(Options#{otp => Release}),
                 {Version, answer(VM, timed, Asked)}
             end || Release <- releases(Options)],
    Text = ertslab_audit_page:markdown(Timed, ertslab_host:machine(), ertslab_host:load()),
    ertslab_results:write(File, ertslab_error:text(Text)).

releases(#{otp := Release}) -> [Release];
releases(#{} = Options) ->
    case ertslab_inventory:releases() of
        [] -> [ertslab_inventory:release(Options)]; % which says what to do
        Releases -> Releases
    end.

%% Checked before minutes are spent on measuring.
must_be_writable(File) ->
    case file:write_file(File, "", [append]) of
        ok -> ok;
        {error, Reason} -> ertslab_error:failure("cannot write ~ts: ~ts.", [File, file:format_error(Reason)])
    end.

show_timed(#{json := true}, Results) -> io:put_chars(mailbox_audit_json:timed(Results));
show_timed(#{}, Results) -> io:put_chars(mailbox_audit_text:timed(Results)).

show_static(Options, Report) ->
    case mailbox_audit_baseline:check(Report, Options) of
        {ok, Known, Shown} ->
            io:put_chars(static_text(Options, Report, Known, Shown)),
            ended(mailbox_audit_baseline:failed(Known, Shown));
        {error, Reason} ->
            %% What was found is told all the same.
            _ = [io:put_chars(static_text(Options, Report, none, Report)) || {cannot, write, _, _} <- [Reason]],
            ertslab_error:failure("~ts.", [mailbox_audit_baseline:format_error(Reason)])
    end.

static_text(#{json := true}, _Report, _Known, Shown) -> mailbox_audit_json:report(Shown);
static_text(#{sarif := true}, Report, Known, _Shown) -> mailbox_audit_sarif:report(Report, Known, ".");
static_text(#{}, _Report, _Known, Shown) -> mailbox_audit_text:report(Shown).

ended([]) -> ok;
ended(Failed) -> ertslab_error:failure("~ts.", [lists:join("; ", Failed)]).
