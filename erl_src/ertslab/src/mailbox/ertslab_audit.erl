%% @doc `ertslab audit': what looks through a whole mailbox, in the receives of
%% compiled modules or in calls that are timed. All of it runs in a VM of the
%% release and variant asked for, whose compiler and libraries they are.
-module(ertslab_audit).

-export([run/1]).
-export([static/1, timed/1]).

%% @doc The command.
-spec run(map()) -> ok.
run(#{static := true, timed := true}) -> ertslab_error:usage("--static or --timed, not both", []);
run(#{json := true, sarif := true}) -> ertslab_error:usage("--json or --sarif, not both", []);
run(#{timed := true, page := File} = Options) ->
    ok = without([sarif, baseline, write_baseline], Options, "--static"),
    page(File, Options);
run(#{timed := true} = Options) ->
    ok = without([sarif, baseline, write_baseline], Options, "--static"),
    show_timed(Options, answer(timed, asked_calls(Options), Options));
run(#{target := [_ | _] = Targets} = Options) ->
    ok = without([call, page], Options, "--timed"),
    show_static(Options, answer(static, Targets, Options));
run(#{}) -> ertslab_error:usage("no target: name an application, a .beam file, a folder or a project,"
                                " or say --timed", []).

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

vm(Options) ->
    ertslab_inventory:find(ertslab_error:text(maps:get(vm, Options, "stock")), ertslab_inventory:release(Options)).

answer(Function, Asked, Options) ->
    VM = vm(Options),
    case ertslab_vm:in_fresh(VM, 0, ?MODULE, Function, [Asked], infinity) of
        {ok, {ok, Answer}} -> Answer;
        {ok, {error, Reason}} -> ertslab_error:usage("~ts", [mailbox_audit:format_error(Reason)]);
        {error, Reason} ->
            #{name := Name} = VM,
            ertslab_error:failure("the audit on ~ts failed: ~ts.", [Name, ertslab_error:reason_text(Reason)])
    end.

%% @doc In the VM that is asked for: judges receives.
-spec static([string()]) -> {ok, mailbox_audit:report()} | {error, term()}.
static(Targets) -> mailbox_audit:static(Targets, #{progress => ertslab_progress:counted("modules")}).

%% @doc In the VM that is asked for: times calls.
-spec timed({calls, [mailbox_audit_call:call()]} | {catalogue, [string()]}) ->
          {ok, [mailbox_audit_timed:result()]} | {error, term()}.
timed(Asked) -> mailbox_audit:timed(Asked, #{progress => ertslab_progress:counted("calls")}).

%% Of every release that is built, or of the one that is named.
page(File, Options) ->
    Asked = asked_calls(Options),
    ok = must_be_writable(File),
    Timed = [begin
                 #{version := Version} = vm(Options#{otp => Release}),
                 {Version, answer(timed, Asked, Options#{otp => Release})}
             end || Release <- releases(Options)],
    Text = ertslab_audit_page:markdown(Timed, ertslab_host:machine(), load()),
    ertslab_results:write(File, ertslab_error:text(Text)).

load() ->
    case ertslab_readings:line("/proc/loadavg") of
        null -> ~"unknown";
        Line -> lists:nth(3, binary:split(Line, ~" ", [global]))
    end.

releases(#{otp := Release}) -> [Release];
releases(#{} = Options) ->
    case ertslab_inventory:releases() of
        [] -> [ertslab_inventory:release(Options)]; % which says what to do
        Releases -> Releases
    end.

%% Before minutes are spent.
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
            ended(Known, Shown);
        {error, Reason} -> ertslab_error:failure("~ts.", [mailbox_audit_baseline:format_error(Reason)])
    end.

static_text(#{json := true}, _Report, _Known, Shown) -> mailbox_audit_json:report(Shown);
static_text(#{sarif := true}, Report, Known, _Shown) -> mailbox_audit_sarif:report(Report, Known, ".");
static_text(#{}, _Report, _Known, Shown) -> mailbox_audit_text:report(Shown).

ended(none, _Shown) -> ok;
ended(_Known, #{findings := []}) -> ok;
ended(_Known, #{findings := New}) ->
    ertslab_error:failure("~b receives scan that the baseline does not know.", [length(New)]).
