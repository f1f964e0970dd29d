%% @doc The page about calls that scan: the catalogue's results on each release, and the causes, which are stored with
%% the catalogue's entries.
%%
%% All functions are pure.
-module(ertslab_audit_page).

-export([markdown/4]).

%% @doc The page, from OTP versions with their results. It also reports the load of the machine, since other programs
%% add to every time, and the day of the measurement.
-spec markdown([{Version :: binary(), [mailbox_audit_timed:result()]}, ...], ertslab_host:machine(),
               Load :: binary(), Day :: calendar:date()) -> unicode:chardata().
markdown(Releases, #{cpu := Cpu, cores := Cores, kernel := Kernel}, Load, {Year, Month, Date}) ->
    Versions = lists:join(" and ", [Version || {Version, _} <- Releases]),
    [heading(Versions, Releases),
     "\n## Calls that scan, and their cost\n\n", slopes(Releases),
     "\n## Why they scan\n\n", causes(Releases),
     "\n## Calls that do not scan\n\n", flat(Releases), others(Releases),
     io_lib:format("\nMachine: ~ts, cores used: ~b, Linux ~ts, load average (15"
                   "\nminutes): ~ts. Measured on ~4..0b-~2..0b-~2..0b. Other programs on the machine can only increase a"
                   "\nslope. The slopes of calls that wait for another process increase most.\n",
                   [Cpu, Cores, Kernel, Load, Year, Month, Date])].

heading(Versions, [{_, Results} | _]) ->
    ["# Calls that scan\n\n",
     io_lib:format("This page is for anyone whose process has a long message queue. It lists the calls of OTP that are"
                   "\nslow in such a process, their cost, and the cause. We timed ~b calls on stock OTP ~ts,"
                   "\nin a process with 0, 10,000 and 100,000 queued messages that no receive matches. Each call"
                   "\nin the first table [scans](glossary.md#scan) the whole queue at least once, so its time grows with"
                   "\nthe queue length."
                   "\n\nIn a clone in which OTP is built, `./ertslab audit --timed --page doc/calls_that_scan.md` generates"
                   "\nthis page. The calls and the causes come from the catalogue in `erl_src/mailbox_audit`.\n", [length(Results), Versions])].

slopes(Releases) ->
    ["For each release, the table has three columns. The first is the number of nanoseconds by which each"
     "\nqueued message lengthens a call (the [slope](glossary.md#slope)), with its 95 % interval. The second"
     "\ncolumn is the time of a call with an empty queue. The third column is the time of a call with"
     "\n100,000 queued messages.\n\n",
     "| call |", [[" ", Version, ", ns a message | with 0 | with 100,000 |"] || {Version, _} <- Releases],
     "\n|---|", [["---|---|---|"] || _ <- Releases], $\n,
     [["| `", Name, "` |", [cells(of_name(Name, Results)) || {_, Results} <- Releases], $\n]
      || Name <- scanning(Releases)]].

%% The calls that scan on any of the releases, in the order of the catalogue.
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
    ["A receive that begins at a [marker](glossary.md#receive-marker) does not scan. A receive begins at a"
     "\nmarker if all its clauses match a reference that was made just before the request.\n\n| calls | cause |\n|---|---|\n",
     [["| ", names([Name || {C, Name} <- Caused, C =:= Cause]), " | ", Cause, " |\n"]
      || Cause <- lists:uniq([Cause || {Cause, _} <- Caused])]].

flat([{_, Results} | _] = Releases) ->
    ["The time of these calls does not grow with the number of waiting messages.\n\n",
     lines([Name || #{name := Name} <- Results,
                    lists:all(fun({_, Others}) -> verdict(Name, Others) =:= flat end, Releases)]), ".\n"].

%% The calls that are neither flat on all releases nor scanning on any, with their verdicts.
others([{_, Results} | _] = Releases) ->
    Odd = [Name || #{name := Name} <- Results, Verdicts <- [[verdict(Name, R) || {_, R} <- Releases]],
                   not lists:member(scans, Verdicts), lists:any(fun(Verdict) -> Verdict =/= flat end, Verdicts)],
    [["\n## Undecided\n\n" || Odd =/= []],
     [["- `", Name, "`: ", lists:join(", ", [odd(Version, of_name(Name, R)) || {Version, R} <- Releases]), ".\n"]
      || Name <- Odd]].

odd(Version, #{verdict := Verdict, slope := none, reason := Reason}) ->
    io_lib:format("~ts on ~ts (~ts)", [Verdict, Version, Reason]);
odd(Version, #{verdict := Verdict, slope := #{low := Low, high := High}}) ->
    io_lib:format("~ts on ~ts (~.1f to ~.1f ns a message)", [Verdict, Version, Low, High]).

names(Names) -> lists:join(", ", [quoted(Name) || Name <- Names]).

%% The names in lines of at most 100 columns.
lines([]) -> [];
lines([First | Names]) ->
    {Others, _} = lists:mapfoldl(fun beside/2, string:length(quoted(First)), Names),
    [quoted(First), Others].

beside(Name, Column) ->
    Width = string:length(quoted(Name)),
    case Column + 2 + Width < 100 of
        true -> {[", ", quoted(Name)], Column + 2 + Width};
        false -> {[",\n", quoted(Name)], Width}
    end.

quoted(Name) -> ["`", Name, "`"].
