%% @doc `ertslab audit': finds code that scans a whole mailbox, in the receives of compiled modules or by timing
%% calls. It runs in a VM of the requested release and variant, because their compiler and libraries are audited, or
%% in this VM if none is built.
-module(ertslab_audit).

-export([run/1, format_error/1]).
-export([static/1, timed/1]).
-export_type([reason/0]).

-type reason() :: {not_both, One :: iodata(), Other :: string()} | {needs, Option :: atom(), Other :: string()} | no_target
                | {only_otp, Node :: string()} | {no_call, Why :: unicode:chardata()} | no_compiler
                | {failed, Name :: binary(), Why :: term()} | {audit, mailbox_audit_target:reason() | {not_in_catalogue, [string()]}}
                | {baseline, mailbox_audit_baseline:reason()}
                | {found, [mailbox_audit_baseline:failure(), ...]}.

%% @doc The command.
-spec run(map()) -> ok.
run(#{} = Options) ->
    _ = [ertslab_paths:is_checkout() orelse ertslab_paths:wants_the_lab(["--", atom_to_list(Name)])
         || Name <- [otp, vm, page], is_map_key(Name, Options)],
    asked(Options).

asked(#{static := true, timed := true}) -> ertslab_error:usage(?MODULE, {not_both, "--static", "--timed"});
asked(#{json := true, sarif := true}) -> ertslab_error:usage(?MODULE, {not_both, "--json", "--sarif"});
asked(#{baseline := _, write_baseline := _}) -> ertslab_error:usage(?MODULE, {not_both, "--baseline", "--write-baseline"});
asked(#{cookie := _} = Options) when not is_map_key(node, Options) -> ertslab_error:usage(?MODULE, {needs, cookie, "--node"});
asked(#{timed := true, node := _}) -> ertslab_error:usage(?MODULE, {not_both, "--timed", "--node"});
asked(#{timed := true, page := File} = Options) ->
    ok = not_timed(Options),
    _ = [ertslab_error:usage(?MODULE, {not_both, "--page", "--json"}) || is_map_key(json, Options)],
    page(File, Options);
asked(#{timed := true} = Options) ->
    ok = not_timed(Options),
    Asked = asked_calls(Options),
    show_timed(Options, answer(ertslab_audit_vm:asked_for(Options), timed, Asked));
asked(#{} = Options) ->
    _ = [ertslab_error:usage(?MODULE, {needs, Name, "--timed"}) || Name <- [call, page], is_map_key(Name, Options)],
    static_asked(Options).

static_asked(#{target := [_ | _], node := _}) -> ertslab_error:usage(?MODULE, {not_both, "targets", "--node"});
static_asked(#{target := [_ | _] = Targets} = Options) -> judge(Targets, Options);
static_asked(#{node := Name} = Options) ->
    case ertslab_audit_node:modules(Options) of
        [] -> ertslab_error:failure(?MODULE, {only_otp, Name});
        Modules -> judge(Modules, Options)
    end;
static_asked(#{}) -> ertslab_error:usage(?MODULE, no_target).

-spec format_error(reason()) -> unicode:chardata().
format_error({not_both, One, Other}) -> [One, " or ", Other, ", not both"];
format_error({needs, Option, Other}) -> [option(Option), " needs ", Other];
format_error(no_target) ->
    "no target: name an application, a .beam file, a folder or a project, or a node by --node; or give --timed";
format_error({only_otp, Node}) -> ["node ", Node, " has loaded no module that is not OTP's own."];
format_error({no_call, Why}) -> ["--call ", Why];
format_error(no_compiler) -> "this Erlang has no compiler, which audit needs; use a complete installation of OTP.";
format_error({failed, Name, Why}) -> ["the audit on ", Name, " failed: ", ertslab_crash:says(Why), "."];
format_error({audit, Why}) -> mailbox_audit:format_error(Why);
format_error({baseline, Why}) -> [mailbox_audit_baseline:format_error(Why), "."];
format_error({found, Failed}) -> [lists:join("; ", [mailbox_audit_baseline:format_error(Failure) || Failure <- Failed]), "."].

judge(Targets, Options) ->
    show_static(Options, answer(ertslab_audit_vm:that_reads(Targets, Options), static, Targets)).

not_timed(Options) ->
    _ = [ertslab_error:usage(?MODULE, {not_both, option(Name), "--timed"})
         || Name <- [sarif, baseline, write_baseline], is_map_key(Name, Options)],
    ok.

option(Name) -> ["--", string:replace(atom_to_list(Name), "_", "-")].

asked_calls(#{call := _, target := [_ | _]}) ->
    ertslab_error:usage(?MODULE, {not_both, "--call", "names of the catalogue"});
asked_calls(#{call := Texts}) -> {calls, [parsed(Text) || Text <- Texts]};
asked_calls(Options) -> {catalogue, maps:get(target, Options, [])}.

parsed(Text) ->
    case mailbox_audit_call:parse(Text) of
        {ok, Call} -> Call;
        {error, Why} -> ertslab_error:usage(?MODULE, {no_call, Why})
    end.

answer(own, Function, Asked) ->
    code:which(compile) =:= non_existing andalso ertslab_error:failure(?MODULE, no_compiler),
    answered(?MODULE:Function(Asked));
answer(#{name := Name} = VM, Function, Asked) ->
    case ertslab_vm:in_fresh(VM, 0, ?MODULE, Function, [Asked], infinity) of
        {ok, Answer} -> answered(Answer);
        {error, Reason} -> ertslab_error:failure(?MODULE, {failed, Name, Reason})
    end.

answered({ok, Answer}) -> Answer;
answered({error, Reason}) -> ertslab_error:usage(?MODULE, {audit, Reason}).

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
    Text = ertslab_audit_page:markdown(Timed, ertslab_host:machine(), ertslab_host:load(), date()),
    ertslab_results:write(File, ertslab_text:binary(Text)).

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
        {error, Reason} -> ertslab_results:cannot_write(File, Reason)
    end.

show_timed(#{json := true}, Results) -> io:put_chars(mailbox_audit_json:timed(Results));
show_timed(#{}, Results) -> io:put_chars(mailbox_audit_text:timed(Results)).

show_static(Options, Report) ->
    case mailbox_audit_baseline:check(Report, Options) of
        {ok, Known, Shown} ->
            io:put_chars(static_text(Options, Report, Known, Shown)),
            ended(mailbox_audit_baseline:failed(Known, Shown));
        {error, Reason} ->
            %% What was found is told all the same, and why it was not compared with the baseline.
            io:put_chars(static_text(Options, Report, none, Report)),
            ertslab_error:failure(?MODULE, {baseline, Reason})
    end.

static_text(#{json := true}, _Report, _Known, Shown) -> mailbox_audit_json:report(Shown);
static_text(#{sarif := true}, Report, Known, _Shown) -> mailbox_audit_sarif:report(Report, Known, ".");
static_text(#{}, Report, _Known, Shown) -> mailbox_audit_text:report(Report, Shown).

ended([]) -> ok;
ended(Failed) -> ertslab_error:failure(?MODULE, {found, Failed}).
