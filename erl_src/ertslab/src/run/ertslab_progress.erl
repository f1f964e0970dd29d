%% @doc One live line on standard error where that is a terminal, else silence.
-module(ertslab_progress).

-export([new/0, gate/0, counted/1, while/2]).

%% @doc A function that shows how far the runs are, and the time that is left
%% by the average of those done.
-spec new() -> fun((non_neg_integer(), pos_integer(), ertslab_schedule:run() | finished, binary()) -> ok).
new() ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" ->
            Started = erlang:monotonic_time(second),
            fun(Done, Total, Run, Label) -> show(Started, Done, Total, Run, Label) end;
        _ -> fun(_, _, _, _) -> ok end
    end.

%% @doc A function that shows which case's outputs are looked at.
-spec gate() -> fun((non_neg_integer(), pos_integer()) -> ok).
gate() ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" -> fun(Done, Total) ->
                         io:format(standard_error, "\r\e[Kcomparing the outputs of case ~b of ~b",
                                   [Done + 1, Total])
                 end;
        _ -> fun(_, _) -> ok end
    end.

%% @doc A function that shows how many of many things are done, and the time
%% that is left.
-spec counted(string()) -> fun((non_neg_integer(), pos_integer()) -> ok).
counted(Thing) ->
    case os:getenv("ERTSLAB_LIVE") of
        "yes" ->
            Started = erlang:monotonic_time(second),
            fun(Done, Total) -> count(Thing, Started, Done, Total) end;
        _ -> fun(_, _) -> ok end
    end.

%% @doc What a function returns; a line of text is shown while it works.
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
              [Thing, Done, Total, clock(Elapsed), estimate(Elapsed, Done, Total)]).

show(_Started, _Done, _Total, finished, _Label) ->
    io:put_chars(standard_error, "\r\e[K");
show(Started, Done, Total, #{pair := Pair}, Label) ->
    Elapsed = erlang:monotonic_time(second) - Started,
    io:format(standard_error, "\r\e[Krun ~b of ~b  pair ~b  ~ts  ~ts~ts",
              [Done + 1, Total, Pair, Label, clock(Elapsed), estimate(Elapsed, Done, Total)]).

estimate(_Elapsed, 0, _Total) -> "";
estimate(Elapsed, Done, Total) -> ["  of about ", clock(Elapsed * Total div Done)].

clock(Seconds) -> io_lib:format("~b:~2..0b", [Seconds div 60, Seconds rem 60]).
