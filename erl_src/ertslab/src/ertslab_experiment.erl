%% @doc What an experiment is, and how one is found and parameterised.
%%
%% An experiment is a module `exp_NAME' with this behaviour. Its functions run
%% in a fresh VM of the variant that is measured: `setup', for each metric
%% `prepare' once and `run' again and again (in which order says `rounds'), each
%% result given to `verify', at last `teardown'. Only what `timed/1' wraps is timed.
-module(ertslab_experiment).

-export([names/0, module/1, info/1, cases/3, one_case/3, words/1, sizes/1, timed/1, expect/2]).
-export([share/3, scratch_file/1]).
-export_type([info/0, params/0, metric/0, value/0, rounds/0]).

-type params() :: #{atom() => integer() | atom()}.
%% `unit' is that of its values, nanoseconds unless told.
-type metric() :: #{name := atom(), doc := string(), unit => atom()}.
%% What is measured once: a number, or points [N, number], of which no two have
%% the same N. Of points the slope over N is what counts, and its interval.
-type value() :: number() | [[number()]].
-type info() :: #{title := string(),
                  shows := string(),
                  origin := string(),
                  vms := [binary()],
                  parameters := [parameter()],
                  metrics := [metric()],
                  contrasts := [contrast()],
                  estimator := ertslab_estimator:name(),
                  rounds := rounds(),
                  warm_up := non_neg_integer(),
                  iterations := pos_integer(),
                  run_ms => non_neg_integer(),
                  timeout_ms := pos_integer(),
                  exact => boolean(),
                  overall => boolean(),
                  plot_over => atom()}.
%% `shows' goes on after the word "Shows". `exact': its values are counts, the
%% same in every run, and no times. `overall': its cases are many of one kind, so
%% that the geometric mean of their ratios says something. `plot_over': a parameter
%% over whose numbers the medians are drawn as lines, in place of bars.
%% `estimator': which one the verdict is of. `warm_up': rounds that do not count.
%% `iterations': values that each visit of a round takes; without rounds, the
%% least number of values. `run_ms': how long a run measures, unless told.
-type rounds() :: cases | metrics | none.
%% What a run goes round: all metrics of all cases, which then live side by side
%% in one VM; the metrics of its one case; or nothing, since one metric changes
%% what the next one finds. Round and round, `prepare' makes of the state of `setup'
%% one for each metric, before the first one is measured; `teardown' gets each of
%% these that is not the same as another.
%%
%% `quick' and `full' are the values that are tried where the user names none;
%% `counted' is the one under valgrind, where all is 50 times slower (else the
%% first of `quick'). A parameter takes numbers from `min' to `max', or one `of'
%% those names.
-type parameter() :: #{name := atom(), min => integer(), max => integer(), 'of' => [atom(), ...],
                       quick := [integer() | atom()], full := [integer() | atom()],
                       counted => integer() | atom(), doc := string()}.
%% Two metrics of the same run whose ratio says something: over divided by under.
-type contrast() :: #{name := atom(), over := atom(), under := atom(), says := string()}.

-callback info() -> info().
-callback setup(params()) -> State :: term().
-callback prepare(Metric :: atom(), State :: term()) -> State :: term().
-callback run(Metric :: atom(), State :: term()) -> {value(), Result :: term()}.
-callback verify(Metric :: atom(), Result :: term(), State :: term()) -> ok | {wrong, term()}.
-callback teardown(State :: term()) -> ok.
%% The bytes of memory that a case wants, where that may be too much.
-callback needs(params()) -> Bytes :: non_neg_integer().
-optional_callbacks([needs/1]).

%% @doc The names of all experiments on the code path.
-spec names() -> [string()].
names() ->
    Files = [File || Dir <- code:get_path(),
                     File <- filelib:wildcard(filename:join(Dir, "exp_*.beam"))],
    lists:usort([experiment_name(File) || File <- Files]).

experiment_name(File) ->
    "exp_" ++ Name = filename:basename(File, ".beam"),
    Name.

%% @doc The module of an experiment.
-spec module(string()) -> module().
module(Name) ->
    lists:member(Name, names()) orelse
        ertslab_error:usage("there is no experiment '~ts'; choose from: ~ts",
                            [Name, lists:join(" ", names())]),
    list_to_atom("exp_" ++ Name).

-spec info(module()) -> info().
info(Module) -> Module:info().

%% @doc The cases to measure: every combination of the parameters' values,
%% those given as "NAME=V1,V2" in place of the experiment's own.
-spec cases(info(), quick | full, [string()]) -> [params(), ...].
cases(#{parameters := Parameters}, Size, Given) ->
    Chosen = maps:from_list([chosen(Parameters, Text) || Text <- Given]),
    Values = [{Name, maps:get(Name, Chosen, maps:get(Size, Parameter))}
              || #{name := Name} = Parameter <- Parameters],
    [maps:from_list(Case) || Case <- combinations(Values)].

%% @doc The one case that a profile is of: the values of that size, or those given.
-spec one_case(info(), quick | counted, [string()]) -> params().
one_case(#{parameters := Parameters} = Info, Size, Given) ->
    Single = Info#{parameters := [P#{quick := [single(P, Size)]} || P <- Parameters]},
    case cases(Single, quick, Given) of
        [Case] -> Case;
        _ -> ertslab_error:usage("a profile is of one case: give each parameter one value", [])
    end.

%% @doc The words from which `one_case/3' and `cases/3' read this case again.
-spec words(params()) -> [string()].
words(Params) ->
    [lists:concat([Name, "=", Value]) || {Name, Value} <- maps:to_list(maps:iterator(Params, ordered))].

single(#{counted := Value}, counted) -> Value;
single(#{quick := [Value | _]}, _Size) -> Value.

combinations([]) -> [[]];
combinations([{Name, Values} | Rest]) ->
    [[{Name, Value} | Others] || Value <- Values, Others <- combinations(Rest)].

chosen(Parameters, Text) ->
    case string:split(Text, "=") of
        [Name, Values] ->
            Parameter = parameter(Parameters, Name),
            {maps:get(name, Parameter), values(Parameter, Values)};
        _ -> ertslab_error:usage("'~ts' is no parameter; write NAME=VALUE[,VALUE...]", [Text])
    end.

parameter(Parameters, Name) ->
    case [P || #{name := N} = P <- Parameters, atom_to_list(N) =:= Name] of
        [Parameter] -> Parameter;
        [] ->
            Names = [atom_to_list(N) || #{name := N} <- Parameters],
            ertslab_error:usage("there is no parameter '~ts'; choose from: ~ts",
                                [Name, lists:join(" ", Names)])
    end.

values(Parameter, Text) ->
    [value(Parameter, Word) || Word <- lists:uniq(string:split(Text, ",", all))].

value(#{name := Name, 'of' := Names}, Word) ->
    case [N || N <- Names, atom_to_list(N) =:= Word] of
        [Value] -> Value;
        [] ->
            ertslab_error:usage("~ts=~ts: choose from ~ts",
                                [Name, Word, lists:join(" ", [atom_to_list(N) || N <- Names])])
    end;
value(#{name := Name, min := Min, max := Max}, Word) ->
    case string:to_integer(Word) of
        {Value, []} when is_integer(Value), Value >= Min, Value =< Max -> Value;
        _ ->
            ertslab_error:usage("~ts=~ts: a whole number from ~b to ~b is wanted",
                                [Name, Word, Min, Max])
    end.

%% @doc A line for each parameter and the values that it takes unasked.
-spec sizes(info()) -> [{atom(), string(), [integer() | atom()], [integer() | atom()]}].
sizes(#{parameters := Parameters}) ->
    [{Name, Doc, Quick, Full}
     || #{name := Name, doc := Doc, quick := Quick, full := Full} <- Parameters].

%% @doc The time that a function takes, in nanoseconds, and its result.
-spec timed(fun(() -> Result)) -> {Nanoseconds :: integer(), Result}.
timed(Fun) ->
    Before = erlang:monotonic_time(),
    Result = Fun(),
    After = erlang:monotonic_time(),
    {erlang:convert_time_unit(After - Before, native, nanosecond), Result}.

%% @doc What `verify' says of a result that must be equal to another.
-spec expect(Expected :: term(), Result :: term()) -> ok | {wrong, #{expected := term(), got := term()}}.
expect(Result, Result) -> ok;
expect(Expected, Result) -> {wrong, #{expected => Expected, got => Result}}.

%% @doc What the Nth of so many has to do of a total: the shares of all sum up to it.
-spec share(non_neg_integer(), pos_integer(), pos_integer()) -> non_neg_integer().
share(Total, Count, Nth) -> (Total + Nth - 1) div Count.

%% @doc A file of this VM's own below TMPDIR, or /tmp.
-spec scratch_file(string()) -> file:filename().
scratch_file(Name) -> filename:join(os:getenv("TMPDIR", "/tmp"), lists:concat(["ertslab_", Name, ".", os:getpid()])).
