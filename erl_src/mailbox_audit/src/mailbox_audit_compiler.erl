%% @doc What the compiler says of the receives of a module.
-module(mailbox_audit_compiler).

-export([is_here/0, says/1, first/1, is_newer/1, age/1, release/1]).
-export_type([said/0]).

-type said() :: {mailbox_audit_marks:mark(), marker | takes_any | scans, Words :: string()}.

%% It runs in the process that asks, whose limits then hold for it. What passes warn of besides is of no interest.
-define(TO_CORE, [binary, return, to_core, no_lint, no_docs, no_spawn_compiler_process]).
%% Everything after the pass that decides on markers is left out where it can be. Over kernel and stdlib
%% that takes a third of the time, and what is said stays the same; without
%% `no_ssa_opt' alone it is all of it. What is done in Core Erlang is done already.
-define(FROM_CORE, [binary, return, from_core, recv_opt_info, no_copt, no_ssa_opt, no_bsm_opt, no_postopt, no_spawn_compiler_process]).
-define(CRASHED, "it fails on its code").

%% @doc Whether there is a compiler: a release may have none.
-spec is_here() -> boolean().
is_here() -> code:ensure_loaded(compile) =:= {module, compile}.

%% @doc What it says of each receive, by its mark. A receive that was inlined is spoken of as often as it is in the code.
-spec says(mailbox_audit_beam:code()) -> {ok, [said()]} | {error, string()}.
says(#{forms := Forms, options := Options}) ->
    Harmless = [harmless(Form) || Form <- Forms],
    Given = lists:flatmap(fun option/1, Options),
    case compiled(Harmless, Given ++ ?TO_CORE) of
        {ok, Core, _} ->
            InModule = lists:append([InForm || {attribute, _, compile, InForm} <- Harmless]),
            says(mailbox_audit_core:without_unused(Core), Given ++ InModule ++ ?FROM_CORE);
        Error -> Error
    end.

says(Core, Options) ->
    case compiled(Core, Options) of
        {ok, _, Warnings} -> {ok, said(Warnings)};
        {error, ?CRASHED} -> says_without_makers(mailbox_audit_core:with_hidden_makers(Core), Options);
        Error -> Error
    end.

%% Where it then says that a receive scans, or one of its copies, it may do so for what it does not see.
says_without_makers(none, _) -> {error, ?CRASHED};
says_without_makers({Hidden, Fresh, Concerned}, Options) ->
    case compiled(Hidden, Options) of
        {ok, _, Warnings} ->
            Said = said(Warnings),
            Doubtful = [Mark || {Mark, scans, _} <- Said, lists:member(Mark, Concerned)],
            {ok, without(Doubtful -- surely_scans(Doubtful, Fresh, Options), Said)};
        Error -> Error
    end.

without(Marks, Said) -> [One || {Mark, _, _} = One <- Said, not lists:member(Mark, Marks)].

%% What has no marker though all references that it may match are fresh. A mark is as often in there as it has copies.
surely_scans([], _, _) -> [];
surely_scans(Doubtful, Fresh, Options) ->
    case compiled(Fresh, Options) of
        {ok, _, Warnings} ->
            Scan = [Mark || {Mark, scans, _} <- said(Warnings)],
            [Mark || Mark <- Doubtful, lists:member(Mark, Scan)];
        {error, _} -> []
    end.

%% Its specification says that it only gives bytes, which it does not with `to_core'. So Dialyzer must not see which function it is.
compiled(Code, Options) ->
    Compiler = list_to_existing_atom("compile"),
    case quietly(fun() -> Compiler:noenv_forms(Code, Options) end) of
        {ok, _Module, Compiled, Warnings} -> {ok, Compiled, Warnings};
        {error, Errors, _Warnings} -> {error, first(Errors)}
    end.

%% Where a pass fails on its code, it prints that before it raises, and standard output may be a report's.
quietly(Fun) ->
    Own = self(),
    Leader = group_leader(),
    Nobody = spawn(fun() -> prints_nothing(monitor(process, Own)) end),
    true = group_leader(Nobody, Own),
    try Fun()
    after
        true = group_leader(Leader, Own),
        true = exit(Nobody, kill)
    end.

prints_nothing(Ends) ->
    receive
        {io_request, From, As, _} ->
            From ! {io_reply, As, ok},
            prints_nothing(Ends);
        {'DOWN', Ends, process, _, _} -> ok
    end.

harmless({attribute, Anno, compile, Options}) ->
    {attribute, Anno, compile, lists:flatmap(fun option/1, lists:flatten([Options]))};
harmless(Form) -> Form.

%% What the compiler says comes as warnings, which must not count as errors, or be printed.
option(Option) when Option =:= warnings_as_errors; Option =:= report; Option =:= report_warnings; Option =:= report_errors;
                    Option =:= verbose -> [];
%% Code of others is not run: a parse transform has left its work in the forms, and the other kind need not be here.
option({Transform, _}) when Transform =:= core_transform; Transform =:= parse_transform -> [];
%% It leaves out the markers, and all else that it does is for debuggers, and fails on what is not compiled for them alone.
option(beam_debug_info) -> [no_recv_opt];
option(Option) -> [Option].

said(Warnings) ->
    [{erl_anno:line(Location), What, words(beam_ssa_recv:format_error(Info))}
     || {_File, Infos} <- Warnings, {Location, beam_ssa_recv, Info} <- Infos,
        What <- what(Info)].

what({used_receive_marker, _}) -> [marker];
what(matches_any_message) -> [takes_any];
what(unoptimized_selective_receive) -> [scans];
what(_) -> [].

%% Without "OPTIMIZED: " and the like in front.
words(Text) ->
    case string:split(lists:flatten(Text), ": ") of
        [_Kind, Words] -> Words;
        [Words] -> Words
    end.

%% @doc The first of its errors, in one line. Of what crashed in it, it would say the stack.
-spec first([{file:filename(), [erl_lint:error_info() | {none, module(), term()}]}]) -> string().
first([{_File, [{_, compile, Crashed} | _]} | _]) when element(1, Crashed) =:= crash -> ?CRASHED;
first([{_File, [{_, Module, Reason} | _]} | _]) -> hd(string:split(lists:flatten(Module:format_error(Reason)), "\n"));
first(_) -> "it does not compile".

%% @doc Whether a version of the application `compiler' is of a newer release than the one that is here.
-spec is_newer(string() | unknown) -> boolean().
is_newer(Version) -> age(Version) =:= newer.

%% @doc What the release of a version of the application `compiler' is to that of the one that is here.
-spec age(string() | unknown) -> older | same | newer | unknown.
age(unknown) -> unknown;
age(Version) ->
    _ = application:load(compiler),
    case application:get_key(compiler, vsn) of
        {ok, Own} -> age(release(Version), release(Own));
        undefined -> unknown
    end.

age(Release, Own) when Release < Own -> older;
age(Own, Own) -> same;
age(_Release, _Own) -> newer.

%% @doc The release of OTP that has this version of the application `compiler'. From OTP 28 on each had the next number, and two of
%% the second number before that.
-spec release(string()) -> integer().
release(Version) ->
    case [list_to_integer(Part) || Part <- string:lexemes(Version, ".")] of
        [8, Minor | _] -> 25 + (Minor - 1) div 2;
        [Major | _] -> 19 + Major
    end.
