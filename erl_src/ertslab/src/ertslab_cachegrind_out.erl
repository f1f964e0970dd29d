%% @doc The file that valgrind's cachegrind writes: counts a function.
-module(ertslab_cachegrind_out).

-export([parse/1]).
-export_type([counts/0, functions/0]).

%% Instructions, misses of the first level data cache, misses of the last level.
-type counts() :: {non_neg_integer(), non_neg_integer(), non_neg_integer()}.
-type functions() :: #{Function :: binary() => counts()}.

-define(INSTRUCTIONS, [~"Ir"]).
-define(D1_MISSES, [~"D1mr", ~"D1mw"]).
-define(LL_MISSES, [~"ILmr", ~"DLmr", ~"DLmw"]).

%% @doc The counts of each function and of the whole program, or `error' where
%% the file is cut off or not cachegrind's. What a function has from several
%% source files, by inlining, belongs to the function.
-spec parse(binary()) -> {ok, functions(), Whole :: counts()} | error.
parse(Text) ->
    Lines = binary:split(Text, ~"\n", [global, trim_all]),
    Start = #{events => none, function => ~"[unknown]", functions => #{}, whole => none},
    try lists:foldl(fun line/2, Start, Lines) of
        #{functions := Functions, whole := {_, _, _} = Whole} -> {ok, Functions, Whole};
        #{} -> error
    catch
        error:badarg -> error
    end.

line(<<"events: ", Names/binary>>, State) -> State#{events := words(Names)};
line(<<"fn=", Name/binary>>, State) -> State#{function := Name};
line(<<"summary: ", Counts/binary>>, State) -> State#{whole := counts(words(Counts), State)};
line(<<Digit, _/binary>> = Line, #{function := Name, functions := Functions} = State)
  when Digit >= $0, Digit =< $9 ->
    [_Line | Counts] = words(Line),
    Own = counts(Counts, State),
    State#{functions := maps:update_with(Name, fun(Others) -> add(Own, Others) end, Own, Functions)};
line(_DescriptionOrFile, State) -> State.

words(Text) -> binary:split(Text, ~" ", [global, trim_all]).

%% Zeros at the end of a line may be left out.
counts(_Words, #{events := none}) -> error(badarg);
counts(Words, #{events := Events}) ->
    Missing = lists:duplicate(max(0, length(Events) - length(Words)), 0),
    ByEvent = lists:zip(Events, [binary_to_integer(Word) || Word <- Words] ++ Missing, trim),
    {sum(?INSTRUCTIONS, ByEvent), sum(?D1_MISSES, ByEvent), sum(?LL_MISSES, ByEvent)}.

sum(Wanted, ByEvent) -> lists:sum([N || {Event, N} <- ByEvent, lists:member(Event, Wanted)]).

add({A1, B1, C1}, {A2, B2, C2}) -> {A1 + A2, B1 + B2, C1 + C2}.
