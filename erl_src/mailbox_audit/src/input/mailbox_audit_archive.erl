%% @doc The modules of archives (`.ez', as of plugins) and of escripts.
-module(mailbox_audit_archive).

-include_lib("stdlib/include/zip.hrl").

-export([is_zip/1, is_escript/1, of_zip/2, of_escript/1]).

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

%% @doc The modules of an archive, which is shown by that name. It is only read: nothing of it is written anywhere.
-spec of_zip(file:filename(), binary()) -> {ok, [mailbox_audit_beam:beam()]} | {error, no_archive}.
of_zip(File, Bytes) ->
    try
        {ok, Listed} = zip:list_dir(Bytes),
        true = lists:keymember(zip_file, 1, Listed), % it begins with a file, so one that lists none is damaged
        {ok, Entries} = zip:unzip(Bytes, [memory, {file_filter, fun is_wanted/1}]),
        {ok, lists:sort([{filename:join(File, Name), wanted(Name, Content)} || {Name, Content} <- Entries])}
    catch _:_ -> {error, no_archive}
    end.

is_wanted(#zip_file{name = Name}) -> lists:member(ending(Name), [".beam", ".ez"]);
is_wanted(_) -> false.

wanted(Name, Content) ->
    case ending(Name) of
        ".beam" -> Content;
        ".ez" -> {unread, inner_archive}
    end.

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
