%% @doc What the compiler says of the receives of a module.
-module(mailbox_audit_compiler).

-export([says/1]).
-export_type([said/0]).

-type said() :: {file:filename(), Line :: non_neg_integer(),
                 marker | takes_any | scans, Words :: string()}.

%% Everything after the pass that decides on markers is left out where it can
%% be, and what other passes warn of is of no interest. Over kernel and stdlib
%% that takes a third of the time, and what is said stays the same; without
%% `no_ssa_opt' alone it is all of it. `no_copt', and leaving out what comes before that
%% pass, change what is said, or make the compiler crash. It runs in the process that asks, whose limits then hold for it.
-define(OPTIONS, [binary, return, recv_opt_info, no_ssa_opt, no_bsm_opt, no_postopt, no_lint, no_docs,
                  no_spawn_compiler_process]).

%% @doc What it says of each receive, by the file's name without its folder. A
%% receive that was inlined is spoken of as often.
-spec says(mailbox_audit_beam:code()) -> {ok, [said()]} | {error, string()}.
says(#{forms := Forms, options := Options}) ->
    case compile:noenv_forms([harmless(Form) || Form <- Forms], Options ++ ?OPTIONS) of
        {ok, _Module, _Binary, Warnings} -> {ok, said(Warnings)};
        {error, Errors, _Warnings} -> {error, first(Errors)}
    end.

%% What the compiler says comes as warnings, which must not count as errors.
harmless({attribute, Anno, compile, Options}) ->
    {attribute, Anno, compile, lists:delete(warnings_as_errors, lists:flatten([Options]))};
harmless(Form) -> Form.

said(Warnings) ->
    [{filename:basename(File), erl_anno:line(Location), What, words(beam_ssa_recv:format_error(Info))}
     || {File, Infos} <- Warnings, {Location, beam_ssa_recv, Info} <- Infos,
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

first([{_File, [{_, Module, Reason} | _]} | _]) -> lists:flatten(Module:format_error(Reason));
first(_) -> "it does not compile".
