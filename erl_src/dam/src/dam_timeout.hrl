%% Valid times in arguments of clients.
-define(MAX_MS, 16#FFFFFFFF).
-define(IS_TIMEOUT(T), (T =:= infinity orelse is_integer(T) andalso T >= 0 andalso T =< ?MAX_MS)).
