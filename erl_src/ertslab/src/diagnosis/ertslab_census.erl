%% @doc `ertslab diagnose --census': where a live node's time goes, and what the variant `tuned' would save of it.
-module(ertslab_census).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {bad_time, LeastS :: pos_integer(), MostS :: pos_integer()} | {failed, Node :: string(), diagnose_census:reason()}
                | {not_traced, diagnose_census_probe:why_not()}.

-define(FOR_MS, 5000).
-define(LEAST_MS, 1000).
-define(MOST_MS, 300_000).

%% @doc The command. The exit status is 4 if no process could be traced, since the prediction is then of collections alone.
-spec run(map()) -> ok.
run(#{node := Name} = Options) ->
    Ms = maps:get(for, Options, ?FOR_MS),
    Ms >= ?LEAST_MS andalso Ms =< ?MOST_MS orelse ertslab_error:usage(?MODULE, {bad_time, ?LEAST_MS div 1000, ?MOST_MS div 1000}),
    Node = ertslab_live_node:connected(Name, Options),
    case diagnose_census:run((ertslab_oldest:applications())#{node => Node, for => Ms}, fun left/1) of
        {ok, Census} ->
            io:put_chars(shown(Node, Census, Options)),
            ended(Census);
        {error, Reason} -> ertslab_error:failure(?MODULE, {failed, Name, Reason})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({bad_time, Least, Most}) -> io_lib:format("--for: give ~b s to ~b s", [Least, Most]);
format_error({failed, Node, Why}) -> [Node, ": ", diagnose_census:format_error(Why), "."];
format_error({not_traced, Why}) -> ["no process was traced, so sends are not in the prediction: ", diagnose_census_text:not_traced(Why), "."].

left(0) -> ok;
left(Ms) -> io:format(standard_error, "about ~b s left~n", [Ms div 1000]).

shown(Node, Census, #{json := true}) -> ertslab_json:format(as_json(Node, Census));
shown(Node, Census, #{}) -> diagnose_census_text:report(Node, Census).

ended(#{traced := {no, Why}}) -> ertslab_error:incomplete(?MODULE, {not_traced, Why});
ended(#{}) -> ok.

as_json(Node, #{traced := Traced, accounts := Accounts} = Census) ->
    #{working_ns := Working, cores := Cores, untold := Untold, parts := Parts} = diagnose_census_prediction:shares(Census),
    (known(maps:with([release, processes, looked, began], Census)))
        #{format => 2, accounts => known(Accounts), node => Node, complete => diagnose_census:is_complete(Census),
          working => #{ns => Working, cores => Cores, untold => Untold, parts => Parts},
          traced => traced(Traced), prediction => predicted(diagnose_census_prediction:of_census(Census)),
          programs => [Program#{data := ertslab_text:binary(Data)} || #{data := Data} = Program <- diagnose_census_prediction:programs()],
          not_covered => [ertslab_text:binary(One) || One <- diagnose_census_text:not_covered()]}.

traced({no, Why}) -> #{no => ertslab_text:binary(diagnose_census_text:not_traced(Why))};
traced(#{sends := #{classes := Classes} = Sends, filled := Filled} = Traced) ->
    known(Traced#{sends := Sends#{classes := [known(Class) || Class <- Classes]}, filled := [known(One) || One <- Filled]}).

known(Map) -> maps:map(fun(_, unknown) -> null; (_, Value) -> Value end, Map).

predicted(#{collections := Collections, sends := Sends, faults := Faults} = Prediction) ->
    Known = fun(unknown) -> null; (Part) -> intervals(Part) end,
    (intervals(Prediction))#{collections := intervals(Collections), sends := Known(Sends), faults := Known(Faults)}.

intervals(Map) ->
    maps:map(fun(_, {Low, High}) -> #{low => Low, high => High}; (_, Value) -> Value end, Map).
