%% @doc The command of rebar3: `rebar3 mailbox_audit'. It compiles the project,
%% and says which receives of its applications look through a whole mailbox.
-module(mailbox_audit_prv).

-export([init/1, do/1, format_error/1]).

-define(OPTIONS,
        [{baseline, $b, "baseline", string, "a file of known findings: only others fail"},
         {write_baseline, $w, "write-baseline", string, "write the findings into such a file"},
         {sarif, $s, "sarif", string, "write the findings as SARIF 2.1.0 into this file"},
         {deps, $d, "deps", boolean, "also the receives of dependencies"}]).

-spec init(State) -> {ok, State} when State :: term().
init(State) ->
    Provider = rebar3(providers, create, [[{name, mailbox_audit}, {module, ?MODULE}, {bare, true},
                                           {deps, [{default, compile}]}, {opts, ?OPTIONS},
                                           {example, "rebar3 mailbox_audit --baseline audit.baseline"},
                                           {short_desc, "Finds receives that look through a whole mailbox"},
                                           {desc, "Says of each receive whether it looks at every message"
                                                  " that waits"}]]),
    {ok, rebar3(rebar_state, add_provider, [State, Provider])}.

%% Its modules are there only where rebar3 runs: xref and dialyzer know none of them.
rebar3(Module, Function, Args) -> apply(Module, Function, Args).

-spec do(State) -> {ok, State} | {error, {module(), term()}} when State :: term().
do(State) ->
    {Options, _} = rebar3(rebar_state, command_parsed_args, [State]),
    Apps = rebar3(rebar_state, project_apps, [State])
        ++ [App || proplists:get_bool(deps, Options), App <- rebar3(rebar_state, all_deps, [State])],
    case audit([rebar3(rebar_app_info, ebin_dir, [App]) || App <- Apps], Options) of
        ok -> {ok, State};
        {error, Reason} -> {error, {?MODULE, Reason}}
    end.

%% An application that has only a .app file has nothing to say.
audit(Dirs, Options) ->
    case mailbox_audit_static:static([Dir || Dir <- Dirs, filelib:wildcard(filename:join(Dir, "*.beam")) =/= []], #{}) of
        {ok, Report} -> told(Report, maps:from_list(proplists:unfold(Options)));
        {error, Reason} -> {error, {audit, Reason}}
    end.

told(Report, Options) ->
    case mailbox_audit_baseline:check(Report, Options) of
        {ok, Known, Shown} ->
            _ = rebar3(rebar_api, console, ["~ts", [mailbox_audit_text:report(Shown)]]),
            passed(written(Report, Known, Options), Known, Shown);
        {error, Reason} -> {error, {baseline, Reason}}
    end.

written(Report, Known, #{sarif := File}) ->
    case file:write_file(File, mailbox_audit_sarif:report(Report, Known, ".")) of
        ok -> ok;
        {error, Reason} -> {error, {sarif, File, Reason}}
    end;
written(_Report, _Known, #{}) -> ok.

passed({error, Reason}, _Known, _Shown) -> {error, Reason};
passed(ok, none, _Shown) -> ok;
passed(ok, _Known, #{findings := []}) -> ok;
passed(ok, _Known, #{findings := New}) -> {error, {new, length(New)}}.

-spec format_error(term()) -> iolist().
format_error({audit, Reason}) -> mailbox_audit_text:error(Reason);
format_error({baseline, Reason}) -> mailbox_audit_baseline:format_error(Reason);
format_error({sarif, File, Reason}) -> io_lib:format("cannot write ~ts: ~ts", [File, file:format_error(Reason)]);
format_error({new, Count}) -> io_lib:format("~b receives scan that the baseline does not know", [Count]).
