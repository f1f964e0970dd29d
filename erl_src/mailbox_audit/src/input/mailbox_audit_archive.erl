%% @doc The modules of archives (`.ez', as of plugins) and of escripts.
-module(mailbox_audit_archive).

-include_lib("kernel/include/file.hrl").
-include_lib("stdlib/include/zip.hrl").

-export([is_zip/1, is_escript/1, of_zip/2, of_escript/1]).

%% Bytes that the modules of an archive have at most in all, once they are unpacked: several times those of an OTP.
-define(MOST_IN_ALL, 536_870_912).
%% Bytes before the name of an entry, in the file format of PKWARE's APPNOTE 4.3.7.
-define(HEADER, 30).
%% The signature of what stands behind the data of an entry (4.3.9.3).
-define(DESCRIPTOR, 16#08074b50).

%% @doc Whether bytes begin as an archive does.
-spec is_zip(binary()) -> boolean().
is_zip(<<"PK", 3, 4, _/bits>>) -> true;
is_zip(_) -> false.

%% @doc Whether bytes begin as an escript does, of whatever it is made.
-spec is_escript(binary()) -> boolean().
is_escript(<<"#!", _/bits>> = Bytes) ->
    [Line | _] = binary:split(Bytes, <<"\n">>),
    binary:match(Line, <<"escript">>) =/= nomatch;
is_escript(_) -> false.

%% @doc The modules of an archive, which is shown by that name. It is only read: nothing of it is written anywhere. What is too long, or
%% damaged, is among them, as is an archive in it.
-spec of_zip(file:filename(), binary()) -> {ok, [mailbox_audit_beam:beam()]} | {error, no_archive}.
of_zip(File, Bytes) ->
    case mailbox_audit_limits:within(fun() -> unzipped(File, Bytes) end, mailbox_audit_limits:ms()) of
        {ok, Unzipped} -> Unzipped;
        {error, Why} -> {ok, [{File, {unread, Why}}]}
    end.

unzipped(File, Bytes) ->
    try
        {ok, Listed} = zip:list_dir(Bytes),
        true = lists:keymember(zip_file, 1, Listed), % it begins with a file, so one that lists none is damaged
        {Entries, _} = lists:mapfoldl(fun(Entry, Left) -> entry(File, Entry, Bytes, Left) end, ?MOST_IN_ALL,
                                      [Entry || Entry <- Listed, is_wanted(Entry)]),
        {ok, lists:sort(Entries)}
    catch _:_ -> {error, no_archive}
    end.

is_wanted(#zip_file{name = Name}) -> lists:member(ending(Name), [".beam", ".ez"]);
is_wanted(_) -> false.

entry(File, #zip_file{name = Name} = Entry, Bytes, Left) ->
    {Content, LeftThen} = case ending(Name) of
                              ".beam" -> content(Entry, Bytes, Left);
                              ".ez" -> {{unread, inner_archive}, Left}
                          end,
    {{filename:join([File | inner(Name)]), Content}, LeftThen}.

%% A name must not lead out of the archive.
inner(Name) -> [Part || Part <- filename:split(Name), Part =/= "/", Part =/= "..", Part =/= "."].

%% `zip' unpacks whatever there is. An entry may say a wrong size, so it is no more than a first judge.
content(#zip_file{info = #file_info{size = Size}} = Entry, Bytes, Left) ->
    Most = min(Left, mailbox_audit_chunks:most_bytes()),
    case Size =< Most andalso unpacked(Entry, Bytes, Most) of
        {ok, Content} -> {Content, Left - byte_size(Content)};
        false -> {{unread, too_long_unpacked}, Left};
        too_long_unpacked -> {{unread, too_long_unpacked}, Left - Most};
        error -> {{unread, not_a_beam}, Left}
    end.

%% Where the sum is not known before the data is written, a flag says that it stands behind it. (Read by places: OTP 29 does not load how
%% OTP 25 compiles one pattern for all.)
unpacked(#zip_file{offset = Offset, comp_size = Packed}, Bytes, Most) ->
    try
        Number = fun(At, Size) -> binary:decode_unsigned(binary:part(Bytes, Offset + At, Size), little) end,
        <<"PK", 3, 4>> =:= binary:part(Bytes, Offset, 4) orelse error(badarg),
        Begin = ?HEADER + Number(26, 2) + Number(28, 2),
        Data = binary:part(Bytes, Offset + Begin, Packed),
        Sum = case Number(6, 2) band 8 of
                  0 -> Number(14, 4);
                  _ -> sum_behind(Number, Begin + Packed)
              end,
        intact(by_method(Number(8, 2), Data, Most), Sum)
    catch error:badarg -> error
    end.

by_method(0, Data, Most) when byte_size(Data) =< Most -> {ok, Data};
by_method(0, _Data, _Most) -> too_long_unpacked;
by_method(8, Data, Most) -> mailbox_audit_chunks:unpacked(Data, -15, Most);
by_method(_, _, _) -> error.

%% Most programs write a signature before it.
sum_behind(Number, At) ->
    case Number(At, 4) of
        ?DESCRIPTOR -> Number(At + 4, 4);
        Sum -> Sum
    end.

intact({ok, Content}, Sum) ->
    case erlang:crc32(Content) of
        Sum -> {ok, Content};
        _ -> error
    end;
intact(Result, _Sum) -> Result.

ending(Name) -> string:lowercase(filename:extension(Name)).

%% @doc The modules of an escript: of its archive, its one compiled module, or what its source is compiled to. Or what the compiler says.
-spec of_escript(file:filename_all()) -> {ok, [mailbox_audit_beam:beam()]} | {error, no_archive | string()}.
of_escript(File) ->
    Shown = mailbox_audit_files:shown(File),
    case section(File) of
        {archive, Bytes} -> of_zip(Shown, Bytes);
        {beam, Beam} -> {ok, [{Shown, Beam}]};
        {source, _} -> mailbox_audit_source:guarded(File, [], fun() -> of_source(Shown, parsed(File, Shown)) end);
        none -> {error, no_archive}
    end.

section(File) ->
    try
        {ok, Sections} = escript:extract(File, []),
        hd([Section || {Kind, Bytes} = Section <- Sections, lists:member(Kind, [archive, beam, source]), is_binary(Bytes)])
    catch _:_ -> none
    end.

%% Its first line is none of Erlang's. (What escript has of it compiled says errors to the terminal, and has another name each time.)
parsed(File, Shown) ->
    {ok, Device} = file:open(File, [read]),
    _ = io:get_line(Device, ""),
    {ok, Epp} = epp:open([{name, Shown}, {fd, Device}, {location, {2, 1}}]),
    Forms = epp:parse_file(Epp),
    ok = epp:close(Epp),
    Forms.

of_source(File, Forms) ->
    case compile:noenv_forms(with_module(File, Forms), [debug_info, binary, return, no_spawn_compiler_process]) of
        {ok, _, Beam, _} -> {ok, [{File, Beam}]};
        {error, Errors, Warnings} -> {error, mailbox_audit_compiler:first(Errors ++ Warnings)};
        _ -> {error, mailbox_audit_compiler:first([])} % its attributes ask for something else than a module
    end.

with_module(File, Forms) ->
    case lists:any(fun(Form) -> element(1, Form) =:= attribute andalso element(3, Form) =:= module end, Forms) of
        true -> Forms;
        false ->
            Module = list_to_atom(filename:rootname(filename:basename(File))),
            [{attribute, 1, file, {File, 1}}, {attribute, 1, module, Module}, {attribute, 1, export, [{main, 1}]}
             | [Form || Form <- Forms, not is_place(Form)]]
    end.

%% It must come before the module's name.
is_place({attribute, _, file, _}) -> true;
is_place(_) -> false.
