%% @doc The modules of a running node that are to be audited: all loaded code except OTP's own, and what `diagnose' loads for a look.
-module(ertslab_audit_node).

-export([modules/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {node, diagnose:reason()}.

%% OTP's applications, which a release contains in addition to its own.
-define(OTP, ["asn1", "common_test", "compiler", "crypto", "debugger", "dialyzer", "diameter", "edoc", "eldap", "erl_docgen",
              "erl_interface", "erts", "et", "eunit", "ftp", "hipe", "inets", "jinterface", "kernel", "megaco", "mnesia", "observer",
              "odbc", "os_mon", "parsetools", "public_key", "reltool", "runtime_tools", "sasl", "snmp", "ssh", "ssl", "stdlib",
              "syntax_tools", "tftp", "tools", "wx", "xmerl"]).

%% @doc The modules of the node that the options name by `node' and `cookie'. A module whose loaded code is in no file
%% there is returned as unreadable.
-spec modules(#{node := string(), cookie => string(), _ => _}) -> [mailbox_audit_beam:beam()].
modules(#{node := Name} = Options) ->
    Node = ertslab_live_node:connected(Name, Options),
    Guests = guests(),
    Told = ertslab_progress:counted("modules read"),
    Modules = lists:sort([Loaded || {Module, File} = Loaded <- loaded(Node), not is_of_otp(File), not lists:member(Module, Guests)]),
    [begin
         _ = Told(Nth, length(Modules)),
         {shown(Module, File), bytes(diagnose_code:of_node(Node, Module, infinity))}
     end || {Nth, {Module, File}} <- lists:enumerate(Modules)].

guests() ->
    _ = application:load(diagnose),
    {ok, Modules} = application:get_key(diagnose, modules),
    Modules.

loaded(Node) ->
    try
        ok = diagnose_node:has_room(Node),
        diagnose_node:call(Node, code, all_loaded, [])
    catch throw:{diagnose_node, Reason} -> ertslab_error:failure(?MODULE, {node, Reason})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({node, Why}) -> [diagnose:format_error(Why), "."].

%% The file, or the name of a module without one, such as one compiled in a shell.
shown(_Module, [_ | _] = File) -> File;
shown(Module, _) -> atom_to_list(Module).

bytes({{ok, Beam}, _}) -> Beam;
bytes({{error, not_readable}, _}) -> {unread, no_file};
bytes({{error, Why}, _}) -> {unread, Why}.

is_of_otp(preloaded) -> true;
is_of_otp([_ | _] = File) ->
    case lists:reverse(filename:split(File)) of
        [_, "ebin", Application | _] -> lists:member(hd(string:split(Application, "-")), ?OTP);
        _ -> false
    end;
is_of_otp(_) -> false.
