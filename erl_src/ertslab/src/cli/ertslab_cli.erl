%% @doc The command line: the commands, their arguments, and the exit statuses (0 done, 1 failed, 2 misused, 3 beyond
%% the bound of `--fail-if', or something found by `diagnose'; 4 nothing found by `diagnose', which did not see
%% everything).
-module(ertslab_cli).

-include_lib("kernel/include/file.hrl").

-export([main/0, main/1, command/0, format_error/1]).
-export_type([reason/0]).

-type reason() :: no_text | no_command | no_linux | {wrong_arguments, ertslab_error:error()} | {takes_nothing_behind, Command :: string()}
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

status(Words) ->
    try run(Words) of
        _ -> written()
    catch
        throw:{Kind, Error} when is_map_key(Kind, ?STATUSES) ->
            lists:foreach(fun(One) -> complain(ertslab_advice:sentence(One)) end, lists:flatten([Error])),
            maps:get(Kind, ?STATUSES);
        Class:Reason:Stack ->
            case is_read() of
                true -> defect(Class, Reason, Stack);
                false -> unread()
            end
    end.

%% What was printed may still be on its way to the system, and fail there. (Releases before OTP 26 print by a port.)
written() ->
    _ = [drained(Port) || User <- [whereis(user)], is_pid(User), {links, Links} <- [process_info(User, links)], Port <- Links, is_port(Port)],
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

%% An unexpected exception: prints one sentence, and writes the details to a file of the checkout, if there is one.
defect(Class, Reason, Stack) ->
    File = ertslab_paths:log("defect.txt"),
    Details = io_lib:format("~p~n", [{Class, Reason, Stack}]),
    Written = ertslab_paths:is_checkout() andalso filelib:ensure_dir(File) =:= ok andalso file:write_file(File, Details) =:= ok,
    complain(["this is a defect in ertslab itself", details(Written, File, Details)]),
    1.

details(true, File, _Details) -> ["; its details are in ", File, "."];
details(false, _File, Details) -> [": ", Details].

%% What follows `--' belongs to the VM that `erl' starts. An argument whose bytes are no valid text is not a list of
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
        [] -> ertslab_help:commands(Tree)
    end.

dispatch(Own, Rest) ->
    ok = must_be_here(Own),
    case ertslab_arguments:parse(Own, command()) of
        {ok, _, #{handler := _}} when tl(Rest) =/= [], hd(Own) =/= "erl", hd(Own) =/= "iex" ->
            ertslab_error:usage(?MODULE, {takes_nothing_behind, hd(Own)});
        {ok, Options, #{handler := Handler} = Command} ->
            Asked = Options#{command => list_to_atom(hd(Own)), rest => drop_separator(Rest), says => fun ertslab_advice:sentence/1},
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
format_error(no_text) -> "a word of the call is no text in UTF-8";
format_error(no_command) -> ["no command is named", see_help()];
format_error(no_linux) -> "measuring wants Linux.";
format_error({wrong_arguments, Error}) -> [ertslab_error:sentence(Error), see_help()];
format_error({takes_nothing_behind, Command}) -> [Command, " takes nothing behind --; that is for erl and iex"];
format_error({no_log, Option, Path}) -> io_lib:format("--~ts is for a log, and there is no such file: ~ts", [Option, Path]);
format_error({has_a_blank, Word}) -> ["iex cannot be told of ", Word, ", which has a blank in it."].

see_help() -> ["; see '", ertslab_paths:program(), " --help'"].

%% Checked before the other arguments, whose errors would be irrelevant then.
must_be_here([Name | _]) ->
    case command() of
        #{commands := #{Name := #{lab := true}}} -> ertslab_paths:is_checkout() orelse ertslab_paths:wants_the_lab(Name);
        #{} -> ok
    end,
    ok.

drop_separator(["--" | Args]) -> Args;
drop_separator([]) -> [].

%% @doc The tree of commands. Those with `lab' need built VMs, those with `measures' start VMs.
-spec command() -> ertslab_arguments:command().
command() ->
    #{help => "Shows, explains and proves slowdowns from memory layout and deep mailboxes"
              " in the Erlang VM.",
      commands =>
          #{"list" => #{lab => true, help => "experiments, and the VMs that are built",
                        arguments => [json()], handler => fun ertslab_list:run/1},
            "doctor" => #{help => "what is built, what this machine can measure, what is missing",
                          arguments => [json()], handler => fun ertslab_doctor:run/1},
            "erl" => #{lab => true, help => "starts a VM; what follows -- goes to it",
                       arguments => [vm("the variant", #{required => true}), otp()],
                       handler => fun start_erl/1},
            "iex" => #{lab => true, help => "starts Elixir's shell on a VM; what follows -- goes to iex, as -S mix",
                       arguments => [vm("the variant", #{required => true}), otp()],
                       handler => fun start_iex/1},
            "compare" => #{measures => true, help => "measures an experiment on several VMs, in random pairs",
                           arguments => of_call(compare),
                           handler => fun ertslab_places:measure/1},
            "judges" => #{lab => true, help => "measures programs that others wrote on several VMs, and says on one page what they make of them",
                          arguments => [#{name => only, long => "-only", type => ertslab_option_types:names(),
                                          help => some_of(ertslab_judges:names())}
                                        | of_call(judges)],
                          handler => fun ertslab_judges:run/1},
            "time" => #{measures => true, help => "measures Erlang expressions, in random pairs",
                        arguments => of_call(time),
                        handler => fun ertslab_places:measure/1},
            "sweep" => #{lab => true, help => "measures an experiment over the values of one parameter",
                         arguments => of_call(sweep),
                         handler => fun ertslab_places:measure/1},
            "bisect" => #{lab => true, help => "which commit of OTP made an experiment slower: builds and measures those that tell"
                                  " most, until 95 % of the chance lie on one",
                          arguments => of_call(bisect), handler => fun ertslab_bisect:run/1},
            "follow" => #{lab => true, help => "how an experiment went over a history of OTP: each so many commits beside the first",
                          arguments => of_call(follow), handler => fun ertslab_follow:run/1},
            "report" => #{help => "what results say: one page that opens offline, text for a pull"
                                  " request, or lines for benchstat",
                          arguments => [#{name => dirs, nargs => nonempty_list,
                                          help => "folders of comparisons; several are set side by side. Or the log of 'diagnose --watch --log'"},
                                        #{name => format, long => "-format",
                                          type => {atom, [html, table, markdown, benchstat, iterations]},
                                          help => "html (by default), table, markdown, benchstat, or iterations: how"
                                                  " single iterations are spread"},
                                        #{name => out, long => "-out", type => ertslab_option_types:path(),
                                          help => "the file to write, in place of report.html in the folder"
                                                  " (html) or of standard output"}
                                        | spans()],
                          handler => fun report/1},
            "diagnose" => #{help => "says why a live node is slow: mailboxes, collections, layout, memory; what to change,"
                                    " and the command that proves it (exit status 3 where something is found, 4 where nothing is but not everything"
                                    " was seen)",
                            arguments => diagnose(), handler => fun ertslab_diagnose:run/1},
            "advise" => #{help => "looks at processes of a live node, and says which message_queue_data suits"
                                  " them by what was measured",
                          arguments => [#{name => process,
                                          help => "a process identifier as '<0.80.0>', or a regular expression"
                                                  " that registered names match"},
                                        live_node(), cookie(),
                                        #{name => seconds, long => "-seconds",
                                          type => {integer, [{min, 1}, {max, 3600}]},
                                          help => "how long each is looked at (5 by default)"},
                                        json()],
                          handler => fun ertslab_advise:run/1},
            "flood" => #{lab => true, help => "floods a log server with messages, directly or through a dam, and"
                                 " shows every second what waits and how many writes are made",
                         arguments => flood(), handler => fun ertslab_flood:run/1},
            "selftest" => #{lab => true, help => "shows that it is honest: identical and different VMs in simulated"
                                    " noise, and how often what is said of them is wrong",
                            arguments => selftest(), handler => fun ertslab_selftest:run/1},
            "perf" => #{lab => true, help => "shows where an experiment's time goes, as flame graphs and hottest"
                                " functions; wants perf, in Docker '--security-opt"
                                " seccomp=unconfined', and where kernel.perf_event_paranoid is"
                                " over 2 also '--user root --cap-add PERFMON'",
                        arguments => [experiment(), one_or_two_vms(), otp(), one_case(""),
                                      #{name => rounds, long => "-rounds",
                                        type => {integer, [{min, 1}, {max, 1000}]},
                                        help => "how often each metric makes its iterations (20"
                                                " by default); more give more samples"},
                                      new_dir(), json()],
                        handler => fun ertslab_perf:run/1},
            "cachegrind" => #{lab => true, help => "counts instructions, cache misses, branches and mispredictions of"
                                      " each function, under valgrind with caches of 32 KiB (D1) and"
                                      " 2 MiB (LL) and its branch predictor, on the interpreter"
                                      " (./build.sh otp --interpreter NAME)",
                              arguments => [experiment(), one_or_two_vms(), otp(),
                                            one_case("; valgrind is 50 times slower, so some are"
                                                     " smaller than for other commands"),
                                            #{name => runs, long => "-runs",
                                              type => {integer, [{min, 2}, {max, 100}]},
                                              help => "runs whose counts are compared (3 by default)"},
                                            new_dir(), json()],
                              handler => fun ertslab_cachegrind:run/1},
            "audit" => #{help => "finds what looks through a whole mailbox: receives of compiled modules,"
                                 " or calls that are timed with messages waiting",
                         arguments => audit(), handler => fun ertslab_audit:run/1}}}.

%% The single file has none.
some_of([]) -> "NAME,NAME...: only these";
some_of(Names) -> "NAME,NAME...: some of " ++ lists:append(lists:join(", ", Names)).

of_call(Command) -> [ertslab_advice:argument(Argument) || Argument <- ertslab_call:arguments(Command)].

selftest() ->
    [#{name => comparisons, long => "-comparisons", type => {integer, [{min, 1}, {max, 100000}]},
       help => "comparisons to simulate in each kind of noise and for each effect (1000 by default)"},
     #{name => seed, long => "-seed", type => {integer, [{min, 0}, {max, 1 bsl 128}]},
       help => "seed of all that is drawn (1 by default)"},
     #{name => bisect, long => "-bisect", type => boolean,
       help => "in place of comparisons, histories to bisect: how often a wrong commit is named (200 of each kind, or"
               " --comparisons)"},
     #{name => machine, long => "-machine", type => {integer, [{min, 1}, {max, 1000}]},
       help => "in place of simulations, so many real comparisons of stock with its copy here,"
               " of about a minute each"},
     #{name => record, long => "-record", type => boolean,
       help => "in place of simulations, keep the noise of this machine: what stock and its copy measure (5 minutes)"},
     #{name => replay, long => "-replay",
       help => "a recording to draw comparisons from, in place of those that come with ertslab"},
     #{name => pairs, long => "-pairs", type => {integer, [{min, 20}, {max, 1000}]},
       help => "with --record, so many pairs (60 by default)"},
     #{name => out, long => "-out", type => ertslab_option_types:path(), help => "with --machine or --record, folder for samples and results; one that"
                                            " holds some of the comparisons is continued"},
     #{name => accept_host, long => "-accept-host", type => boolean,
       help => "with --machine or --record, measure also where this machine is not fit"},
     otp(), json()].

audit() ->
    [#{name => target, nargs => list, required => false,
       help => "an application, a .beam, .erl or .ex file, a folder of modules, a project of rebar3 or mix, a release, an"
               " archive (.ez) or an escript; with --timed, a part of a call's name in the catalogue (none: all of it)"},
     (live_node())#{required => false, help => "in place of targets, a node that runs, as name@host: its modules that are not"
                                               " OTP's own"},
     cookie(),
     #{name => static, long => "-static", type => boolean,
       help => "judge every receive by what the compiler says of it (by default)"},
     #{name => timed, long => "-timed", type => boolean,
       help => "time calls with 0, 10 thousand and 100 thousand messages waiting"},
     #{name => call, long => "-call", action => append,
       help => "with --timed, a call with literal arguments in place of the catalogue, as"
               " 'file:read_file_info(\"/tmp\")'"},
     #{name => page, long => "-page",
       help => "with --timed, write a page of what scans on each release that is built (or on that of --otp), and why"},
     json(),
     #{name => sarif, long => "-sarif", type => boolean, help => "SARIF 2.1.0 on standard output"},
     #{name => baseline, long => "-baseline",
       help => "a file of known findings: only others are shown, and fail the call, as does what is not judged"},
     #{name => write_baseline, long => "-write-baseline", help => "write the findings into such a file"},
     vm("the variant whose compiler and libraries are used (stock by default)", #{}),
     (otp())#{help => "its OTP release (by default the oldest that is built and can read the modules)"}].

diagnose() ->
    [live_node(), cookie(),
     #{name => budget, long => "-budget", type => ertslab_option_types:duration(),
       help => "the longest that looking may take there, and that a slow node is waited for, as 10s (the default)"},
     #{name => nif, long => "-nif", type => boolean,
       help => "also measure where the list cells of large states lie: loads cons_spacing into the node, and busies five"
               " idle servers for about 10 ns a cell"},
     #{name => out, long => "-out", type => ertslab_option_types:path(), help => "also write the report as one page of HTML into this file"},
     #{name => watch, long => "-watch", type => boolean, help => "look again and again: a line a look, until interrupted"},
     #{name => log, long => "-log", type => ertslab_option_types:path(),
       help => "with --watch, a line of JSON a look into this file, in place of one in the terminal, for days: it never holds more than 8 MB,"
               " older looks become sparser, and a node that is gone is waited for; 'report FILE' draws it"},
     #{name => every, long => "-every", type => ertslab_option_types:duration(), help => "with --log, a look each so long (1m by default)"},
     #{name => looks, long => "-looks", type => {integer, [{min, 1}]}, help => "with --watch, end after so many"},
     #{name => collect, long => "-collect",
       help => "'<0.80.0>': in place of looking, collect the garbage of this process, and say what it gave back; no: look, but"
               " collect no process to see what lives in it"},
     json()].

live_node() -> #{name => node, long => "-node", required => true, help => "the node, as name@host"}.

cookie() -> #{name => cookie, long => "-cookie", help => "its cookie (that of ~/.erlang.cookie by default)"}.

flood() ->
    [#{name => way, help => "direct, or dam: a back-pressure library in front of the server"},
     #{name => driver, long => "-driver",
       help => "how the server writes: async (by default) or output, whose answers carry no"
               " reference, tagged or control"},
     #{name => messages, long => "-messages", type => {integer, [{min, 1}, {max, 1_000_000_000}]},
       help => "messages that are there before the server takes the first one (1000000 by default)"},
     #{name => seconds, long => "-seconds", type => {integer, [{min, 1}, {max, 86_400}]},
       help => "the longest time to write them in (60 by default); what waits then is counted"},
     #{name => sink, long => "-sink",
       help => "the file to write, a new one, or a device such as /dev/null (a file that is"
               " removed afterwards by default)"},
     vm("the variant (stock by default)", #{}), otp(), json()].

spans() ->
    [#{name => Name, long => [$- | atom_to_list(Name)], type => ertslab_option_types:time(), help => "of a log, " ++ Help}
     || {Name, Help} <- [{from, "the looks from this time on, as '2026-11-26 14:05' (UTC with Z at the end)"}, {until, "the looks until this time"},
                         {split, "what changed at this time, as that of a deployment"}]].

report(#{dirs := Dirs} = Options) ->
    case {lists:any(fun filelib:is_regular/1, Dirs), [Name || Name <- [from, until, split], is_map_key(Name, Options)]} of
        {true, _} -> ertslab_watch_report:run(Options);
        {false, []} -> ertslab_report:run(Options);
        {false, [Name | _]} -> ertslab_error:usage(?MODULE, {no_log, Name, hd(Dirs)})
    end.

one_or_two_vms() -> vm("the variant, or two to set side by side: A,B", #{required => true}).

one_case(More) ->
    #{name => param, long => "-param", action => append, type => ertslab_option_types:assignment(),
      help => "NAME=VALUE: the value of a parameter, in place of the experiment's own" ++ More}.

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
