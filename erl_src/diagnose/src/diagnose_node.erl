%% @doc Calls a node, and says how the module that looks comes there.
-module(diagnose_node).

-export([call/4, has_room/1, nif/2, codes/2, carried/3, keeper/4, ended/2, why_ended/3]).
%% For the tests.
-export([slim/1]).
-export_type([code/0]).
-export_type([options/0, reason/0]).

-define(PROBE, diagnose_probe).
-define(NIF_MODULES, [cons_spacing_nif, cons_spacing]).
-define(OLDEST, 25).
-define(CALL_MS, 5000).
%% With fewer atoms left nothing is loaded: a look brings half of them, which are never freed, and at the limit the VM ends.
-define(ATOMS_LEFT, 3000).
%% In the chunk of atoms of the releases before OTP 28, which the later ones load, too.
-define(ATOM_BYTES, 255).

-type options() :: #{budget := pos_integer(), nif := boolean(), oldest => file:filename(), _ => _}.
%% oldest: a folder of applications compiled for OTP 25, for nodes that are older than this one.

-type reason() :: {too_old, pos_integer() | unknown} | busy | silent | nodedown | no_process | {no_module, module()}
                | {not_loaded, module()} | {other_version, term()} | {ended, term()}
                | {few_atoms, Count :: pos_integer(), Limit :: pos_integer()}.

-type code() :: {module(), file:filename() | atom(), binary()}.

%% @doc Calls a function of a node. Fails with `{diagnose_node, reason()}', thrown, where the node does not answer.
-spec call(node(), module(), atom(), [term()]) -> term().
call(Node, Module, Function, Args) ->
    try erpc:call(Node, Module, Function, Args, ?CALL_MS)
    catch
        error:{erpc, noconnection} -> failed(nodedown);
        error:{erpc, timeout} -> failed(silent);
        error:{erpc, system_limit} -> failed(no_process);
        error:{erpc, notsup} -> failed({too_old, unknown});
        error:{exception, undef, [{erpc, _, _, _} | _]} -> failed({too_old, unknown})
    end.

-spec failed(reason()) -> no_return().
failed(Reason) -> throw({?MODULE, Reason}).

%% @doc Makes sure that the node has room for the atoms of what is loaded there, and of what is called: it would end at its limit. The
%% connection has brought its own by then. Fails as call/4 does.
-spec has_room(node()) -> ok.
has_room(Node) ->
    [Count, Limit] = [call(Node, erlang, system_info, [Item]) || Item <- [atom_count, atom_limit]],
    _ = Limit - Count >= ?ATOMS_LEFT orelse failed({few_atoms, Count, Limit}),
    ok.

%% @doc Whether layouts are measured. That wakes processes that hibernate, which on some versions of OTP could make them miss
%% a message. Fails as call/4 does.
-spec nif(node(), options()) -> boolean() | not_safe.
nif(_Node, #{nif := false}) -> false;
nif(Node, #{nif := true}) ->
    Release = call(Node, erlang, system_info, [otp_release]),
    {ok, [[Root]]} = call(Node, init, get_argument, [root]),
    Version = diagnose_probe:version(call(Node, prim_file, read_file, [filename:join([Root, "releases", Release, "OTP_VERSION"])])),
    case diagnose_known_faults:met_by_looking(Version, list_to_integer(Release)) of
        [] -> true;
        [_ | _] -> not_safe
    end.

%% @doc The code that a look at the node needs and that is not loaded there; what the NIF needs is loaded. Fails as call/4
%% does.
-spec codes(node(), #{nif := boolean() | not_safe, _ => _}) -> [code()].
codes(Node, #{nif := Nif}) when Node =:= node() ->
    ok = has_room(Node),
    _ = [code:ensure_loaded(Module) || Module <- [?PROBE | [M || Nif =:= true, M <- ?NIF_MODULES]]],
    [];
codes(Node, #{nif := Nif} = Options) ->
    Codes = carried(Node, ?PROBE, Options),
    _ = Nif =:= true andalso native(Node, folder(cons_spacing, cons_spacing_nif, release(Node), Options)),
    Codes.

%% @doc The code of a module of this application, where the node has not loaded it. Whoever has the lock, a table with the name of the
%% module, uses it. Another client's keeper may come and go meanwhile, so what counts is what is loaded before and after no keeper was
%% there. Fails as call/4 does.
-spec carried(node(), module(), #{oldest => file:filename(), _ => _}) -> [code()].
carried(Node, Module, Options) ->
    Release = release(Node),
    Release >= ?OLDEST orelse failed({too_old, Release}),
    ok = has_room(Node),
    _ = Node =:= node() andalso code:ensure_loaded(Module),
    WasThere = call(Node, erlang, module_loaded, [Module]),
    call(Node, ets, whereis, [Module]) =:= undefined orelse failed(busy),
    IsThere = WasThere andalso call(Node, erlang, module_loaded, [Module]),
    _ = IsThere andalso same_format(Node, Module),
    [code(folder(diagnose, ?MODULE, Release, Options), Module) || not IsThere].

release(Node) -> list_to_integer(call(Node, erlang, system_info, [otp_release])).

%% A release may have another version of this application. The first ones could not tell.
same_format(Node, Module) ->
    Theirs = case call(Node, erlang, function_exported, [Module, format, 0]) of
                 true -> call(Node, Module, format, []);
                 false -> unknown
             end,
    Theirs =:= Module:format() orelse failed({other_version, Theirs}).

%% Where code lies that the release can load.
folder(Application, Module, Release, Options) ->
    case {list_to_integer(erlang:system_info(otp_release)), Options} of
        {Own, #{oldest := Root}} when Release < Own -> filename:join([Root, Application, ebin]);
        _ -> case code:which(Module) of [_ | _] = File -> filename:dirname(File); _ -> "" end
    end.

%% Read once: a watch takes it to the node before each look, for days, and the file may be gone or of another version by then.
code(Folder, Module) ->
    Key = {?MODULE, Folder, Module, ?PROBE:module_info(md5)}, % of the code that reads what it tells
    case persistent_term:get(Key, none) of
        none ->
            Code = read_code(Folder, Module),
            ok = persistent_term:put(Key, Code),
            Code;
        Code -> Code
    end.

%% Without what the code does not need to run. (Given a name, beam_lib would write the file anew.) What lies in an archive, as in an
%% escript, only the loader reads.
read_code(Folder, Module) ->
    case erl_prim_loader:get_file(filename:join(Folder, atom_to_list(Module) ++ ".beam")) of
        {ok, Beam, _} ->
            {ok, {Module, Stripped}} = beam_lib:strip(Beam),
            {Module, code:which(Module), slim(Stripped)};
        error -> failed({no_module, Module})
    end.

%% @doc The code with its funs and comprehensions named as the functions around them. The loader looks for none of them by its name, and
%% each name would be an atom that the node keeps for good: these are four of ten.
-spec slim(binary()) -> binary().
slim(Beam) ->
    {ok, _, Chunks} = beam_lib:all_chunks(Beam),
    {ok, {_, [{atoms, Atoms}]}} = beam_lib:chunks(Beam, [atoms]),
    Names = [name_around(atom_to_binary(Atom)) || {_, Atom} <- lists:sort(Atoms)],
    case lists:all(fun(Name) -> byte_size(Name) =< ?ATOM_BYTES end, Names) of
        true ->
            Table = iolist_to_binary([<<(length(Names)):32>> | [[byte_size(Name), Name] || Name <- Names]]),
            {ok, Slim} = beam_lib:build_module(lists:keyreplace("AtU8", 1, Chunks, {"AtU8", Table})),
            zlib:gzip(Slim);
        false -> Beam
    end.

name_around(Name) ->
    case re:run(Name, "^-(.+?)/[0-9]+-", [{capture, all_but_first, binary}]) of
        {match, [Around]} -> Around;
        nomatch -> Name
    end.

%% The NIF is a file that the VM opens: the node must have cons_spacing on its path, or read the folder of this one, which
%% is taken back from its path at once. The modules stay: to purge code ends the processes that run it, and a process
%% whose state is measured runs it.
native(Node, Folder) ->
    Added = is_file(call(Node, file, read_file_info, [filename:join(Folder, "cons_spacing_nif.beam")]))
        andalso call(Node, code, where_is_file, ["cons_spacing_nif.beam"]) =:= non_existing,
    {Modules, Functions, Args} = lists:unzip3([{code, add_pathz, [Folder]} || Added]
                                              ++ [{code, ensure_loaded, [Module]} || Module <- ?NIF_MODULES]
                                              ++ [{code, del_path, [Folder]} || Added]),
    call(Node, lists, zipwith3, [fun erlang:apply/3, Modules, Functions, Args]).

is_file({ok, _}) -> true;
is_file({error, _}) -> false.

%% @doc Starts what looks at a node, or tries something there: one process takes the lock, loads the code and becomes the keeper. So
%% whatever ends the client, also while code is loaded, the keeper sees it gone and removes what was loaded. The lock is a table with
%% the name of the module, which ends with its process. erpc's function makes the exit of an error, which the node does not log.
-spec keeper(node(), module(), map(), [code()]) -> {pid(), Monitor :: reference()}.
keeper(Node, Module, Options, Codes) ->
    {Modules, Functions, Args} = lists:unzip3([{ets, new, [Module, [named_table]]}]
                                              ++ [{code, load_binary, tuple_to_list(Code)} || Code <- Codes]
                                              ++ [{Module, keep, [self(), Options, Codes =/= []]}]),
    spawn_opt(Node, erpc, execute_call, [make_ref(), lists, zipwith3, [fun erlang:apply/3, Modules, Functions, Args]], [monitor]).

%% @doc Waits until such a process has told its last and ended, or so many milliseconds. Its code is removed then, too.
-spec ended(Monitor :: reference(), Ms :: non_neg_integer()) -> ok.
ended(Monitor, Ms) ->
    receive {'DOWN', Monitor, process, _, _} -> ok
    after Ms ->
            true = demonitor(Monitor, [flush]),
            ok
    end.

%% @doc Why such a process ended, by its monitor. `Done' is what it means that nothing of it failed.
-spec why_ended(module(), Exit :: term(), Done) -> Done | reason() when Done :: atom().
why_ended(_, {_, return, _}, Done) -> Done;
why_ended(Module, {_, error, Reason, Stack}, _) -> why(Module, {Reason, Stack});
why_ended(Module, {_, exit, Reason}, _) -> why(Module, Reason);
why_ended(Module, Reason, _) -> why(Module, Reason).

why(_, noconnection) -> nodedown;
why(_, system_limit) -> no_process;
why(_, {system_limit, _}) -> no_process;
why(_, {badarg, [{ets, new, _, _} | _]}) -> busy;
why(Module, {undef, [{Module, keep, _, _} | _]}) -> {not_loaded, Module};
why(_, Reason) -> {ended, Reason}.
