%% @doc The behaviour of an experiment. Of ertslab, an experiment may use this module only.
%%
%% An experiment is a module `exp_NAME' with this behaviour. Its functions run in a fresh VM of the variant that is
%% measured: first `setup', then for each metric `prepare' once and `run' again and again, last `teardown'. `rounds' says
%% in which order the metrics come. Each result of `run' is given to `verify'. Only what `timed/1' wraps is timed.
-module(ertslab_experiment).

-export([timed/1, expect/2, share/3, scratch_file/1]).
-export_type([info/0, params/0, parameter/0, metric/0, value/0, rounds/0, estimator/0]).

-type params() :: #{atom() => integer() | atom()}.
%% `unit': the unit of its values, nanoseconds by default.
-type metric() :: #{name := atom(), doc := string(), unit => atom()}.
%% One measured value: a number, or points [N, number] with different N. Points
%% stand for their slope over N, and its interval.
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
%% `shows': continues the sentence "Shows ...". `loads': modules that must load in the measured VM, such as native code.
%% `programs': the third-party packages that it runs, with their versions, a line each. `exact': its values are counts,
%% the same in every run, and not times. `overall': its cases are of one kind, so the geometric mean of their ratios is
%% meaningful. `plot_over': a parameter; the plot shows the medians as lines over its values, in place of bars.
%% `estimator': the one that the verdict uses. `warm_up': rounds that do not count.
%% `iterations': the number of values in each visit of a round; without rounds, the least number of values.
%% `run_ms': how long a run measures by default. `visit_us': how long a visit lasts if its metric is shorter, microseconds.
%% How a run's values become its number: `floor' for fixed work, `typical' for work that waits, or another name from
%% ertslab_estimate.
-type estimator() :: atom().
-type rounds() :: arms | cases | metrics | none.
%% What takes turns. `arms': the metrics of one case, in the VMs of all arms, which are alive on the machine at the same
%% time. `cases': all metrics of all cases, which are alive in one VM at the same time. `metrics': the metrics of a run's
%% one case. `none': nothing, since one metric changes what the next one finds. With turns, `prepare' makes one state for
%% each metric from the state of `setup', before the first metric is measured; `teardown' gets each different state once.
%%
%% `quick' and `full' are the values that are measured if the user names none;
%% `counted' is the one under valgrind, where everything is 50 times slower (by default
%% the first of `quick'). A parameter is either a number from `min' to `max', or one of
%% the names in `of'.
-type parameter() :: #{name := atom(), min => integer(), max => integer(), 'of' => [atom(), ...],
                       quick := [integer() | atom()], full := [integer() | atom()],
                       counted => integer() | atom(), doc := string()}.
%% Two metrics of the same run whose ratio is meaningful: `over' divided by `under'.
-type contrast() :: #{name := atom(), over := atom(), under := atom(), says := string()}.

-callback info() -> info().
-callback setup(params()) -> State :: term().
-callback prepare(Metric :: atom(), State :: term()) -> State :: term().
-callback run(Metric :: atom(), State :: term()) -> {value(), Result :: term()}.
-callback verify(Metric :: atom(), Result :: term(), State :: term()) -> ok | {wrong, term()}.
-callback teardown(State :: term()) -> ok.
%% The bytes of memory that a case needs, for experiments that may need too much.
-callback needs(params()) -> Bytes :: non_neg_integer().
%% The process of the operating system that does the work, for experiments whose work is not done by the VM that runs them.
-callback program(State :: term()) -> OsPid :: pos_integer().
-optional_callbacks([needs/1, program/1]).

%% @doc The time that a function takes, in nanoseconds, and its result.
-spec timed(fun(() -> Result)) -> {Nanoseconds :: integer(), Result}.
timed(Fun) ->
    Before = erlang:monotonic_time(),
    Result = Fun(),
    After = erlang:monotonic_time(),
    {erlang:convert_time_unit(After - Before, native, nanosecond), Result}.

%% @doc What `verify' returns for a result that must equal another.
-spec expect(Expected :: term(), Result :: term()) -> ok | {wrong, #{expected := term(), got := term()}}.
expect(Result, Result) -> ok;
expect(Expected, Result) -> {wrong, #{expected => Expected, got => Result}}.

%% @doc The share of a total that falls to the Nth of `Count'. The shares add up to the total.
-spec share(non_neg_integer(), pos_integer(), pos_integer()) -> non_neg_integer().
share(Total, Count, Nth) -> (Total + Nth - 1) div Count.

%% @doc A path below TMPDIR, or /tmp, that no other VM uses.
-spec scratch_file(string()) -> file:filename().
scratch_file(Name) -> filename:join(os:getenv("TMPDIR", "/tmp"), lists:concat(["ertslab_", Name, ".", os:getpid()])).
