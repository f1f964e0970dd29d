%% 400 viewers that got a transcript when they joined, and get a caption now and then: what the join left lies in their old generations.
-module(sick).
-behaviour(gen_server).
-export([start/0, stream/1, init/1, handle_call/3, handle_cast/2]).

start() ->
    Viewers = [Viewer || N <- lists:seq(1, 400), {ok, Viewer} <- [gen_server:start(?MODULE, N, [])]],
    _ = spawn(?MODULE, stream, [Viewers]),
    ok.

stream(Viewers) ->
    _ = [gen_server:cast(Viewer, {caption, "some words of the speaker"}) || Viewer <- Viewers],
    timer:sleep(250),
    stream(Viewers).

%% The transcript has survived two collections when it is dropped.
init(N) ->
    Transcript = [{Line, N} || Line <- lists:seq(1, 10_000)],
    _ = [erlang:garbage_collect(self(), [{type, minor}]) || _ <- [1, 2]],
    {ok, length(Transcript)}.

handle_call(_, _, S) -> {reply, ok, S}.
handle_cast({caption, Words}, S) -> {noreply, S + length(lists:usort(lists:append(lists:duplicate(20, Words))))}.
