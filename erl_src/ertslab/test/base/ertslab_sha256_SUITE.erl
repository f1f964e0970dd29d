%% SHA-256 without crypto is that of crypto.
-module(ertslab_sha256_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, known_digests/1, every_length_as_crypto/1]).

all() -> [known_digests, every_length_as_crypto].

%% The examples of FIPS 180-4.
known_digests(_) ->
    [?assertEqual({Hex, Hex}, {ertslab_sha256:hex(Text), string:lowercase(binary:encode_hex(ertslab_sha256:portable(Text)))})
     || {Text, Hex} <- [{"", ~"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                        {["a", ~"bc"], ~"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                        {~"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                         ~"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}]].

%% The padding depends on the length: less than a block, a whole one, and two.
every_length_as_crypto(_) ->
    _ = rand:seed(exsss, 40),
    [?assertEqual(crypto:hash(sha256, Text), ertslab_sha256:portable(Text)) || Bytes <- lists:seq(0, 200), Text <- [rand:bytes(Bytes)]].
