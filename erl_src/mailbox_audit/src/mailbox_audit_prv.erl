%% @doc The command of rebar3: `rebar3 mailbox_audit'. It compiles the project,
%% and says which receives of its applications look through a whole mailbox.
-module(mailbox_audit_prv).

-export([init/1, do/1, format_error/1]).

-define(OPTIONS,
        [{baseline, $b, "baseline", string, "a file of known findings; fails only on findings that are not in it"},
         {write_baseline, $w, "write-baseline", string, "writes the findings into such a file"},
         {sarif, $s, "sarif", string, "writes the findings as SARIF 2.1.0 into this file"},
         {deps, $d, "deps", boolean, "also judges the receives of dependencies"}]).

-spec init(State) -> {ok, State} when State :: term().
init(State) ->
    Provider = rebar3(providers, create, [[{name, mailbox_audit}, {module, ?MODULE}, {bare, true},
                                           {deps, [{default, compile}]}, {opts, ?OPTIONS},
                                           {example, "rebar3 mailbox_audit --baseline audit.baseline"},
                                           {short_desc, "Finds receives that scan the whole mailbox"},
                                           {desc, "Compiles the project, and lists the receives that scan the whole mailbox"}]]),
    {ok, rebar3(rebar_state, add_provider, [State, Provider])}.

%% Its modules are there only where rebar3 runs: xref and dialyzer know none of them.
rebar3(Module, Function, Args) -> apply(Module, Function, Args).

-spec do(State) -> {ok, State} | {error, {module(), term()}} when State :: term().
do(State) ->
    {Options, Rest} = rebar3(rebar_state, command_parsed_args, [State]),
    %% rebar3 takes the first word that is no option for a task.
    case [Word || {task, Word} <- Options] ++ Rest of
        [] -> audit(Options, State);
        [Word | _] -> {error, {?MODULE, {no_option, Word}}}
    end.

audit(Options, State) ->
    Dirs = ebins(project_apps, State)
        ++ lists:append([mailbox_audit_project:built(ebins(all_deps, State)) || proplists:get_bool(deps, Options)]),
    Tell = fun(Text) -> rebar3(rebar_api, console, ["~ts", [Text]]) end,
    case mailbox_audit_project:audit(Dirs, maps:from_list(proplists:unfold(Options)), Tell) of
        ok -> {ok, State};
        {error, Reason} -> {error, {?MODULE, Reason}}
    end.

ebins(Apps, State) -> [rebar3(rebar_app_info, ebin_dir, [App]) || App <- rebar3(rebar_state, Apps, [State])].

-spec format_error(mailbox_audit_project:reason() | {no_option, string()}) -> iolist().
format_error({no_option, Word}) -> ["'", Word, "' is not an option; see rebar3 help mailbox_audit"];
format_error(Reason) -> mailbox_audit_project:format_error(Reason).
