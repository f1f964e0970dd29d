%% @doc Compiles experiments that are written in Elixir by the installed Elixir. The measured VMs need Elixir's own modules, too.
-module(ertslab_elixir).

-export([compile/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {does_not_start, Log :: file:filename()} | {first_error, Line :: binary()} | no_reason | too_slow.

%% The measured VMs may be older than the one that compiles.
-define(COMPILER_OPTIONS, "r25").
-define(TIMEOUT_MS, 120_000).

%% @doc Compiles a file into a folder, and puts Elixir on the code path. If that fails, returns why.
-spec compile(file:filename(), file:filename()) -> ok | {error, reason()}.
compile(File, Folder) ->
    Elixirc = ertslab_os_command:find("elixirc", "elixir"),
    Log = filename:join(Folder, "elixirc.log"),
    ok = code:add_pathsa(libraries(Log)),
    Words = [Elixirc, "-pa", filename:dirname(code:which(ertslab_experiment)), "-o", Folder, File],
    case ertslab_os_command:run(Words, Log, #{env => [{"ERL_COMPILER_OPTIONS", ?COMPILER_OPTIONS}], timeout_ms => ?TIMEOUT_MS}) of
        {ok, _} -> ok;
        {error, {status, _, Printed}} -> {error, first_error([Printed, complaints(Log)])};
        {error, timeout} -> {error, too_slow}
    end.

%% Elixir reports its own folder, since its programs may be links to anywhere.
libraries(Log) ->
    Words = [ertslab_os_command:find("elixir", "elixir"), "-e", "IO.write(:code.lib_dir(:elixir))"],
    case ertslab_os_command:run(Words, Log, #{timeout_ms => ?TIMEOUT_MS}) of
        {ok, Dir} -> ertslab_paths:matching(filename:dirname(absolute(Dir)), "*/ebin");
        {error, _} -> ertslab_error:failure(?MODULE, {does_not_start, Log})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({does_not_start, Log}) -> ["Elixir does not start on this OTP; what it says is in ", Log, "."];
format_error({first_error, Line}) -> ["(", Line];
format_error(no_reason) -> "the compiler does not say why";
format_error(too_slow) -> "the compiler takes longer than two minutes".

%% Elixir reports bin/../lib/elixir, but the code server wants paths without `..'.
absolute(Dir) ->
    Parts = filename:split(unicode:characters_to_list(Dir)),
    filename:join(lists:reverse(lists:foldl(fun parent/2, [], Parts))).

parent("..", [_ | Above]) -> Above;
parent(Part, Above) -> [Part | Above].

%% Since Elixir 1.15 the compiler writes errors to standard error, which is kept in the log.
complaints(Log) ->
    case file:read_file(Log) of
        {ok, Text} -> Text;
        {error, _} -> <<>>
    end.

%% The first line of an exception, as Elixir prints it.
first_error(Printed) ->
    case re:run(Printed, "^\\*\\* \\((.*)$", [multiline, {capture, [1], binary}]) of
        {match, [Line]} -> {first_error, ertslab_text:foreign(Line)};
        nomatch -> no_reason
    end.
