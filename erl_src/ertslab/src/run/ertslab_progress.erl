%% @doc Shows progress as one live line on standard error if that is a terminal, and nothing otherwise.
-module(ertslab_progress).

-export([new/0, gate/0, counted/1, while/2]).

%% @doc A function that shows the number of runs done, and the remaining time estimated from their average.
-spec new() -> fun((non_neg_integer(), pos_integer(), ertslab_schedule:run() | finished, binary()) -> ok).
new() ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" ->
            Started = erlang:monotonic_time(second),
            fun(Done, Total, Run, Label) -> show(Started, Done, Total, Run, Label) end;
        _ -> fun(_, _, _, _) -> ok end
    end.

%% @doc A function that shows which case's outputs are being compared.
-spec gate() -> fun((non_neg_integer(), pos_integer()) -> ok).
gate() ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" -> fun(Done, Total) ->
                         io:format(standard_error, "\r\e[Kcomparing the outputs of case ~b of ~b",
                                   [Done + 1, Total])
                 end;
        _ -> fun(_, _) -> ok end
    end.

%% @doc A function that shows how many things of a total are done, and the remaining time.
-spec counted(string()) -> fun((non_neg_integer(), pos_integer()) -> ok).
counted(Thing) ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" ->
            Started = erlang:monotonic_time(second),
            fun(Done, Total) -> count(Thing, Started, Done, Total) end;
        _ -> fun(_, _) -> ok end
    end.

%% @doc Calls the function and returns its result; shows a line of text while it works.
-spec while(string(), fun(() -> Result)) -> Result.
while(Text, Fun) ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" ->
            io:put_chars(standard_error, ["\r\e[K", Text]),
            Result = Fun(),
            io:put_chars(standard_error, "\r\e[K"),
            Result;
        _ -> Fun()
    end.

count(_Thing, _Started, Total, Total) -> io:put_chars(standard_error, "\r\e[K");
count(Thing, Started, Done, Total) ->
    Elapsed = erlang:monotonic_time(second) - Started,
    io:format(standard_error, "\r\e[K~ts ~b of ~b  ~ts~ts",
              [Thing, Done, Total, ertslab_text:clock(Elapsed), estimate(Elapsed, Done, Total)]).

show(_Started, _Done, _Total, finished, _Label) ->
    io:put_chars(standard_error, "\r\e[K");
show(Started, Done, Total, #{pair := Pair}, Label) ->
    Elapsed = erlang:monotonic_time(second) - Started,
    io:format(standard_error, "\r\e[Krun ~b of ~b  pair ~b  ~ts  ~ts~ts",
              [Done + 1, Total, Pair, Label, ertslab_text:clock(Elapsed), estimate(Elapsed, Done, Total)]).

estimate(_Elapsed, 0, _Total) -> "";
estimate(Elapsed, Done, Total) -> ["  of about ", ertslab_text:clock(Elapsed * Total div Done)].
