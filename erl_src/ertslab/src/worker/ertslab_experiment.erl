%% @doc What an experiment is, and what it may use of ertslab: nothing but this module.
%%
%% An experiment is a module `exp_NAME' with this behaviour. Its functions run
%% in a fresh VM of the variant that is measured: `setup', for each metric
%% `prepare' once and `run' again and again (in which order says `rounds'), each
%% result given to `verify', at last `teardown'. Only what `timed/1' wraps is timed.
-module(ertslab_experiment).

-export([timed/1, expect/2, share/3, scratch_file/1]).
-export_type([info/0, params/0, parameter/0, metric/0, value/0, rounds/0, estimator/0]).

-type params() :: #{atom() => integer() | atom()}.
%% `unit' is that of its values, nanoseconds by default.
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
                  estimator := estimator(),
                  rounds := rounds(),
                  warm_up := non_neg_integer(),
                  iterations := pos_integer(),
                  run_ms => non_neg_integer(),
                  visit_us => non_neg_integer(),
                  timeout_ms := pos_integer(),
                  exact => boolean(),
                  loads => [module()],
                  programs => [binary()],
                  overall => boolean(),
                  plot_over => atom()}.
%% `shows' goes on after the word "Shows". `loads': modules that must load in the measured VM, as those of native code.
%% `programs': the packages of others that it runs, with their versions, a line each. `exact': its values are counts, the
%% same in every run, and no times. `overall': its cases are many of one kind, so
%% that the geometric mean of their ratios says something. `plot_over': a parameter
%% over whose numbers the medians are drawn as lines, in place of bars.
%% `estimator': which one the verdict is of. `warm_up': rounds that do not count.
%% `iterations': values that each visit of a round takes; without rounds, the
%% least number of values. `run_ms': how long a run measures, by default. `visit_us': how long a visit goes on where its metric is shorter, microseconds.
%% Which of a run's values stand for it, as ertslab_estimator says.
-type estimator() :: floor | typical.
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
