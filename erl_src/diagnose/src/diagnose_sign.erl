%% @doc A sign, as all rules make it. Pure.
-module(diagnose_sign).

-export([sign/4]).

%% @doc A sign: what was seen, what to do, and what to run then.
-spec sign(diagnose_types:kind(), #{atom() => term()}, Advice :: iodata(), diagnose_proof:proof()) -> diagnose_types:sign().
sign(Kind, Evidence, Advice, Proof) ->
    Sign = #{kind => Kind, evidence => Evidence, advice => unicode:characters_to_binary(Advice), proof => Proof},
    case diagnose_figures:gain(Kind, Evidence) of
        none -> Sign;
        Gain -> Sign#{gain => Gain}
    end.
