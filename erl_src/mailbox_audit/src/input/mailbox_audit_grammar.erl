%% @doc Sources of parsers and scanners, for yecc and leex: the source of Erlang that becomes of one. These run nothing of the project's.
-module(mailbox_audit_grammar).

-export([generator/1, in_erlang/4, has_header/2]).
-export_type([generator/0]).

-type generator() :: yecc | leex.

%% @doc What makes Erlang of files with this ending.
-spec generator(string()) -> generator() | none.
generator(".yrl") -> yecc;
generator(".xrl") -> leex;
generator(_) -> none.

%% @doc What the function makes of the source of Erlang of that module, which is gone afterwards. The generator may refuse the grammar, or
%% be no part of this Erlang.
-spec in_erlang(generator(), file:filename_all(), Module :: string(),
                fun(({ok, file:filename()} | {error, refused | string()}) -> Result)) -> Result.
in_erlang(Generator, Source, Module, Fun) ->
    case code:ensure_loaded(Generator) of
        {module, Generator} ->
            case mailbox_audit_files:in_scratch(fun(Scratch) -> Fun(generated(Generator, Source, filename:join(Scratch, Module))) end) of
                {error, Words} when is_list(Words) -> Fun({error, Words});
                Result -> Result
            end;
        {error, _} -> Fun({error, atom_to_list(Generator) ++ " of the application parsetools is not installed"})
    end.

generated(Generator, Source, Path) ->
    case {mailbox_audit_files:read(Source), mailbox_audit_files:shown(Source)} of
        {{ok, _}, Source} -> made(Generator, Source, Path ++ ".erl");
        {{ok, _}, _} -> {error, "its name is no UTF-8"};
        {{error, Why}, _} -> {error, file:format_error(Why)}
    end.

made(Generator, Source, Made) ->
    try Generator:file(Source, [{output(Generator), Made}, {report, false}, {return, true}]) of
        {ok, _, _} -> {ok, Made};
        _ -> {error, refused}
    catch _:_ -> {error, atom_to_list(Generator) ++ " fails on it"}
    end.

output(yecc) -> parserfile;
output(leex) -> scannerfile.

%% @doc Whether the source of a module was made with the header that is the generator's own.
-spec has_header(generator(), [erl_parse:abstract_form()]) -> boolean().
has_header(Generator, Forms) ->
    lists:any(fun({attribute, _, file, {Name, _}}) -> filename:basename(Name) =:= header(Generator); (_) -> false end, Forms).

header(yecc) -> "yeccpre.hrl";
header(leex) -> "leexinc.hrl".
