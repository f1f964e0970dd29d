%% @doc Runs OTP's own test suites on a variant and on stock, and compares them case by case.
%% scripts/otp-test.sh builds what they need, and starts this.
-module(otp_tests).
-feature(maybe_expr, enable).

-export([main/0, format_error/1]).
-export_type([reason/0]).

-type reason() :: {damaged, file:filename()} | {no_cases, string(), file:filename()}.

-type session() :: #{vm := binary(), otp := binary(), emulator := binary(), json := boolean(),
                     stock := otp_tests_suite:place(), variant := otp_tests_suite:place(),
                     kept := file:filename(), retries := non_neg_integer(),
                     suites := [string(), ...], out := file:filename()}.

%% @doc Compares the suites that the arguments after `-extra' name, and ends the VM:
%% status 0 if every case is as on stock, else 1.
-spec main() -> no_return().
main() ->
    _ = io:setopts(standard_io, [{encoding, unicode}]),
    _ = io:setopts(standard_error, [{encoding, unicode}]),
    halt(try run(session(init:get_plain_arguments()))
         catch
             throw:{failure, Error} ->
                 io:format(standard_error, "ertslab otp-test: ~ts~n", [ertslab_advice:sentence(Error)]),
                 1
         end).

%% The arguments are NAME=VALUE. The script gives all of them.
-spec session([string()]) -> session().
session(Words) ->
    Given = maps:from_list([list_to_tuple(string:split(Word, "=")) || Word <- Words]),
    Value = fun(Name) -> maps:get(Name, Given) end,
    Emulator = ertslab_text:binary(Value("emulator")),
    Place = fun(Name) -> otp_tests_suite:place(Value(Name), Emulator, list_to_integer(Value("slower"))) end,
    #{vm => ertslab_text:binary(Value("vm")), otp => ertslab_text:binary(Value("otp")),
      emulator => Emulator, json => Value("json") =:= "yes",
      stock => Place("stock"), variant => Place("variant"),
      kept => Value("kept"), retries => list_to_integer(Value("retries")),
      suites => string:lexemes(Value("suites"), ","), out => Value("out")}.

run(#{suites := Suites} = Session) ->
    Started = erlang:monotonic_time(second),
    Compared = lists:foldl(
                 fun({Done, Suite}, Before) ->
                         progress(Done, length(Suites), Started, Suite),
                         kept(Before ++ [compared(Suite, Session)], Session)
                 end, [], lists:enumerate(0, Suites)),
    #{ok := Ok} = Report = report(Compared, Session),
    say(Report, Session),
    case Ok of
        true -> 0;
        false -> 1
    end.

report(Compared, Session) ->
    otp_tests_compare:report(Compared, maps:with([vm, otp, emulator], Session)).

%% Writes all results so far, since a run of many suites may be interrupted.
kept(Compared, #{out := Out} = Session) ->
    Report = report(Compared, Session),
    write(filename:join(Out, "report.json"), json:format(Report)),
    write(filename:join(Out, "report.txt"), unicode:characters_to_binary(otp_tests_text:report(Report))),
    Compared.

say(Report, #{json := true}) -> io:put_chars(unicode:characters_to_list(json:format(Report)));
say(Report, #{out := Out}) ->
    io:put_chars([otp_tests_text:report(Report), "The reports are in ", Out, ".\n"]).

%% If standard error is no terminal, one line for each suite is enough.
progress(Done, Total, Started, Suite) ->
    Elapsed = erlang:monotonic_time(second) - Started,
    io:format(standard_error, "~ts, suite ~b of ~b, ~ts~ts~n",
              [Suite, Done + 1, Total, clock(Elapsed), estimate(Done, Total, Elapsed)]).

estimate(0, _Total, _Elapsed) -> "";
estimate(Done, Total, Elapsed) -> [" of about ", clock(Elapsed * Total div Done)].

clock(Seconds) -> io_lib:format("~b:~2..0b", [Seconds div 60, Seconds rem 60]).

%% A suite with a differing case runs again on both, up to `Retries' times,
%% since many of OTP's cases depend on timing.
compared(Suite, #{variant := Variant, retries := Retries} = Session) ->
    again(Retries, Suite, Session, {[stock(Suite, Session)], [otp_tests_suite:run(Variant, Suite)]}).

again(Retries, Suite, #{stock := Stock, variant := Variant} = Session, {OnStock, OnVariant}) ->
    Result = otp_tests_compare:suite(Suite, OnStock, OnVariant),
    case Result of
        #{different := [_ | _]} when Retries > 0 ->
            io:format(standard_error, "~ts: ~b cases differ, so it runs again on both~n",
                      [Suite, length(maps:get(different, Result))]),
            Runs = {OnStock ++ [otp_tests_suite:run(Stock, Suite)],
                    OnVariant ++ [otp_tests_suite:run(Variant, Suite)]},
            again(Retries - 1, Suite, Session, Runs);
        #{} -> Result
    end.

%% Stock's results are kept, so that each suite runs on it once only.
stock(Suite, #{stock := Stock, kept := Kept}) ->
    File = filename:join(Kept, Suite ++ ".json"),
    case file:read_file(File) of
        {ok, Text} -> with_cases(decoded(Text, File), Suite, Stock);
        {error, enoent} ->
            Results = with_cases(otp_tests_suite:run(Stock, Suite), Suite, Stock),
            write(File, json:format(Results)),
            Results;
        {error, Reason} -> ertslab_results:cannot_read(File, Reason)
    end.

%% Two runs without a case would agree.
with_cases(Results, Suite, #{dir := Dir}) ->
    case otp_tests_suite:has_passed_cases(Results) of
        true -> Results;
        false -> ertslab_error:failure(?MODULE, {no_cases, Suite, filename:join(Dir, "logs")})
    end.

decoded(Text, File) ->
    try json:decode(Text)
    catch error:_ -> ertslab_error:failure(?MODULE, {damaged, File})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({no_cases, Suite, Logs}) -> ["No case of ", Suite, " passed on stock, so there is nothing to compare; its logs are in ", Logs,
                                           ". Once the cause is fixed, give --fresh."];
format_error({damaged, File}) -> [File, " is damaged; remove it, or give --fresh."].

write(File, Text) ->
    Part = File ++ ".part",
    maybe
        ok ?= filelib:ensure_dir(File),
        ok ?= file:write_file(Part, Text),
        ok ?= file:rename(Part, File)
    else
        {error, Reason} -> ertslab_results:cannot_write(File, Reason)
    end.
