%% @doc `ertslab perf': shows where the time of an experiment's metrics goes, by function of the emulator and of
%% Erlang, on one variant or on two.
-module(ertslab_perf).

-export([run/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_sample, Experiment :: string(), Name :: binary()}.

-define(DEFAULT_ROUNDS, 20).
%% @doc The command: profiles, and prints and stores the results.
-spec run(map()) -> ok.
run(Given) ->
    #{experiment := Name, vm := Names} = Options = ertslab_experiment_source:named(Given),
    Module = ertslab_parameters:module(Name),
    Info = ertslab_parameters:info(Module),
    Params = ertslab_parameters:one_case(Info, quick, maps:get(param, Options, [])),
    VMs = ertslab_inventory:one_or_two(Names, ertslab_inventory:release(Options)),
    ok = ertslab_memory_needs:check(Module, [[Params]], hd(VMs)),
    Perf = ertslab_sampler:perf(),
    Dir = ertslab_results:dir(["perf-", Name], Options),
    ok = ertslab_results:new(Dir),
    Rounds = maps:get(rounds, Options, ?DEFAULT_ROUNDS),
    #{iterations := Iterations, timeout_ms := Timeout} = Info,
    Work = #{perf => Perf, dir => Dir, experiment => Name, module => Module, params => Params,
             iterations => Rounds * Iterations, timeout_ms => Rounds * Timeout},
    report(Options, Work, [profile(VM, Work) || VM <- VMs]).

profile(#{name := Name} = VM, #{dir := Dir} = Work) ->
    io:format(standard_error, "Counting and sampling ~ts...~n", [Name]),
    Prefix = filename:join(Dir, binary_to_list(Name)),
    Counters = ertslab_sampler:counters(VM, Work, Prefix),
    Event = event(Counters),
    Stacks = ertslab_sampler:stacks(VM, Event, Work, Prefix),
    ertslab_stacks:total(Stacks) > 0 orelse
        ertslab_error:failure(?MODULE, {no_sample, maps:get(experiment, Work), Name}),
    #{vm => VM, counters => Counters, event => Event, stacks => Stacks, prefix => Prefix}.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_sample, Experiment, Name}) ->
    [Experiment, " ended on ", Name, " before a sample was taken; give it more work by --rounds or by a larger --param."].

%% Cycles if the processor's counters are available, else the kernel's clock.
event(Counters) ->
    case proplists:get_value(<<"cycles">>, Counters, null) of
        null -> "cpu-clock";
        _ -> "cycles"
    end.

report(Options, #{dir := Dir} = Work, Profiles) ->
    Drawn = [draw(Graph, Work) || Graph <- graphs(Profiles, Work)],
    Undrawn = lists:uniq([Why || {error, Why} <- Drawn]),
    Notes = ertslab_profile:notes(Profiles) ++ [ertslab_error:sentence({ertslab_flame, Why}, Options) || Why <- Undrawn],
    Graphs = [File || {ok, File} <- Drawn],
    Table = ertslab_text:binary(ertslab_profile:table(Work, Profiles, Notes)),
    Json = json:format(ertslab_profile:json(Work, Profiles, Notes, Graphs)),
    Files = [{"table.txt", Table}, {"summary.json", Json}],
    Write = fun() -> [ok = ertslab_results:write(filename:join(Dir, Name), Text) || {Name, Text} <- Files] end,
    ertslab_results:told(Write, Options, Json,
                         [Table, $\n, [["Flame graph: ", Graph, $\n] || Graph <- Graphs], "Samples, stacks and summary: ", Dir, $\n]).

%% Each as {file without its extension, title, folded stacks}.
graphs(Profiles, #{experiment := Experiment, dir := Dir}) ->
    [{Prefix, [Experiment, " on ", Name], ertslab_stacks:folded(Stacks)}
     || #{vm := #{name := Name}, stacks := Stacks, prefix := Prefix} <- Profiles]
        ++ difference(Profiles, Experiment, Dir).

difference([_], _Experiment, _Dir) -> [];
difference([#{vm := #{name := A}, stacks := Before}, #{vm := #{name := B}, stacks := After}],
           Experiment, Dir) ->
    [{filename:join(Dir, "difference"),
      [Experiment, " on ", B, ": red is more than on ", A, ", blue is less"],
      ertslab_stacks:difference(Before, After)}].

draw({Prefix, Title, Folded}, #{dir := Dir}) ->
    [Text, Svg] = [Prefix ++ Ending || Ending <- [".folded", ".svg"]],
    ok = ertslab_results:write(Text, Folded),
    case ertslab_flame:draw(Text, Svg, Title, filename:join(Dir, "flame.log")) of
        ok -> {ok, Svg};
        {error, Why} -> {error, Why}
    end.
