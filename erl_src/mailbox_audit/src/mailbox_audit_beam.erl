%% @doc Reading a compiled module, as far as the audit wants to know it.
-module(mailbox_audit_beam).

-export([read/1, of_binary/2, is_beam/1]).
-export_type([code/0]).

-type code() :: #{module := module(), forms := [erl_parse:abstract_form()],
                  options := [compile:option()]}.
%% options: those given to the compiler that can change how a receive is compiled.

%% @doc The abstract code of a `.beam' file. `no_debug_info' names its module.
-spec read(file:filename()) ->
          {ok, code()} | {error, {no_debug_info, module()} | not_a_beam | file:posix()}.
read(File) ->
    case file:read_file(File) of
        {ok, Beam} -> of_binary(File, Beam);
        {error, Reason} -> {error, Reason}
    end.

%% @doc The same of the bytes of such a file. (Given a name, beam_lib would add the ending.)
-spec of_binary(file:filename(), binary()) -> {ok, code()} | {error, {no_debug_info, module()} | not_a_beam}.
of_binary(File, Beam) ->
    case beam_lib:chunks(Beam, [abstract_code, compile_info], [allow_missing_chunks]) of
        {ok, {Module, Chunks}} -> code(Module, maps:from_list(Chunks));
        {error, beam_lib, {key_missing_or_invalid, _, _}} -> {error, {no_debug_info, encrypted(File)}};
        {error, beam_lib, _} -> {error, not_a_beam}
    end.

code(Module, #{abstract_code := {raw_abstract_v1, Forms}} = Chunks) ->
    {ok, #{module => Module, forms => Forms, options => options(Chunks)}};
code(Module, #{}) -> {error, {no_debug_info, Module}}.

encrypted(File) -> list_to_atom(filename:basename(File, ".beam")).

options(#{compile_info := Info}) when is_list(Info) ->
    [Option || Option <- proplists:get_value(options, Info, []), matters(Option)];
options(#{}) -> [].

matters(inline) -> true;
matters({inline, _}) -> true;
matters({inline_size, _}) -> true;
matters({inline_effort, _}) -> true;
matters(inline_list_funcs) -> true;
matters(_) -> false.

%% @doc Whether a file looks like a compiled module.
-spec is_beam(file:filename()) -> boolean().
is_beam(File) ->
    case file:read_file(File) of
        {ok, Beam} -> is_list(beam_lib:info(Beam));
        {error, _} -> true % what is wrong with it is said when it is read
    end.
