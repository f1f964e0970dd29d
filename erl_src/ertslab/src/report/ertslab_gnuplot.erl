%% @doc Draws pictures with gnuplot, if it is installed.
-module(ertslab_gnuplot).

-export([available/0, header/3, key/1, name/1, escape/1, interval/1, draw/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: missing | {cannot_write, file:posix() | badarg | terminated | system_limit} | no_end | {says, binary()} | failed.

%% The characters of a name beside a panel and above it, and the height of a line there.
-define(BESIDE, 24).
-define(ABOVE, 100).
-define(NAME_HEIGHT, 18).
%% Drawing normally ends within a second.
-define(TIMEOUT_MS, 60_000).
%% The baseline and its control are grey; the arms compared with them are coloured.
-define(COLOURS,
        "set linetype 1 lc rgb '#4d5761'\nset linetype 2 lc rgb '#aab3bb'\n"
        "set linetype 3 lc rgb '#1b6ca8'\nset linetype 4 lc rgb '#d9822b'\n"
        "set linetype 5 lc rgb '#2a9d64'\n").

%% @doc Whether a picture can be drawn on this machine.
-spec available() -> boolean().
available() -> os:find_executable("gnuplot") =/= false.

%% @doc The first lines of a script for that many panels, one below the other.
-spec header(pos_integer(), unicode:chardata(), pos_integer()) -> iodata().
header(Height, Title, Panels) ->
    io_lib:format("set terminal svg size 900,~b font 'sans,13' background '#ffffff'\n" ++ ?COLOURS ++
                  "set multiplot layout ~b,1 title \"~ts\" noenhanced\n",
                  [Height, Panels, escape(Title)]).

%% @doc Where the names of what is drawn stand, and the height in pixels that they take in each panel. Beside the panel there is
%% room for short ones; long ones, as expressions, stand above it.
-spec key([unicode:chardata()]) -> {string(), Height :: non_neg_integer()}.
key(Names) ->
    case lists:any(fun(Name) -> string:length(Name) > ?BESIDE end, Names) of
        true -> {"set key outside above center vertical maxcols 1 left Left reverse\n", ?NAME_HEIGHT * length(Names)};
        false -> {"set key outside right top\n", 0}
    end.

%% @doc A name of what is drawn, escaped. What does not fit above a panel is cut, and the cut is marked.
-spec name(unicode:chardata()) -> unicode:chardata().
name(Name) ->
    escape(case string:length(Name) > ?ABOVE of
               true -> [string:slice(Name, 0, ?ABOVE - 1), <<"…"/utf8>>];
               false -> Name
           end).

%% @doc Escapes text for double quotes, which end with their line, and where gnuplot would run what stands between backquotes
%% in a shell.
-spec escape(unicode:chardata()) -> unicode:chardata().
escape(Text) -> lists:flatmap(fun escaped/1, unicode:characters_to_list(Text)).

escaped($\\) -> "\\\\";
escaped($") -> "\\\"";
escaped($`) -> "\\140";
escaped($\n) -> "\\n";
escaped($\r) -> "\\r";
escaped(Char) -> [Char].

%% @doc A ratio and the bounds of its interval, in the order that error bars want. For counts the three are equal.
-spec interval(ertslab_result:ratio() | none) -> [number()] | none.
interval(#{estimate := Estimate, low := Low, high := High}) when is_number(Low), is_number(High) -> [Estimate, Low, High];
interval(#{estimate := Estimate, exact := true}) -> [Estimate, Estimate, Estimate];
interval(_) -> none.

%% @doc Draws a script into an SVG file. Leaves no file if gnuplot fails.
-spec draw(file:filename(), unicode:chardata()) -> ok | {error, {?MODULE, reason()}}.
draw(File, Script) ->
    case available() of
        true -> draw_now(File, Script);
        false -> {error, {?MODULE, missing}}
    end.

draw_now(File, Script) ->
    Source = File ++ ".gnuplot",
    Text = ertslab_text:binary(["set output \"", escape(File), "\"\n", Script]),
    Result = case file:write_file(Source, Text) of
                 ok -> drawn(Source);
                 {error, Reason} -> {error, {?MODULE, {cannot_write, Reason}}}
             end,
    _ = file:delete(Source),
    Result =:= ok orelse file:delete(File),
    Result.

drawn(Source) ->
    Complaints = Source ++ ".log",
    Result = case ertslab_os_command:run(["gnuplot", Source], Complaints, #{timeout_ms => ?TIMEOUT_MS}) of
                 {ok, _} -> ok;
                 {error, timeout} -> {error, {?MODULE, no_end}};
                 {error, {status, _, _}} -> {error, {?MODULE, complaints(file:read_file(Complaints))}}
             end,
    _ = file:delete(Complaints),
    Result.

complaints({ok, Text}) -> {says, ertslab_text:foreign(Text)};
complaints({error, _}) -> failed.

-spec format_error(reason()) -> unicode:chardata().
format_error(missing) -> "gnuplot is missing.";
format_error({cannot_write, Reason}) -> file:format_error(Reason);
format_error(no_end) -> "gnuplot does not come to its end.";
format_error({says, Text}) -> string:trim(Text);
format_error(failed) -> "gnuplot failed.".
