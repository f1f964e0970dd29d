%% @doc A formatter for logger's handlers that writes the same lines as logger_formatter, with the
%% same config, in less time. Most of the cost of logger_formatter is formatting the time of day,
%% and the search for line ends in each message. This formatter formats the time once for each
%% second, and checks the message's bytes itself. It puts both texts into the template and leaves
%% the rest of the line to logger_formatter.
%%
%% ```
%% logger:update_handler_config(shop, formatter, {batch_io_formatter, #{}}).
%% '''
-module(batch_io_formatter).

-export([format/2, check_config/1]).

%% A process that logs keeps the text of its last second in its process dictionary.
-define(KEY, '$batch_io_second').
-define(SECOND, 1_000_000).
-define(TEMPLATE, [time, " ", level, ": ", msg, "\n"]).
%% These options cut a line, which depends on everything in the line.
-define(LIMITS, [chars_limit, depth, max_size]).

-spec format(logger:log_event(), logger:formatter_config()) -> unicode:chardata().
format(Event, Config) ->
    case is_plain(Config) of
        true -> logger_formatter:format(Event, Config#{template => filled(maps:get(template, Config, ?TEMPLATE), Event, Config)});
        false -> logger_formatter:format(Event, Config)
    end.

%% @doc Checks the config. It is a config of logger_formatter.
-spec check_config(logger:formatter_config()) -> ok | {error, term()}.
check_config(Config) -> logger_formatter:check_config(Config).

%% With a legacy header, or without single_line, the default template of logger_formatter differs
%% from ours.
is_plain(Config) ->
    maps:get(single_line, Config, true) andalso not maps:get(legacy_header, Config, false)
        andalso maps:size(maps:with(?LIMITS, Config)) =:= 0 andalso error_logger:get_format_depth() =:= unlimited.

%% Replaces time and message in the template. The message is only replaced if the template has it
%% once and no alternatives.
filled(Template, #{msg := Message} = Event, Config) ->
    Text = case [Part || Part <- Template, Part =:= msg orelse is_tuple(Part)] of
               [msg] -> message(Message);
               _ -> msg
           end,
    [part(Part, Text, Event, Config) || Part <- Template].

part(time, _, #{meta := #{time := Time}}, Config) when is_integer(Time), Time >= 0 -> time_text(Time, Config);
part(msg, Text, _, _) -> Text;
part(Part, _, _, _) -> Part.

time_text(Time, Config) ->
    Second = Time div ?SECOND,
    Form = {maps:get(time_offset, Config, none), maps:get(time_designator, Config, none)},
    {Before, After} = second(get(?KEY), Second, Form, Config),
    [Before, tl(integer_to_list(?SECOND + Time rem ?SECOND)), After].

second({Second, Form, Texts}, Second, Form, _) -> Texts;
second(_, Second, Form, Config) ->
    Event = #{level => notice, msg => {string, ""}, meta => #{time => Second * ?SECOND}},
    Text = logger_formatter:format(Event, (maps:with([time_offset, time_designator], Config))#{template => [time]}),
    [Before, After] = string:split(lists:flatten(Text), ".000000"),
    Texts = {Before ++ ".", After},
    _ = put(?KEY, {Second, Form, Texts}),
    Texts.

%% `msg' if logger_formatter has to format the message itself: reports, messages that cannot be
%% formatted, and messages that it would trim or join.
message(Message) ->
    try text(Message) of
        Text when is_binary(Text) -> unless_changed(Text);
        _ -> msg
    catch error:_ -> msg
    end.

text({string, Text}) -> unicode:characters_to_binary(Text);
text({report, _}) -> msg;
text({Format, Arguments}) ->
    unicode:characters_to_binary(io_lib:build_text([in_one_line(Part) || Part <- io_lib:scan_format(Format, Arguments)])).

in_one_line(#{control_char := Char} = Part) when Char =:= $p; Char =:= $P -> Part#{width => 0};
in_one_line(Part) -> Part.

unless_changed(<<>>) -> <<>>;
unless_changed(Text) ->
    case is_blank(binary:first(Text)) orelse is_blank(binary:last(Text)) orelse binary:match(Text, <<"\n">>) =/= nomatch of
        true -> msg;
        false -> Text
    end.

is_blank(Char) -> Char =:= $\s orelse Char =:= $\r orelse Char =:= $\n.
