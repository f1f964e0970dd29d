%% @doc The page of the calls that scan: what the catalogue gave on each
%% release, and why. The causes are those that stand beside its entries.
%%
%% All functions are pure.
-module(ertslab_audit_page).

-export([markdown/3]).

%% @doc The page, from the versions of OTP with their results. The load is that
%% of the machine meanwhile, since other programs add to every time.
-spec markdown([{Version :: binary(), [mailbox_audit_timed:result()]}, ...], ertslab_host:machine(),
               Load :: binary()) -> unicode:chardata().
markdown(Releases, #{cpu := Cpu, cores := Cores, kernel := Kernel}, Load) ->
    Versions = lists:join(" and ", [Version || {Version, _} <- Releases]),
    [heading(Versions, Releases),
     "\n## Those that scan\n\n", slopes(Releases),
     "\n## Why\n\n", causes(Releases),
     "\n## Those that do not\n\n", flat(Releases), others(Releases),
     io_lib:format("\nMachine: ~ts, cores used: ~b, Linux ~ts, load average of a quarter of an hour: ~ts."
                   "\nOther programs only add to a slope, and most to those of calls that others answer.\n",
                   [Cpu, Cores, Kernel, Load])].

heading(Versions, [{_, Results} | _]) ->
    ["# Calls that scan\n\n",
     io_lib:format("Of ~b calls of OTP that are timed in a process with 0, 10 thousand and 100 thousand messages"
                   " waiting\nthat nobody takes, these take longer the more there are: each looks at all of them,"
                   " at least once\na call. Stock OTP ~ts. `./ertslab audit --timed --page doc/calls_that_scan.md`"
                   " makes this page from the\ncatalogue in `erl_src/mailbox_audit`, where the causes stand beside"
                   " the calls.\n", [length(Results), Versions])].

slopes(Releases) ->
    ["| call |", [[" ", Version, ", ns a message | with 0 | with 100,000 |"] || {Version, _} <- Releases],
     "\n|---|", [["---|---|---|"] || _ <- Releases], $\n,
     [["| `", Name, "` |", [cells(of_name(Name, Results)) || {_, Results} <- Releases], $\n]
      || Name <- scanning(Releases)]].

%% In the order of the catalogue, if a call scans on any of the releases.
scanning([{_, Results} | _] = Releases) ->
    [Name || #{name := Name} <- Results,
             lists:any(fun({_, Others}) -> verdict(Name, Others) =:= scans end, Releases)].

of_name(Name, Results) ->
    [Result] = [Result || #{name := N} = Result <- Results, N =:= Name],
    Result.

verdict(Name, Results) -> maps:get(verdict, of_name(Name, Results)).

cells(#{slope := none, verdict := Verdict}) -> io_lib:format(" ~ts | | |", [Verdict]);
cells(#{verdict := Verdict, slope := #{estimate := Slope, low := Low, high := High}, times := Times}) ->
    [io_lib:format(" ~.1f (~.1f to ~.1f)", [Slope, Low, High]),
     [[" ", atom_to_list(Verdict)] || Verdict =/= scans],
     " | ", ertslab_text:duration(element(2, hd(Times))),
     " | ", ertslab_text:duration(element(2, lists:last(Times))), " |"].

causes([{_, Results} | _] = Releases) ->
    Scanning = scanning(Releases),
    Caused = [{Cause, Name} || #{name := Name, cause := Cause} <- Results, lists:member(Name, Scanning)],
    [["- ", Cause, ": ", names([Name || {C, Name} <- Caused, C =:= Cause]), ".\n"]
     || Cause <- lists:uniq([Cause || {Cause, _} <- Caused])].

flat([{_, Results} | _] = Releases) ->
    [names([Name || #{name := Name} <- Results,
                    lists:all(fun({_, Others}) -> verdict(Name, Others) =:= flat end, Releases)]), ".\n"].

%% Neither flat everywhere nor scanning anywhere: each with what was said of it.
others([{_, Results} | _] = Releases) ->
    Odd = [Name || #{name := Name} <- Results, Verdicts <- [[verdict(Name, R) || {_, R} <- Releases]],
                   not lists:member(scans, Verdicts), lists:any(fun(Verdict) -> Verdict =/= flat end, Verdicts)],
    [["\nNeither could be told of:\n\n" || Odd =/= []],
     [["- `", Name, "`: ", lists:join(", ", [odd(Version, of_name(Name, R)) || {Version, R} <- Releases]), ".\n"]
      || Name <- Odd]].

odd(Version, #{verdict := Verdict, slope := none, reason := Reason}) ->
    io_lib:format("~ts on ~ts (~ts)", [Verdict, Version, Reason]);
odd(Version, #{verdict := Verdict, slope := #{low := Low, high := High}}) ->
    io_lib:format("~ts on ~ts (~.1f to ~.1f ns a message)", [Verdict, Version, Low, High]).

names(Names) -> lists:join(", ", [["`", Name, "`"] || Name <- Names]).
