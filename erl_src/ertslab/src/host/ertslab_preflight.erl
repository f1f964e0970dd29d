%% @doc Is this machine fit to measure on? The check looks at it for a second, before the
%% first run. Each finding is ok, a warning, or a reason to refuse. It works
%% without root and in containers; what cannot be read is a warning at most.
-module(ertslab_preflight).

-export([check/0, judge/1, emulated/1, refusals/1, impossible/1]).
-export_type([finding/0, facts/0]).

-type finding() :: #{what := binary(), state := ok | warn | refuse | never, says := binary()}.
%% `never': nothing can be timed, whatever the user accepts.
%% Times are shares of one core, in percent, during the look; what could not be
%% read is `null'.
-type facts() :: #{cores := pos_integer() | unknown, governor := binary() | null,
                   turbo := boolean() | null, virtual := boolean() | null,
                   randomised := binary() | null, others := number() | null,
                   stolen := number() | null, pressure := number() | null,
                   swapped_in := integer() | null, available := number() | null,
                   emulated_by := file:filename() | none}.

-define(LOOK_MS, 1000).
%% In percent of one core: above the first a warning, above the second a refusal.
-define(OTHERS, {10, 60}).
-define(STOLEN, {2, 20}).
%% In percent of the memory: below the first a warning, below the second a refusal.
-define(AVAILABLE, {20, 5}).

%% @doc Looks at the machine for a second.
-spec check() -> [finding()].
check() ->
    Before = ertslab_readings:readings(),
    timer:sleep(?LOOK_MS),
    During = ertslab_readings:during(Before, ertslab_readings:readings()),
    judge(facts(ertslab_host:machine(), During)).

facts(#{cores := Cores, governor := Governor, virtual := Virtual},
      #{others_ms := Others, steal_ms := Stolen, cpu_pressure := Pressure, swapped_in := Pages}) ->
    #{cores => Cores, governor => Governor, virtual => Virtual, turbo => turbo(),
      randomised => ertslab_readings:line(<<"/proc/sys/kernel/randomize_va_space">>),
      others => share(Others, ?LOOK_MS), stolen => share(Stolen, ?LOOK_MS),
      pressure => Pressure, swapped_in => Pages, available => available(), emulated_by => ertslab_host:emulated_by()}.

share(null, _) -> null;
share(Part, Whole) -> 100 * Part / Whole.

available() ->
    Kib = fun(Name) -> ertslab_readings:kib(ertslab_readings:field(<<"/proc/meminfo">>, Name)) end,
    case {Kib(<<"MemAvailable">>), Kib(<<"MemTotal">>)} of
        {Available, Total} when is_integer(Available), is_integer(Total) -> share(Available, Total);
        _ -> null
    end.

turbo() ->
    case {ertslab_readings:line(<<"/sys/devices/system/cpu/intel_pstate/no_turbo">>),
          ertslab_readings:line(<<"/sys/devices/system/cpu/cpufreq/boost">>)} of
        {null, null} -> null;
        {<<"1">>, _} -> false;
        {_, <<"0">>} -> false;
        _ -> true
    end.

%% @doc What the facts mean.
-spec judge(facts()) -> [finding()].
judge(#{cores := Cores, governor := Governor, turbo := Turbo, virtual := Virtual,
        randomised := Randomised, others := Others, stolen := Stolen, pressure := Pressure,
        swapped_in := Pages, available := Available, emulated_by := By}) ->
    [cores(Cores), governor(Governor), turbo(Turbo), virtual(Virtual), randomised(Randomised),
     above(<<"other programs">>, Others, ?OTHERS, "use ~b % of a core", "end them, or wait"),
     above(<<"the hypervisor">>, Stolen, ?STOLEN, "takes ~b % of a core away",
           "wait for a quieter host"),
     pressure(Pressure), swapping(Pages), memory(Available) | emulated(By)].

%% @doc The finding on a VM whose processor a program emulates.
-spec emulated(file:filename() | none) -> [finding()].
emulated(none) -> [];
emulated(By) ->
    [finding(<<"the processor">>, never, "is emulated by ~ts, whose speed would be measured; use a machine that has this processor", [By])].

cores(Cores) when is_integer(Cores), Cores >= 2 -> finding(<<"cores">>, ok, "~b", [Cores]);
cores(Cores) ->
    finding(<<"cores">>, warn, "~p: harness and measured VM share one; use a machine with 2 or more",
            [Cores]).

governor(<<"performance">>) -> finding(<<"frequency governor">>, ok, "performance", []);
governor(null) ->
    finding(<<"frequency governor">>, warn, "cannot be read, as usual in virtual machines; trust only"
            " differences beyond the control", []);
governor(Governor) ->
    finding(<<"frequency governor">>, warn, "~ts: the frequency varies; cpupower frequency-set -g"
            " performance", [Governor]).

turbo(true) -> finding(<<"turbo">>, warn, "on: the frequency depends on heat and on other cores", []);
turbo(false) -> finding(<<"turbo">>, ok, "off", []);
turbo(null) -> finding(<<"turbo">>, warn, "cannot be read", []).

virtual(true) ->
    finding(<<"virtual machine">>, warn, "others may take time away; each run records it; prefer an"
            " idle host", []);
virtual(false) -> finding(<<"virtual machine">>, ok, "no hypervisor was found", []);
virtual(null) -> finding(<<"virtual machine">>, warn, "unknown", []).

randomised(<<"2">>) ->
    finding(<<"address randomisation">>, ok, "on: each run gets another layout, so none is favoured", []);
randomised(null) -> finding(<<"address randomisation">>, warn, "cannot be read", []);
randomised(_) ->
    finding(<<"address randomisation">>, warn, "off: all runs share one layout, lucky or not; sysctl"
            " kernel.randomize_va_space=2", []).

above(What, null, _, _, _) -> finding(What, warn, "cannot be read", []);
above(What, Share, {_, Refused}, Says, Remedy) when Share > Refused ->
    finding(What, refuse, Says ++ "; " ++ Remedy, [round(Share)]);
above(What, Share, {Warned, _}, Says, _) when Share > Warned ->
    finding(What, warn, Says, [round(Share)]);
above(What, Share, _, Says, _) -> finding(What, ok, Says, [round(Share)]).

pressure(null) -> finding(<<"waiting for cores">>, warn, "cannot be read", []);
pressure(Share) when Share > 20 ->
    finding(<<"waiting for cores">>, warn, "~b % of the last 10 seconds", [round(Share)]);
pressure(Share) -> finding(<<"waiting for cores">>, ok, "~b % of the last 10 seconds", [round(Share)]).

swapping(null) -> finding(<<"swap">>, warn, "cannot be read", []);
swapping(0) -> finding(<<"swap">>, ok, "nothing is read back", []);
swapping(Pages) ->
    finding(<<"swap">>, refuse, "~b pages were read back in a second; free memory first", [Pages]).

memory(null) -> finding(<<"memory">>, warn, "cannot be read", []);
memory(Share) ->
    {Warned, Refused} = ?AVAILABLE,
    State = if Share < Refused -> refuse; Share < Warned -> warn; true -> ok end,
    finding(<<"memory">>, State, "~b % is available", [round(Share)]).

finding(What, State, Format, Args) ->
    #{what => What, state => State, says => ertslab_text:binary(io_lib:format(Format, Args))}.

%% @doc The reasons to refuse, each as part of a sentence; the empty list if there are none.
-spec refusals([finding()]) -> [binary()].
refusals(Findings) -> with_state(refuse, Findings).

%% @doc The same of reasons why nothing can be timed, whatever the user accepts.
-spec impossible([finding()]) -> [binary()].
impossible(Findings) -> with_state(never, Findings).

with_state(Wanted, Findings) ->
    [<<What/binary, " ", Says/binary>> || #{state := State, what := What, says := Says} <- Findings, State =:= Wanted].
