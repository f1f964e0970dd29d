%% @doc Makes an experiment from expressions: it is what `ertslab time' measures.
%%
%% Each expression is the body of a loop of its own, compiled as usual. The loop returns the last value, so
%% that the compiler cannot remove the expression. It may still compute constants such as `length([a, b])' in advance.
-module(ertslab_expressions).

-export([experiment/2, source/1, on_one_line/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {do_not_compile, ertslab_experiment_source:why()}
                | {no_expression, Text :: string(), Why :: ertslab_error:error() | empty}.

-define(NAME, "time").

%% @doc Makes the experiment of these expressions, with the variables that `Init' binds first, and returns its name. All texts
%% come from {@link source/1}. The parameter `expression' selects one of the expressions, counted from 1.
-spec experiment([string(), ...], Init :: string()) -> string().
experiment(Texts, Init) ->
    Variables = variables(exprs(Init)),
    _ = [exprs(Text) =/= [] orelse no_expression(Text, empty) || Text <- Texts],
    File = filename:join(ertslab_experiment_source:folder(), "exp_" ++ ?NAME ++ ".erl"),
    ok = ertslab_results:write(File, unicode:characters_to_binary(module(Texts, Init, Variables)), scratch),
    case ertslab_experiment_source:compile(File) of
        {ok, _} -> ?NAME;
        {error, Why} -> ertslab_error:failure(?MODULE, {do_not_compile, Why})
    end.

%% @doc The text of a user as it may stand within a function. A text pasted from a shell or a module ends with a dot, and
%% blanks or a comment after it. If there are several such expressions, the dots between them become commas. Text that is not
%% Erlang is a usage error. A shell's prompt at its beginning, and at those of its other lines, is left out: `1> f()' would be a comparison.
-spec source(string()) -> string().
source(Text) ->
    case erl_scan:string(without_prompts(Text), {1, 1}, [return, text]) of
        {ok, Tokens, _} -> lists:append([written(Token) || Token <- without_end(Tokens)]);
        {error, {_, Module, Reason}, _} -> no_expression(Text, {Module, Reason})
    end.

-define(PROMPT, "^[ \\t]*(\\([^()\\s]+@[^()\\s]+\\))?[0-9]+> ").

without_prompts(Text) ->
    case re:run(Text, ?PROMPT, [unicode, {capture, none}]) of
        match -> re:replace(Text, ?PROMPT, "", [unicode, multiline, global, {return, list}]);
        nomatch -> Text
    end.

%% @doc An expression as a label: blanks and line ends become one blank. Those within its tokens stay.
-spec on_one_line(Source :: string()) -> binary().
on_one_line(Source) ->
    {ok, Tokens, _} = erl_scan:string(Source, {1, 1}, [return, text]),
    ertslab_text:binary(words(blanks_dropped(lists:reverse(blanks_dropped(lists:reverse(Tokens)))))).

words([First, Second | Tokens]) ->
    case {is_blank(First), is_blank(Second)} of
        {true, true} -> words([First | Tokens]);
        {true, false} -> [" " | words([Second | Tokens])];
        {false, _} -> [shown(First) | words([Second | Tokens])]
    end;
words(Tokens) -> [shown(Token) || Token <- Tokens].

shown(Token) -> lists:flatmap(fun escaped/1, erl_scan:text(Token)).

escaped($\n) -> "\\n";
escaped($\r) -> "\\r";
escaped($\t) -> "\\t";
escaped(Control) when Control < $\s; Control >= 127, Control < 160 -> lists:flatten(io_lib:format("\\x{~.16B}", [Control]));
escaped(Char) -> [Char].

%% Removes the blanks, the comments and the dot at the end.
without_end(Tokens) ->
    case blanks_dropped(lists:reverse(Tokens)) of
        [{dot, _} | Before] -> lists:reverse(blanks_dropped(Before));
        Before -> lists:reverse(Before)
    end.

blanks_dropped(Backwards) -> lists:dropwhile(fun is_blank/1, Backwards).

is_blank(Token) -> lists:member(element(1, Token), [white_space, comment]).

%% The token of a dot includes the blank after it.
written({dot, _}) -> ", ";
written(Token) -> erl_scan:text(Token).

exprs("") -> [];
exprs(Source) ->
    {ok, Tokens, _} = erl_scan:string(Source ++ "\n."),
    case erl_parse:parse_exprs(Tokens) of
        {ok, Exprs} -> Exprs;
        {error, {_, Module, Reason}} -> no_expression(Source, {Module, Reason})
    end.

-spec no_expression(string(), ertslab_error:error() | empty) -> no_return().
no_expression(Text, Why) -> ertslab_error:usage(?MODULE, {no_expression, Text, Why}).

-spec format_error(reason()) -> unicode:chardata().
format_error({do_not_compile, Why}) -> ["the expressions do not compile: ", ertslab_experiment_source:format_why(Why), "."];
format_error({no_expression, Text, empty}) -> ["'", Text, "' is not an expression: it is empty"];
format_error({no_expression, Text, Error}) -> ["'", Text, "' is not an expression: ", ertslab_error:sentence(Error)].

%% The variables that patterns of the outermost level bind.
variables(Exprs) -> lists:usort(lists:append([bound(Expr) || Expr <- Exprs])).

%% In `A = B = 1' the second match is the value of the first.
bound({match, _, Pattern, Value}) -> names(Pattern) ++ bound(Value);
bound(_) -> [].

names({var, _, '_'}) -> [];
names({var, _, Name}) -> [Name];
names(Form) when is_tuple(Form) -> names(tuple_to_list(Form));
names([Head | Tail]) -> names(Head) ++ names(Tail);
names(_) -> [].

module(Texts, Init, Variables) ->
    Bound = ["{", lists:join(", ", [atom_to_list(Name) || Name <- Variables]), "}"],
    ["-module(exp_", ?NAME, ").\n-behaviour(ertslab_experiment).\n"
     "-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).\n"
     "info() -> #{title => \"expressions\", shows => \"how long they take\", origin => \"the call\", vms => [<<\"stock\">>],\n"
     "  parameters => [], metrics => [#{name => call, doc => \"evaluating it once\"}], contrasts => [],\n"
     "  estimator => floor, rounds => none, warm_up => 2, iterations => 10, run_ms => 300, timeout_ms => 120000}.\n"
     "setup(#{expression := Nth}) -> Bound = bound(), #{nth => Nth, bound => Bound, times => times(Nth, Bound, 1)}.\n"
     %% Doubles the number of calls until a value takes at least 50 microseconds.
     "times(Nth, Bound, Times) ->\n"
     "  case ertslab_experiment:timed(fun() -> loop(Nth, Times, Bound) end) of\n"
     "    {Ns, _} when Ns >= 50000 -> Times;\n"
     "    _ -> times(Nth, Bound, 2 * Times)\n"
     "  end.\n"
     "prepare(call, State) -> State.\n"
     "run(call, #{nth := Nth, bound := Bound, times := Times}) ->\n"
     "  {Ns, Last} = ertslab_experiment:timed(fun() -> loop(Nth, Times, Bound) end), {Ns / Times, Last}.\n"
     "verify(call, _, _) -> ok.\nteardown(_) -> ok.\n"
     "bound() -> ", [[Init, ",\n"] || Init =/= ""], Bound, ".\n",
     lists:join(";\n", [io_lib:format("loop(~b, Times, Bound) -> loop_~b(Times, Bound, none)", [Nth, Nth])
                        || {Nth, _} <- lists:enumerate(Texts)]), ".\n",
     [io_lib:format("loop_~b(0, _, Last) -> Last;~n"
                    "loop_~b(Times__, ~ts = Bound__, _) -> loop_~b(Times__ - 1, Bound__, begin ~ts~nend).~n",
                    [Nth, Nth, Bound, Nth, Text]) || {Nth, Text} <- lists:enumerate(Texts)]].
