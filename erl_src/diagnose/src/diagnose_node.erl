%% @doc Brings the modules that look to a node, has them look, and sees them gone.
-module(diagnose_node).

-export([look/2, call/4]).
-export_type([options/0, reason/0]).

%% Carried in this order: where the first one, which removes them, does not load, no other does.
-define(MODULES, [diagnose_probe, diagnose_processes, diagnose_window]).
-define(NIF_MODULES, [cons_spacing_nif, cons_spacing]).
-define(OLDEST, 25).
%% Who has it looks at the node.
-define(LOCK, diagnose_probe).
-define(CALL_MS, 5000).
%% For the way there and back, and for removing what was carried.
-define(GRACE_MS, 5000).

-type options() :: #{budget := pos_integer(), nif := boolean(), oldest => file:filename(), _ => _}.
%% oldest: a folder of applications compiled for OTP 25, for nodes that are older than this one.

-type reason() :: {too_old, pos_integer() | unknown} | busy | silent | nodedown | {no_module, module()}
                | {not_loaded, module()} | {other_version, term()} | {ended, term()}.

%% @doc Looks at a node, this one included. Where it is another one, what was loaded there is removed again, also when
%% this node is gone meanwhile. `cost' has the bytes that were carried, both ways.
-spec look(node(), options()) -> {ok, diagnose_types:look()} | {error, reason()}.
look(Node, Options) ->
    try
        Codes = codes(Node, Options),
        looked(Node, maps:with([budget, nif], Options), Codes)
    catch
        throw:{?MODULE, Reason} -> {error, Reason}
    end.

%% @doc Calls a function of a node. Fails with `{diagnose_node, reason()}', thrown, where the node does not answer.
-spec call(node(), module(), atom(), [term()]) -> term().
call(Node, Module, Function, Args) ->
    try erpc:call(Node, Module, Function, Args, ?CALL_MS)
    catch
        error:{erpc, noconnection} -> failed(nodedown);
        error:{erpc, timeout} -> failed(silent);
        error:{erpc, notsup} -> failed({too_old, unknown});
        error:{exception, undef, [{erpc, _, _, _} | _]} -> failed({too_old, unknown})
    end.

-spec failed(reason()) -> no_return().
failed(Reason) -> throw({?MODULE, Reason}).

%% What the node has not loaded yet.
codes(Node, #{nif := Nif}) when Node =:= node() ->
    _ = [code:ensure_loaded(Module) || Module <- ?MODULES ++ [M || Nif, M <- ?NIF_MODULES]],
    [];
codes(Node, #{nif := Nif} = Options) ->
    Release = list_to_integer(call(Node, erlang, system_info, [otp_release])),
    Release >= ?OLDEST orelse failed({too_old, Release}),
    call(Node, ets, whereis, [?LOCK]) =:= undefined orelse failed(busy),
    Own = folder(diagnose, ?MODULE, Release, Options),
    Codes = [code(Own, Module) || Module <- ?MODULES, not is_loaded(Node, Module)],
    _ = Nif andalso native(Node, folder(cons_spacing, cons_spacing_nif, Release, Options)),
    Codes.

is_loaded(Node, Module) -> call(Node, erlang, module_loaded, [Module]).

%% Where code lies that the release can load.
folder(Application, Module, Release, Options) ->
    case {list_to_integer(erlang:system_info(otp_release)), Options} of
        {Own, #{oldest := Root}} when Release < Own -> filename:join([Root, Application, ebin]);
        _ -> case code:which(Module) of [_ | _] = File -> filename:dirname(File); _ -> "" end
    end.

%% Without what the code does not need to run. (Given a name, beam_lib would write the file anew.)
code(Folder, Module) ->
    case file:read_file(filename:join(Folder, atom_to_list(Module) ++ ".beam")) of
        {ok, Beam} ->
            {ok, {Module, Stripped}} = beam_lib:strip(Beam),
            {Module, code:which(Module), Stripped};
        {error, _} -> failed({no_module, Module})
    end.

%% The NIF is a file that the VM opens: the node must have cons_spacing on its path, or read the folder of this one, which
%% is taken back from its path at once. The modules stay: to purge code ends the processes that run it, and a process
%% whose state is measured runs it.
native(Node, Folder) ->
    Added = is_file(call(Node, file, read_file_info, [filename:join(Folder, "cons_spacing_nif.beam")]))
        andalso call(Node, code, where_is_file, ["cons_spacing_nif.beam"]) =:= non_existing
        andalso call(Node, code, add_pathz, [Folder]),
    _ = [call(Node, code, ensure_loaded, [Module]) || Module <- ?NIF_MODULES],
    Added =:= true andalso call(Node, code, del_path, [Folder]).

is_file({ok, _}) -> true;
is_file({error, _}) -> false.

%% One process there takes the lock, loads the code and becomes the keeper. So whatever ends this one, also while code is
%% loaded, the keeper sees it gone and removes what was loaded. The lock is a table with a name, which ends with its process.
steps(Client, Options, Codes) ->
    [{ets, new, [?LOCK, [named_table]]}]
        ++ [{code, load_binary, tuple_to_list(Code)} || Code <- Codes]
        ++ [{diagnose_probe, keep, [Client, Options, lists:reverse([Module || {Module, _, _} <- Codes])]}].

looked(Node, #{budget := Budget} = Options, Codes) ->
    {Modules, Functions, Args} = lists:unzip3(steps(self(), Options, Codes)),
    {Keeper, Monitor} = spawn_opt(Node, lists, zipwith3, [fun erlang:apply/3, Modules, Functions, Args], [monitor]),
    Carried = lists:sum([byte_size(Beam) || {_, _, Beam} <- Codes]),
    receive
        {diagnose, Keeper, #{format := 1, cost := Cost} = Look} ->
            gone(Monitor, {ok, Look#{cost := Cost#{carried_bytes => Carried + erlang:external_size(Look)}}});
        {diagnose, Keeper, #{format := Format}} -> gone(Monitor, {error, {other_version, Format}});
        {diagnose, Keeper, {not_loaded, _} = Why} -> gone(Monitor, {error, Why});
        {'DOWN', Monitor, process, _, Reason} -> {error, ended(Reason)}
    after Budget + ?GRACE_MS ->
            true = demonitor(Monitor, [flush]),
            {error, silent}
    end.

ended(noconnection) -> nodedown;
ended({badarg, [{ets, new, _, _} | _]}) -> busy;
ended({undef, [{diagnose_probe, keep, _, _} | _]}) -> {not_loaded, diagnose_probe};
ended(Reason) -> {ended, Reason}.

%% The keeper ends when nothing of it is loaded there any more.
gone(Monitor, Result) ->
    receive {'DOWN', Monitor, process, _, _} -> Result
    after ?GRACE_MS ->
            true = demonitor(Monitor, [flush]),
            Result
    end.
