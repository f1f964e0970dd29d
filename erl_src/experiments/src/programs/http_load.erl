%% @doc Requests to a web server, by nghttp2's `h2load'.
-module(http_load).

-export([round/4]).
-export_type([answers/0]).

-type answers() :: #{Status :: binary() => Count :: pos_integer()}.

-define(CONNECTIONS, 4).

%% @doc Sends requests over four connections of HTTP/1.1. Returns the answers by status, the total time, and the 99th
%% percentile of an answer's time, in nanoseconds.
-spec round(program_place:place(), Url :: string(), Requests :: pos_integer(), Timeout :: pos_integer()) ->
          {answers(), #{time := pos_integer(), p99 := non_neg_integer()}}.
round(Place, Url, Requests, Timeout) ->
    Log = filename:join(program_place:folder(Place), "requests"),
    Before = erlang:monotonic_time(),
    _ = program_command:output(Place, ["h2load", "--h1", "-n", integer_to_list(Requests), "-c", integer_to_list(?CONNECTIONS),
                                       "-t", "1", "--log-file=" ++ Log, Url], Timeout),
    Time = erlang:convert_time_unit(erlang:monotonic_time() - Before, native, nanosecond),
    {ok, Lines} = file:read_file(Log),
    ok = file:delete(Log),
    Answers = [answer(Line) || Line <- binary:split(Lines, <<"\n">>, [global, trim_all])],
    {maps:map(fun(_, Same) -> length(Same) end, maps:groups_from_list(fun({Status, _}) -> Status end, Answers)),
     #{time => Time, p99 => program_latency:p99([Took || {_, Took} <- Answers])}}.

%% A line of h2load's log: when the request began, its status, and its duration in microseconds.
answer(Line) ->
    [_Began, Status, Microseconds | _] = binary:split(Line, <<"\t">>, [global]),
    {Status, 1000 * binary_to_integer(Microseconds)}.
