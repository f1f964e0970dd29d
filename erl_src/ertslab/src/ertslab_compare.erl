%% @doc The commands that measure. A comparison sets arms side by side: for
%% `compare' the arms are variants, for `sweep' they are values of one
%% parameter on one variant; all the rest is the same.
-module(ertslab_compare).

-export([compare/1, sweep/1]).

-define(QUICK_PAIRS, 6).
-define(EXACT_PAIRS, 3).
-define(LEAST_PAIRS, 10).
-define(DEFAULT_PAIRS, 20).
-define(LEVEL, 0.05).

%% @doc `ertslab compare EXPERIMENT'.
-spec compare(map()) -> ok.
compare(#{experiment := Name} = Options) ->
    Module = ertslab_experiment:module(Name),
    Info = ertslab_experiment:info(Module),
    Release = ertslab_vm:release(Options),
    Arms = [#{label => Variant, variant => Variant, params => #{},
              vm => ertslab_vm:find(Variant, Release)}
            || Variant <- variants(Options, Info)],
    measure(Options, Module, Info, Arms, #{labelled => ~"variant", swept => null}).

%% @doc `ertslab sweep EXPERIMENT --param NAME=V1,V2,...': the first value is the baseline.
-spec sweep(map()) -> ok.
sweep(#{experiment := Name, over := Over, vm := Variant} = Options) ->
    Module = ertslab_experiment:module(Name),
    #{parameters := Parameters} = Info = ertslab_experiment:info(Module),
    VM = ertslab_vm:find(ertslab_error:text(Variant), ertslab_vm:release(Options)),
    {Parameter, Values} = swept(Info, Over),
    Arms = [#{label => arm_label(Parameter, Value), variant => maps:get(name, VM),
              params => #{Parameter => Value}, vm => VM} || Value <- Values],
    Others = Info#{parameters := [P || #{name := N} = P <- Parameters, N =/= Parameter]},
    measure(Options, Module, Others, Arms, #{labelled => ~"value", swept => Parameter}).

arm_label(Parameter, Value) -> ertslab_error:text(io_lib:format("~ts=~b", [Parameter, Value])).

swept(Info, Over) ->
    Cases = ertslab_experiment:cases(Info, quick, [Over]),
    Parameter = list_to_existing_atom(hd(string:split(Over, "="))),
    case lists:uniq([maps:get(Parameter, Case) || Case <- Cases]) of
        [_, _ | _] = Values -> {Parameter, Values};
        _ -> ertslab_error:usage("--over ~ts: a sweep wants at least two values", [Over])
    end.

variants(#{vm := Text}, _Info) ->
    case lists:uniq(binary:split(ertslab_error:text(Text), ~",", [global, trim_all])) of
        [_, _ | _] = Variants -> Variants;
        _ -> ertslab_error:usage("--vm ~ts: a comparison wants at least two variants", [Text])
    end;
variants(#{}, #{vms := Variants}) -> Variants.

measure(Options, Module, Info, Arms, Labels) ->
    Plan = plan(Options, Module, Info, Arms, Labels),
    Session = ertslab_session:open(ertslab_results:dir(maps:get(experiment, Options), Options), Plan, maps:get(force, Options, false)),
    announce(Session),
    ok = ertslab_runner:run_all(Session, ertslab_progress:new()),
    ok = ertslab_session:close(Session),
    report(Options, Session).

plan(Options, Module, Info, Arms, Labels) ->
    Quick = maps:get(quick, Options, false),
    #{title := Title, metrics := Metrics, contrasts := Contrasts, timeout_ms := Timeout} = Info,
    Exact = maps:get(exact, Info, false),
    [#{vm := VM, label := BaselineLabel} | _] = Arms,
    Cases = ertslab_experiment:cases(Info, size(Labels, Quick), maps:get(param, Options, [])),
    maps:merge(
      Labels,
      #{format => 1, experiment => ertslab_error:text(maps:get(experiment, Options)),
        module => Module, title => ertslab_error:text(Title),
        otp => maps:get(version, VM), quick => Quick,
        exact => Exact,
        pairs => pairs(Options, Exact, Quick, length(Cases) * length(Metrics) * (length(Arms) - 1)),
        seed => maps:get(seed, Options, rand:uniform(1 bsl 31)),
        seed_given => is_map_key(seed, Options),
        cases => Cases,
        arms => Arms, baseline => 0, baseline_label => BaselineLabel,
        metrics => [#{name => N, doc => ertslab_error:text(D), unit => maps:get(unit, M, ns)}
                    || #{name := N, doc := D} = M <- Metrics],
        contrasts => [C#{says := ertslab_error:text(S)} || #{says := S} = C <- Contrasts],
        timeout_ms => Timeout, machine => ertslab_host:machine(),
        command => [ertslab_error:text(Word) || Word <- maps:get(words, Options)]}).

%% A sweep has many arms, so it tries few cases unless some are asked for.
size(#{swept := null}, false) -> full;
size(#{}, _Quick) -> quick.

%% How many pairs, for so many comparisons.
pairs(#{pairs := _}, _, true, _) -> ertslab_error:usage("give --pairs or --quick, not both", []);
pairs(Options, true, _, _) ->
    case maps:get(pairs, Options, ?EXACT_PAIRS) of
        Pairs when Pairs >= ?EXACT_PAIRS -> Pairs;
        Pairs -> ertslab_error:usage("--pairs ~b: at least ~b runs show that a count is exact",
                                     [Pairs, ?EXACT_PAIRS])
    end;
pairs(#{}, false, true, _) -> ?QUICK_PAIRS;
pairs(Options, false, false, Comparisons) ->
    Pairs = maps:get(pairs, Options, ?DEFAULT_PAIRS),
    case least_pairs(Comparisons) of
        Least when Pairs >= Least -> Pairs;
        Least ->
            ertslab_error:usage("--pairs ~b: the statistics want at least ~b for these ~b comparisons"
                                " (or --quick: ~b pairs and a first impression)",
                                [Pairs, Least, Comparisons, ?QUICK_PAIRS])
    end.

%% With n pairs no p is below 2/2^n, and Holm multiplies it by the number of
%% comparisons: with fewer pairs than this no verdict could ever be `changed'.
least_pairs(Comparisons) -> max(?LEAST_PAIRS, ceil(math:log2(2 * Comparisons / ?LEVEL))).

%% On standard error, since with --json standard output is for machines.
announce(#{dir := Dir, done := Done, plan := #{seed := Seed, pairs := Pairs, cases := Cases,
                                               arms := Arms}}) ->
    io:format(standard_error, "Runs of fresh VMs: ~b (pairs ~b, arms ~b, cases ~b), seed ~b~ts.~n"
              "Results go to ~ts~n",
              [Pairs * length(Arms) * length(Cases), Pairs, length(Arms), length(Cases), Seed,
               already(map_size(Done)), Dir]).

already(0) -> "";
already(Done) -> io_lib:format("; ~b of them are done already", [Done]).

report(Options, #{dir := Dir, plan := Plan}) ->
    Summary = with_paths(Dir, ertslab_summary:make(Plan, ertslab_session:read(Dir))),
    Table = unicode:characters_to_binary(ertslab_table:render(Summary)),
    draw(Dir, Plan, Summary),
    Json = json:format(Summary),
    ertslab_session:finish(Dir, [{"table.txt", Table}, {"summary.json", Json}]),
    ok = ertslab_report:page(Dir),
    case Options of
        #{json := true} -> io:put_chars(unicode:characters_to_list(Json));
        #{} -> io:format("~ts~nReport (report.html), picture, raw samples and summary: ~ts~n", [Table, Dir])
    end.

with_paths(Dir, Summary) ->
    Summary#{paths => #{samples => ertslab_error:text(ertslab_session:file(Dir, "samples.jsonl")),
                        plan => ertslab_error:text(ertslab_session:file(Dir, "session.json")),
                        plot => ertslab_error:text(ertslab_session:file(Dir, "plot.svg"))}}.

draw(Dir, Plan, Summary) ->
    File = ertslab_session:file(Dir, "plot.svg"),
    case ertslab_plot:available() andalso ertslab_plot:draw(File, script(Plan, Summary)) of
        ok -> ok;
        false -> io:format(standard_error, "No picture: gnuplot is missing; './build.sh deps' installs it.~n", []);
        {error, Why} -> io:format(standard_error, "No picture: ~ts~n", [Why])
    end.

script(#{swept := null}, Summary) -> ertslab_plot:bars(Summary);
script(#{swept := _, metrics := Metrics}, Summary) ->
    ertslab_plot:curve(Summary, [Name || #{name := Name} <- Metrics]).
