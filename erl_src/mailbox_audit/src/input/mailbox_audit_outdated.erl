%% @doc Sources of Erlang that were changed after their modules were made: what is judged of these is no longer what the source says.
%%
%% The time of a source that is later than that of its module is only a suspicion: a fresh checkout, a copy or `touch' gives a time, too.
%% So the source is read, as its module was compiled, and compared with the abstract code of that. Nothing of it is run: a source that a
%% parse transform changes cannot be compared, and its time decides, as it does for rebar3.
-module(mailbox_audit_outdated).

-include_lib("kernel/include/file.hrl").

-export([sources/2]).

%% @doc Those of the sources, each with the names of its modules, that are newer than one of the modules found, and differ from it.
-spec sources([{file:filename_all(), [string()]}], [mailbox_audit_beam:beam()]) -> [file:filename_all()].
sources(Sources, Found) ->
    Files = maps:groups_from_list(fun(File) -> filename:basename(File, ".beam") end, [File || {File, in_file} <- Found]),
    lists:uniq([Source || {Source, [Name | _]} <- Sources, filename:extension(mailbox_audit_files:shown(Source)) =:= ".erl",
                          File <- maps:get(Name, Files, []), is_newer(Source, File), not is_same(Source, File)]).

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
is_same(Source, File) ->
    case made(File) of
        {ok, Forms, Options} ->
            Headers = headers(Source, Options),
            {ok, true} =:= mailbox_audit_source:guarded(Source, Headers, fun() -> {ok, is_same(Source, Headers, Forms, Options)} end);
        unknown -> true
    end.

made(File) ->
    case mailbox_audit_files:read(File) of
        {ok, Bytes} -> made(mailbox_audit_beam:code({File, Bytes}, fun only_erlang/1), mailbox_audit_chunks:read(Bytes));
        {error, _} -> unknown
    end.

made({ok, #{forms := Forms}}, {ok, Chunks}) ->
    {ok, Options} = mailbox_audit_chunks:options(Chunks), % or there would be no forms
    {ok, Forms, Options};
made(_, _) -> unknown.

only_erlang(erl_abstract_code) -> ok;
only_erlang(Backend) -> {error, Backend}.

headers(Source, Options) ->
    Here = filename:dirname(Source),
    [Here, filename:join(filename:dirname(Here), "include") | [Dir || {i, Dir} <- Options]].

is_same(Source, Headers, Forms, Options) ->
    Names = [{source_name, Name} || {attribute, _, file, {Name, _}} <- lists:sublist(Forms, 1)], % which ?FILE is
    Macros = [case Option of {d, Name} -> Name; {d, Name, Value} -> {Name, Value} end
              || Option <- Options, is_tuple(Option), element(1, Option) =:= d, tuple_size(Option) =< 3],
    case epp:parse_file(Source, Names ++ [{includes, Headers}, {macros, Macros}]) of
        {ok, Read} -> said(Read) =:= said(Forms);
        {error, _} -> false
    end.

%% Places do not count, nor what the compiler has added.
said(Forms) -> [erl_parse:map_anno(fun(_) -> 0 end, Form) || Form <- Forms, counts(Form)].

counts({attribute, _, Name, _}) -> lists:member(Name, [export, import, record, compile, on_load]);
counts(Form) -> lists:member(element(1, Form), [function, error, warning]).
