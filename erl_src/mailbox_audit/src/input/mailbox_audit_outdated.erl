%% @doc Sources of Erlang that were changed after their modules were made: what is judged of these is no longer what the source says.
%%
%% The time of a source that is later than that of its module is only a suspicion: a fresh checkout, a copy or `touch' gives a time, too.
%% So the source is read, as its module was compiled, and compared with the abstract code of that. Where they differ, though not for
%% certain because somebody changed the source, that is told. Nothing of it is run, so parse transforms are such a reason.
-module(mailbox_audit_outdated).

-include_lib("kernel/include/file.hrl").

-export([sources/2]).
-export_type([why/0]).

-type why() :: outdated | {not_compared, Why :: string()}.
%% It differs from its module; or it is not known whether it does.

-type made() :: #{forms := [erl_parse:abstract_form()], compiler := string() | unknown, options := [compile:option()] | unknown}.

%% @doc Those of the sources, each with the names of its modules, that are newer than one of the modules found, and differ from it, or
%% may do so.
-spec sources([{file:filename_all(), [string()]}], [mailbox_audit_beam:beam()]) -> [{file:filename_all(), why()}].
sources(Sources, Found) ->
    InFiles = [File || {File, in_file} <- Found],
    Files = maps:groups_from_list(fun(File) -> filename:basename(File, ".beam") end, InFiles),
    Ebins = lists:uniq([filename:dirname(File) || File <- InFiles]),
    lists:uniq([{Source, Why} || {Source, [Name | _]} <- Sources, filename:extension(mailbox_audit_files:shown(Source)) =:= ".erl",
                                 Why <- worst([compared(Source, File, Ebins) || File <- maps:get(Name, Files, []),
                                                                                is_newer(Source, File)])]).

worst(All) -> lists:sublist([outdated || outdated <- All] ++ [Why || {not_compared, _} = Why <- All], 1).

is_newer(Source, File) ->
    case {changed(Source), changed(File)} of
        {At, Made} when is_integer(At), is_integer(Made) -> At > Made;
        _ -> false
    end.

changed(File) ->
    case file:read_file_info(File, [{time, posix}]) of
        {ok, #file_info{mtime = At}} -> At;
        {error, _} -> unknown
    end.

%% A module that cannot be read, or has no abstract code, is not judged anyway.
compared(Source, File, Ebins) ->
    case made(File) of
        {ok, Made} ->
            Headers = mailbox_audit_source:headers(Source, named(Made) ++ of_application(File), Ebins),
            case mailbox_audit_source:guarded(Source, Headers, fun() -> {ok, with_headers(Source, Headers, Made)} end) of
                {ok, Compared} -> Compared;
                {error, Words} -> {not_compared, Words}
            end;
        unknown -> same
    end.

-spec made(file:filename()) -> {ok, made()} | unknown.
made(File) ->
    case mailbox_audit_files:read(File) of
        {ok, Bytes} -> made(mailbox_audit_beam:code({File, Bytes}, fun only_erlang/1), mailbox_audit_chunks:read(Bytes));
        {error, _} -> unknown
    end.

made({ok, Code}, {ok, Chunks}) ->
    {ok, Options} = mailbox_audit_chunks:options(Chunks), % or there would be no forms
    {ok, (maps:with([forms, compiler], Code))#{options => case mailbox_audit_chunks:has_options(Chunks) of
                                                              true -> Options;
                                                              false -> unknown
                                                          end}};
made(_, _) -> unknown.

only_erlang(erl_abstract_code) -> ok;
only_erlang(Backend) -> {error, Backend}.

%% The folders of headers that its compiler was given.
named(Made) -> [Dir || {i, Dir} <- given(Made)].

given(#{options := unknown}) -> [];
given(#{options := Options}) -> Options.

%% Those of rebar3, which links the folders of an application beside that of its modules, and of erlang.mk.
of_application(File) -> [filename:join([filename:dirname(File), "..", Name]) || Name <- ["include", "src", "deps"]].

with_headers(Source, Headers, #{forms := Forms} = Made) ->
    Names = [{source_name, Name} || {attribute, _, file, {Name, _}} <- lists:sublist(Forms, 1)], % which ?FILE is
    Macros = [case Option of {d, Name} -> Name; {d, Name, Value} -> {Name, Value} end
              || Option <- given(Made), is_tuple(Option), element(1, Option) =:= d, tuple_size(Option) =< 3],
    case epp:parse_file(Source, Names ++ [{includes, Headers}, {macros, Macros}]) of
        {ok, Read} -> compared(said(Read) =:= said(Forms), doubts(Source, Read, Made));
        {error, Why} -> {not_compared, file:format_error(Why)}
    end.

compared(true, _Doubts) -> same;
compared(false, [Words | _]) -> {not_compared, Words};
compared(false, []) -> outdated.

%% Why a source may differ that nobody changed. An error of syntax is a change: what was compiled had none.
doubts(Source, Read, #{compiler := Version, options := Options} = Made) ->
    ["its module was compiled with 'deterministic', and does not contain the options of the compiler" || Options =:= unknown]
        ++ [mailbox_audit_compiler:first([{"", [Info]}]) || {error, {_, Module, _} = Info} <- Read,
                                                            not lists:member(Module, [erl_parse, erl_scan])]
        ++ ["it depends on the release of OTP, and another one compiled its module"
            || lists:member(mailbox_audit_compiler:age(Version), [older, newer]), depends_on_release(Source, Read)]
        ++ ["a parse transform changes it" || is_transformed(given(Made) ++ [InForm || {attribute, _, compile, InForm} <- Read])]
        ++ ["its module was compiled with an option 'feature'" || lists:keymember(feature, 1, given(Made))].

%% By headers of OTP, or what asks for its release.
depends_on_release(Source, Read) ->
    lists:any(fun(File) -> lists:prefix(code:lib_dir(), File) orelse asks_for_release(mailbox_audit_files:read(File)) end,
              lists:uniq([Source | [File || {attribute, _, file, {File, _}} <- Read]])).

asks_for_release({ok, Text}) -> binary:match(Text, <<"OTP_RELEASE">>) =/= nomatch;
asks_for_release({error, _}) -> false.

is_transformed(Options) -> lists:any(fun is_transform/1, lists:flatten(Options)).

is_transform(Option) -> is_tuple(Option) andalso element(1, Option) =:= parse_transform.

%% Places do not count, nor what the compiler has added or removed.
said(Forms) -> [erl_parse:map_anno(fun(_) -> 0 end, Form) || Form <- lists:flatmap(fun without_transforms/1, Forms), counts(Form)].

without_transforms({attribute, Anno, compile, Options}) when is_list(Options) ->
    [{attribute, Anno, compile, [Option || Option <- Options, not is_transform(Option)]}];
without_transforms({attribute, _, compile, Option} = Form) -> [Form || not is_transform(Option)];
without_transforms(Form) -> [Form].

counts({attribute, _, Name, _}) -> lists:member(Name, [export, import, record, compile, on_load]);
counts(Form) -> lists:member(element(1, Form), [function, error, warning]).
