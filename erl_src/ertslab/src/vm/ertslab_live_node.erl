%% @doc Connects to a running node in order to inspect it, as a hidden node that does not listen.
-module(ertslab_live_node).

-export([connected/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {silent, Name :: string(), Seconds :: pos_integer(), ertslab_node_threads:seen()}
                | {refused, Name :: string(), registered()}
                | {no_name, string()}
                | no_cookie | {no_cookie_in, file:filename(), Most :: pos_integer()} | {no_cookie_of, Most :: pos_integer()} | no_distribution.

%% Whether the epmd of its host has the name of the node.
-type registered() :: boolean() | unknown.

-define(ATOM_CHARACTERS, 255).
-define(EPMD_MS, 2000).
-define(BUDGET_MS, 10_000).
%% By default a node waits this long for each half of a handshake; a node that refuses does so sooner. The VM waits for two minutes at
%% most.
-define(SETUP_S, 7).
-define(LONGEST_SETUP_S, 120).

%% @doc Connects to the node of that name, with the cookie of the options if they have one. Waits for a slow node as long as the
%% budget of the options allows.
-spec connected(string(), #{cookie => string(), budget => pos_integer(), _ => _}) -> node().
connected(Name, Options) ->
    Node = node_name(Name),
    Cookies = cookies(Options, init:get_argument(setcookie)),
    Seconds = max(?SETUP_S, min(?LONGEST_SETUP_S, maps:get(budget, Options, ?BUDGET_MS) div 1000)),
    ok = start_distribution(Name, Seconds),
    _ = [erlang:set_cookie(Node, Cookie) || Cookie <- Cookies],
    case connects(Node, erlang:monotonic_time(millisecond) + 1000 * Seconds) of
        true -> Node;
        silent -> ertslab_error:failure(?MODULE, {silent, Name, Seconds, ertslab_node_threads:seen(Name)});
        refused -> ertslab_error:failure(?MODULE, {refused, Name, registered(Name)})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({silent, Name, Seconds, Threads}) ->
    io_lib:format("node ~ts listens, but did not answer in ~b s. ~ts Try again when it answers; diagnose waits longer with --budget.",
                  [Name, Seconds, why_silent(ertslab_node_threads:facts(Threads))]);
format_error({refused, Name, false}) ->
    ["node ", Name, " is unknown to the epmd of its host ('epmd -names' lists running nodes; a release has epmd in erts-*/bin): check the"
     " name. A node that starts or halts is unknown, too. The process of one that halts stays until its sockets and files have taken what it"
     " has for them: end it by a signal (erlang:halt/2 with {flush, false} does not wait)."];
format_error({refused, Name, true}) ->
    ["node ", Name, " does not answer, though the epmd of its host has its name: check the cookie. A node that is at its limit of processes"
     " or ports refuses in the same way, and so does what is no Erlang."];
format_error({refused, Name, unknown}) ->
    ["node ", Name, " does not answer; check its name ('epmd -names' lists running nodes; a release has epmd in erts-*/bin) and the cookie."
     " A node that is at its limit of processes or ports refuses in the same way.", by_ipv6(Name)];
format_error({no_name, Text}) -> ["--node ", diagnose_wording:printable(Text), ": give a name such as node@host, of at most 255 characters"];
format_error(no_cookie) ->
    "no cookie is known: give the node's with --cookie (there is no ~/.erlang.cookie here; a release has it in vm.args or in"
    " releases/COOKIE).";
format_error({no_cookie_in, File, Most}) ->
    io_lib:format("~ts holds no cookie: a line of text, of at most ~b characters; or give the node's with --cookie.", [File, Most]);
format_error({no_cookie_of, Most}) -> io_lib:format("--cookie: give a cookie of 1 to ~b characters", [Most]);
format_error(no_distribution) ->
    "distribution does not start here; check ERL_FLAGS, ERL_AFLAGS and ERL_ZFLAGS, if they are set: -sname or -name in one of them makes"
    " this program a node already, so leave it out.".

%% An address with colons.
by_ipv6(Name) ->
    case lists:member($:, Name) of
        true -> " A node of IPv6 is reached with ERL_FLAGS=\"-proto_dist inet6_tcp\".";
        false -> ""
    end.

why_silent([]) ->
    "Its schedulers may be in long native functions, or processes of priority high may take them all, or its threads for files (+SDio)"
    " may all wait for a device, or it is stopped or overloaded.";
why_silent(Facts) -> lists:join(" ", Facts).

%% Where there is no such node, or the cookie is another one, that is known at once; who is slow gives up after its own time, and is
%% tried again.
connects(Node, Until) ->
    Began = erlang:monotonic_time(millisecond),
    Result = net_kernel:connect_node(Node),
    Now = erlang:monotonic_time(millisecond),
    if
        Result =:= true -> true;
        Now >= Until - 500 -> silent;
        Now - Began < 1000 * (?SETUP_S - 1) -> refused;
        true -> connects(Node, Until)
    end.

%% Not every host has an epmd, or lets it be asked. To connect to one may take minutes.
-dialyzer({nowarn_function, registered/1}). % what it found is the exit of the process that asks
-spec registered(string()) -> registered().
registered(Name) ->
    [Alive, Host] = string:split(Name, "@"),
    {Pid, Monitor} = spawn_monitor(fun() -> exit({names, erl_epmd:names(Host)}) end),
    receive
        {'DOWN', Monitor, process, _, {names, {ok, Names}}} -> lists:keymember(Alive, 1, Names);
        {'DOWN', Monitor, process, _, _} -> unknown
    after ?EPMD_MS ->
            exit(Pid, kill),
            unknown
    end.

%% One with a line break or the like can be no node's.
node_name(Name) ->
    case lists:all(fun(Character) -> Character > $\s end, Name) andalso string:split(Name, "@", all) of
        [[_ | _], [_ | _]] when length(Name) =< ?ATOM_CHARACTERS -> list_to_atom(Name);
        _ -> ertslab_error:usage(?MODULE, {no_name, Name})
    end.

%% The cookie of the options, else the one that this VM was started with, else the one of the user's file. kernel is
%% told not to read that file, since it would create a missing one.
cookies(#{cookie := Given}, _) -> [cookie(Given)];
cookies(#{}, {ok, _}) -> [];
cookies(#{}, error) ->
    Folders = lists:append([[Home, filename:basedir(user_config, "erlang")] || {ok, [[Home]]} <- [init:get_argument(home)]]),
    case [{File, Text} || Folder <- Folders, File <- [filename:join(Folder, ".erlang.cookie")], {ok, Text} <- [file:read_file(File)]] of
        [{File, Text} | _] -> [cookie_in(File, unicode:characters_to_list(Text))];
        [] -> ertslab_error:failure(?MODULE, no_cookie)
    end.

cookie_in(File, Text) ->
    case is_list(Text) andalso string:trim(Text) of
        [_ | _] = Cookie when length(Cookie) =< ?ATOM_CHARACTERS -> list_to_atom(Cookie);
        _ -> ertslab_error:failure(?MODULE, {no_cookie_in, File, ?ATOM_CHARACTERS})
    end.

cookie([_ | _] = Text) when length(Text) =< ?ATOM_CHARACTERS -> list_to_atom(Text);
cookie(_) -> ertslab_error:usage(?MODULE, {no_cookie_of, ?ATOM_CHARACTERS}).

%% No listener and no registration are needed. Errors of distribution are reported by the command in a sentence, not logged.
start_distribution(Name, Seconds) ->
    ok = application:set_env(kernel, net_setuptime, Seconds),
    ok = logger:set_primary_config(level, none),
    [_, Host] = string:split(Name, "@"),
    case started(case lists:member($., Host) of true -> longnames; false -> shortnames end) of
        {ok, _} -> ok;
        {error, _} -> ertslab_error:failure(?MODULE, no_distribution)
    end.

%% A name of its own: to give it one, the other node would need crypto, which it may have to load, and all its connections would wait for
%% that. A long name needs a host with a dot; any will do, since nobody connects to this node.
started(Names) ->
    Own = lists:flatten(io_lib:format("ertslab_~ts_~b", [os:getpid(), rand:uniform(1 bsl 32)])),
    Whole = case Names of longnames -> Own ++ "@ertslab.invalid"; shortnames -> Own end,
    net_kernel:start(list_to_atom(Whole), #{name_domain => Names, hidden => true, dist_listen => false}).
