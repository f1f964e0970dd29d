%% What term_cluster_SUITE does, by nodes that talk TLS: what is sent is encrypted by processes of the VM, in fragments.
-module(term_cluster_tls_SUITE).

-export([all/0, suite/0, terms_come_back_by_tls/1]).

suite() -> [{timetrap, endurance_chaos:timetrap()}].

all() -> [terms_come_back_by_tls].

terms_come_back_by_tls(Config) ->
    File = filename:join(proplists:get_value(priv_dir, Config), "tls.conf"),
    ok = file:write_file(File, io_lib:format("~0p.~n", [options()])),
    term_cluster_SUITE:by_nodes_with(["-proto_dist", "inet_tls", "-ssl_dist_optfile", File]).

%% Nobody else is there to be kept out: the certificates only let the nodes talk.
options() ->
    %% TLS 1.3 refuses the SHA-1 that is made by default, and wants a digest that suits an elliptic curve.
    Kind = [{digest, sha256}, {key, {rsa, 2048, 65537}}],
    Chain = #{root => Kind, intermediates => [], peer => Kind},
    #{server_config := Server, client_config := Client} =
        public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    [{server, [{verify, verify_none} | Server]}, {client, [{verify, verify_none} | Client]}].
