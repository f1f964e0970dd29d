%% @doc A node that runs already, and is looked at as a hidden node without a name of its own.
-module(ertslab_live_node).

-export([connected/2]).

%% @doc Connects to the node of that name, by the cookie of the options where they have one. Fails with a sentence.
-spec connected(string(), #{cookie => string(), _ => _}) -> node().
connected(Name, Options) ->
    Node = node_name(Name),
    ok = start_distribution(Name),
    _ = [erlang:set_cookie(Node, list_to_atom(Cookie)) || #{cookie := Cookie} <- [Options]],
    net_kernel:connect_node(Node) =:= true orelse
        ertslab_error:failure("node ~ts does not answer; look at its name ('epmd -names' shows those that run)"
                              " and at the cookie.", [Name]),
    Node.

node_name(Name) ->
    length(string:split(Name, "@")) =:= 2 orelse
        ertslab_error:usage("--node ~ts: a name as node@host is wanted", [Name]),
    list_to_atom(Name).

%% Nothing has to listen or be registered. What distribution would log is said by the command in a sentence.
start_distribution(Name) ->
    ok = logger:set_primary_config(level, none),
    [_, Host] = string:split(Name, "@"),
    case started(case lists:member($., Host) of true -> longnames; false -> shortnames end) of
        {ok, _} -> ok;
        {error, _} -> ertslab_error:failure("distribution does not start here; it wants a home folder (HOME)"
                                            " for its cookie.", [])
    end.

%% A long name has a domain, and a host may know none. Nobody looks for this one.
started(Names) ->
    Names =:= longnames andalso inet_db:set_domain("localdomain"),
    net_kernel:start(undefined, #{name_domain => Names, hidden => true, dist_listen => false}).
