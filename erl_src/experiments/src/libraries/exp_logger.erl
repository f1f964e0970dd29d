%% @doc OTP's logger with a file, by its own handler and by that of batch_io. It measures the time of a message, from the first
%% call until the last message is in the file, and how long the callers wait.
%%
%% Nothing is dropped: the limits at which OTP's handler drops messages are switched off, and it makes callers wait as it does by
%% default. The handler of batch_io makes them wait when its buffer is full.
-module(exp_logger).
-behaviour(ertslab_experiment).

-include_lib("kernel/include/logger.hrl").

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).

-define(HANDLER, exp_logger).
-define(DEADLINE_MS, 60_000).
-define(NO_LIMIT, 10_000_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "logger by logger_std_h and by batch_io_handler, to a file",
      shows => "the cost of a handler that many processes log through",
      origin => "ferd/batchio, and logger_std_h of OTP",
      vms => [<<"stock">>, <<"stock_copy">>],
      parameters =>
          [#{name => writers, min => 1, max => 10_000, quick => [64], full => [1, 8, 64],
             doc => "processes that log at once, as fast as they can"},
           #{name => messages, min => 100, max => 1_000_000, quick => [20_000], full => [50_000],
             doc => "messages of all of them in a round"},
           #{name => form, 'of' => [default, own, message], quick => [default], full => [default, own, message],
             doc => "logger_formatter as it is by default, with the time; the same lines, by batch_io_formatter for batch_io_handler; "
                    "or the message alone"}],
      metrics =>
          [#{name => otp, doc => "a message by logger_std_h"},
           #{name => batch, doc => "a message by batch_io_handler"},
           #{name => otp_p99, doc => "a call of the logger with logger_std_h: 99 of 100 are shorter"},
           #{name => batch_p99, doc => "the same with batch_io_handler"}],
      contrasts =>
          [#{name => faster, over => otp, under => batch, says => "logger_std_h to batch_io_handler"},
           #{name => shorter, over => otp_p99, under => batch_p99, says => "a call's 99th percentile, likewise"}],
      estimator => typical,
      rounds => none,
      warm_up => 1,
      iterations => 3,
      timeout_ms => 600_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(Params) ->
    {module, _} = code:ensure_loaded(ertslab_experiment),
    ok = logger:set_module_level(?MODULE, info),
    _ = logger:set_handler_config(default, level, none),
    Params.

%% Each metric has its own handler and file.
-spec prepare(atom(), map()) -> map().
prepare(Metric, #{form := Form} = State) ->
    ok = teardown(State),
    Module = module(Metric),
    File = ertslab_experiment:scratch_file("logger." ++ atom_to_list(Metric)),
    ok = logger:add_handler(?HANDLER, Module, #{config => config(Module, File), formatter => formatter(Form, Module)}),
    State#{file => File}.

module(Metric) when Metric =:= otp; Metric =:= otp_p99 -> logger_std_h;
module(_) -> batch_io_handler.

%% By default it drops messages that come in a burst, or that find 200 waiting.
config(logger_std_h, File) ->
    #{file => File, burst_limit_enable => false, drop_mode_qlen => ?NO_LIMIT, flush_qlen => ?NO_LIMIT};
config(batch_io_handler, File) -> #{type => {file, File}, drop => {block, ?DEADLINE_MS}}.

formatter(own, batch_io_handler) -> {batch_io_formatter, #{}};
formatter(message, _) -> {logger_formatter, #{template => [msg, "\n"]}};
formatter(_, _) -> {logger_formatter, #{}}.

%% The result is the number of lines added to the file.
-spec run(atom(), map()) -> {number(), Lines :: non_neg_integer()}.
run(Metric, #{writers := Writers, messages := Messages, file := File}) ->
    Each = max(1, Messages div Writers),
    Before = lines(File),
    {Nanoseconds, Waits} = ertslab_experiment:timed(fun() -> log(Writers, Each, is_p99(Metric), module(Metric)) end),
    {value(is_p99(Metric), Nanoseconds / (Writers * Each), Waits), lines(File) - Before}.

is_p99(Metric) -> Metric =:= otp_p99 orelse Metric =:= batch_p99.

value(false, Mean, _) -> Mean;
value(true, _, Waits) -> lists:nth(max(1, 99 * length(Waits) div 100), lists:sort(Waits)).

log(Writers, Each, IsTimed, Module) ->
    Parent = self(),
    Running = [spawn_monitor(fun() -> Parent ! {self(), calls(Each, IsTimed)} end) || _ <- lists:seq(1, Writers)],
    Waits = [receive {Pid, Waits} -> Waits end || {Pid, _} <- Running],
    [receive {'DOWN', Monitor, process, Pid, normal} -> ok end || {Pid, Monitor} <- Running],
    ok = Module:filesync(?HANDLER),
    lists:append(Waits).

%% The durations of the calls, if they are wanted: measuring them reduces the throughput.
calls(0, _) -> [];
calls(N, false) ->
    ?LOG_INFO("message ~b of ~p", [N, self()]),
    calls(N - 1, false);
calls(N, true) ->
    {Nanoseconds, ok} = ertslab_experiment:timed(fun() -> ?LOG_INFO("message ~b of ~p", [N, self()]) end),
    [Nanoseconds | calls(N - 1, true)].

%% Counts messages only, since OTP's handler also writes lines of its own when it changes its mode.
lines(File) ->
    {ok, Text} = file:read_file(File),
    length(binary:matches(Text, <<"message ">>)).

-spec verify(atom(), non_neg_integer(), map()) -> ok | {wrong, term()}.
verify(_, Lines, #{writers := Writers, messages := Messages}) ->
    ertslab_experiment:expect(Writers * max(1, Messages div Writers), Lines).

-spec teardown(map()) -> ok.
teardown(State) ->
    _ = logger:remove_handler(?HANDLER),
    _ = [file:delete(File) || #{file := File} <- [State]],
    ok.
