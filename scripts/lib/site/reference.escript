#!/usr/bin/env escript
%% Writes the references of the libraries as Markdown pages for './build.sh site'.
%%
%% Usage: reference.escript FOLDER LIBRARY...
%%
%% LIBRARY is the folder of an application. Each module that the library's README names gets a page of its own, FOLDER/LIBRARY/MODULE.md.
%% The other modules share the page FOLDER/LIBRARY/internal.md. A task of mix gets a page too. EDoc reads the sources.
-mode(compile).

-define(LANGUAGE, <<"en">>).

main([Folder | Libraries]) when Libraries =/= [] ->
    Chunks = filename:join(Folder, "chunks"),
    Sources = [{Library, sources(Library)} || Library <- Libraries],
    ok = edoc:files(lists:append([Files || {_, Files} <- Sources]),
                    [{doclet, edoc_doclet_chunks}, {layout, edoc_layout_chunks}, {dir, Folder}, {preprocess, true},
                     {includes, lists:usort([filename:dirname(File) || {_, Files} <- Sources, File <- Files])}]),
    Modules = [{Library, modules(Library, Files, Chunks)} || {Library, Files} <- Sources],
    Pages = #{name(Module) => page_of(Library, Module) || {Library, All} <- Modules, Module <- All},
    lists:foreach(fun({Library, All}) -> write_library(Folder, Library, All, Pages) end, Modules),
    ok = file:del_dir_r(Chunks);
main(_) ->
    io:put_chars(standard_error, "Usage: reference.escript FOLDER LIBRARY...\n"),
    halt(2).

sources(Library) -> lists:sort(filelib:wildcard(filename:join(Library, "src/**/*.erl"))).

%% A module's documentation, and whether it is for users: the README names what they call.
modules(Library, Files, Chunks) ->
    {ok, Readme} = file:read_file(filename:join(Library, "README.md")),
    [begin
         Name = filename:basename(File, ".erl"),
         {ok, Chunk} = file:read_file(filename:join(Chunks, Name ++ ".chunk")),
         {docs_v1, _, erlang, _, About, _, Entries} = binary_to_term(Chunk),
         Named = re:run(Readme, "\\b" ++ Name ++ "\\b", [{capture, none}]) =:= match,
         #{name => Name, about => text(About), entries => exported(File, Entries), users => Named}
     end || File <- Files].

name(#{name := Name}) -> Name.

text(#{?LANGUAGE := Text}) -> Text;
text(_) -> [].

%% The chunk also has functions that are not exported, and some without a comment, which are only for tests.
exported(File, Entries) ->
    {ok, Forms} = epp:parse_file(File, [{includes, [filename:dirname(File)]}]),
    Exports = lists:append([[{function, Name, Arity} || {Name, Arity} <- List] || {attribute, _, export, List} <- Forms] ++
                           [[{type, Name, Arity} || {Name, Arity} <- List] || {attribute, _, export_type, List} <- Forms]),
    Lines = source_lines(File),
    [{Key, described(Key, Anno, text(Text), Lines), maps:get(signature, Meta, [])}
     || {{Kind, _, _} = Key, Anno, _, Text, Meta} <- Entries, Text =/= hidden, lists:member(Key, Exports),
        Kind =:= type orelse Text =/= #{}].

source_lines(File) ->
    {ok, Source} = file:read_file(File),
    string:split(Source, "\n", all).

%% EDoc takes the comment after a type for the type's, but here most stand before it.
described({type, _, _}, Anno, _, Lines) -> type_comment(proplists:get_value(location, Anno), Lines);
described(_, _, Text, _) -> Text.

%% The comment right before a type. If there is none, the one right after it, unless another type follows that at once.
type_comment(Line, Lines) ->
    {Before, From} = lists:split(Line - 1, Lines),
    case lists:reverse(lists:takewhile(fun is_comment/1, lists:reverse(Before))) of
        [] ->
            [_ | After] = lists:dropwhile(fun(Text) -> re:run(Text, "\\.\\s*$") =:= nomatch end, From),
            case lists:splitwith(fun is_comment/1, After) of
                {Comment, [<<>> | _]} -> sentences(Comment);
                _ -> []
            end;
        Comment -> sentences(Comment)
    end.

is_comment(<<"%%", Text/binary>>) -> not lists:prefix(" @", binary_to_list(Text));
is_comment(_) -> false.

%% A line that ends with a sentence stays a line.
sentences([]) -> [];
sentences(Comment) -> [{p, [], lists:append([sentence(string:trim(Line, leading, "% ")) || Line <- Comment])}].

sentence(Line) ->
    Parts = lists:enumerate(re:split(Line, "`([^`']+)'")),
    End = case re:run(Line, "[.:]$") of
              {match, _} -> {br, [], []};
              nomatch -> <<" ">>
          end,
    [case N rem 2 of 0 -> {code, [], [Part]}; 1 -> Part end || {N, Part} <- Parts] ++ [End].

page_of(Library, #{name := Name, users := true}) -> {filename:basename(Library), Name};
page_of(Library, _) -> {filename:basename(Library), "internal"}.

write_library(Folder, Library, Modules, Pages) ->
    To = filename:join(Folder, filename:basename(Library)),
    {Public, Internal} = lists:partition(fun(#{users := Users}) -> Users end, Modules),
    lists:foreach(fun(#{name := Name} = Module) -> write(To, Name, page(Module, Pages)) end, Public),
    [write(To, "internal", internal(filename:basename(Library), Internal, Pages)) || Internal =/= []],
    lists:foreach(fun(Task) -> write(To, filename:basename(Task, ".ex"), task(Task)) end,
                  filelib:wildcard(filename:join(Library, "lib/mix/tasks/*.ex"))).

write(Folder, Name, Page) ->
    File = filename:join(Folder, Name ++ ".md"),
    ok = filelib:ensure_dir(File),
    ok = file:write_file(File, unicode:characters_to_binary(Page)).

page(#{name := Name, about := About, entries := Entries}, Pages) ->
    Here = {Name, Pages},
    [["# `", Name, "`\n\n", html(About, Here)],
     section("Types", [Entry || {{type, _, _}, _, _} = Entry <- Entries], Here),
     section("Functions", [Entry || {{function, _, _}, _, _} = Entry <- Entries], Here)].

section(_, [], _) -> [];
section(Title, Entries, Here) -> ["## ", Title, "\n\n", [entry(Entry, Here) || Entry <- lists:sort(Entries)]].

entry({{Kind, Name, Arity}, Text, Signature}, Here) ->
    Shown = io_lib:format("~tw/~b", [Name, Arity]),
    [raw(["<span id=\"", anchor(Kind, Shown), "\"></span>"]),
     "### `", Shown, "`\n\n",
     [["```erlang\n", string:trim(lists:map(fun form/1, Signature)), "\n```\n\n"] || Signature =/= []],
     html(Text, Here)].

form(Form) -> erl_pp:form(Form, [{linewidth, 90}]).

anchor(function, Shown) -> ["function-", string:replace(Shown, "/", "-")];
anchor(type, Shown) -> ["type-", string:replace(Shown, "/", "-")].

internal(Library, Modules, Pages) ->
    ["# Internal modules of ", Library, "\n\nThese modules are no interface. They may change with every release.\n\n",
     [["## `", Name, "`\n\n", html(About, {"internal", Pages})] || #{name := Name, about := About} <- Modules]].

%% The @moduledoc of a task is Markdown.
task(File) ->
    {ok, Source} = file:read_file(File),
    {match, [Text]} = re:run(Source, "@moduledoc \"\"\"\n(.*?)\n  \"\"\"", [dotall, {capture, all_but_first, binary}]),
    ["# `mix ", filename:basename(File, ".ex"), "`\n\n", re:replace(Text, "^  ", "", [global, multiline]), "\n"].

html([], _) -> [];
html(Tags, Here) -> raw(tags(Tags, Here)).

raw(Html) -> ["````````{raw} html\n", Html, "\n````````\n\n"].

tags(Tags, Here) -> [tag(Tag, Here) || Tag <- Tags].

tag(Text, _) when is_binary(Text) -> escaped(Text);
tag({code, _, Tags}, Here) -> ["<code class=\"docutils literal notranslate\">", tags(Tags, Here), "</code>"];
tag({pre, _, Tags}, Here) -> ["<div class=\"highlight\"><pre>", tags(Tags, Here), "</pre></div>\n"];
tag({a, Attributes, Tags}, Here) ->
    case href(maps:from_list(Attributes), Here) of
        none -> tags(Tags, Here);
        Href -> ["<a class=\"reference\" href=\"", escaped(Href), "\">", tags(Tags, Here), "</a>"]
    end;
tag({br, _, []}, _) -> "<br>\n";
tag({Tag, _, Tags}, Here) -> ["<", atom_to_list(Tag), ">", tags(Tags, Here), "</", atom_to_list(Tag), ">\n"].

%% Where a link of EDoc leads on this site: none if it names a module that is on no page.
href(#{rel := <<"https://erlang.org/doc/link/", See/binary>>, href := Href}, {Here, Pages}) ->
    [Module | Rest] = string:split(Href, "#"),
    case {Module, maps:find(unicode:characters_to_list(Module), Pages)} of
        {<<>>, _} -> ["#", place(See, Rest)];
        {_, {ok, {_, Here}}} -> ["#", place(See, Rest)];
        {_, {ok, {_, "internal"}}} -> ["internal.html#", string:replace(Module, "_", "-", all)];
        {_, {ok, {Library, Page}}} -> ["../", Library, "/", Page, ".html", ["#" || Rest =/= []], place(See, Rest)];
        {_, error} -> none
    end;
href(#{href := Href}, _) -> Href;
href(_, _) -> none.

place(_, []) -> "";
place(<<"seetype">>, [Shown]) -> anchor(type, Shown);
place(_, [Shown]) -> anchor(function, Shown).

escaped(Text) ->
    lists:foldl(fun({Character, Entity}, Left) -> string:replace(Left, Character, Entity, all) end, Text,
                [{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}]).
