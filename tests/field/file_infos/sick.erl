%% 150 handlers of static files ask for the time of a file at each request, and one process answers all of them.
-module(sick).
-export([start/0, handler/1]).

start() ->
    ok = file:write_file("page.html", <<"hi">>),
    _ = [spawn(?MODULE, handler, ["page.html"]) || _ <- lists:seq(1, 150)],
    ok.

handler(File) ->
    {ok, _} = file:read_file_info(File),
    handler(File).
