%% @doc SHA-256 (FIPS 180-4), also on an Erlang without crypto, such as Debian's `erlang-base'. Pure.
-module(ertslab_sha256).

-export([hex/1, portable/1]).

-define(WORD(Value), ((Value) band 16#FFFFFFFF)).
-define(FIRST, {16#6a09e667, 16#bb67ae85, 16#3c6ef372, 16#a54ff53a, 16#510e527f, 16#9b05688c, 16#1f83d9ab, 16#5be0cd19}).
-define(CONSTANTS,
        [16#428a2f98, 16#71374491, 16#b5c0fbcf, 16#e9b5dba5, 16#3956c25b, 16#59f111f1, 16#923f82a4, 16#ab1c5ed5,
         16#d807aa98, 16#12835b01, 16#243185be, 16#550c7dc3, 16#72be5d74, 16#80deb1fe, 16#9bdc06a7, 16#c19bf174,
         16#e49b69c1, 16#efbe4786, 16#0fc19dc6, 16#240ca1cc, 16#2de92c6f, 16#4a7484aa, 16#5cb0a9dc, 16#76f988da,
         16#983e5152, 16#a831c66d, 16#b00327c8, 16#bf597fc7, 16#c6e00bf3, 16#d5a79147, 16#06ca6351, 16#14292967,
         16#27b70a85, 16#2e1b2138, 16#4d2c6dfc, 16#53380d13, 16#650a7354, 16#766a0abb, 16#81c2c92e, 16#92722c85,
         16#a2bfe8a1, 16#a81a664b, 16#c24b8b70, 16#c76c51a3, 16#d192e819, 16#d6990624, 16#f40e3585, 16#106aa070,
         16#19a4c116, 16#1e376c08, 16#2748774c, 16#34b0bcb5, 16#391c0cb3, 16#4ed8aa4a, 16#5b9cca4f, 16#682e6ff3,
         16#748f82ee, 16#78a5636f, 16#84c87814, 16#8cc70208, 16#90befffa, 16#a4506ceb, 16#bef9a3f7, 16#c67178f2]).

%% @doc The digest of some bytes, in hexadecimal.
-spec hex(iodata()) -> binary().
hex(Bytes) ->
    Digest = case code:ensure_loaded(crypto) of
                 {module, crypto} -> crypto:hash(sha256, Bytes);
                 {error, _} -> portable(Bytes)
             end,
    string:lowercase(binary:encode_hex(Digest)).

%% @doc The digest without crypto: some 10 MB a second.
-spec portable(iodata()) -> <<_:256>>.
portable(Bytes) ->
    Text = iolist_to_binary(Bytes),
    Zeros = (119 - byte_size(Text) rem 64) rem 64,
    {A, B, C, D, E, F, G, H} = blocks(<<Text/binary, 128, 0:(Zeros * 8), (8 * byte_size(Text)):64>>, ?FIRST),
    <<A:32, B:32, C:32, D:32, E:32, F:32, G:32, H:32>>.

blocks(<<W0:32, W1:32, W2:32, W3:32, W4:32, W5:32, W6:32, W7:32, W8:32, W9:32, W10:32, W11:32, W12:32, W13:32, W14:32, W15:32,
         Rest/bits>>, {A, B, C, D, E, F, G, H} = State) ->
    Schedule = {W0, W1, W2, W3, W4, W5, W6, W7, W8, W9, W10, W11, W12, W13, W14, W15},
    {A1, B1, C1, D1, E1, F1, G1, H1} = rounds(?CONSTANTS, Schedule, State),
    blocks(Rest, {?WORD(A + A1), ?WORD(B + B1), ?WORD(C + C1), ?WORD(D + D1),
                  ?WORD(E + E1), ?WORD(F + F1), ?WORD(G + G1), ?WORD(H + H1)});
blocks(<<>>, State) -> State.

%% The schedule holds the next 16 words.
rounds([], _, State) -> State;
rounds([Constant | Constants], {W0, W1, W2, W3, W4, W5, W6, W7, W8, W9, W10, W11, W12, W13, W14, W15}, {A, B, C, D, E, F, G, H}) ->
    Temporary = H + (rotated(E, 6) bxor rotated(E, 11) bxor rotated(E, 25)) + ((E band F) bxor ((E bxor 16#FFFFFFFF) band G))
        + Constant + W0,
    Majority = (rotated(A, 2) bxor rotated(A, 13) bxor rotated(A, 22)) + ((A band B) bxor (A band C) bxor (B band C)),
    W16 = ?WORD(W0 + (rotated(W1, 7) bxor rotated(W1, 18) bxor (W1 bsr 3)) + W9
                + (rotated(W14, 17) bxor rotated(W14, 19) bxor (W14 bsr 10))),
    rounds(Constants, {W1, W2, W3, W4, W5, W6, W7, W8, W9, W10, W11, W12, W13, W14, W15, W16},
           {?WORD(Temporary + Majority), A, B, C, ?WORD(D + Temporary), E, F, G}).

rotated(Word, Bits) -> ?WORD((Word bsr Bits) bor (Word bsl (32 - Bits))).
