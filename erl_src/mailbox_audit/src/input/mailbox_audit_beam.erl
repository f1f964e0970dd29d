%% @doc Reading a compiled module, as far as the audit wants to know it.
-module(mailbox_audit_beam).

-export([head/1, code/2, is_beam/1]).
-export_type([beam/0, bytes/0, head/0, code/0, why/0]).

-define(DEBUG, [<<"Dbgi">>, <<"Abst">>]).

-type bytes() :: in_file | binary() | {unread, why()}.
-type beam() :: {file:filename(), bytes()}.
%% The name that it is shown by, with its bytes where they lie in no file of that name, as in an archive.

-type head() :: #{module := module(), digest := binary(), compiler := string() | unknown, debug_bytes := non_neg_integer()}.
%% digest: of the code alone. compiler: the version of the application that made it. debug_bytes: of its debug_info.

-type code() :: #{module := module(), forms := [erl_parse:abstract_form()],
                  options := [compile:option()], compiler := string() | unknown}.
%% options: those given to the compiler that can change how a receive is compiled, or what is exported.

-type otp() :: string().

-type why() :: no_debug_info | other_debug_info | encrypted | not_a_beam | no_archive | inner_archive | {no_backend, module(), otp()}
             | {backend_fails, module()} | {another_version, file:filename()} | {newer_compiler, string(), otp()} | no_file | other_code
             | not_built | not_compiled | outdated | {not_compared, Why :: string()} | too_many_defaults
             | too_long_unpacked | too_many_atoms | no_compiler | too_deep | mailbox_audit_limits:why() | mailbox_audit_files:why() | string().
%% other_debug_info: it is that of another module. inner_archive: in an archive. no_backend: what reads its debug_info is not found,
%% or does not load. another_version: that file has other code of the same module, and was judged. newer_compiler: its version, where
%% this one does not understand what it left. Both with the release that judged. no_file, other_code: of a module of a node that was
%% loaded from no file that can be read, or from another one. not_built: an application of the project. not_compiled: one of its
%% sources. outdated, not_compared: one of them differs from its module, which was judged, or may do so.
%% too_many_defaults: of records that its records make. too_long_unpacked: more than 128 MiB, once it is unpacked, or its archive
%% more than 512 MiB.
%% too_many_atoms: new ones, for which this node has no room. no_compiler: here, though the module has receives.
%% too_deep: its abstract code. A string is what the compiler says.

%% @doc What a module is called, and what it was made by.
-spec head(beam()) -> {ok, head()} | {error, why()}.
head(Beam) ->
    case chunks(Beam) of
        {ok, _, Module, Chunks} ->
            {ok, #{module => Module, digest => mailbox_audit_chunks:digest(Chunks),
                   compiler => mailbox_audit_chunks:compiler(Chunks),
                   debug_bytes => lists:sum([byte_size(maps:get(Name, Chunks, <<>>)) || Name <- ?DEBUG])}};
        {error, Why} -> {error, Why}
    end.

%% @doc The abstract code of a module. The function has a backend of debug_info loaded, such as `elixir_erl'.
-spec code(beam(), fun((Backend :: module()) -> ok | {error, term()})) -> {ok, code()} | {error, {module() | none, why()}}.
code(Beam, Load) ->
    case chunks(Beam) of
        {ok, Bytes, Module, Chunks} ->
            case {of_module(Module, abstract_code(Module, Bytes, Chunks, Load)), mailbox_audit_chunks:options(Chunks)} of
                {{ok, Forms}, {ok, Options}} ->
                    {ok, #{module => Module, forms => Forms, compiler => mailbox_audit_chunks:compiler(Chunks),
                           options => [Option || Option <- Options, matters(Option)]}};
                {{error, Why}, _} -> {error, {Module, Why}};
                {_, error} -> {error, {Module, not_a_beam}}
            end;
        {error, Why} -> {error, {none, Why}}
    end.

chunks({_File, {unread, Why}}) -> {error, Why};
chunks({File, in_file}) ->
    case mailbox_audit_files:read(File) of
        {ok, Bytes} -> chunks({File, Bytes});
        {error, Reason} -> {error, Reason}
    end;
chunks({_File, Bytes}) ->
    case mailbox_audit_chunks:read(Bytes) of
        {ok, Chunks} -> named(Bytes, Chunks, mailbox_audit_chunks:module(Chunks));
        error -> {error, not_a_beam};
        too_long_unpacked -> {error, too_long_unpacked}
    end.

named(Bytes, Chunks, {ok, Module}) -> {ok, Bytes, Module, Chunks};
named(_Bytes, _Chunks, too_many_atoms) -> {error, too_many_atoms};
named(_Bytes, _Chunks, error) -> {error, not_a_beam}.

%% What is judged must be what runs: there are other modules' forms, and forms without a name.
of_module(Module, {ok, Forms}) ->
    case module_of(Forms) of
        Module -> {ok, Forms};
        _ -> {error, other_debug_info}
    end;
of_module(_Module, {error, Why}) -> {error, Why}.

module_of([{attribute, _, module, Module} | _]) -> Module;
module_of([_ | Forms]) -> module_of(Forms);
module_of(_) -> none.

%% Until OTP 20 it was the abstract code itself, and some who write other debug_info write that, too.
abstract_code(Module, Bytes, #{<<"Dbgi">> := Chunk} = Chunks, Load) ->
    case {by_backend(Module, Bytes, Chunk, Load), Chunks} of
        {{error, Why}, #{<<"Abst">> := Old}} -> forms(Bytes, Old, Why);
        {Result, #{}} -> Result
    end;
abstract_code(_Module, Bytes, #{<<"Abst">> := Chunk}, _Load) -> forms(Bytes, Chunk, no_debug_info);
abstract_code(_Module, _Bytes, #{}, _Load) -> {error, no_debug_info}.

by_backend(_Module, Bytes, <<0, _/bits>>, _Load) -> decrypted(Bytes);
by_backend(Module, _Bytes, Chunk, Load) ->
    case mailbox_audit_chunks:term(Chunk) of
        {ok, {debug_info_v1, Backend, Data}} when is_atom(Backend) -> asked(Backend, Load(Backend), Module, Data);
        Why when Why =:= too_long_unpacked; Why =:= too_many_atoms -> {error, Why};
        _ -> {error, no_debug_info}
    end.

%% A backend may be of another version than what wrote this.
asked(Backend, ok, Module, Data) ->
    try Backend:debug_info(erlang_v1, Module, Data, []) of
        {ok, [_ | _] = Forms} -> {ok, Forms};
        _ -> {error, no_debug_info}
    catch _:_ -> {error, {backend_fails, Backend}}
    end;
asked(Backend, {error, _}, _Module, _Data) -> {error, {no_backend, Backend, erlang:system_info(otp_release)}}.

forms(Bytes, <<0, _/bits>>, _Why) -> decrypted(Bytes);
forms(_Bytes, Chunk, Why) ->
    case mailbox_audit_chunks:term(Chunk) of
        {ok, {raw_abstract_v1, Forms}} -> {ok, Forms};
        Refused when Refused =:= too_long_unpacked; Refused =:= too_many_atoms -> {error, Refused};
        _ -> {error, Why}
    end.

%% By the key that beam_lib finds, as in .erlang.crypt.
decrypted(Bytes) ->
    try beam_lib:chunks(Bytes, [abstract_code]) of
        {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} -> {ok, Forms};
        _ -> {error, encrypted}
    catch _:_ -> {error, encrypted} % so it ends where it cannot read the atoms of a newer release
    end.

%% All passes of the compiler up to the one that decides on markers count: without those before it, it sees fewer references.
matters({Inline, _}) -> lists:member(Inline, [inline, inline_size, inline_effort, inline_unroll]);
matters(Option) ->
    lists:member(Option, [inline, no_inline, inline_list_funcs, no_recv_opt, no_module_opt, beam_debug_info, export_all,
                          no_copt, no_fold, no_core_prepare, no_alias, no_bool_opt, no_share_opt]).

%% @doc Whether bytes look like a compiled module.
-spec is_beam(binary()) -> boolean().
is_beam(Bytes) -> mailbox_audit_chunks:read(Bytes) =/= error. % too large is one, too
