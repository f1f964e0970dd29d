%% @doc An experiment that is made of expressions: what `ertslab time' measures.
%%
%% Each expression is the body of a loop of its own, compiled as any code is. The loop gives back the last value, so
%% that no expression is left out; what a compiler can compute, it computes (`length([a, b])').
-module(ertslab_expressions).

-export([experiment/2]).

-define(NAME, "time").

%% @doc Makes the experiment of these expressions, with variables that others bind first, and gives its name. The
%% parameter `expression' says which one, counted from 1.
-spec experiment([string(), ...], Init :: string()) -> string().
experiment(Texts, Init) ->
    Variables = variables(exprs(Init)),
    _ = [exprs(Text) || Text <- Texts],
    File = filename:join(ertslab_experiment_source:folder(), "exp_" ++ ?NAME ++ ".erl"),
    ok = file:write_file(File, unicode:characters_to_binary(source(Texts, Init, Variables))),
    case ertslab_experiment_source:compile(File) of
        {ok, _} -> ?NAME;
        {error, _, Why} -> ertslab_error:failure("the expressions do not compile: ~ts.", [Why])
    end.

exprs("") -> [];
exprs(Text) ->
    case erl_scan:string(Text ++ ".") of
        {ok, Tokens, _} -> parsed(Text, erl_parse:parse_exprs(Tokens));
        {error, {_, Module, Error}, _} -> no_expression(Text, Module:format_error(Error))
    end.

parsed(_, {ok, Exprs}) -> Exprs;
parsed(Text, {error, {_, Module, Error}}) -> no_expression(Text, Module:format_error(Error)).

-spec no_expression(string(), iodata()) -> no_return().
no_expression(Text, Why) -> ertslab_error:usage("'~ts' is no expression: ~ts", [Text, Why]).

%% Those that patterns of the outermost level bind.
variables(Exprs) -> lists:usort(lists:append([names(Pattern) || {match, _, Pattern, _} <- Exprs])).

names({var, _, '_'}) -> [];
names({var, _, Name}) -> [Name];
names(Form) when is_tuple(Form) -> names(tuple_to_list(Form));
names([Head | Tail]) -> names(Head) ++ names(Tail);
names(_) -> [].

source(Texts, Init, Variables) ->
    Bound = ["{", lists:join(", ", [atom_to_list(Name) || Name <- Variables]), "}"],
    ["-module(exp_", ?NAME, ").\n-behaviour(ertslab_experiment).\n"
     "-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).\n"
     "info() -> #{title => \"expressions\", shows => \"how long they take\", origin => \"the call\", vms => [~\"stock\"],\n"
     "  parameters => [], metrics => [#{name => call, doc => \"evaluating it once\"}], contrasts => [],\n"
     "  estimator => floor, rounds => none, warm_up => 2, iterations => 10, run_ms => 300, timeout_ms => 120000}.\n"
     "setup(#{expression := Nth}) -> Bound = bound(), #{nth => Nth, bound => Bound, times => times(Nth, Bound, 1)}.\n"
     %% So many that a value takes 50 microseconds.
     "times(Nth, Bound, Times) ->\n"
     "  case ertslab_experiment:timed(fun() -> loop(Nth, Times, Bound) end) of\n"
     "    {Ns, _} when Ns >= 50000 -> Times;\n"
     "    _ -> times(Nth, Bound, 2 * Times)\n"
     "  end.\n"
     "prepare(call, State) -> State.\n"
     "run(call, #{nth := Nth, bound := Bound, times := Times}) ->\n"
     "  {Ns, _} = ertslab_experiment:timed(fun() -> loop(Nth, Times, Bound) end), {Ns / Times, ok}.\n"
     "verify(call, ok, _) -> ok.\nteardown(_) -> ok.\n"
     "bound() -> ", [[Init, ",\n"] || Init =/= ""], Bound, ".\n",
     lists:join(";\n", [io_lib:format("loop(~b, Times, Bound) -> loop_~b(Times, Bound, none)", [Nth, Nth])
                        || {Nth, _} <- lists:enumerate(Texts)]), ".\n",
     [io_lib:format("loop_~b(0, _, Last) -> Last;~n"
                    "loop_~b(Times__, ~ts = Bound__, _) -> loop_~b(Times__ - 1, Bound__, begin ~ts~nend).~n",
                    [Nth, Nth, Bound, Nth, Text]) || {Nth, Text} <- lists:enumerate(Texts)]].
