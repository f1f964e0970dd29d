%% @doc Attaches Linux's perf to a VM while an experiment's metrics run.
-module(ertslab_sampler).

-export([perf/0, counters/3, stacks/4, parse_counters/1, format_error/1]).
-export_type([work/0, counters/0, reason/0]).

%% The work of the VM, and the folder of perf's own files.
-type work() :: #{perf := file:filename(), dir := file:filename(), experiment := unicode:chardata(),
                  module := module(), params := ertslab_experiment:params(),
                  iterations := pos_integer(), timeout_ms := pos_integer()}.
%% A counter that the machine does not have is `null'.
-type counters() :: [{Event :: binary(), number() | null}].
-type reason() :: {ended, Experiment :: unicode:chardata(), Name :: binary(), Why :: term()} | {not_allowed, Log :: file:filename()}
                | {perf_failed, Log :: file:filename()}.

-define(EVENTS, "cycles,instructions,branch-misses,cache-references,cache-misses,"
                "L1-dcache-load-misses,LLC-load-misses,dTLB-load-misses,"
                "task-clock,page-faults,context-switches").
-define(SAMPLES_PER_SECOND, "999").
-define(END_TIMEOUT_MS, 60_000).
%% In the user's locale numbers may have a decimal comma.
-define(ENVIRONMENT, [{"LC_ALL", "C"}]).
%% Idle schedulers sleep, so that their waiting is in no profile.
-define(NO_BUSY_WAIT, ["+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"]).

%% @doc The path of perf.
-spec perf() -> file:filename().
perf() -> ertslab_os_command:find("perf", "linux-perf").

%% @doc The machine's counters for the metrics.
-spec counters(ertslab_inventory:vm(), work(), Prefix :: file:filename()) -> counters().
counters(VM, Work, Prefix) ->
    File = Prefix ++ ".counters",
    _ = attached(VM, [], Work, ["stat", "-x", ";", "-e", ?EVENTS, "-o", File]),
    {ok, Text} = file:read_file(File),
    parse_counters(Text).

%% @doc Parses the output of `perf stat -x ;': lines with a value, a unit, an event and more. The event may have
%% modifiers after a colon.
-spec parse_counters(binary()) -> counters().
parse_counters(Text) ->
    [counter(Line) || Line <- binary:split(Text, <<"\n">>, [global, trim_all]),
                      binary:first(Line) =/= $#].

counter(Line) ->
    [Value, _Unit, Event | _] = binary:split(Line, <<";">>, [global]),
    {hd(binary:split(Event, <<":">>)), number(Value)}.

number(<<"<", _/bits>>) -> null;
number(Text) ->
    case string:to_float(Text) of
        {Float, _} when is_float(Float) -> Float;
        {error, no_float} -> binary_to_integer(Text)
    end.

%% @doc The stacks that were sampled while the metrics ran. The VM writes the names of its compiled functions to a
%% map, which is kept with the samples.
-spec stacks(ertslab_inventory:vm(), Event :: string(), work(), Prefix :: file:filename()) ->
          ertslab_stacks:stacks().
stacks(VM, Event, #{perf := Perf} = Work, Prefix) ->
    Data = Prefix ++ ".perf.data",
    OsPid = attached(VM, ["+JPperf", "map"], Work,
                     ["record", "-N", "-F", ?SAMPLES_PER_SECOND, "--call-graph", "fp",
                      "-e", Event, "-o", Data]),
    Script = ertslab_os_command:run([Perf, "script", "-i", Data, "--no-inline", "-F", "comm,ip,sym"],
                              log(Work), #{env => ?ENVIRONMENT}),
    keep_map(OsPid, Prefix ++ ".map"),
    case Script of
        {ok, Text} -> ertslab_stacks:parse(Text);
        {error, _} -> refused(Work)
    end.

keep_map(OsPid, Kept) ->
    _ = file:copy(map(OsPid), Kept),
    remove_map(OsPid).

%% perf looks for it there.
map(OsPid) -> filename:join("/tmp", "perf-" ++ OsPid ++ ".map").

remove_map(OsPid) ->
    _ = file:delete(map(OsPid)),
    ok.

%% Runs the metrics in a fresh VM with perf attached to the process that does their work, and returns its id. perf stays
%% disabled during the setup, and is disabled again after the metrics. The map of a VM that was not sampled to its end is of no use.
attached(VM, Flags, Work, Words) ->
    case ertslab_vm:start(VM, Flags ++ ?NO_BUSY_WAIT, []) of
        {ok, #{os_pid := Own} = Running} ->
            try sampled(Running, Words, Work) of
                Own -> Own;
                Program ->
                    ok = remove_map(Own),
                    Program
            catch
                Class:Why:Stack ->
                    ok = remove_map(Own),
                    erlang:raise(Class, Why, Stack)
            end;
        {error, Reason} -> failed(VM, Work, Reason)
    end.

sampled(Running, Words, Work) ->
    {Sampler, OsPid} = try in_vm(Running, Words, Work) after ertslab_vm:stop(Running) end,
    done(ertslab_os_command:await_end(Sampler, ?END_TIMEOUT_MS), Work),
    OsPid.

in_vm(Running, Words, #{perf := Perf} = Work) ->
    #{module := Module, params := Params, iterations := Iterations} = Work,
    {ok, Process} = call(Running, start, [Module, Params, #{warm_up => 0, iterations => Iterations}], Work),
    OsPid = integer_to_list(Process),
    Sampler = ertslab_os_command:start([Perf | Words] ++ ["-D", "-1", "--control", "fd:0,1", "-p", OsPid],
                                 log(Work), ?ENVIRONMENT),
    done(ertslab_os_command:say(Sampler, "enable"), Work),
    ok = call(Running, finish, [], Work),
    done(disabled(Sampler), Work),
    {Sampler, OsPid}.

%% Where the process was a program, it has ended, and perf with it; how, is seen when perf is waited for.
disabled(Sampler) ->
    case ertslab_os_command:say(Sampler, "disable") of
        {error, ended} -> ok;
        Answer -> Answer
    end.

call(#{vm := VM} = Running, Function, Args, #{timeout_ms := Timeout} = Work) ->
    case ertslab_vm:call(Running, ertslab_paused_run, Function, Args, Timeout) of
        {ok, Result} -> Result;
        {error, Reason} -> failed(VM, Work, Reason)
    end.

done(ok, _Work) -> ok;
done({error, _}, Work) -> refused(Work).

-spec failed(ertslab_inventory:vm(), work(), term()) -> no_return().
failed(#{name := Name}, #{experiment := Experiment}, Reason) ->
    ertslab_error:failure(?MODULE, {ended, Experiment, Name, Reason}).

log(#{dir := Dir}) -> filename:join(Dir, "perf.log").

%% Only perf's own error message tells why.
-spec refused(work()) -> no_return().
refused(Work) ->
    Log = log(Work),
    case re:run(words(file:read_file(Log)), "paranoid|ermission|not permitted|is limited", [{capture, none}]) of
        match -> ertslab_error:failure(?MODULE, {not_allowed, Log});
        nomatch -> ertslab_error:failure(?MODULE, {perf_failed, Log})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({ended, Experiment, Name, Why}) ->
    [Experiment, " ended on ", Name, " before it could be sampled: ", ertslab_crash:says(Why), "."];
format_error({not_allowed, Log}) ->
    ["perf may not look at processes here; as root run 'sysctl kernel.perf_event_paranoid=1', or start Docker with"
     " --security-opt seccomp=unconfined --user root --cap-add PERFMON (perf's own words: ", Log, ")."];
format_error({perf_failed, Log}) -> ["perf failed; its output is in ", Log, "."].

words({ok, Text}) -> Text;
words({error, _}) -> <<>>.
