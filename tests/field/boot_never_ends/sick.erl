%% The main loop of a program is the function that -s calls, so it never returns, and the boot of the node never ends. The gate of the
%% program waits for that end before it opens.
-module(sick).
-export([main/0]).

main() ->
    true = register(shop_main, self()),
    spawn(fun() -> true = register(shop_gate, self()), gate() end),
    loop().

loop() ->
    receive stop -> ok
    after 1000 -> loop()
    end.

gate() ->
    case init:get_status() of
        {started, _} -> timer:sleep(infinity);
        {_, _} -> timer:sleep(200), gate()
    end.
