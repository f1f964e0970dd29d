%% @doc The command line: the commands, their arguments, and the exit statuses (0 done, 1 failed, 2 misused, 3 beyond
%% the bound of `--fail-if', or something found by `diagnose'; 4 nothing found by `diagnose', which did not see
%% everything).
-module(ertslab_cli).

-include_lib("kernel/include/file.hrl").

-export([main/0, main/1, status/1, command/0, format_error/1]).
-export_type([reason/0]).

-type reason() :: no_text | no_command | no_linux | {wrong_arguments, ertslab_error:error()}
                | {has_a_blank, Word :: string()} | {no_log, Option :: atom(), Path :: string()}.

-define(STATUSES, #{failure => 1, usage => 2, beyond => 3, incomplete => 4}).

-import(ertslab_call, [experiment/0, otp/0, vm/2, json/0]).

%% @doc Runs the command in the arguments after `-extra', and ends the VM.
-spec main() -> no_return().
main() -> main_of(init:get_plain_arguments()).

%% @doc The same as the main function of an escript, which never uses a checkout, whatever the environment says.
-spec main([string()]) -> no_return().
main(Words) ->
    true = os:unsetenv("ERTSLAB_TOP"),
    main_of(Words).

-spec main_of([string()]) -> no_return().
main_of(Words) ->
    _ = io:setopts(standard_io, [{encoding, unicode}]),
    _ = io:setopts(standard_error, [{encoding, unicode}]),
    %% What goes wrong is said in a sentence, here and not by OTP's logger.
    ok = logger:set_primary_config(level, none),
    %% SIGTERM ends the VM as SIGINT does: at once, with a status that shows it. An orderly end would wait for the
    %% running measurement.
    ok = os:set_signal(sigterm, default),
    halt(status(Words)).

%% @doc Runs the command in these words. Returns the status with which the program ends.
-spec status([string()]) -> 0..4.
status(Words) ->
    try ended(Words)
    catch
        Class:Reason:Stack ->
            case is_read() of
                true -> defect(Class, Reason, Stack);
                false -> unread()
            end
    end.

%% A sentence that cannot be made is a defect, too.
ended(Words) ->
    try run(Words) of
        _ -> written()
    catch
        throw:{Kind, Thrown} when is_map_key(Kind, ?STATUSES) ->
            Sentences = [ertslab_advice:sentence(Error) || Error <- ertslab_error:each(Thrown)],
            lists:foreach(fun complain/1, Sentences),
            maps:get(Kind, ?STATUSES)
    end.

%% What was printed may still be on its way to the system, and fail there. (Releases before OTP 26 print by a port.)
written() ->
    _ = [drained(Port) || User <- [whereis(user)], is_pid(User), {links, Links} <- [process_info(User, links)],
                          Port <- Links, is_port(Port)],
    case is_read() of
        true -> 0;
        false -> unread()
    end.

drained(Port) ->
    case erlang:port_info(Port, queue_size) of
        {queue_size, Size} when Size > 0 ->
            timer:sleep(1),
            drained(Port);
        _ -> ok
    end.

%% Whether the output is still read. If not, as in `ertslab ... | head', the exception is no defect.
is_read() -> lists:all(fun(Device) -> io:request(Device, {put_chars, unicode, ""}) =:= ok end, [standard_io, standard_error]).

%% A reader that left wants no word. A file that takes no more does.
unread() ->
    case file:read_file_info("/dev/stdout") of
        {ok, #file_info{type = Type}} when Type =:= regular; Type =:= device ->
            complain("standard output cannot be written to, as on a full disk.");
        _ -> ok
    end,
    1.

complain(Text) ->
    _ = io:request(standard_error, {format, "ertslab: ~ts~n", [Text]}),
    ok.

%% An unexpected exception: prints one sentence, and writes the details to a file of the checkout, if there is one. A file of code
%% that is damaged is no defect.
defect(error, undef, [{Module, _, _, _} | _] = Stack) ->
    case code:ensure_loaded(Module) of
        {error, Why} ->
            complain(io_lib:format("its own module ~tw does not load (~tw); ~ts", [Module, Why, to_load(ertslab_paths:is_checkout())])),
            1;
        {module, _} -> told(error, undef, Stack)
    end;
defect(Class, Reason, Stack) -> told(Class, Reason, Stack).

to_load(true) -> "'./build.sh erl' compiles it again.";
to_load(false) -> ["the file ", escript:script_name(), " is damaged, or was removed or replaced meanwhile: copy it there again."].

told(Class, Reason, Stack) ->
    File = ertslab_paths:log("defect.txt"),
    Details = io_lib:format("~p~n", [{Class, Reason, Stack}]),
    Written = ertslab_paths:is_checkout() andalso filelib:ensure_dir(File) =:= ok andalso file:write_file(File, Details) =:= ok,
    complain(["this is a defect in ertslab itself", details(Written, File, Details)]),
    1.

details(true, File, _Details) -> ["; its details are in ", File, "."];
details(false, _File, Details) -> [": ", Details].

%% What follows `--' belongs to the VM that `erl' or `iex' starts. Of other commands it is arguments, not options. An
%% argument whose bytes are no valid text is not a list of
%% characters.
run(Words) ->
    lists:all(fun io_lib:char_list/1, Words) orelse ertslab_error:usage(?MODULE, no_text),
    {Own, Rest} = lists:splitwith(fun(Word) -> Word =/= "--" end, Words),
    case wants_help(Own) of
        _ when Own =:= ["--version"] -> io:put_chars(version());
        true -> io:put_chars(help(Own, command()));
        false -> dispatch(Own, Rest)
    end.

wants_help([]) -> true;
wants_help(Words) -> lists:member("--help", Words) orelse lists:member("-h", Words).

version() ->
    _ = application:load(ertslab),
    {ok, Version} = application:get_key(ertslab, vsn),
    io_lib:format("ertslab ~ts, on OTP ~ts~n", [Version, erlang:system_info(otp_release)]).

help(Words, #{commands := Commands} = Tree) ->
    case [Word || Word <- Words, is_map_key(Word, Commands)] of
        [Name | _] -> ertslab_help:command(Name, maps:get(Name, Commands));
        [] -> help_of_all(Tree, ertslab_paths:is_checkout())
    end.

%% The single file shows only what works without a checkout.
help_of_all(Tree, true) -> ertslab_help:commands(Tree);
help_of_all(#{commands := Commands} = Tree, false) ->
    Here = maps:filter(fun(_, Command) -> not maps:get(lab, Command, false) end, Commands),
    ertslab_help:commands(Tree#{commands := Here, examples := ["diagnose --node shop@host", "compare queue --vm /usr,~/.kerl/28"]},
                          lists:sort(maps:keys(maps:without(maps:keys(Here), Commands)))).

dispatch(Own, Rest) ->
    ok = must_be_here(Own),
    {Words, Behind} = for_the_vm(Own, Rest),
    case ertslab_arguments:parse(Words, command()) of
        {ok, Options, #{handler := Handler} = Command} ->
            Asked = Options#{command => list_to_atom(hd(Own)), rest => Behind, says => fun ertslab_advice:sentence/1},
            handled(Command, fun() -> Handler(Asked) end);
        {ok, _, _} -> ertslab_error:usage(?MODULE, no_command);
        {error, Error} -> ertslab_error:usage(?MODULE, {wrong_arguments, Error})
    end.

%% The launcher of a checkout makes the folder for what measured VMs load; the single file makes its own.
handled(#{measures := true}, Handle) ->
    case ertslab_paths:is_checkout() of
        true -> Handle();
        false ->
            os:type() =:= {unix, linux} orelse ertslab_error:failure(?MODULE, no_linux),
            ertslab_scratch:in(Handle)
    end;
handled(#{}, Handle) -> Handle().

-spec format_error(reason()) -> unicode:chardata().
format_error(no_text) -> "an argument is not valid UTF-8";
format_error(no_command) -> ["no command is named", see_help()];
format_error(no_linux) -> "measuring requires Linux; this is another system.";
format_error({wrong_arguments, {_, {wrong, Command, _}} = Error}) -> [ertslab_error:sentence(Error), see_help([Command, $\s])];
format_error({wrong_arguments, Error}) -> [ertslab_error:sentence(Error), see_help()];
format_error({no_log, Option, Path}) -> io_lib:format("--~ts is for a log, and there is no such file: ~ts", [Option, Path]);
format_error({has_a_blank, Word}) ->
    ["iex cannot take '", Word, "', because it contains a blank; move the clone to a path without blanks."].

see_help() -> see_help("").

see_help(Command) -> ["; see '", ertslab_paths:program(), " ", Command, "--help'"].

%% Checked before the other arguments, whose errors would be irrelevant then.
must_be_here([Name | _]) ->
    case command() of
        #{commands := #{Name := #{lab := true}}} -> ertslab_paths:is_checkout() orelse ertslab_paths:wants_the_lab(Name);
        #{} -> ok
    end,
    ok.

for_the_vm([Name | _] = Own, ["--" | Words]) when Name =:= "erl"; Name =:= "iex" -> {Own, Words};
for_the_vm(Own, Rest) -> {Own ++ Rest, []}.

%% @doc The tree of commands. Those with `lab' need built VMs, those with `measures' start VMs.
-spec command() -> ertslab_arguments:command().
command() ->
    #{help => "Finds out why an Erlang node is slow (memory layout, garbage collection, deep mailboxes), and proves with"
              " statistics whether a change makes it faster.",
      examples => ["diagnose --node shop@host", "compare hibernate --vm stock,tuned"],
      commands =>
          #{"list" => #{lab => true, help => "lists the experiments, and the VMs that are built",
                        examples => ["list"],
                        arguments => [json()], handler => fun ertslab_list:run/1},
            "doctor" => #{help => "reports what is built, what this machine can measure, and what is missing",
                          examples => ["doctor"],
                          arguments => [json()], handler => fun ertslab_doctor:run/1},
            "erl" => #{lab => true, help => "starts a VM; the arguments after -- go to it",
                       examples => ["erl --vm tuned"],
                       arguments => [vm("the variant", #{required => true}), otp()],
                       handler => fun start_erl/1},
            "iex" => #{lab => true, help => "starts Elixir's shell on a VM; the arguments after -- go to iex",
                       examples => ["iex --vm tuned -- -S mix"],
                       arguments => [vm("the variant", #{required => true}), otp()],
                       handler => fun start_iex/1},
            "compare" => #{measures => true, help => "compares VMs, flags or builds of a project by an experiment, in random pairs",
                           examples => ["compare hibernate --vm stock,tuned", "compare queue --vm /usr,~/.kerl/28",
                                        "compare mailbox_scan --flags \"+hmqd off_heap\"",
                                        "compare exp_mine.erl --code old=../old,new=../new"],
                           arguments => of_call(compare),
                           handler => fun ertslab_places:measure/1},
            "judges" => #{lab => true, help => "compares VMs by programs that others wrote, and writes one page with all results",
                          examples => ["judges --vm stock,tuned --only rabbitmq,web"],
                          arguments => [#{name => only, long => "-only", type => ertslab_option_types:names(),
                                          help => some_of(ertslab_judges:names())}
                                        | of_call(judges)],
                          handler => fun ertslab_judges:run/1},
            "time" => #{measures => true, help => "compares Erlang expressions, in random pairs",
                        examples => ["time 'lists:seq(1, N)' '[X || X <- lists:seq(1, N)]' --init 'N = 100'"],
                        arguments => of_call(time),
                        handler => fun ertslab_places:measure/1},
            "sweep" => #{lab => true, help => "measures an experiment over the values of one parameter",
                         examples => ["sweep hibernate --vm prefetch --over prefetch_distance=0,64,128"],
                         arguments => of_call(sweep),
                         handler => fun ertslab_places:measure/1},
            "bisect" => #{lab => true, help => "finds the commit of OTP that changed a metric of an experiment, a time or a count. It"
                                               " builds and measures commit after commit, until one of them is the cause with a"
                                               " probability of 95 %",
                          examples => ["bisect length --git ~/otp --good master --bad mine --metric dense"],
                          arguments => of_call(bisect), handler => fun ertslab_bisect:run/1},
            "follow" => #{lab => true, help => "measures every N-th commit of a history of OTP against the first one",
                          examples => ["follow length --git ~/otp --good master --bad mine --every 20"],
                          arguments => of_call(follow), handler => fun ertslab_follow:run/1},
            "report" => #{help => "shows results: as one page that opens offline, as text for a pull request, or as lines for"
                                  " benchstat",
                          examples => ["report results/hibernate-*", "report results/hibernate-* --format markdown",
                                       "report looks.jsonl --split '2026-11-26 14:05'"],
                          arguments => [#{name => dirs, nargs => nonempty_list,
                                          help => "folders of comparisons, which are shown side by side; or the log of 'diagnose"
                                                  " --watch --log'"},
                                        #{name => format, long => "-format",
                                          type => {atom, [Format || {Format, _} <- ertslab_report:formats()]},
                                          help => lists:append(lists:join(", ", [Says || {_, Says} <- ertslab_report:formats()]))},
                                        #{name => out, long => "-out", type => ertslab_option_types:path(),
                                          help => "the file to write. By default html goes to report.html in the folder, or to"
                                                  " results/report-TIME.html for several folders; the other formats go to standard"
                                                  " output"}
                                        | spans()],
                          handler => fun report/1},
            "diagnose" => #{help => "finds out why a live node is slow (mailboxes, collections, layout, memory), and reports what to"
                                    " change, and which command proves it. Exit status: 0 nothing found, 3 something found, 4"
                                    " nothing found, but not everything was inspected. With --census: 0 predicted, 4 no process"
                                    " could be traced",
                            examples => ["diagnose --node shop@host --cookie COOKIE", "diagnose --node shop@host --census"],
                            arguments => diagnose(), handler => fun ertslab_diagnose:run/1},
            "try" => #{help => "sets and unsets a flag of a live process in turns, and compares the processor time, collections and"
                               " memory of the process with the setting and without it. The flag is restored at the end",
                       examples => ["try --node shop@host '<0.80.0>' fullsweep_after=0"],
                       arguments => try_setting(), handler => fun ertslab_try:run/1},
            "advise" => #{help => "watches processes of a live node, and recommends on_heap or off_heap (message_queue_data) for each",
                          examples => ["advise --node shop@host 'order_.*'"],
                          arguments => [#{name => process,
                                          help => "a process identifier such as '<0.80.0>', or a regular expression that matches"
                                                  " registered names"},
                                        live_node(), cookie(),
                                        #{name => seconds, long => "-seconds",
                                          type => {integer, [{min, 1}, {max, 3600}]},
                                          help => "how long each process is watched (5 by default)"},
                                        json()],
                          handler => fun ertslab_advise:run/1},
            "flood" => #{lab => true, help => "floods a log server with messages, directly or through a dam, and shows every"
                                              " second how many messages wait and how many writes are made",
                         examples => ["flood direct", "flood dam"],
                         arguments => flood(), handler => fun ertslab_flood:run/1},
            "selftest" => #{lab => true, help => "measures how often verdicts are wrong, with identical and with different VMs in"
                                                 " simulated noise",
                            examples => ["selftest", "selftest --machine 20"],
                            arguments => selftest(), handler => fun ertslab_selftest:run/1},
            "perf" => #{lab => true, help => "shows where an experiment's time goes, as flame graphs and hottest functions. It"
                                             " needs perf. In Docker it also needs '--security-opt seccomp=unconfined', and, if"
                                             " kernel.perf_event_paranoid is over 2, '--user root --cap-add PERFMON'",
                        examples => ["perf hibernate --vm stock,prefetch"],
                        arguments => [experiment(), one_or_two_vms(), otp(), one_case(""),
                                      #{name => rounds, long => "-rounds",
                                        type => {integer, [{min, 1}, {max, 1000}]},
                                        help => "how often each metric repeats its iterations (20 by default); more rounds give"
                                                " more samples"},
                                      new_dir(), json()],
                        handler => fun ertslab_perf:run/1},
            "cachegrind" => #{lab => true, help => "counts instructions, cache misses, branches and mispredictions of each"
                                                   " function, with valgrind's caches of 32 KiB (D1) and 2 MiB (LL) and its branch"
                                                   " predictor, on the interpreter ('./build.sh otp --interpreter NAME' builds it)",
                              examples => ["cachegrind hibernate --vm stock,prefetch"],
                              arguments => [experiment(), one_or_two_vms(), otp(),
                                            one_case("; some defaults are smaller than for other commands, because valgrind is 50"
                                                     " times slower"),
                                            #{name => runs, long => "-runs",
                                              type => {integer, [{min, 2}, {max, 100}]},
                                              help => "runs whose counts are compared (3 by default)"},
                                            new_dir(), json()],
                              handler => fun ertslab_cachegrind:run/1},
            "audit" => #{help => "lists receives that scan a whole mailbox. With --timed, times calls while messages wait, and lists"
                                 " those that scan",
                         examples => ["audit path/to/project", "audit --node shop@host", "audit --timed gen_tcp:"],
                         arguments => audit(), handler => fun ertslab_audit:run/1}}}.

%% The single file has none.
some_of([]) -> "NAME,NAME...: only these";
some_of(Names) -> "NAME,NAME...: some of " ++ lists:append(lists:join(", ", Names)).

of_call(Command) -> [ertslab_advice:argument(Argument) || Argument <- ertslab_call:arguments(Command)].

selftest() ->
    [#{name => comparisons, long => "-comparisons", type => {integer, [{min, 1}, {max, 100000}]},
       help => "comparisons to simulate for each kind of noise and each effect (1000 by default)"},
     #{name => seed, long => "-seed", type => {integer, [{min, 0}, {max, 1 bsl 128}]},
       help => "seed of the random numbers (1 by default)"},
     #{name => bisect, long => "-bisect", type => boolean,
       help => "instead of comparisons, bisect simulated histories, and count how often a wrong commit is named (200 histories of"
               " each kind by default; --comparisons changes it)"},
     #{name => machine, long => "-machine", type => {integer, [{min, 1}, {max, 1000}]},
       help => "instead of simulations, make this many real comparisons of stock with its copy on this machine, of about a minute"
               " each"},
     #{name => record, long => "-record", type => boolean,
       help => "instead of simulations, record the noise of this machine, by measuring stock and its copy (5 minutes)"},
     #{name => replay, long => "-replay",
       help => "a recording to draw comparisons from, instead of those that come with ertslab"},
     #{name => pairs, long => "-pairs", type => {integer, [{min, 20}, {max, 1000}]},
       help => "with --record, the number of pairs (60 by default)"},
     #{name => out, long => "-out", type => ertslab_option_types:path(), help => "with --machine or --record, the folder for"
           " samples and results; a folder that holds some of the comparisons is continued"},
     #{name => accept_host, long => "-accept-host", type => boolean,
       help => "with --machine or --record, measure even if this machine is not fit to measure on"},
     otp(), json()].

audit() ->
    [#{name => target, nargs => list, required => false,
       help => "an application, a .beam, .erl or .ex file, a folder of modules, a project of rebar3 or mix, a release, an archive"
               " (.ez) or an escript; with --timed, a part of a call's name in the catalogue (by default all calls)"},
     (live_node())#{required => false, help => "instead of targets, a live node, as name@host: the modules that it has loaded,"
                                               " without OTP's own"},
     cookie(),
     #{name => static, long => "-static", type => boolean,
       help => "judge every receive by the compiler's report (the default)"},
     #{name => timed, long => "-timed", type => boolean,
       help => "time calls with 0, 10 thousand and 100 thousand messages waiting"},
     #{name => call, long => "-call", action => append,
       help => "with --timed, a call with literal arguments instead of the catalogue, such as 'file:read_file_info(\"/tmp\")'"},
     #{name => page, long => "-page",
       help => "with --timed, write a page: the calls that scan on each built release (or on that of --otp), and the reason"},
     json(),
     #{name => sarif, long => "-sarif", type => boolean, help => "SARIF 2.1.0 on standard output"},
     #{name => baseline, long => "-baseline",
       help => "a file of known findings. Shows only findings that are not in the file. Exits with 1 if there are any, or if code"
               " could not be judged"},
     #{name => write_baseline, long => "-write-baseline", help => "write the findings into such a file"},
     vm("the variant whose compiler and libraries are used (stock by default)", #{}),
     (otp())#{help => "its OTP release (by default the oldest that is built and can read the modules)"}].

diagnose() ->
    [live_node(), cookie(),
     #{name => budget, long => "-budget", type => ertslab_option_types:duration(),
       help => "the time limit of the inspection, and of waiting for a slow node (10s by default)"},
     #{name => nif, long => "-nif", type => boolean,
       help => "also measure where the list cells of large states lie. This loads cons_spacing into the node, and keeps up to five"
               " idle servers busy, at about 10 ns a cell"},
     #{name => out, long => "-out", type => ertslab_option_types:path(),
       help => "also write the report as one page of HTML into this file"},
     #{name => watch, long => "-watch", type => boolean, help => "inspect repeatedly, and print one line for each look, until interrupted"},
     #{name => log, long => "-log", type => ertslab_option_types:path(),
       help => "with --watch, append a line of JSON for each look to this file instead of printing it. The file never exceeds 8"
               " MB: older looks become sparser. If the node is down, waits until it is back. 'report FILE' draws the file"},
     #{name => every, long => "-every", type => ertslab_option_types:duration(), help => "with --log, the time from look to look"
           " (1m by default)"},
     #{name => looks, long => "-looks", type => {integer, [{min, 1}]}, help => "with --watch, end after this many looks"},
     #{name => collect, long => "-collect",
       help => "'<0.80.0>': instead of an inspection, collect the garbage of this process, and report the size of the freed memory."
               " no: inspect, but collect no process"},
     #{name => census, long => "-census", type => boolean,
       help => "instead of an inspection, measure where the node's time goes and what its processes send and collect, and predict"
               " what the variant 'tuned' would save. Forty processes are traced, for up to 500 events of each kind at a time"},
     #{name => for, long => "-for", type => ertslab_option_types:duration(),
       help => "with --census, how long to measure (5s by default, 1s to 5m)"},
     json()].

try_setting() ->
    [#{name => process,
       help => "a process identifier such as '<0.80.0>', or a registered name. The process must be a gen_server, gen_statem,"
               " gen_event or supervisor, or of another behaviour that takes sys messages"},
     #{name => setting, type => ertslab_try_setting:type(),
       help => "fullsweep_after=0, min_heap_size=10000 (words), min_bin_vheap_size=1000000 (words) or message_queue_data=off_heap,"
               " with the values that process_flag/2 takes"},
     live_node(), cookie(),
     #{name => turns, long => "-turns", type => {integer, [{min, ertslab_try_result:fewest_pairs()}, {max, 1000}]},
       help => "the number of turns with the setting, and of turns without it; they come in pairs, in random order (12 by default)"},
     #{name => for, long => "-for", type => ertslab_option_types:duration(), help => "how long all turns take (60s by default)"},
     json()].

live_node() -> #{name => node, long => "-node", required => true, help => "the node, as name@host"}.

cookie() -> #{name => cookie, long => "-cookie",
              help => "the node's cookie (by default that of ~/.erlang.cookie; a release has it in vm.args or in releases/COOKIE)."
                      " While the command runs, all users of the machine can see it in ps"}.

flood() ->
    [#{name => way, help => "'direct', or 'dam' (through the library dam)"},
     #{name => driver, long => "-driver",
       help => "how the server writes. async (the default), output: replies without a reference, so each wait scans the mailbox."
               " tagged, control: no scan"},
     #{name => messages, long => "-messages", type => {integer, [{min, 1}, {max, 1_000_000_000}]},
       help => "messages that are queued before the server takes the first one (1000000 by default)"},
     #{name => seconds, long => "-seconds", type => {integer, [{min, 1}, {max, 86_400}]},
       help => "the longest time for writing them (60 by default); messages still queued then are counted"},
     #{name => sink, long => "-sink",
       help => "a new file to write to, or a device such as /dev/null (by default a temporary file)"},
     vm("the variant (stock by default)", #{}), otp(), json()].

spans() ->
    [#{name => Name, long => [$- | atom_to_list(Name)], type => ertslab_option_types:time(), help => "for a log, " ++ Help}
     || {Name, Help} <- [{from, "only the looks from this time on, as '2026-11-26 14:05' (UTC with Z at the end)"},
                         {until, "only the looks until this time"},
                         {split, "compare the looks before and after this time, such as that of a deployment"}]].

report(#{dirs := Dirs} = Options) ->
    Shown = without_pages(Dirs),
    case {lists:any(fun filelib:is_regular/1, Shown), [Name || Name <- [from, until, split], is_map_key(Name, Options)]} of
        {true, _} -> ertslab_watch_report:run(Options#{dirs := Shown});
        {false, []} -> ertslab_report:run(Options#{dirs := Shown});
        {false, [Name | _]} -> ertslab_error:usage(?MODULE, {no_log, Name, hd(Shown)})
    end.

%% The page that an earlier call for several folders wrote lies beside them, so `report results/*' names it, too.
without_pages(Dirs) ->
    case lists:any(fun filelib:is_dir/1, Dirs) of
        true -> [Dir || Dir <- Dirs, filename:extension(Dir) =/= ".html" orelse not filelib:is_regular(Dir)];
        false -> Dirs
    end.

one_or_two_vms() -> vm("the variant, or two to compare: A,B", #{required => true}).

one_case(More) ->
    #{name => param, long => "-param", action => append, type => ertslab_option_types:assignment(),
      help => "NAME=VALUE: the value of a parameter, instead of the experiment's default" ++ More}.

new_dir() ->
    #{name => out, long => "-out", type => ertslab_option_types:path(), help => "folder for the results, new or empty"}.

%% Prints the command that the launcher then becomes: its words, each ended by a zero byte.
start_erl(#{vm := Name, rest := Args} = Options) ->
    VM = ertslab_inventory:find(ertslab_text:binary(Name), ertslab_inventory:release(Options)),
    io:put_chars([[Word, 0] || Word <- ertslab_vm:command(VM, Args)]).

%% The same for iex, which takes its emulator from PATH and splits its options at blanks.
start_iex(#{vm := Name, rest := Args} = Options) ->
    [Erl | Words] = ertslab_vm:command(ertslab_inventory:find(ertslab_text:binary(Name), ertslab_inventory:release(Options)), []),
    _ = [ertslab_error:failure(?MODULE, {has_a_blank, Word}) || Word <- Words, lists:member($\s, Word)],
    Environment = ["PATH=" ++ filename:dirname(Erl) ++ ":" ++ os:getenv("PATH"),
                   "ELIXIR_ERL_OPTIONS=" ++ lists:append(lists:join(" ", Words))],
    io:put_chars([[Word, 0] || Word <- ["env" | Environment] ++ [ertslab_os_command:find("iex", "elixir") | Args]]).
