%% Names and cookies of nodes that cannot be. That nodes are looked at is tests/cli.bats.
-module(ertslab_live_node_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, what_is_no_name_is_refused/1, a_cookie_has_a_length/1, a_file_of_a_cookie_is_text/1, without_a_home_none_is_known/1,
         epmd_tells_whether_there_is_such_a_node/1, what_the_flags_may_have_to_say_is_told/1]).

all() -> [what_is_no_name_is_refused, a_cookie_has_a_length, a_file_of_a_cookie_is_text, without_a_home_none_is_known,
          epmd_tells_whether_there_is_such_a_node, what_the_flags_may_have_to_say_is_told].

what_is_no_name_is_refused(_) ->
    [?assertThrow({usage, {ertslab_live_node, {no_name, Name}}}, ertslab_live_node:connected(Name, #{}))
     || Name <- ["", "@", "a@", "@b", "a@b@c", "nonode", "a\n@b", "a b@c",
                "a@b\e[2J", lists:duplicate(300, $a) ++ "@b", "a@" ++ lists:duplicate(300, $b)]].

a_cookie_has_a_length(_) ->
    [?assertThrow({usage, {ertslab_live_node, {no_cookie_of, 255}}}, ertslab_live_node:connected("a@b", #{cookie => Cookie}))
     || Cookie <- ["", lists:duplicate(256, $c)]].

%% In a VM of its own, whose home is the folder.
a_file_of_a_cookie_is_text(Config) ->
    Home = proplists:get_value(priv_dir, Config),
    File = filename:join(Home, ".erlang.cookie"),
    [begin
         ok = file:write_file(File, Text),
         {ok, Peer, _} = peer:start_link(#{connection => standard_io, env => [{"HOME", Home}], args => ["-pa" | code:get_path()]}),
         ?assertEqual({failure, {ertslab_live_node, {no_cookie_in, File, 255}}},
                      catch peer:call(Peer, ertslab_live_node, connected, ["a@localhost", #{}])),
         peer:stop(Peer)
     end || Text <- [<<255, 254, "ab">>, lists:duplicate(256, $c), " \n"]].

%% As in a container, or below a supervisor of the system.
without_a_home_none_is_known(_) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, wait_boot => 60_000, env => [{"HOME", false}],
                                      args => ["-pa" | code:get_path()]}),
    ?assertEqual(error, peer:call(Peer, init, get_argument, [home], 60_000)),
    {failure, Error} = (catch peer:call(Peer, ertslab_live_node, connected, ["a@localhost", #{}], 60_000)),
    ?assertMatch({0, _}, binary:match(ertslab_error:sentence(Error), ~"no cookie is known: give the node's with --cookie")),
    peer:stop(Peer).

%% One that halts has no name any more, so its cookie is not to blame.
epmd_tells_whether_there_is_such_a_node(_) ->
    {ok, Listens} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listens),
    Epmd = spawn(fun() -> receive go -> names_one_node(Listens, Port) end end),
    ok = gen_tcp:controlling_process(Listens, Epmd),
    Epmd ! go,
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, wait_boot => 60_000,
                                      env => [{"ERL_EPMD_PORT", integer_to_list(Port)}], args => ["-pa" | code:get_path()]}),
    Asked = fun(Name) ->
                    Result = (catch peer:call(Peer, ertslab_live_node, connected, [Name, #{cookie => "any"}], 60_000)),
                    ok = peer:call(Peer, net_kernel, stop, []),
                    Result
            end,
    [?assertEqual({failure, {ertslab_live_node, {refused, Name, IsThere}}}, Asked(Name))
     || {Name, IsThere} <- [{"there@localhost", true}, {"gone@localhost", false}]],
    true = exit(Epmd, kill),
    ?assertEqual({failure, {ertslab_live_node, {refused, "there@localhost", unknown}}}, Asked("there@localhost")),
    peer:stop(Peer).

what_the_flags_may_have_to_say_is_told(_) ->
    [?assertEqual({Reason, Part, Is}, {Reason, Part, string:find(ertslab_live_node:format_error(Reason), Part) =/= nomatch})
     || {Reason, Part, Is} <- [{{refused, "a@::1", unknown}, "inet6_tcp", true}, {{refused, "a@b", unknown}, "inet6_tcp", false},
                               {no_distribution, "ERL_ZFLAGS", true}, {no_distribution, "-sname", true},
                               {{no_name, "a\nb"}, "a?b", true}]].

%% It tells its port and the names (110), and answers nothing else.
names_one_node(Listens, Port) ->
    {ok, Socket} = gen_tcp:accept(Listens),
    _ = case gen_tcp:recv(Socket, 3) of
            {ok, <<1:16, 110>>} -> gen_tcp:send(Socket, [<<Port:32>>, "name there at port 1\n"]);
            _ -> closes
        end,
    ok = gen_tcp:close(Socket),
    names_one_node(Listens, Port).
