%% @doc The types of the options that say what is measured: from text to a value, and back. Paths become absolute at once,
%% since the same arguments may be read in another folder, as by a job of Slurm.
%%
%% All functions are pure, except that relative paths depend on the current folder.
-module(ertslab_option_types).

-export([duration/0, time/0, percentage/0, bound/0, assignment/0, names/0, erlangs/0, arm/0, flags/0, word/0, builds_of_code/0, path/0,
         experiment/0]).
-export([read/2, written/2, format_error/1]).
-export_type([bound/0, assignment/0, arm/0, reason/0]).

-type type(Value) :: ertslab_arguments:custom(Value).
%% Which changes must not occur, from that relative change on.
-type bound() :: {slower | changed, Share :: float()}.
-type assignment() :: {Name :: string(), Values :: [string(), ...]}.
-type arm() :: #{name := string(), vm := string(), flags => [string(), ...], code => file:filename()}.

-type reason() :: no_duration | no_time | no_local_time | no_percentage | no_bound | no_assignment | no_name | no_erlang | no_arm
                | no_flags | quoted_flags | no_word | one_build | no_builds | no_path.

-define(DECIMALS, 9).
-define(SECONDS_TO_1970, 62_167_219_200).

%% @doc The value of a text, or what is wrong with it.
-spec read(type(Value), string()) -> {ok, Value} | {error, ertslab_error:error()}.
read({custom, Parse, _}, Text) -> Parse(Text).

%% What is wrong with a text, or what to write in its place.
-spec format_error(reason()) -> unicode:chardata().
format_error(no_duration) -> "this is not a duration; write 90s, 20m or 1h";
format_error(no_time) -> "this is not a time; write '2026-11-26 14:05', or with Z at the end for UTC";
format_error(no_local_time) -> "there is no such local time: the clock was put forward";
format_error(no_percentage) -> "give a percentage above 0% and below 100%, as 2%";
format_error(no_bound) -> "write 'slower 2%' or 'changed 2%'";
format_error(no_assignment) -> "this is not a parameter; write NAME=VALUE[,VALUE...]";
format_error(no_name) -> "no name is given";
format_error(no_erlang) -> "it names no Erlang";
format_error(no_arm) -> "write NAME=VM[,flags=\"WORDS\"][,code=DIR]";
format_error(quoted_flags) -> "a flag has half a quotation: flags are separated by blanks, and quotation marks do not join words";
format_error(no_word) -> "the value is empty";
format_error(no_flags) -> "give flags, which begin with + or -, as \"+hmqd off_heap\"";
format_error(one_build) -> "a comparison needs at least two";
format_error(no_builds) -> "write OLD=DIR,NEW=DIR";
format_error(no_path) -> "give a path".

%% @doc The text of a value.
-spec written(type(Value), Value) -> string().
written({custom, _, Write}, Value) -> Write(Value).

%% @doc Seconds, minutes or hours ("90s", "20m", "1h") as milliseconds.
-spec duration() -> type(pos_integer()).
duration() -> {custom, fun parse_duration/1, fun write_duration/1}.

parse_duration(Text) ->
    case re:run(Text, "^(\\d{1,9})([smh])$", [dollar_endonly, {capture, all_but_first, list}]) of
        {match, [Digits, Unit]} -> milliseconds(list_to_integer(Digits) * seconds(Unit));
        nomatch -> no_duration()
    end.

seconds("s") -> 1;
seconds("m") -> 60;
seconds("h") -> 3600.

milliseconds(0) -> no_duration();
milliseconds(Seconds) -> {ok, Seconds * 1000}.

no_duration() -> {error, {?MODULE, no_duration}}.

write_duration(Ms) when Ms rem 3_600_000 =:= 0 -> integer_to_list(Ms div 3_600_000) ++ "h";
write_duration(Ms) when Ms rem 60_000 =:= 0 -> integer_to_list(Ms div 60_000) ++ "m";
write_duration(Ms) -> integer_to_list(Ms div 1000) ++ "s".

%% @doc A point in time ("2026-11-26 14:05", "2026-11-26T14:05:30Z", "2026-11-26"), local unless it ends with Z, as seconds since 1970.
-spec time() -> type(integer()).
time() -> {custom, fun parse_time/1, fun write_time/1}.

parse_time(Text) ->
    case re:run(Text, "^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[ T](\\d\\d):(\\d\\d)(?::(\\d\\d))?)?(Z?)$",
                [dollar_endonly, {capture, all_but_first, list}]) of
        {match, Parts} ->
            [Year, Month, Day, Hour, Minute, Second] = [number_or_0(Part) || Part <- lists:droplast(Parts)],
            seconds_of({Year, Month, Day}, {Hour, Minute, Second}, lists:last(Parts));
        nomatch -> no_time()
    end.

number_or_0("") -> 0;
number_or_0(Digits) -> list_to_integer(Digits).

seconds_of({Year, _, _} = Date, {Hour, Minute, Second} = Time, Zone) ->
    case calendar:valid_date(Date) andalso Year >= 1970 andalso Hour < 24 andalso Minute < 60 andalso Second < 60
        andalso universal({Date, Time}, Zone) of
        false -> no_time();
        [] -> {error, {?MODULE, no_local_time}};
        [Universal | _] -> {ok, calendar:datetime_to_gregorian_seconds(Universal) - ?SECONDS_TO_1970}
    end.

universal(Time, "Z") -> [Time];
universal(Time, "") -> calendar:local_time_to_universal_time_dst(Time).

no_time() -> {error, {?MODULE, no_time}}.

write_time(Seconds) ->
    {{Y, Mo, D}, {H, Mi, S}} = calendar:system_time_to_universal_time(Seconds, second),
    lists:flatten(io_lib:format("~4..0b-~2..0b-~2..0bT~2..0b:~2..0b:~2..0bZ", [Y, Mo, D, H, Mi, S])).

%% @doc "2%" as 0.02: above 0, and below 1.
-spec percentage() -> type(float()).
percentage() -> {custom, fun parse_percentage/1, fun write_percentage/1}.

parse_percentage(Text) ->
    case re:run(Text, "^(\\d{1,9}(?:\\.\\d{1,9})?)%$", [unicode, dollar_endonly, {capture, all_but_first, list}]) of
        {match, [Digits]} -> share(number(Digits) / 100);
        nomatch -> no_percentage()
    end.

share(Share) when Share > 0, Share < 1 -> {ok, Share};
share(_) -> no_percentage().

no_percentage() -> {error, {?MODULE, no_percentage}}.

number(Digits) ->
    {Number, []} = string:to_float(case lists:member($., Digits) of true -> Digits; false -> Digits ++ ".0" end),
    Number.

%% With as many decimals as are read, so that reading the text gives the same number.
write_percentage(Share) ->
    case lists:reverse(float_to_list(100 * Share, [{decimals, ?DECIMALS}, compact])) of
        "0." ++ Whole -> lists:reverse(Whole, "%");
        Digits -> lists:reverse(Digits, "%")
    end.

%% @doc "slower 2%" or "changed 2%".
-spec bound() -> type(bound()).
bound() -> {custom, fun parse_bound/1, fun write_bound/1}.

parse_bound(Text) ->
    case re:run(Text, "^\\s*(slower|changed)\\s+(\\d{1,9}(?:\\.\\d{1,9})?)\\s*%\\s*$", [unicode, {capture, all_but_first, list}]) of
        {match, ["slower", Digits]} -> {ok, {slower, number(Digits) / 100}};
        {match, ["changed", Digits]} -> {ok, {changed, number(Digits) / 100}};
        nomatch -> {error, {?MODULE, no_bound}}
    end.

write_bound({Kind, Share}) -> atom_to_list(Kind) ++ " " ++ write_percentage(Share).

%% @doc "NAME=VALUE,VALUE,...". The parameter decides which values are valid.
-spec assignment() -> type(assignment()).
assignment() -> {custom, fun parse_assignment/1, fun write_assignment/1}.

parse_assignment(Text) ->
    case string:split(Text, "=") of
        [Name, Values] when Name =/= "" -> {ok, {Name, lists:uniq(string:split(Values, ",", all))}};
        _ -> {error, {?MODULE, no_assignment}}
    end.

write_assignment({Name, Values}) -> Name ++ "=" ++ commas(Values).

commas(Words) -> lists:append(lists:join(",", Words)).

%% @doc "NAME,NAME,...".
-spec names() -> type([string(), ...]).
names() -> {custom, fun parse_names/1, fun commas/1}.

parse_names(Text) ->
    case lists:uniq(string:lexemes(Text, ",")) of
        [] -> {error, {?MODULE, no_name}};
        Names -> {ok, Names}
    end.

%% @doc Names of Erlangs (see {@link ertslab_arms}), separated by commas.
-spec erlangs() -> type([string(), ...]).
erlangs() -> {custom, fun parse_erlangs/1, fun commas/1}.

parse_erlangs(Text) ->
    case lists:uniq([erlang_word(Word) || Word <- string:lexemes(Text, ",")]) of
        [] -> {error, {?MODULE, no_erlang}};
        Words -> {ok, Words}
    end.

%% A path below the home folder keeps its `~', since the text is also a label.
erlang_word(Word) ->
    case ertslab_revision:is_one(Word) of
        true -> ertslab_revision:map_path(fun absolute_unless_home/1, Word);
        false ->
            case ertslab_installation:is_path(Word) of
                true -> absolute_unless_home(Word);
                false -> Word
            end
    end.

absolute_unless_home("~/" ++ _ = Path) -> Path;
absolute_unless_home(Path) -> filename:absname(Path).

%% @doc "NAME=VM[,flags="WORDS"][,code=DIR]"; a shell may have removed the quotes.
-spec arm() -> type(arm()).
arm() -> {custom, fun parse_arm/1, fun write_arm/1}.

-define(SETTING, ",(flags|code)=(?|\"([^\"]*)\"|([^,\"]+))").

parse_arm(Text) ->
    case re:run(Text, "^([^=,[:cntrl:]]+)=([^,]+)((?:" ?SETTING ")*)$", [unicode, dollar_endonly, {capture, [1, 2, 3], list}]) of
        {match, [Name, Word, More]} -> settings(settings_of(More), #{name => Name, vm => erlang_word(Word)});
        nomatch -> {error, {?MODULE, no_arm}}
    end.

settings_of(More) ->
    case re:run(More, ?SETTING, [global, unicode, {capture, all_but_first, list}]) of
        {match, Settings} -> Settings;
        nomatch -> []
    end.

settings([["flags", Text] | Settings], Arm) ->
    case parse_flags(Text) of
        {ok, Flags} -> settings(Settings, Arm#{flags => Flags});
        Error -> Error
    end;
settings([["code", Text] | Settings], Arm) ->
    case parse_path(Text) of
        {ok, Dir} -> settings(Settings, Arm#{code => Dir});
        Error -> Error
    end;
settings([], Arm) -> {ok, Arm}.

write_arm(#{name := Name, vm := Word} = Arm) ->
    lists:append([Name, "=", Word | [",flags=\"" ++ write_flags(Flags) ++ "\"" || #{flags := Flags} <- [Arm]]
                                    ++ [",code=\"" ++ Dir ++ "\"" || #{code := Dir} <- [Arm]]]).

%% @doc Arguments for an emulator, separated by blanks.
-spec flags() -> type([string(), ...]).
flags() -> {custom, fun parse_flags/1, fun write_flags/1}.

parse_flags(Text) ->
    case string:lexemes(Text, [$\s, $\t, $\r, $\n, "\r\n"]) of
        %% erl takes other words for arguments of the program, so the arms would be alike.
        [[Sign | _] | _] = Flags when Sign =:= $+; Sign =:= $- ->
            case lists:any(fun has_half_a_quotation/1, Flags) of
                true -> {error, {?MODULE, quoted_flags}};
                false -> {ok, Flags}
            end;
        _ -> {error, {?MODULE, no_flags}}
    end.

%% Quotation marks of a shell were given, as by a variable of a CI: no shell reads them any more.
has_half_a_quotation(Word) -> lists:any(fun(Mark) -> length([C || C <- Word, C =:= Mark]) rem 2 =:= 1 end, [$', $"]).

write_flags(Flags) -> lists:append(lists:join(" ", Flags)).

%% @doc A name that another program knows.
-spec word() -> type(string()).
word() ->
    {custom,
     fun(Text) ->
             case string:trim(Text) of
                 "" -> {error, {?MODULE, no_word}};
                 Word -> {ok, Word}
             end
     end,
     fun(Word) -> Word end}.

%% @doc "OLD=DIR,NEW=DIR": at least two.
-spec builds_of_code() -> type([{Name :: string(), file:filename()}, ...]).
builds_of_code() -> {custom, fun parse_builds/1, fun write_builds/1}.

parse_builds(Text) ->
    case [string:split(Part, "=") || Part <- lists:uniq(string:lexemes(Text, ","))] of
        [_, _ | _] = Parts -> builds(Parts, []);
        _ -> {error, {?MODULE, one_build}}
    end.

builds([[Name, Dir] | Parts], Builds) when Dir =/= "" ->
    case is_label(Name) of
        true -> builds(Parts, [{Name, ertslab_paths:absolute(Dir)} | Builds]);
        false -> builds([[]], Builds)
    end;
builds([], Builds) -> {ok, lists:reverse(Builds)};
builds(_, _) -> {error, {?MODULE, no_builds}}.

%% A name stands in tables and pictures, so it is one line.
is_label(Name) -> re:run(Name, "^[^[:cntrl:]]+$", [unicode, dollar_endonly, {capture, none}]) =:= match.

write_builds(Builds) -> commas([Name ++ "=" ++ Dir || {Name, Dir} <- Builds]).

%% @doc A file or a folder.
-spec path() -> type(file:filename()).
path() -> {custom, fun parse_path/1, fun(Path) -> Path end}.

parse_path("") -> {error, {?MODULE, no_path}};
parse_path(Text) -> {ok, ertslab_paths:absolute(Text)}.

%% @doc The name of an experiment, which has no dot, or its source file.
-spec experiment() -> type(string()).
experiment() -> {custom, fun parse_experiment/1, fun(Experiment) -> Experiment end}.

parse_experiment(Text) ->
    case filename:extension(Text) of
        "" -> {ok, Text};
        _ -> {ok, ertslab_paths:absolute(Text)}
    end.
