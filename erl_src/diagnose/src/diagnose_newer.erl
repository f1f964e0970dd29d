%% @doc Judges a module of a node that is of a newer release than this one, and whose code the compiler here does not understand: in a
%% VM that the node's own installation starts on this machine, if it is here, too. Nothing of that runs in the node.
-module(diagnose_newer).

-export([module/2]).

-define(BOOT_MS, 10_000).

%% @doc What `mailbox_audit:module/1' says there; `error' where no such VM starts. The caller traps exits from then on. The VM ends with it.
-spec module(node(), Beam :: binary()) ->
          {ok, [mailbox_audit_static:of_module()]} | {error, mailbox_audit_beam:why()} | error.
module(Node, Beam) ->
    Program = filename:join([diagnose_node:call(Node, code, root_dir, []), "bin", "erl"]),
    Library = code:which(mailbox_audit),
    case filelib:is_regular(Program) andalso is_list(Library) andalso filelib:is_regular(Library) of
        true -> by(Program, filename:dirname(Library), Beam);
        false -> error % also where it lies in an archive, which another VM does not read
    end.

by(Program, Libraries, Beam) ->
    _ = process_flag(trap_exit, true),
    Words = ["-boot", "no_dot_erlang", "-kernel", "logger_level", "emergency", "-pa", Libraries],
    try peer:start_link(#{connection => standard_io, exec => Program, args => Words, wait_boot => ?BOOT_MS}) of
        {ok, Peer} -> asked(Peer, Beam);
        {ok, Peer, _} -> asked(Peer, Beam);
        _ -> error
    catch _:_ -> error
    end.

asked(Peer, Beam) ->
    try peer:call(Peer, mailbox_audit, module, [Beam], infinity)
    catch _:_ -> error
    after
        peer:stop(Peer)
    end.
