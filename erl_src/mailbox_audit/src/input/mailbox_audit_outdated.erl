%% @doc Sources of Erlang that were changed after their modules were made: what is judged of these is no longer what the source says.
%%
%% The time of a source, or of its header, that is later than that of its module is only a suspicion: a fresh checkout, a copy or `touch'
%% gives a time, too. An earlier time proves nothing either, as that of a copy may be any.
%% So each source is read, as its module was compiled, and compared with the abstract code of that. Where they differ, though not for
%% certain because somebody changed the source, that is told. Nothing of it is run, so parse transforms are such a reason. Whatever the
%% reason is: what the source has and its module has not was added since (a parse transform takes hardly anything away).
-module(mailbox_audit_outdated).

-include_lib("kernel/include/file.hrl").

-export([sources/2, named/1]).
-export_type([why/0, source/0]).

%% What asks for the release; and what is no error of syntax in one, but means something else there (OTP 27 changed it).
-define(OF_RELEASE, "OTP_RELEASE|\"\"\"").
%% From a source up to the folder where its compiler may have been started: apps/NAME/src/deeper/still.
-define(PARENTS, 6).

-type why() :: outdated | {not_compared, Why :: string()}.
%% It differs from its module; or it is not known whether it does.

-type source() :: {file:filename_all(), Modules :: [string()], Ebins :: [file:filename_all()]}.
%% Ebins: where modules of its own application lie, if that is known.

-type made() :: #{forms := [erl_parse:abstract_form()], compiler := string() | unknown, options := [compile:option()] | unknown}.

%% @doc Those of the sources that differ from one of the modules found, or may do so.
%% Of several sources of one name only one is compiled in an application: where one is as the module, nothing is said of the others. A
%% source of Erlang may have been made from a grammar of its name, which is another kind.
-spec sources([source()], [mailbox_audit_beam:beam()]) -> [{file:filename_all(), why()}].
sources(Sources, Found) ->
    InFiles = [File || {File, in_file} <- Found],
    Files = maps:groups_from_list(fun(File) -> filename:basename(File, ".beam") end, InFiles),
    Around = #{ebins => lists:uniq([filename:dirname(File) || File <- InFiles]), sources => [base(Source) || {Source, _, _} <- Sources]},
    Asked = [{{filename:basename(File, ".beam"), kind(Source), Whose}, Source, File}
             || {Source, Names, Ebins} <- Sources, {Whose, File} <- of_own_first(of_one_name(Names, Files), Ebins)],
    Compared = mailbox_audit_parallel:map(fun({Key, Source, File}) -> {Key, Source, compared(Source, File, Around)} end, Asked,
                                          fun(_, _) -> ok end),
    AsModule = [Key || {Key, _, same} <- Compared],
    lists:uniq([{Source, Why} || {Source, Each} <- maps:to_list(maps:groups_from_list(fun({_, Source, _}) -> Source end, Compared)),
                                 Why <- worst([Why || {Key, _, Why} <- Each, not is_as_module(Key, AsModule)])]).

of_one_name(Names, Files) -> lists:append(lists:sublist([maps:get(Name, Files) || Name <- Names, is_map_key(Name, Files)], 1)).

%% Another application may have another module of the name.
of_own_first(Files, Ebins) ->
    case [{Ebins, File} || File <- Files, lists:member(filename:dirname(File), Ebins)] of
        [] -> [{any, File} || File <- Files];
        Own -> Own
    end.

is_as_module({Name, Kind, any}, AsModule) -> lists:any(fun({Each, Of, _}) -> {Each, Of} =:= {Name, Kind} end, AsModule);
is_as_module(Key, AsModule) -> lists:member(Key, AsModule).

%% @doc The sources of Erlang that modules say they were compiled from, where these are there.
-spec named([mailbox_audit_beam:beam()]) -> [source()].
named(Found) ->
    [{Source, [filename:basename(File, ".beam")], [filename:dirname(File)]} || {File, in_file} <- Found, {ok, Bytes} <- [mailbox_audit_files:read(File)],
                                                     {ok, Chunks} <- [mailbox_audit_chunks:read(Bytes)],
                                                     {ok, Source} <- [mailbox_audit_chunks:source(Chunks)],
                                                     kind(Source) =:= ".erl", filelib:is_regular(Source)].

base(File) -> filename:basename(mailbox_audit_files:shown(File)).

kind(Source) -> string:lowercase(filename:extension(mailbox_audit_files:shown(Source))).

worst(All) -> lists:sublist([outdated || outdated <- All] ++ [Why || {not_compared, _} = Why <- All], 1).

%% A module that cannot be read, is crafted, or has no abstract code, is not judged anyway.
compared(Source, File, Around) ->
    try compared_with(Source, File, Around)
    catch _:_ -> same
    end.

compared_with(Source, File, #{ebins := Ebins, sources := Sources}) ->
    case mailbox_audit_limits:within(fun() -> made(File) end, mailbox_audit_limits:ms()) of
        {ok, {ok, Made}} ->
            Files = files_of(Source, Made),
            Headers = folders(Files) ++ headers(Source, File, Ebins, Made),
            Included = mailbox_audit_source:included(Source, Headers),
            Newer = newer([Source | Included] ++ Files, File),
            Compared = mailbox_audit_source:guarded(Source, Headers, fun() -> {ok, in_erlang(Source, File, Headers, Made)} end),
            judged(Compared, Newer, [Name || Name <- Newer, is_other(Name, Sources, Included)]);
        _ -> same
    end.

%% What is certain of a source that is older than its module counts only if it was added: it may have been compiled just now, in a way
%% that is not known here.
judged({ok, same}, _, []) -> same;
judged({ok, same}, _, [Name | _]) -> {not_compared, "its source is made from " ++ mailbox_audit_files:shown(Name) ++ ", which is newer"};
judged({ok, #{doubts := [], added := IsAdded}}, Newer, _) when IsAdded; Newer =/= [] -> outdated;
judged({ok, #{doubts := [_ | _], added := true, left_out := false}}, [_ | _], _) -> outdated;
judged({ok, #{doubts := [Words | _]}}, [_ | _], _) -> {not_compared, Words};
judged({ok, #{missing := [Words | _]}}, [], _) -> {not_compared, Words};
judged({ok, #{}}, [], _) -> same;
judged({error, Words}, [_ | _], _) -> {not_compared, Words};
judged({error, _}, [], _) -> same.

%% Neither a header nor one of the sources, which are compared themselves.
is_other(File, Sources, Included) ->
    not lists:member(kind(File), [".hrl", ".erl"]) andalso not lists:member(base(File), Sources)
        andalso not lists:member(base(File), [base(Header) || Header <- Included]).

%% What a module says that it was compiled from, as far as that is there: headers, and what its source was made from. A path that is
%% relative begins where the compiler was started. An OTP that was installed later is no change.
files_of(Source, #{forms := Forms}) ->
    Names = lists:uniq([Name || {attribute, _, file, {Name, _}} <- Forms, io_lib:printable_unicode_list(Name)]),
    lists:uniq([File || Name <- Names, File <- lists:sublist([Path || Path <- paths(Name, Source), filelib:is_regular(Path)], 1),
                        not is_of_otp(File)]).

paths(Name, Source) ->
    case filename:pathtype(Name) of
        relative -> [filename:join(Dir, Name) || Dir <- above(filename:dirname(mailbox_audit_files:absolute(Source)), ?PARENTS)];
        _ -> [Name]
    end.

above(_Dir, 0) -> [];
above(Dir, Left) -> [Dir | above(filename:dirname(Dir), Left - 1)].

%% Where a header was found, by its name or by that of its application.
folders(Files) -> lists:uniq([Dir || File <- Files, Dir <- [filename:dirname(File), filename:dirname(filename:dirname(filename:dirname(File)))]]).

%% Headers may be meant in whatever folder.
newer(Files, File) ->
    case changed(File) of
        unknown -> [];
        Made -> [Each || Each <- Files, not is_of_otp(Each), At <- [changed(Each)], is_integer(At), At > Made]
    end.

changed(File) ->
    case file:read_file_info(File, [{time, posix}]) of
        {ok, #file_info{mtime = At}} -> At;
        {error, _} -> unknown
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

%% The folders of headers that its compiler was given, where it may have been started, and those of rebar3, which links the folders of an
%% application beside that of its modules, and of erlang.mk.
headers(Source, File, Ebins, Made) ->
    mailbox_audit_source:headers(Source, [Dir || {i, Given} <- given(Made), Dir <- paths(Given, Source)]
                                         ++ [filename:join([filename:dirname(File), "..", Name]) || Name <- ["include", "src", "deps"]],
                                 Ebins).

given(#{options := unknown}) -> [];
given(#{options := Options}) -> Options.

%% A grammar becomes a source of Erlang first.
in_erlang(Source, File, Headers, Made) ->
    case mailbox_audit_grammar:generator(kind(Source)) of
        none -> with_headers(Source, Headers, Made);
        Generator -> mailbox_audit_grammar:in_erlang(Generator, Source, filename:basename(File, ".beam"),
                                                     fun(Generated) -> of_grammar(Generated, Generator, Headers, Made) end)
    end.

of_grammar({ok, Erlang}, Generator, Headers, #{forms := Forms, compiler := Version} = Made) ->
    case with_headers(Erlang, Headers, Made) of
        #{doubts := Doubts} = Differs ->
            Other = ["another release of OTP made its source" || lists:member(mailbox_audit_compiler:age(Version), [older, newer])]
                ++ ["its source was not made with the header of OTP" || not mailbox_audit_grammar:has_header(Generator, Forms)],
            Differs#{doubts := Other ++ Doubts, left_out := Other =/= [] orelse map_get(left_out, Differs)};
        Compared -> Compared
    end;
%% What was compiled had no error.
of_grammar({error, refused}, _, _, _) -> #{doubts => [], added => true, left_out => false, missing => []};
of_grammar({error, Words}, _, _, _) -> #{doubts => [Words], added => false, left_out => true, missing => []}.

with_headers(Source, Headers, #{forms := Forms} = Made) ->
    Names = [{source_name, Name} || {attribute, _, file, {Name, _}} <- lists:sublist(Forms, 1)], % which ?FILE is
    Macros = [case Option of {d, Name} -> Name; {d, Name, Value} -> {Name, Value} end
              || Option <- given(Made), is_tuple(Option), element(1, Option) =:= d, tuple_size(Option) =< 3],
    case epp:parse_file(Source, Names ++ [{includes, Headers}, {macros, Macros}]) of
        {ok, Read} ->
            case said(Read) =:= said(Forms) of
                true -> same;
                false -> #{doubts => doubts(Source, Read, Made), added => added(Read, Forms) =/= [],
                           left_out => may_be_left_out(Source, Read, Made), missing => missing(Read)}
            end;
        {error, Why} -> #{doubts => [file:format_error(Why)], added => false, left_out => true, missing => []}
    end.

missing(Read) -> [mailbox_audit_compiler:first([{"", [Info]}]) || {error, {_, epp, {include, _, _}} = Info} <- Read].

%% Why a source may differ that nobody changed. An error of syntax is a change, but for that of another release: what was compiled had
%% none. So is a macro that is not defined, where all is known that may define it.
doubts(Source, Read, #{options := Options} = Made) ->
    Depends = depends_on_release(Source, Read, Made),
    Missing = missing(Read),
    Errors = [Info || {error, {_, epp, Why} = Info} <- Read, Depends orelse Missing =/= [] orelse not is_of_macro(Why)],
    ["its module was compiled with 'deterministic', and does not contain the options of the compiler" || Options =:= unknown]
        ++ Missing ++ [mailbox_audit_compiler:first([{"", [Info]}]) || Info <- Errors]
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
    Macros = Options =:= unknown orelse missing(Read) =/= [],
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
