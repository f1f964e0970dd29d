%%% How large the constants of the modules that are loaded are. They are in no process, but each copy of a message has one of its own.
%%% No account tells of a single one: the files of the modules do.

%% So much of their tables, one of them, and so long, at most.
-define(CONSTANTS_BYTES, 8_000_000).
-define(CONSTANT_BYTES, 500_000).
-define(CONSTANTS_MS, 1000).
%% So many of the largest files are read to see what they have.
-define(READ_FILES, 20).
%% A byte of a constant in a file is so many in memory, at most: a list that is kept as a string.
-define(WIDEST_BYTE, 16).
%% Of them no file is here.
-define(CARRIED, [?MODULE, diagnose_census_probe, diagnose_try_probe]).
%% What these have in their code is hardly ever sent.
-define(OTP_APPLICATIONS, ["asn1", "common_test", "compiler", "crypto", "debugger", "dialyzer", "diameter", "edoc", "eldap", "et", "eunit",
                           "ftp", "inets", "kernel", "megaco", "mnesia", "observer", "odbc", "os_mon", "parsetools", "public_key",
                           "reltool", "runtime_tools", "sasl", "snmp", "ssh", "ssl", "stdlib", "syntax_tools", "tftp", "tools", "wx",
                           "xmerl", "eex", "elixir", "ex_unit", "iex", "logger", "mix"]).

%% @doc The bytes of the largest constant that a message may refer to, only as exactly as tells whether mailboxes with so many messages
%% can be copied. All constants and persistent terms are together as much as their allocator has; no single one is more.
-spec largest_constant([Depth :: non_neg_integer()]) -> non_neg_integer().
largest_constant(Depths) ->
    case [Depth || Depth <- Depths, Depth =< ?SHAPED_DEPTH] of
        [] -> 0; % none is copied
        Copied -> largest_for(lists:max(Copied))
    end.

largest_for(Depth) ->
    All = literal_bytes(),
    case Depth * All =< ?COPIED_TERMS of
        true -> All;
        false ->
            case within(fun() -> largest_in(erlang:loaded() -- ?CARRIED, ?COPIED_TERMS div (2 * Depth)) end, now_ms() + ?CONSTANTS_MS) of
                Bytes when is_integer(Bytes) -> min(All, Bytes);
                _ -> All
            end
    end.

%% Where literals have no allocator of their own, there may be any number of them.
literal_bytes() ->
    case lists:sum([Bytes || {instance, _, Of} <- instances(literal_alloc), {Sort, Carriers} <- Of, Sort =:= mbcs orelse Sort =:= sbcs,
                             {blocks, Blocks} <- Carriers, {literal_alloc, Sizes} <- Blocks, {size, Bytes, _, _} <- Sizes]) of
        0 -> ?PETABYTE;
        Bytes -> Bytes
    end.

%% @doc The bytes of the largest constant of these modules, or so many where none is larger. It is unknown if there is one whose file is
%% not there, or is no file of code. (Nobody can tell whether a file is still the one that was loaded.) Each file is asked for by itself:
%% the list of all may be too large.
-spec largest_in([module()], Least :: non_neg_integer()) -> non_neg_integer() | unknown.
largest_in(Modules, Least) -> largest_in(Modules, Least, ?CONSTANTS_BYTES).

largest_in([], Most, _Left) -> Most;
largest_in([Module | Modules], Most, Left) ->
    case constants_of(code:is_loaded(Module)) of
        unknown -> unknown;
        {Bytes, _} when ?WIDEST_BYTE * Bytes =< Most -> largest_in(Modules, Most, Left);
        {Bytes, _} when Bytes > Left -> largest_in(Modules, ?WIDEST_BYTE * Bytes, Left);
        {Bytes, Table} -> largest_in(Modules, largest_of(Table(), Most), Left - Bytes)
    end.

%% How large the table of constants is, and what reads it. It is compressed up to OTP 27: the number before it is its size then, else 0.
constants_of({file, preloaded}) -> {0, none};
constants_of({file, [_ | _] = File}) ->
    try is_file_of_otp(File) orelse prim_file:read_file(File) of
        true -> {0, none};
        {ok, Beam} ->
            case code:get_chunk(Beam, "LitT") of
                undefined -> {0, none};
                <<Bytes:32, Packed/binary>> when Bytes > 0 -> {Bytes, fun() -> zlib:uncompress(Packed) end};
                <<_:32, Table/binary>> -> {byte_size(Table), fun() -> Table end}
            end;
        {error, _} -> unknown
    catch error:_ -> unknown
    end;
constants_of(_) -> unknown.

%% The folder of an application may have the version behind its name.
is_file_of_otp(File) ->
    Folder = filename:basename(filename:dirname(filename:dirname(File))),
    lists:member(lists:takewhile(fun(Char) -> Char =/= $- end, Folder), ?OTP_APPLICATIONS).

%% First comes how many there are.
largest_of(Table, Most) ->
    {_, Constants} = split_binary(Table, 4),
    lists:max([Most | [constant_bytes(One, Most) || <<Size:32, One:Size/binary>> <= Constants]]).

%% No atom is made: if it has one that is not there, another file was loaded. A large binary is not copied.
constant_bytes(One, Most) ->
    case ?WIDEST_BYTE * byte_size(One) of
        Bytes when Bytes =< Most -> 0;
        Bytes when byte_size(One) > ?CONSTANT_BYTES -> case binary:at(One, 1) of $m -> 0; _ -> Bytes end;
        Bytes ->
            try erlang:system_info(wordsize) * erts_debug:flat_size(binary_to_term(One, [safe]))
            catch error:badarg -> Bytes
            end
    end.

%% @doc Where code and its constants have most of the memory: the modules with the largest files, and the bytes of their tables of
%% constants. Persistent terms have the same allocator as constants. A module of which no file is there is left out.
-spec large_code(#{atom() => non_neg_integer()} | unknown) -> diagnose_types:large_code() | none.
large_code(#{code := Code, total := Total}) ->
    #{memory := Terms} = persistent_term:info(),
    case literal_bytes() of
        Literals when Literals < ?PETABYTE, Code + Literals - Terms >= ?MOST_BYTES, 2 * (Code + Literals - Terms) >= Total ->
            Files = case within(fun largest_files/0, now_ms() + ?CONSTANTS_MS) of [_ | _] = Known -> Known; _ -> [] end,
            #{code => Code, constants => max(0, Literals - Terms), modules => Files};
        _ -> none
    end;
large_code(unknown) -> none.

%% The constants tell more than a file, in which they may be packed.
largest_files() ->
    Files = [{element(2, Info), {Module, File}}
             || Module <- erlang:loaded(), {file, [_ | _] = File} <- [code:is_loaded(Module)], not is_file_of_otp(File),
                {ok, Info} <- [prim_file:read_file_info(File)]],
    Read = [{lists:max([Size | Known]), {Module, Size, Known}}
            || {Size, {Module, File}} <- ranked(?READ_FILES, Files), Known <- [constants_in(File, Size)]],
    [#{module => Module, file_bytes => Size, constants => case Known of [Bytes] -> Bytes; [] -> unknown end,
       alike => length([1 || {Bytes, _} <- Files, 2 * Bytes >= Size])} || {_, {Module, Size, Known}} <- ranked(?LARGEST, Read)].

constants_in(File, Size) ->
    case Size =< ?CONSTANTS_BYTES div ?LARGEST andalso constants_of({file, File}) of
        {Bytes, _} -> [Bytes];
        _ -> []
    end.
