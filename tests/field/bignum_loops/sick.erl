%% Three workers compare amounts with hundreds of thousands of digits, and rest for a moment after each.
-module(sick).
-export([start/0, validates/1]).

start() ->
    _ = [spawn(?MODULE, validates, [N]) || N <- [1, 2, 3]],
    ok.

validates(N) ->
    true = is_greater({N, 250_000}, {0, 0}),
    timer:sleep(3),
    validates(N + 1).

is_greater({A, E}, {B, F}) -> A * power(E) > B * power(F).

power(0) -> 1;
power(E) when E rem 2 =:= 0 ->
    Half = power(E div 2),
    Half * Half;
power(E) -> 10 * power(E - 1).
