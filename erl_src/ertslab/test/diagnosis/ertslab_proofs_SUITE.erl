%% What a finding can be proven by: each kind has a command that is one of the command line, and as a library a call that there is.
-module(ertslab_proofs_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, each_kind_has_a_command/1, each_kind_has_a_call/1, a_checkout_starts_its_own/1, the_file_is_called_as_it_was/1,
         a_library_is_called/1, what_only_looks_is_no_proof/1, what_wants_the_lab_says_so/1, a_setting_is_tried/1, figures_are_kept_ones/1,
         predictions_are_of_kept_figures/1, predictions_are_computed_from_rows/1, programs_are_as_their_results_say/1,
         measures_by_its_own_size/1, data_is_the_same/1, no_name_rules_the_terminal/1]).

all() ->
    [each_kind_has_a_command, each_kind_has_a_call, a_checkout_starts_its_own, the_file_is_called_as_it_was, a_library_is_called,
     what_only_looks_is_no_proof, what_wants_the_lab_says_so, a_setting_is_tried, figures_are_kept_ones, predictions_are_of_kept_figures,
     predictions_are_computed_from_rows,
     programs_are_as_their_results_say, measures_by_its_own_size,
     data_is_the_same, no_name_rules_the_terminal].

checkout() -> #{in => checkout, node => 'a@b', program => ["./ertslab"], cookie => false, lab => true}.

file() -> #{in => file, node => 'a@b', program => ["/tmp/my tools/ertslab"], cookie => true, lab => false}.

library() -> #{in => library, node => 'a@b'}.

each_kind_has_a_command(_) ->
    Signs = every_sign(),
    ?assertEqual([], diagnose_signs:kinds() -- [Kind || #{kind := Kind} <- Signs]),
    [begin
         #{kind := Known, words := [Command | _]} = Proof,
         ?assert(lists:member(Known, [look_again, measure])),
         Words = [unicode:characters_to_list(Word) || Word <- diagnose_proof:words(Proof, Place)],
         ?assertMatch({ok, _, #{handler := _}}, ertslab_arguments:parse(Words, ertslab_cli:command()), {Kind, Words}),
         #{commands := #{} = Commands} = ertslab_cli:command(),
         %% The single file has what does not start variants.
         ?assert(maps:get(lab, Proof) orelse not maps:get(lab, maps:get(binary_to_list(Command), Commands), false), {Kind, Words})
     end || #{kind := Kind} = Sign <- Signs, Proof <- proofs(Sign), Place <- [checkout(), file()]].

each_kind_has_a_call(_) ->
    [begin
         {Module, Function, Arity} = called(diagnose_proof:text(Proof, Place)),
         {module, _} = code:ensure_loaded(Module),
         ?assert(erlang:function_exported(Module, Function, Arity), {Kind, Module, Function, Arity})
     end || #{kind := Kind} = Sign <- every_sign(), #{lab := false} = Proof <- proofs(Sign),
            Place <- [library(), #{in => library, node => own}]].

%% The function that a text calls, which has to be an expression.
called(Text) ->
    {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(Text)),
    {ok, [{call, _, {remote, _, {atom, _, Module}, {atom, _, Function}}, Args}]} = erl_parse:parse_exprs(Tokens),
    {Module, Function, length(Args)}.

proofs(#{gain := #{proof := More}, proof := Proof}) -> [Proof, More];
proofs(#{proof := Proof}) -> [Proof].

text(Proof, Place) -> unicode:characters_to_list([diagnose_proof:title(Proof, Place), ": ", diagnose_proof:text(Proof, Place)]).

collect() -> diagnose_proof:collect(#{pid => ~"<0.8.0>"}).

a_checkout_starts_its_own(_) ->
    ?assertEqual("Proof: ./ertslab diagnose --node a@b --collect '<0.8.0>'", text(collect(), checkout())).

the_file_is_called_as_it_was(_) ->
    ?assertEqual("Proof: '/tmp/my tools/ertslab' diagnose --node a@b --cookie \"$COOKIE\" --collect '<0.8.0>'", text(collect(), file())).

a_library_is_called(_) ->
    Own = #{in => library, node => own},
    ?assertEqual("Proof: diagnose:collect(a@b, \"<0.8.0>\").", text(collect(), library())),
    ?assertEqual("Proof: diagnose:collect(node(), \"<0.8.0>\").", text(collect(), Own)),
    ?assertEqual("Look again: diagnose:node().", text(diagnose_proof:look(), Own)),
    ?assertEqual("Look again: diagnose:node(#{node => a@b}).", text(diagnose_proof:look(), library())),
    ?assertEqual("Look again: diagnose:node(#{budget => 60000}).", text(diagnose_proof:look([{budget_s, 60}]), Own)).

what_only_looks_is_no_proof(_) ->
    [?assertEqual({Proof, "Look again"}, {Proof, diagnose_proof:title(Proof, Place)})
     || Place <- [checkout(), file(), library()],
        Proof <- [diagnose_proof:look(), diagnose_proof:look([nif])]].

what_wants_the_lab_says_so(_) ->
    Proof = diagnose_proof:compare(~"length", [{cells, 1000}]),
    Command = "./ertslab compare length --vm stock,tuned --param cells=1000",
    Elsewhere = "Proof, in a clone of ertslab in which './build.sh demo' has run: " ++ Command,
    ?assertEqual("Proof: " ++ Command, text(Proof, checkout())),
    ?assertEqual("Proof, once './build.sh otp' has built the VMs: " ++ Command, text(Proof, (checkout())#{lab := false})),
    ?assertEqual([Elsewhere, Elsewhere], [text(Proof, Place) || Place <- [file(), library()]]).

%% A process that cannot be asked is looked at again.
a_setting_is_tried(_) ->
    Proof = fun(Label) -> diagnose_proof:setting(#{pid => ~"<0.8.0>", label => Label}, {fullsweep_after, 20}) end,
    ?assertEqual("Proof: ./ertslab try --node a@b '<0.8.0>' fullsweep_after=20", text(Proof({m, init, 1}), checkout())),
    ?assertMatch(#{kind := measure}, Proof(unknown)),
    ?assertMatch(#{kind := look_again}, Proof({m, loop, 0})).

%% Each number of a figure is in the lines that it names, or follows from a ratio that is, and the page has these lines.
figures_are_kept_ones(_) ->
    [begin
         {ok, Page} = file:read_file(filename:join(ertslab_paths:top(), File)),
         Text = unblanked(Page),
         [?assertNotEqual(nomatch, string:find(Text, unblanked(Row)), {Name, Row}) || Row <- [Date | Rows]],
         Kept = numbers(lists:join(" ", Rows)),
         Less = savings(Says),
         [?assertEqual(round(100 * (1 - to_number(Ratio))), binary_to_integer(Percent), Name) || [Percent, Ratio] <- Less],
         ?assertEqual([], numbers(Says) -- (Kept ++ [Percent || [Percent, _] <- Less]), Name)
     end || {Name, #{says := Says, date := Date, page := File, rows := Rows}} <- diagnose_figures:figures()].

%% The same of what a census predicts from.
predictions_are_of_kept_figures(_) ->
    [begin
         {ok, Page} = file:read_file(filename:join(ertslab_paths:top(), File)),
         Text = unblanked(Page),
         [?assertNotEqual(nomatch, string:find(Text, unblanked(Row)), {Name, Row}) || Row <- Rows],
         ?assert(Best < Mean andalso Mean < Worst, Name),
         Kept = [to_number(Number) || Number <- numbers(lists:join(" ", Rows))],
         ?assertEqual([], [Best, Mean, Worst] -- Kept, Name)
     end || {Name, #{best := Best, mean := Mean, worst := Worst, page := File, rows := Rows}} <- diagnose_census_prediction:figures()].

%% The price of a fault is what ten rounds saved by the faults that they saved. The others are the second number of the row to the first.
predictions_are_computed_from_rows(_) ->
    #{ns := #{value := Ns, rows := [Cpu, Faults]}, left := #{rows := [Faults]} = Left} = diagnose_census_prediction:fault(),
    [Ms, Ratio | _] = in_order(Cpu),
    [Before, After] = in_order(Faults),
    ?assert(abs(Ns - Ms * 1.0e6 * 10 * (1 - Ratio) / (Before - After)) < 1),
    [begin
         [Stock, Tuned] = in_order(Row),
         ?assert(abs(Value - Tuned / Stock) < 0.0001)
     end || #{value := Value, rows := [Row]} <- [Left, diagnose_census_prediction:fewest()]],
    [begin
         {ok, Text} = file:read_file(filename:join(ertslab_paths:top(), File)),
         [?assertNotEqual(nomatch, string:find(unblanked(Text), Row), Row) || Row <- Rows]
     end || #{page := File, rows := Rows} <- [diagnose_census_prediction:fewest() | maps:values(diagnose_census_prediction:fault())]].

in_order(Row) ->
    {match, Found} = re:run(binary:replace(Row, <<",">>, <<>>, [global]), "[0-9]+(\\.[0-9]+)?", [global, {capture, first, binary}]),
    [to_number(One) || [One] <- Found].

%% 23 % less time than on stock (ratio 0.772
savings(Says) ->
    case re:run(Says, "([0-9]+) % less[^(]*\\((?:ratio )?([0-9.]+)", [global, {capture, all_but_first, binary}]) of
        {match, Savings} -> Savings;
        nomatch -> []
    end.

to_number(Text) ->
    try binary_to_float(Text) catch error:badarg -> binary_to_integer(Text) end.

programs_are_as_their_results_say(_) ->
    [begin
         {ok, Text} = file:read_file(filename:join([ertslab_paths:top(), Data, "summary.json"])),
         #{~"cases" := [#{~"rows" := Rows}]} = json:decode(Text),
         [Kept] = [Estimate || #{~"label" := ~"tuned", ~"metric" := Of, ~"ratio" := #{~"estimate" := Estimate}} <- Rows, Of =:= Metric],
         ?assert(abs(Kept - Ratio) =< 0.0005, {Name, Kept})
     end || #{name := Name, ratio := Ratio, data := Data, metric := Metric} <- diagnose_census_prediction:programs()].

unblanked(Text) -> re:replace(Text, "\\s+", " ", [global, unicode, {return, binary}]).

%% Without commas in thousands, the arity of a function, and the release.
numbers(Text) ->
    Bare = re:replace(Text, "(?<=[0-9]),(?=[0-9]{3})|OTP [0-9]+", "", [global, unicode, {return, binary}]),
    {match, Found} = re:run(Bare, "(?<![/0-9.])[0-9]+(\\.[0-9]+)?", [global, {capture, first, binary}]),
    lists:usort([Number || [Number] <- Found]).

measures_by_its_own_size(_) ->
    Gain = fun(Kind, Evidence) ->
                   #{figure := #{page := Page}, proof := #{words := Words}} = diagnose_figures:gain(Kind, Evidence),
                   {Page, Words}
           end,
    ?assertEqual({~"doc/results/2026-11-22-xeon.md",
                  [~"compare", ~"hibernate", ~"--vm", ~"stock,tuned", ~"--param", ~"cells=50000", ~"--param", ~"value_words=14"]},
                 Gain(spread_list, #{cells => 50_000, mean_bytes => 136.0})),
    ?assertMatch({~"doc/results/2026-11-24-xeon.md", _}, Gain(spread_list, #{cells => 2_000_000, mean_bytes => 136.0})),
    %% Within what the experiments take.
    ?assertMatch({_, [_, _, _, _, _, ~"size=10000000"]}, Gain(long_collection, #{heap_bytes => 1_000_000_000})),
    Scan = #{receive_in => ~"proc_lib:sync_start/2", queue => on_heap, messages => 4000},
    ?assertMatch({~"doc/results/2026-11-21-epyc.md", [_, ~"library_calls", _, _, _, ~"call=proc_lib_start", _, ~"depth=4000"]},
                 Gain(scanning_receive, Scan)),
    Own = Scan#{receive_in := ~"mine:wait/1"},
    ?assertEqual(none, diagnose_figures:gain(scanning_receive, Own)),
    ?assertMatch({_, [_, ~"mailbox_scan" | _]}, Gain(scanning_receive, Own#{queue := off_heap, messages := 100_000})),
    ?assertEqual(none, diagnose_figures:gain(deep_mailbox, #{messages => 4000})),
    %% Experiments take these parameters and values.
    [ertslab_parameters:cases(ertslab_parameters:info(ertslab_parameters:module(binary_to_list(Experiment))), full, given(More))
     || #{gain := #{proof := #{words := [_, Experiment, _, _ | More]}}} <- every_sign()].

given([Option, Given | More]) when Option =:= ~"--param"; Option =:= ~"--over" ->
    {custom, Parse, _} = ertslab_option_types:assignment(),
    {ok, Assigned} = Parse(binary_to_list(Given)),
    [Assigned | given(More)];
given([]) -> [].

data_is_the_same(_) ->
    ?assertEqual(#{kind => measure, lab => false, words => [~"diagnose", ~"--node", ~"a@b", ~"--collect", ~"<0.8.0>"],
                   command => ~"./ertslab diagnose --node a@b --collect '<0.8.0>'"},
                 diagnose_proof:data(collect(), checkout())),
    ?assertMatch(#{words := [~"diagnose", ~"--collect", ~"<0.8.0>"], command := ~"diagnose:collect(node(), \"<0.8.0>\")."},
                 diagnose_proof:data(collect(), #{in => library, node => own})).

%% Of each kind at least one.
%% Names of processes, modules, functions, tables, nodes and programs, tags of messages and alarms may hold what a terminal obeys.
no_name_rules_the_terminal(_) ->
    Control = fun(Text) -> [Char || Char <- unicode:characters_to_list(Text), Char < 32 orelse Char >= 127 andalso Char < 160, Char =/= $\n] end,
    Report = fun(Name, {Seen, Scans}) ->
                     Look = maps:merge(nothing(), maps:map(fun(_, Value) -> renamed(Name, Value) end, Seen)),
                     Findings = diagnose_findings:findings(Look, renamed(Name, Scans)),
                     unicode:characters_to_list(diagnose_text:report(#{findings => Findings, look => Look, place => checkout(),
                                                                       node => Name(a@b), warnings => [],
                                                                       unknown => diagnose_wording:unknown(Look, [])}))
             end,
    Bad = fun(Name) when is_atom(Name) -> list_to_atom(atom_to_list(Name) ++ "\e[2J\n\x{9b}1m");
             (Text) -> <<Text/binary, "\e[2J\n\x{9b}1m"/utf8>>
          end,
    Seen = [{#{left_sockets => #{ms => 4000, alarms => [~"{disk, _}"],
                                 sockets => [#{what => unread, count => 40, more => 1, asked => 30,
                                               most => [{{m, f, 1}, {m, g, 0}, 30}]}]},
               flaps => #{ms => 4000, by => none, nodes => [#{node => b@c, downs => 9, ups => 9, reason => disconnect}]},
               suspects => [suspect(#{usual_depth => 5000, name => pool, waiting => [{~"{job, _}", 5}]})]}, []} | looks()],
    [begin
         Shown = Report(Bad, One),
         ?assertEqual([], Control(Shown), Shown),
         ?assertEqual(length(string:split(Report(fun(Name) -> Name end, One), "\n", all)), length(string:split(Shown, "\n", all)), Shown)
     end || One <- Seen].

%% What is a name in these looks.
renamed(Name, Own) when is_binary(Own); is_atom(Own) ->
    case is_binary(Own) orelse lists:member(Own, [m, n, f, g, a, b@c, pool, log, listener, request, session, shop, bill, clock, key, images, mine]) of
        true -> Name(Own);
        false -> Own
    end;
renamed(Name, Map) when is_map(Map) -> maps:map(fun(_, Value) -> renamed(Name, Value) end, Map);
renamed(Name, [One | Others]) -> [renamed(Name, One) | renamed(Name, Others)];
renamed(Name, Tuple) when is_tuple(Tuple) -> list_to_tuple(renamed(Name, tuple_to_list(Tuple)));
renamed(_, Other) -> Other.

every_sign() ->
    lists:append([Signs || {Seen, Scans} <- looks(), #{signs := Signs} <- diagnose_findings:findings(maps:merge(nothing(), Seen), Scans)]).

looks() ->
    Deep = suspect(#{usual_depth => 5000}),
    Pauses = #{minor => 3, full => 40, long => 3, longest_us => 80_000, total_us => 500_000, window_ms => 1000, why => [],
               settings => #{fullsweep_after => 0}},
    Why = #{kind => full, reason => count, count => 10, us => 200_000, young => 0, old => 0, aged => 0, left => 0, freed => 0, held => 0,
            old_held => 0, held_left => 0, held_freed => 0, virtual => 0},
    Calm = Pauses#{minor := 0, full := 0, long := 0, longest_us := 1, total_us := 1},
    Because = fun(Reasons) ->
                      [suspect(#{label => {m, init, 1}, pauses => Calm#{why := [maps:merge(Why, Reason) || Reason <- Reasons]}})]
              end,
    Memory = #{total => 300_000_000, binary => 100_000_000, code => 1},
    Table = #{name => a, bytes => 200_000_000, size => 9, owner => ~"<0.9.0>", type => set, protection => public},
    #{tables := Tables} = nothing(),
    Elsewhere = #{native => 400_000_000, nifs => [images], terms => 200_000_000, count => 90, keys => [{~"{rules, _}", 80}]},
    Awaited = #{for => answer, pid => ~"<0.9.0>", name => pool, label => unknown, count => 600, ms => 4000, depth => 0, status => waiting,
                in => [], kinds => [{unknown, 600}]},
    Growing = [{100 * N, (counts(1))#{modules => 2000 + N}} || N <- lists:seq(1, 40)],
    Queues = #{looks => 20, ready => lists:duplicate(20, {0, 30}),
               dirty => [#{threads => io, count => 10, waiting => lists:duplicate(20, 50)}]},
    Idle = #{depth => 0, idle => true, heap_bytes => 150_000_000, old_bytes => 0, stack_bytes => 100},
    Binaries = fun(Bytes) -> #{members => 2, references => 200, count => 200, bytes => Bytes, charged_bytes => 100} end,
    Sampled = fun(Heap, Bytes) -> #{heap_bytes => Heap, used_bytes => 100, held_bytes => 100, binaries => Binaries(Bytes)} end,
    Sample = fun(After) -> #{collected => 2, working => 0, another => ~"<0.7.0>",
                             before => Sampled(900_000, 100), 'after' => Sampled(1000, After)} end,
    Equal = (Sampled(12_000_000, 100))#{used_bytes := 12_000_000, least_used_bytes => 2_000_000, most_used_bytes => 2_000_000},
    Group = fun(After) ->
                    group(#{label => {m, init, 1}, large => 100, large_heap_bytes => 90_000_000, holding => 100, held_bytes => 90_000_000,
                            holding_heap_bytes => 100_000, sample => #{large => Sample(After), holding => Sample(After)}})
            end,
    Births = #{pid => ~"<0.9.0>", name => listener, labels => [{request, init, 1}], window_ms => 1000, ended => 110, grown => 100,
               collections => 700, us => 100_000, left => 5_000_000, first => 186_400, limit => 0,
               sizes => [100_000 + 100 * N || N <- lists:seq(1, 100)]},
    Scan = #{pid => ~"<0.1.0>", function => {proc_lib, sync_start, 2}, file => ~"proc_lib.erl", line => 1, called_from => none,
             seen => 9, looks => 10},
    Layout = #{cells => 50_000, mean => 136.0, cache_lines => 1125.0, walk_ns => 1.9, dense_ns => 1.1},
    [{#{unresponsive => [#{pid => ~"<0.7.0>", name => log, ms => 3000, depth => 5}]}, []},
     {#{overloaded => 90, suspects => [suspect(#{usual_depth => 300, growth => unknown})]}, []},
     {#{counts => [{0, counts(900_000)}], files => {900, 1000}}, []},
     {#{awaited => [Awaited, Awaited#{for := lock}, #{far => b@c, called => ~"prices", count => 300, ms => 2000, kinds => []},
                    #{host => {httpc, handle_answer, 3}, count => 300, ms => 2000, kinds => []},
                    #{socket => {prim_inet, send, 4}, count => 30, ms => 4000, kinds => []}]}, []},
     {#{not_accepted => #{looks => 10, ms => 3000, sockets => [#{port => 80, least => 1, most => 9, accepting => false,
                                                               pid => ~"<0.7.0>", name => '', label => unknown}]},
        starting => #{ms => 3000, applications => [shop],
                      starts => [#{pid => ~"<0.7.0>", name => '', stack => [{m, f, 0}], in => {m, f, 0}, asks => []}]},
        losses => #{ms => 3000, looks => 100, refused => 0, full => [],
                    udp => [#{port => 80, dropped => 900, came => 9, active => once, read_packets => 5, buffer => 4096,
                              pid => ~"<0.7.0>", name => '', label => unknown}]},
        stopping => #{ms => 3000, application => shop, asks => []}}, []},
     {#{suspects => [Deep]}, [Scan]},
     {#{suspects => [Deep#{queue := off_heap, usual_depth := 100_000}]}, [Scan#{function := {mine, wait, 1}}]},
     {#{suspects => [suspect(#{status => suspended, samples => [{suspended, [{m, f, 0}], 10}]})]}, []},
     {#{suspects => [suspect(#{depth => 0, reductions => 2.0e7, answer_ms => 1, samples => [{running, [{m, f, 0}], 20}]})]}, []},
     {#{run_queues => Queues}, []},
     {#{schedulers => 16, processors => 2}, []},
     {#{suspects => [suspect(#{depth => 0, reductions => 2.0e7, samples => [{running, [{erl_eval, expr, 6}], 20}]})]}, []},
     {#{suspects => [suspect(#{depth => 0, reductions => 2.0e7, samples => [{running, [{io_lib, format, 2}], 20}]})]}, []},
     {#{suspects => [suspect(#{depth => 0, samples => [{waiting, [{sys, handle_debug, 4}], 20}]}),
                     suspect(#{pid => ~"<0.2.0>", depth => 0, reductions => 2.0e7, samples => [{running, [{m, f, 0}], 20}]}),
                     suspect(#{pid => ~"<0.3.0>", depth => 0, reductions => 2.0e7, samples => [{running, [{dbg_ieval, expr, 3}], 10}]})],
        debugged => #{interpreted => [n], covered => [m]}}, []},
     {#{suspects => [suspect(#{priority => low, depth => 90, usual_depth => 90, samples => [{running, [{m, f, 0}], 20}]}),
                     suspect(#{pid => ~"<0.2.0>", depth => 0, label => {m, g, 0}, samples => [{running, [{m, g, 0}], 20}]})],
        run_queues => Queues#{ready => lists:duplicate(20, {1, 2})}}, []},
     {#{suspects => [suspect(#{heap_bytes => 9_000_000, pauses => Pauses})]}, []},
     {#{suspects => [suspect(#{heap_bytes => 9_000_000, hibernates => true,
                               pauses => Pauses#{long := 0, longest_us := 9, total_us := 90_000}})]}, []},
     {#{suspects => Because([#{young => 500_000_000, aged => 400_000_000, left => 390_000_000}])}, []},
     {#{suspects => Because([#{reason => asked, young => 500_000_000, aged => 400_000_000, left => 390_000_000}])}, []},
     {#{suspects => Because([#{reason => old_heap, young => 100_000_000, old => 1_000_000_000, aged => 1_050_000_000, left => 100_000_000,
                               freed => 900_000_000},
                             #{kind => minor, reason => heap, count => 100, us => 300_000, young => 2_000_000_000,
                               left => 1_000_000_000}])}, []},
     {#{suspects => Because([#{kind => minor, reason => virtual_heap, count => 100, held => 30_000_000, held_left => 29_000_000,
                               virtual => 26_000_000}])}, []},
     {#{births => Births}, []},
     {#{long_runs => [#{pid => ~"<0.9.0>", name => '', label => unknown, times => 9, run_ms => 900, in => {m, f, 1}, window_ms => 1000}],
        collections => #{share => 0.0, busy => 0.9, waiting => 0.0, cores => 1.0, reductions => 9000, threads => 4, window_ms => 200}}, []},
     {#{collections => #{share => 0.5, busy => 0.9, waiting => 0.0, cores => 1.9, threads => 4, window_ms => 200},
        suspects => [suspect(#{pid => Pid, depth => 0, label => {m, session, 1}, heap_bytes => 9_000_000,
                               pauses => Calm#{minor := 30, total_us := 800_000, window_ms := 4000}})
                     || Pid <- [~"<0.1.0>", ~"<0.2.0>", ~"<0.3.0>"]],
        wakes => #{timers => [#{label => {m, f, 0}, in => none, count => 3000, asked => 8, each_a_second => 100.0}], to_itself => [], drains => []}}, []},
     {#{starts => #{looks => 200, samples => [{running, [{tls_v1, finished_verify_data, 3}], 90}], unlisted => false, ms => 4000,
                    a_second => 300, parents => [],
                    most => #{pid => ~"<0.9.0>", name => '', label => unknown, part => 0.9, labels => [{{supervisor, tls_dyn_connection_sup, 1}, 400}]}},
        suspects => [suspect(#{label => {m, bill, 1}, samples => [{waiting, [{ssl, connect, 4}], 9}]})],
        collections => #{share => 0.0, busy => 0.5, waiting => 0.0, cores => 1.0, threads => 4, window_ms => 200}}, []},
     {#{starts => #{looks => 200, samples => [], unlisted => false, ms => 4000, a_second => 90_000, most => none,
                    parents => [#{pid => ~"<0.9.0>", name => '', label => unknown, parents => 2, born => 60, ended => 50, failed => 50,
                                  limit => 0, sweeps => 0, swept => 0, gone => 0, copies => 60, copied => 600_000_000, takes => 0, taken => 0, labels => [{{m, init, 1}, 60}],
                                  reasons => [{~"econnrefused", 50}]}]},
       programs => #{alive => 300, seen => 90, started_a_second => 30, names => [{~"sleep", 300}],
                       connects => #{seen => 30, connected => 0, a_second => 900, processes => 2, in => [], owners => [], labels => []},
                     owners => [{~"<0.9.0>", clock, 300}], labels => []}}, []},
     {#{suspects => [suspect(#{depth => 0, priority => high, reductions => 2.0e6, table_scans => #{times => 9, in => {m, f, 0}},
                               samples => [{running, [{m, f, 0}], 20}]})]}, []},
     {#{suspects => [suspect(#{label => {m, init, N}, pid => Pid,
                               pauses => Calm#{window_ms := 4000, why := [Why#{reason := asked, us := 9, count := 20}]}})
                     || {N, Pid} <- [{1, ~"<0.1.0>"}, {2, ~"<0.2.0>"}, {3, ~"<0.3.0>"}]]}, []},
     {#{groups => [Group(0), (Group(100))#{label := {n, init, 1}}], memory => Memory}, []},
     {#{groups => [group(#{label => {m, init, 1}, large => 100, large_heap_bytes => 200_000_000,
                           sample => #{large => #{collected => 6, working => 0, another => ~"<0.7.0>", before => Equal, 'after' => Equal},
                                       holding => none}})], memory => Memory}, []},
     {#{suspects => [suspect(#{idle => true, depth => 0, used_bytes => 9000, binaries => Binaries(60_000_000)})]}, []},
     {#{suspects => [suspect(Idle#{used_bytes => 85_000_000, stack_bytes := 72_000_000, stack_in => [{m, f, 0}]})]}, []},
     {#{suspects => [suspect(Idle#{used_bytes => 1000})]}, []},
     {#{suspects => [suspect(Idle#{idle := false, used_bytes => 140_000_000})], memory => Memory#{total := 200_000_000}}, []},
     {#{suspects => [suspect(#{used_bytes => 9_000_000})], layouts => [{~"<0.1.0>", Layout}]}, []},
     {#{suspects => [suspect(#{depth => 0})],
        logging => #{looks => 38, handlers => [#{name => logger_std_h_default, sync => 9, drop => 20}], from => []},
        ticks => [#{pid => ~"<0.1.0>", tick => poll, a_second => 1250, interval_ms => 2000, at_a_time => 2500, in => none}]}, []},
     {#{suspects => [suspect(#{depth => 0})],
        retries => [#{pid => ~"<0.1.0>", ms => 1000, changes => 5, events => 750_000}]}, []},
     {#{suspects => [suspect(#{depth => 0, heap_bytes => 48_000_000,
                               samples => [{waiting, [{gen, do_call, 4}, {sys, send_system_msg, 3}], 20}]})]}, []},
     {#{suspects => [suspect(#{depth => 0, name => code_server})],
        lookups => #{ms => 1000, times => 40, count => 1, again => 39, asking => 1, modules => [{m, 40}], in => [], labels => []}}, []},
     {#{links => #{timer_bytes => 90_000_000,
                   holders => [#{pid => ~"<0.8.0>", name => '', label => unknown, about => 90_000, exactly => unknown}],
                   dictionaries => [#{pid => ~"<0.8.0>", name => '', label => unknown, bytes => 400_000}]},
        counts => [{0, counts(50)}]}, []},
     {#{terms => #{looks => 10, count => 1, terms => [#{term => key, times => 9}]},
        reloads => #{looks => 9, modules => [#{module => m, times => 5}], in => []}, counts => Growing,
        transactions => #{commits => 10, restarts => 1000, logged => 90_000, threshold => 1000, overloads => 3, ms => 2000}}, []},
     {#{tables => Tables#{bytes := 200_000_000, largest := [Table#{fixed_ms => 9000, fixed_by => [~"<0.7.0>"], same_key => 9000, type => bag}],
                          slowest := [Table#{lookup_ns => 9000}]}, memory => Memory,
        counts => [{0, (counts(1))#{tables := {20_000, 8192}}}],
        processes_beside => #{bytes => 200_000_000, of_processes => 9, count => 9},
        binaries_beside => #{bytes => 200_000_000, tables => []}, elsewhere => Elsewhere,
        large_code => #{code => 1, constants => 200_000_000, modules => []}}, []},
     {#{tables => Tables#{bytes := 200_000_000, largest := [Table#{bytes := 10}]}, memory => Memory}, []},
     {#{left_sockets => #{ms => 4000, alarms => [], sockets => [#{what => there, count => 300, more => 9, asked => 0, most => []}]},
        piles => #{ms => 4000, pile => #{in => {m, f, 0}, asked => 90, stay => 90, count => 1900, more => 900, connections => false,
                                         done => {9, 9}, labels => [], first => none}},
        counts => [{100 * N, counts(1900 + 10 * N)} || N <- lists:seq(1, 20)]}, []},
     {#{nagle_delays => #{looks => 10, asked => 3, held => 1, labels => []},
        flaps => #{ms => 3000, by => none, nodes => [#{node => b@c, downs => 9, ups => 9, reason => disconnect}]}}, []},
     {#{native_times => #{ms => 300, traced => 9, most => [#{function => {ets, lookup, 2}, us => 300_000, count => 300, in => none,
                                                             label => none, table => none}]},
        collections => #{share => 0.0, busy => 0.5, waiting => 0.0, cores => 1.0, threads => 4, window_ms => 2000}}, []},
     {#{emulator => #{interprets => true, build => lcnt, off => [eheap_alloc], blockers => [~"<0.9.0>"]}}, []},
     {#{mapped => #{faults => 190_000, segments => 900, own_carrier => 524_288, ms => 1000},
        carriers => [#{allocator => binary_alloc, carrier_bytes => 90_000_000, block_bytes => 100}],
        traced => #{asked => 9, traced => 1, new => false, flags => [call], tracer => unknown},
        collections => #{share => 0.0, busy => 0.21, waiting => 0.2, cores => 0.9, threads => 4, window_ms => 2000}}, []},
     {#{suspects => [suspect(#{usual_depth => 50_000, pauses => Pauses, label => {m, init, 1}})]}, []},
     {#{suspects => [suspect(#{usual_depth => 50_000, queue => off_heap, label => {m, init, 1},
                               pauses => Calm})]}, [Scan]}].

nothing() ->
    #{format => 32, otp => ~"27.3.4.1", release => 27, schedulers => 2, processors => 2, offline => 0, overloaded => false, ready_in => [],
      processes => unknown,
      emulator => #{interprets => false, build => opt, off => [], blockers => []},
      suspects => [], closer => finished, unresponsive => [], groups => [], groups_left => 0, unlooked => not_asked,
      counts => [{0, counts(1)}], files => unknown, reloads => unknown, transactions => unknown, mapped => unknown,
      traced => unknown, not_accepted => unknown, losses => unknown, reads => [], left_sockets => unknown, piles => unknown, starting => unknown, stopping => none,
      unanswered => unknown, places => unknown, logging => unknown, arrivals => [], stalls => [], endings => [], throttled => none,
      awaited => [], lookups => none, native_times => none, nagle_delays => #{looks => 10, asked => 0, held => 0, labels => []},
      flaps => #{ms => 3000, by => none, nodes => []}, makers => none, retries => none,
      births => none, long_runs => [], starts => unknown,
      programs => unknown,
      wakes => #{timers => [], to_itself => [], drains => []}, ticks => [],
      growing => [], debugged => #{interpreted => [], covered => []}, suspenders => [], callers => [], floods => [], shares => [],
      system_monitor => none,
      binaries_beside => not_needed, processes_beside => not_needed,
      elsewhere => unknown, large_code => none, file_owners => unknown, memory => unknown,
      tables => #{looked => 0, skipped => 0, not_timed => 0, bytes => 0, own_ns => 100, largest => [], slowest => [], named => []},
      terms => #{looks => 9, count => 0, terms => []}, ports => #{skipped => 0, waiting => [], names => [], owners => []},
      links => #{timer_bytes => 0, holders => []}, run_queues => unknown, collections => unknown, carriers => unknown, scan_ns => #{},
      layouts => not_asked, cost => #{milliseconds => 1, bytes => 1, ended => finished, stays_loaded => false, purge_bytes => 0}}.

counts(Processes) -> #{processes => {Processes, 1_000_000}, ports => {1, 1000}, atoms => {1, 1000}, tables => {10, 8192}, modules => 10}.

suspect(More) ->
    maps:merge(#{pid => ~"<0.1.0>", name => '', label => unknown, queue => on_heap, depth => 5000, usual_depth => 0, least_depth => 0,
                 status => waiting, gets => false, growth => 0.0, reductions => 0.0, window_ms => 2000, waiting => not_looked,
                 stays => true, asks => [], priority => normal, table_scans => #{times => 0, in => none},
                 by_file => 0, states_of => [], depth_at_work => 0,
                 samples => [], answer_ms => unknown, hibernates => false, idle => false, heap_bytes => unknown, used_bytes => unknown,
                 old_bytes => unknown, stack_bytes => unknown, stack_in => [], held_bytes => unknown, held_before => unknown,
                 binaries => unknown, min_heap_bytes => 0, pauses => unknown}, More).

group(More) ->
    maps:merge(#{label => unknown, members => [#{pid => ~"<0.9.0>", name => ''}, #{pid => ~"<0.10.0>", name => ''}], kin => [],
                 count => 100, heap_bytes => 0, used_bytes => 0, large => 0, large_heap_bytes => 0, holding => 0, held_bytes => 0,
                 holding_heap_bytes => 0, laden => 0, laden_bytes => 0, deep => 0, messages => 0, behind => 0, behind_messages => 0, deepest => 0, ready => 0,
                 suspended => 0, sample => not_asked}, More).
