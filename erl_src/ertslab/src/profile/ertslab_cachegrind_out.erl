%% @doc Reads the file that valgrind's cachegrind writes: counts for each function.
-module(ertslab_cachegrind_out).

-export([parse/1]).
-export_type([functions/0]).

-type functions() :: #{Function :: binary() => ertslab_cachegrind_events:counts()}.

%% @doc The counts of each function and of the whole program, or `error' if the file is truncated or not from
%% cachegrind. By inlining a function can have lines of several source files; all of them count for the function.
-spec parse(binary()) -> {ok, functions(), Whole :: ertslab_cachegrind_events:counts()} | error.
parse(Text) ->
    Lines = binary:split(Text, <<"\n">>, [global, trim_all]),
    Start = #{events => none, function => <<"[unknown]">>, functions => #{}, whole => none},
    try lists:foldl(fun line/2, Start, Lines) of
        #{functions := Functions, whole := #{} = Whole} -> {ok, Functions, Whole};
        #{} -> error
    catch
        error:badarg -> error
    end.

line(<<"events: ", Names/binary>>, State) -> State#{events := words(Names)};
line(<<"fn=", Name/binary>>, State) -> State#{function := Name};
line(<<"summary: ", Counts/binary>>, State) -> State#{whole := counts(words(Counts), State)};
line(<<Digit, _/bits>> = Line, #{function := Name, functions := Functions} = State)
  when Digit >= $0, Digit =< $9 ->
    [_Line | Counts] = words(Line),
    Own = counts(Counts, State),
    State#{functions := maps:update_with(Name, fun(Others) -> add(Own, Others) end, Own, Functions)};
line(_DescriptionOrFile, State) -> State.

words(Text) -> binary:split(Text, <<" ">>, [global, trim_all]).

%% Trailing zeros of a line may be omitted.
counts(_Words, #{events := none}) -> error(badarg);
counts(Words, #{events := Events}) ->
    All = [binary_to_integer(Word) || Word <- Words] ++ [0 || _ <- Events],
    ertslab_cachegrind_events:of_valgrind(lists:zip(Events, lists:sublist(All, length(Events)))).

add(Some, Others) -> ertslab_cachegrind_events:combined(fun lists:sum/1, [Some, Others]).
