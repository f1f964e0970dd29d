%% @doc Loading what reads the debug_info of a language: its module `elixir_erl' is that of Elixir.
-module(mailbox_audit_backend).

-export([search/2, load/3]).
-export_type([search/0]).

-opaque search() :: {code_path | [mailbox_audit_beam:beam()], Failed :: ets:tid()}.

%% @doc Calls a function with what a search needs: the modules among which a backend may be, or that it may be on the code path alone.
%% Where one does not load is tried once.
-spec search(code_path | [mailbox_audit_beam:beam()], fun((search()) -> Result)) -> Result.
search(Where, Fun) ->
    Failed = ets:new(?MODULE, [public]),
    try Fun({Where, Failed})
    after ets:delete(Failed)
    end.

%% @doc Has that module loaded, with its application on the code path. It is looked for on the code path; among the modules that are
%% judged; beside the file and in the applications beside its own, as in a release; and in the Elixir that is installed.
-spec load(Backend :: module(), file:filename(), search()) -> ok | {error, not_found}.
load(Backend, File, Search) ->
    case erlang:module_loaded(Backend) of
        true -> ok;
        false -> global:trans({?MODULE, self()}, fun() -> from(Backend, File, Search) end, [node()])
    end.

%% Several ask at the same time; who comes later finds it loaded.
from(Backend, File, {Where, Failed}) ->
    Ways = [{code_path, fun() -> loads(Backend) end} | ways(Backend, File, Where)],
    case lists:any(fun({Place, Way}) -> tried({Backend, Place}, Way, Failed) end, Ways) of
        true -> ok;
        false -> {error, not_found}
    end.

ways(_Backend, _File, code_path) -> [];
ways(Backend, File, Beams) ->
    [{Ebin, fun() -> loads_from(Ebin, Backend) end} || Ebin <- folders(Backend, File, Beams)]
        ++ [{archive, fun() -> loads_from_archive(Backend, Beams) end}].

tried(Key, Way, Failed) ->
    not ets:member(Failed, Key) andalso (Way() orelse not ets:insert(Failed, {Key})).

loads(Backend) -> code:ensure_loaded(Backend) =:= {module, Backend}.

folders(Backend, File, Beams) ->
    Name = atom_to_list(Backend) ++ ".beam",
    Here = filename:dirname(mailbox_audit_files:absolute(File)),
    Around = mailbox_audit_files:below(Here, [Name])
        ++ mailbox_audit_files:below(filename:dirname(filename:dirname(Here)), [any, "ebin", Name]),
    lists:uniq([filename:dirname(Beam) || Beam <- [Beam || {Beam, in_file} <- Beams, filename:basename(Beam) =:= Name]
                                              ++ [Beam || {ok, Beam} <- Around, is_list(Beam)], filelib:is_regular(Beam)]
               ++ [Ebin || {ok, Ebin} <- [mailbox_audit_elixir:ebin()]]).

%% One of another release may not load: then it does not stay on the path.
loads_from(Ebin, Backend) ->
    code:add_pathz(Ebin) =:= true andalso
        (loads(Backend) orelse (code:del_path(Ebin) andalso false)).

%% With all that lies in its folder there: nothing finds these when they are called.
loads_from_archive(Backend, Beams) ->
    case [File || {File, Bytes} <- Beams, is_binary(Bytes), filename:basename(File) =:= atom_to_list(Backend) ++ ".beam"] of
        [] -> false;
        [File | _] ->
            Folder = filename:dirname(File),
            _ = [load_bytes(list_to_atom(filename:basename(Other, ".beam")), Other, Bytes)
                 || {Other, Bytes} <- Beams, is_binary(Bytes), filename:dirname(Other) =:= Folder],
            erlang:module_loaded(Backend)
    end.

load_bytes(Module, File, Bytes) -> erlang:module_loaded(Module) orelse code:load_binary(Module, File, Bytes).
