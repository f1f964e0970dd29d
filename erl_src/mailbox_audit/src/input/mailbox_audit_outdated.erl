%% @doc Sources of Erlang that were changed after their modules were made: what is judged of these is no longer what the source says.
%%
%% The time of a source, or of its header, that is later than that of its module is only a suspicion: a fresh checkout, a copy or `touch'
%% gives a time, too.
%% So the source is read, as its module was compiled, and compared with the abstract code of that. Where they differ, though not for
%% certain because somebody changed the source, that is told. Nothing of it is run, so parse transforms are such a reason. Whatever the
%% reason is: what the source has and its module has not was added since (a parse transform takes hardly anything away).
-module(mailbox_audit_outdated).

-include_lib("kernel/include/file.hrl").

-export([sources/2]).
-export_type([why/0]).

%% What asks for the release; and what is no error of syntax in one, but means something else there (OTP 27 changed it).
-define(OF_RELEASE, "OTP_RELEASE|\"\"\"").

-type why() :: outdated | {not_compared, Why :: string()}.
%% It differs from its module; or it is not known whether it does.

-type made() :: #{forms := [erl_parse:abstract_form()], compiler := string() | unknown, options := [compile:option()] | unknown}.

%% @doc Those of the sources, each with the names of its modules, that are newer than one of the modules found, or have a header that is,
%% and differ from it, or may do so.
-spec sources([{file:filename_all(), [string()]}], [mailbox_audit_beam:beam()]) -> [{file:filename_all(), why()}].
sources(Sources, Found) ->
    InFiles = [File || {File, in_file} <- Found],
    Files = maps:groups_from_list(fun(File) -> filename:basename(File, ".beam") end, InFiles),
    Ebins = lists:uniq([filename:dirname(File) || File <- InFiles]),
    lists:uniq([{Source, Why} || {Source, [Name | _]} <- Sources, filename:extension(mailbox_audit_files:shown(Source)) =:= ".erl",
                                 Why <- worst([compared(Source, File, Ebins) || File <- maps:get(Name, Files, []),
                                                                                is_newer(Source, File, Ebins)])]).

worst(All) -> lists:sublist([outdated || outdated <- All] ++ [Why || {not_compared, _} = Why <- All], 1).

is_newer(Source, File, Ebins) ->
    case changed(File) of
        unknown -> false;
        Made -> is_later(Source, Made) orelse lists:any(fun(Header) -> is_later(Header, Made) end, own_headers(Source, File, Ebins))
    end.

is_later(File, Made) ->
    case changed(File) of
        unknown -> false;
        At -> At > Made
    end.

%% Those that may be meant, in whatever folder. An OTP that was installed later is no change.
own_headers(Source, File, Ebins) ->
    Options = case mailbox_audit_files:read(File) of
                  {ok, Bytes} -> options(mailbox_audit_chunks:read(Bytes));
                  {error, _} -> unknown
              end,
    [Header || Header <- mailbox_audit_source:included(Source, headers(Source, File, Ebins, Options)), not is_of_otp(Header)].

changed(File) ->
    case file:read_file_info(File, [{time, posix}]) of
        {ok, #file_info{mtime = At}} -> At;
        {error, _} -> unknown
    end.

%% A module that cannot be read, or has no abstract code, is not judged anyway.
compared(Source, File, Ebins) ->
    case made(File) of
        {ok, Made} ->
            Headers = headers(Source, File, Ebins, maps:get(options, Made)),
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

made({ok, Code}, Chunks) -> {ok, (maps:with([forms, compiler], Code))#{options => options(Chunks)}};
made(_, _) -> unknown.

options({ok, Chunks}) ->
    case {mailbox_audit_chunks:options(Chunks), mailbox_audit_chunks:has_options(Chunks)} of
        {{ok, Options}, true} -> Options;
        _ -> unknown
    end;
options(_) -> unknown.

only_erlang(erl_abstract_code) -> ok;
only_erlang(Backend) -> {error, Backend}.

%% The folders of headers that its compiler was given, and those of rebar3, which links the folders of an application beside that of its
%% modules, and of erlang.mk.
headers(Source, File, Ebins, Options) ->
    mailbox_audit_source:headers(Source, [Dir || {i, Dir} <- given(#{options => Options})]
                                         ++ [filename:join([filename:dirname(File), "..", Name]) || Name <- ["include", "src", "deps"]],
                                 Ebins).

given(#{options := unknown}) -> [];
given(#{options := Options}) -> Options.

with_headers(Source, Headers, #{forms := Forms} = Made) ->
    Names = [{source_name, Name} || {attribute, _, file, {Name, _}} <- lists:sublist(Forms, 1)], % which ?FILE is
    Macros = [case Option of {d, Name} -> Name; {d, Name, Value} -> {Name, Value} end
              || Option <- given(Made), is_tuple(Option), element(1, Option) =:= d, tuple_size(Option) =< 3],
    case epp:parse_file(Source, Names ++ [{includes, Headers}, {macros, Macros}]) of
        {ok, Read} ->
            case said(Read) =:= said(Forms) of
                true -> same;
                false -> differs(doubts(Source, Read, Made), Source, Read, Made)
            end;
        {error, Why} -> {not_compared, file:format_error(Why)}
    end.

differs([], _Source, _Read, _Made) -> outdated;
differs([Words | _], Source, Read, #{forms := Forms} = Made) ->
    case may_be_left_out(Source, Read, Made) orelse added(Read, Forms) =:= [] of
        true -> {not_compared, Words};
        false -> outdated
    end.

%% Why a source may differ that nobody changed. An error of syntax is a change, but for that of another release: what was compiled had
%% none. So is a macro that is not defined, where all is known that may define it.
doubts(Source, Read, #{options := Options} = Made) ->
    Depends = depends_on_release(Source, Read, Made),
    Headers = [Info || {error, {_, epp, {include, _, _}} = Info} <- Read],
    Errors = [Info || {error, {_, epp, Why} = Info} <- Read, Depends orelse Headers =/= [] orelse not is_of_macro(Why)],
    ["its module was compiled with 'deterministic', and does not contain the options of the compiler" || Options =:= unknown]
        ++ [mailbox_audit_compiler:first([{"", [Info]}]) || Info <- Headers ++ Errors]
        ++ ["it depends on the release of OTP, and another one compiled its module" || Depends]
        ++ ["a parse transform changes it" || transforms(Read, Made) =/= []]
        ++ ["its module was compiled with an option 'feature'" || lists:keymember(feature, 1, given(Made))].

is_of_macro({undefined, _, _}) -> true;
is_of_macro({mismatch, _}) -> true;
is_of_macro(_) -> false.

%% By its syntax, by headers of OTP, or by what asks for its release.
depends_on_release(Source, Read, #{compiler := Version}) ->
    lists:member(mailbox_audit_compiler:age(Version), [older, newer])
        andalso (has_other_syntax(Read)
                     orelse lists:any(fun(File) -> is_of_otp(File) orelse has(File, ?OF_RELEASE) end, files(Source, Read))).

has_other_syntax(Read) -> lists:any(fun(Module) -> Module =/= epp end, [Module || {error, {_, Module, _}} <- Read]).

%% Whether what this source has may not have been compiled, though it was there: by a condition on what is not known here, by text of
%% another release that is no code there, or by the only parse transform of OTP that takes functions away.
may_be_left_out(Source, Read, #{options := Options} = Made) ->
    Macros = Options =:= unknown orelse [none || {error, {_, epp, {include, _, _}}} <- Read] =/= [],
    Release = depends_on_release(Source, Read, Made),
    lists:member(eunit_striptests, transforms(Read, Made))
        orelse Release andalso has_other_syntax(Read)
        orelse lists:any(fun(File) ->
                                 Macros andalso has(File, "^\\s*-\\s*(if|ifdef|ifndef)\\b")
                                     orelse Release andalso has(File, ?OF_RELEASE)
                         end, [File || File <- files(Source, Read), not is_of_otp(File)]).

files(Source, Read) -> lists:uniq([Source | [File || {attribute, _, file, {File, _}} <- Read]]).

is_of_otp(File) -> lists:prefix(code:lib_dir(), mailbox_audit_files:shown(File)).

has(File, Pattern) ->
    case mailbox_audit_files:read(File) of
        {ok, Text} -> re:run(Text, Pattern, [multiline, {capture, none}]) =:= match;
        {error, _} -> false
    end.

%% What the own files of a source have, and its module has not. What is done after a message came, a parse transform may well change.
added(Read, Forms) ->
    [Form || Form <- named_in(own(Read)), not lists:member(Form, named_in(Forms))] ++ (receives(own(Read)) -- receives(Forms)).

named_in(Forms) ->
    [{export, Function} || {attribute, _, export, Functions} <- Forms, Function <- Functions]
        ++ [{function, {Name, Arity}} || {function, _, Name, Arity, _} <- Forms].

%% Without those of headers of OTP, which may be of another release.
own(Forms) -> own(Forms, true).

own([{attribute, _, file, {File, _}} | Forms], _) -> own(Forms, not is_of_otp(File));
own([Form | Forms], IsOwn) -> [Form || IsOwn] ++ own(Forms, IsOwn);
own([], _) -> [].

%% The patterns and guards of each, without places.
receives(Forms) -> lists:flatmap(fun in_term/1, [erl_parse:map_anno(fun(_) -> 0 end, Form) || {function, _, _, _, _} = Form <- Forms]).

in_term(Term) when is_tuple(Term) ->
    [[{Patterns, Guards} || {clause, _, Patterns, Guards, _} <- element(3, Term)]
     || tuple_size(Term) >= 3, element(1, Term) =:= 'receive', is_list(element(3, Term))] ++ in_term(tuple_to_list(Term));
in_term([Term | Terms]) -> in_term(Term) ++ in_term(Terms);
in_term(_) -> [].

transforms(Read, Made) ->
    [Name || {parse_transform, Name} <- lists:flatten(given(Made) ++ [InForm || {attribute, _, compile, InForm} <- Read])].

is_transform(Option) -> is_tuple(Option) andalso element(1, Option) =:= parse_transform.

%% Places do not count, nor what the compiler has added or removed.
said(Forms) -> [erl_parse:map_anno(fun(_) -> 0 end, Form) || Form <- lists:flatmap(fun without_transforms/1, Forms), counts(Form)].

without_transforms({attribute, Anno, compile, Options}) when is_list(Options) ->
    [{attribute, Anno, compile, [Option || Option <- Options, not is_transform(Option)]}];
without_transforms({attribute, _, compile, Option} = Form) -> [Form || not is_transform(Option)];
without_transforms(Form) -> [Form].

counts({attribute, _, Name, _}) -> lists:member(Name, [export, import, record, compile, on_load]);
counts(Form) -> lists:member(element(1, Form), [function, error]). % a file of documentation that is not there is a warning
