%% The formatter writes what logger_formatter does, whatever the message, its metadata and the config.
-module(prop_batch_io_formatter).

-include_lib("proper/include/proper.hrl").

-export([prop_writes_what_otp_writes/0]).

prop_writes_what_otp_writes() ->
    ?FORALL({Event, Config}, {event(), config()},
            begin
                Wanted = written(logger_formatter, Event, Config),
                [Wanted, Wanted] =:= [written(batch_io_formatter, Event, Config) || _ <- [first, again]]
            end).

%% Some metadata and messages are refused by both.
written(Module, Event, Config) ->
    try unicode:characters_to_binary(Module:format(Event, Config))
    catch error:_ -> refused
    end.

event() -> ?LET({Message, Meta}, {message(), meta()}, #{level => error, msg => Message, meta => Meta}).

message() ->
    oneof([{string, text()}, {string, binary()}, {string, 7},
           {report, ?LET({Key, Value}, {text(), term()}, #{Key => Value})}, {report, [{a, text()}]},
           {"~p ~ts~n", [term(), text()]}, {"~ts", [text()]}, {"~tp~200p ~P~c", [term(), text(), term(), 3, $\s]}, {"~w", [term()]},
           {"~s", [text()]}, {"~p", []}, {~"in ~p a binary", [term()]}, {wide(), []}]).

%% Over the width that a line of ~p has.
wide() -> {"~p", [lists:duplicate(30, <<"wide">>)]}.

text() -> list(oneof([$a, $\s, $\n, $\r, $,, $\t, 16#e4, 16#400])).

meta() ->
    ?LET({Time, More}, {taken(), some([mfa, line, pid, domain], term())}, maps:merge(More, Time)).

taken() -> oneof([#{}, #{time => time_of_day()}, #{time => soon}]).

time_of_day() -> oneof([0, 999_999, 1_000_000, range(0, 4_102_444_800_000_000), ?LET(N, nat(), 1_700_000_000_000_000 + N)]).

some(Keys, Value) -> ?LET(Pairs, list({oneof(Keys), Value}), maps:from_list(Pairs)).

config() ->
    ?LET(Parts, list(oneof([{single_line, boolean()}, {legacy_header, boolean()}, {depth, range(1, 20)}, {chars_limit, range(1, 40)},
                            {max_size, range(1, 60)}, {time_offset, oneof(["", "Z", "+02:00", -3_600_000_000])},
                            {time_designator, oneof([$T, $\s])}, {template, template()}])),
         maps:from_list(Parts)).

template() ->
    list(oneof([time, msg, level, mfa, pid, " ", "\n", ~"bin", [logger_formatter, header], {pid, [pid, " ", msg], []},
                {line, [time], [msg]}])).
