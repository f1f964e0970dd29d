%% @doc The report on OTP's suites as text: one line for each suite, then every case
%% that is not the same.
-module(otp_tests_text).

-export([report/1]).

-define(REASON_CHARS, 110).

%% @doc The report for a terminal.
-spec report(otp_tests_compare:report()) -> iolist().
report(#{vm := VM, otp := Version, emulator := Emulator, suites := Suites} = Report) ->
    [io_lib:format("OTP's own suites on ~ts (~ts) and on stock, OTP ~ts~n~n", [VM, Emulator, Version]),
     ertslab_text:columns([[~"suite", ~"cases", ~"same", ~"added", ~"unsteady", ~"different",
                             ~"runs", ~"seconds", ~"on stock"]
                            | [line(Suite) || Suite <- Suites]]),
     section("Different from stock", maps:get(different, Report)),
     section("Unsteady: the first runs differ, later ones do not", maps:get(unsteady, Report)),
     section("Failing on stock too", maps:get(failing, Report)),
     section("Added by the patches, and passed", maps:get(added, Report)),
     $\n, verdict(Report)].

line(#{suite := Suite, cases := Cases, runs := Runs, seconds := Seconds, stock_seconds := StockSeconds,
       different := Different, unsteady := Unsteady, added := Added}) ->
    Counts = [length(Added), length(Unsteady), length(Different)],
    [Suite | [integer_to_binary(N)
              || N <- [Cases, Cases - lists:sum(Counts)] ++ Counts ++ [Runs, Seconds, StockSeconds]]].

section(_Heading, []) -> [];
section(Heading, Rows) -> [$\n, Heading, ":\n" | [row(Row) || Row <- Rows]].

row(#{'case' := Case, stock := Stock, variant := Variant, reason := Reason}) ->
    io_lib:format("  ~ts: stock ~ts; here ~ts~ts~n",
                  [Case, lists:join(", ", Stock), lists:join(", ", Variant), shortened(Reason)]).

shortened(~"") -> "";
shortened(Reason) -> [" (", string:slice(Reason, 0, ?REASON_CHARS), ")"].

verdict(#{cases := Cases, skipped := Skipped, different := Different, failing := Failing, added := Added}) ->
    io_lib:format("~b cases: ~b different from stock, ~b added, ~b fail on stock too, ~b are skipped on both.~n",
                  [Cases, length(Different), length(Added), length(Failing), Skipped]).
