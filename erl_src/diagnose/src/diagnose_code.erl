%% @doc The code of a module that is loaded in a node, as the bytes of its `.beam' file, which must be the very code that is loaded.
-module(diagnose_code).

-include_lib("kernel/include/file.hrl").

-export([of_node/3]).
-export_type([why/0]).

-type why() :: other_code | not_readable | too_large.

-define(NOT_PRELOADED, [<<"Meta">>, <<"Attr">>, <<"CInf">>, <<"Dbgi">>, <<"Docs">>, <<"Type">>]).

%% @doc The bytes, and how many came from the node: none where the own file is the same code, and no file that is larger than what may
%% come. The node may be of a newer release.
-spec of_node(node(), module(), BytesLeft :: non_neg_integer() | infinity) ->
          {{ok, binary()} | {error, why()}, Carried :: non_neg_integer()}.
of_node(Node, Module, BytesLeft) ->
    try beam(Node, Module, diagnose_node:call(Node, Module, module_info, [md5]), BytesLeft)
    catch
        throw:{diagnose_node, _} -> {{error, not_readable}, 0};
        error:{exception, _, _} -> {{error, not_readable}, 0} % such as code that was purged meanwhile
    end.

%% The own file where it is the same code, so that nothing is carried.
beam(Node, Module, Md5, BytesLeft) ->
    case local(Module, Md5) of
        {ok, Beam} -> {{ok, Beam}, 0};
        {error, Why} when Node =:= node() -> {{error, Why}, 0};
        {error, _} -> remote(Node, diagnose_node:call(Node, code, which, [Module]), Module, Md5, BytesLeft)
    end.

local(Module, Md5) ->
    case code:which(Module) of
        [_ | _] = File -> same(node(), read(node(), File), Module, Md5);
        preloaded -> same(node(), read(node(), preloaded(code:root_dir(), erlang:system_info(version), Module)), Module, Md5);
        _ -> {error, not_readable}
    end.

%% What is a part of the emulator lies among the libraries, too.
preloaded(Root, Version, Module) -> filename:join([Root, "lib", "erts-" ++ Version, "ebin", atom_to_list(Module) ++ ".beam"]).

remote(Node, preloaded, Module, Md5, BytesLeft) ->
    Root = diagnose_node:call(Node, code, root_dir, []),
    File = preloaded(Root, diagnose_node:call(Node, erlang, system_info, [version]), Module),
    remote(Node, File, Module, Md5, BytesLeft);
remote(Node, [_ | _] = File, Module, Md5, BytesLeft) ->
    case call(Node, file, read_file_info, [File]) of
        {ok, #file_info{size = Size}} when Size > BytesLeft -> {{error, too_large}, 0};
        _ ->
            Read = read(Node, File),
            {same(Node, Read, Module, Md5), erlang:external_size(Read)}
    end;
remote(_Node, _Unknown, _Module, _Md5, _BytesLeft) -> {{error, not_readable}, 0}.

%% What lies in an archive only the loader reads.
read(Node, File) ->
    case call(Node, file, read_file, [File]) of
        {ok, Beam} -> {ok, Beam};
        {error, Reason} ->
            case call(Node, erl_prim_loader, get_file, [File]) of
                {ok, Beam, _} -> {ok, Beam};
                error -> {error, Reason}
            end
    end.

call(Node, Module, Function, Args) when Node =:= node() -> apply(Module, Function, Args);
call(Node, Module, Function, Args) -> diagnose_node:call(Node, Module, Function, Args).

same(Node, {ok, Beam}, Module, Md5) ->
    case md5(Node, Module, Beam) =:= {ok, Md5} orelse md5(Node, Module, as_preloaded(Beam)) =:= {ok, Md5} of
        true -> {ok, Beam};
        false -> {error, other_code}
    end;
same(_Node, {error, _}, _Module, _Md5) -> {error, not_readable}.

%% What a newer release compiled only that reads, and knows what of it counts. This one may take other bytes for the name.
md5(Node, Module, Beam) ->
    case own_md5(Beam) of
        {ok, {Module, Md5}} -> {ok, Md5};
        _ when Node =/= node() -> of_module(Module, diagnose_node:call(Node, beam_lib, md5, [Beam]));
        _ -> error
    end.

own_md5(Beam) ->
    try beam_lib:md5(Beam)
    catch _:_ -> error
    end.

of_module(Module, {ok, {Module, Md5}}) -> {ok, Md5};
of_module(_Module, _) -> error.

%% The emulator has its own modules without these chunks, and says the digest of what is left.
as_preloaded(Beam) ->
    case mailbox_audit_chunks:read(Beam) of
        {ok, Chunks} ->
            Kept = maps:to_list(maps:without(?NOT_PRELOADED, Chunks)),
            {ok, Bare} = beam_lib:build_module([{binary_to_list(Name), Chunk} || {Name, Chunk} <- Kept]),
            Bare;
        error -> Beam
    end.
